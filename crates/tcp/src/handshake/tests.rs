use proptest::prelude::*;

use super::message::{Challenge, Hello, Verdict};
use super::*;

const RANKS: RankPair = RankPair { from: 3, to: 5 };

fn key() -> JobKey {
    JobKey::new(b"the job's")
}

/// How a handshake ended on either side.
#[derive(Debug, PartialEq)]
struct Outcome {
    client: Result<bool, HandshakeError>,
    server: Result<Option<RankPair>, HandshakeError>,
    sent: [usize; 2],
}

/// Runs a handshake in pieces of `piece` bytes until neither side sends more. `change` may change a byte on
/// its way: it gets the sender (0: the client), how much that has sent before, and the byte.
fn run(
    mut client: ClientHandshake,
    mut server: ServerHandshake,
    piece: usize,
    change: impl Fn(usize, usize, u8) -> u8,
) -> Outcome {
    let mut outcome = Outcome {
        client: Ok(false),
        server: Ok(None),
        sent: [0; 2],
    };
    loop {
        let to_server: Vec<u8> = client.output().iter().copied().take(piece).collect();
        let to_server = &to_server[..to_server.len().min(server.input().len())];
        client.sent(to_server.len());
        let mut moved = to_server.len();
        if outcome.server == Ok(None) && !to_server.is_empty() {
            for (at, (to, from)) in server.input().iter_mut().zip(to_server).enumerate() {
                *to = change(0, outcome.sent[0] + at, *from);
            }
            outcome.server = server.received(to_server.len());
            if matches!(outcome.server, Ok(Some(_))) {
                server.conclude(ConnectDecision::Accept);
            }
        }
        outcome.sent[0] += to_server.len();

        let to_client: Vec<u8> = server.output().iter().copied().take(piece).collect();
        let to_client = &to_client[..to_client.len().min(client.input().len())];
        server.sent(to_client.len());
        moved += to_client.len();
        if outcome.client == Ok(false) && !to_client.is_empty() {
            for (at, (to, from)) in client.input().iter_mut().zip(to_client).enumerate() {
                *to = change(1, outcome.sent[1] + at, *from);
            }
            outcome.client = client.received(to_client.len());
        }
        outcome.sent[1] += to_client.len();
        if moved == 0 {
            return outcome;
        }
    }
}

fn client(key: JobKey, ranks: RankPair) -> ClientHandshake {
    ClientHandshake::new(key, ranks, [1; 16])
}

fn server(key: JobKey) -> ServerHandshake {
    ServerHandshake::new(key, RANKS.to, 8, [2; 16])
}

fn same(_: usize, _: usize, byte: u8) -> u8 {
    byte
}

#[test]
fn a_client_with_the_key_is_accepted_whatever_the_pieces() {
    let sent = [Hello::LEN + Proof::LEN, Challenge::LEN + Verdict::LEN];
    for piece in 1..=sent[1] {
        let outcome = run(client(key(), RANKS), server(key()), piece, same);
        assert_eq!(
            outcome,
            Outcome {
                client: Ok(true),
                server: Ok(Some(RANKS)),
                sent
            },
            "pieces of {piece}"
        );
    }
}

#[test]
fn another_key_is_refused() {
    let outcome = run(
        client(JobKey::new(b"other"), RANKS),
        server(key()),
        99,
        same,
    );
    assert_eq!(
        outcome.client,
        Err(HandshakeError::Key),
        "the server gives its proof first"
    );
    assert_eq!(
        (outcome.server, outcome.sent[0]),
        (Ok(None), Hello::LEN),
        "the client gives no proof to a wrong server"
    );
}

/// A client that returns the server's proof is refused: the role is part of a proof.
#[test]
fn a_proof_cannot_be_reflected() {
    let mut server = server(key());
    let hello = Hello {
        ranks: RANKS,
        nonce: [7; 16],
    }
    .bytes();
    server.input().copy_from_slice(&hello);
    assert_eq!(server.received(hello.len()), Ok(None));
    let challenge = server.output().to_vec();
    server.sent(challenge.len());
    server.input().copy_from_slice(&challenge[32..]);
    assert_eq!(server.received(Proof::LEN), Err(HandshakeError::Key));
    assert_eq!(
        server.output(),
        Verdict::bytes(Some(Refusal::Key)),
        "the client gets the reason"
    );
}

#[test]
fn wrong_ranks_are_refused() {
    for (from, to) in [(3, 4), (8, 5), (5, 5), (u32::MAX, 5)] {
        let ranks = RankPair { from, to };
        let outcome = run(client(key(), ranks), server(key()), 99, same);
        assert_eq!(
            outcome.client,
            Err(HandshakeError::Refused(Refusal::WrongRank))
        );
        assert_eq!(
            outcome.server,
            Err(HandshakeError::WrongRank {
                ranks,
                here: 5,
                size: 8
            })
        );
    }
    let why = HandshakeError::WrongRank {
        ranks: RankPair { from: 9, to: 4 },
        here: 5,
        size: 8,
    };
    assert_eq!(
        why.to_string(),
        "it says that it is rank 9 and wants rank 4; here is rank 5 of 8"
    );
}

#[test]
fn a_duplicate_is_refused() {
    let (mut client, mut server) = (client(key(), RANKS), server(key()));
    for _ in 0..2 {
        let sent = client.output().to_vec();
        client.sent(sent.len());
        server.input().copy_from_slice(&sent);
        server.received(sent.len()).unwrap();
        let sent = server.output().to_vec();
        if !sent.is_empty() {
            server.sent(sent.len());
            client.input().copy_from_slice(&sent);
            assert_eq!(client.received(sent.len()), Ok(false));
        }
    }
    server.conclude(ConnectDecision::Refuse(Refusal::Duplicate));
    let sent = server.output().to_vec();
    client.input().copy_from_slice(&sent);
    assert_eq!(
        client.received(sent.len()),
        Err(HandshakeError::Refused(Refusal::Duplicate))
    );
}

#[test]
fn old_versions_get_an_answer_and_scanners_do_not() {
    let other = |sender, at, byte| if (sender, at) == (0, 8) { 77 } else { byte };
    let outcome = run(client(key(), RANKS), server(key()), 99, other);
    assert_eq!(
        (outcome.server, outcome.sent[1]),
        (Err(HandshakeError::Version(77)), Challenge::LEN)
    );
    let other = |sender, at, byte| if (sender, at) == (1, 8) { 77 } else { byte };
    assert_eq!(
        run(client(key(), RANKS), server(key()), 99, other).client,
        Err(HandshakeError::Version(77))
    );

    let mut server = server(key());
    server.input()[..4].copy_from_slice(b"GET ");
    assert_eq!(
        server.received(4),
        Err(HandshakeError::BadMagic),
        "refused after its first bytes"
    );
    assert!(server.output().is_empty(), "refused without an answer");
}

proptest! {
    /// A handshake with one changed byte fails.
    #[test]
    fn every_byte_counts(
        sender in 0usize..2,
        at in 0usize..Challenge::LEN,
        flip in 1u8..=255,
        piece in 1usize..100,
    ) {
        let sent = [Hello::LEN + Proof::LEN, Challenge::LEN + Verdict::LEN];
        prop_assume!(at < sent[sender]);
        let change = |from, place, byte| if (from, place) == (sender, at) { byte ^ flip } else { byte };
        let outcome = run(client(key(), RANKS), server(key()), piece, change);
        prop_assert!(outcome.client.is_err() || outcome.server.is_err(), "{outcome:?}");
    }

    /// Random bytes are accepted by neither side.
    #[test]
    fn noise_is_refused(noise in prop::collection::vec(any::<u8>(), 0..300), with_hello in any::<bool>()) {
        let mut noise = noise;
        if with_hello {
            noise.splice(0..0, Hello { ranks: RANKS, nonce: [9; 16] }.bytes());
        }
        let (mut server, mut client) = (server(key()), client(key(), RANKS));
        let mut rest = &noise[..];
        while !rest.is_empty() {
            let len = server.input().len().min(rest.len());
            prop_assert!(len > 0, "the server waits for no bytes and has not ended");
            server.input()[..len].copy_from_slice(&rest[..len]);
            rest = &rest[len..];
            match server.received(len) {
                Ok(ranks) => prop_assert_eq!(ranks, None),
                Err(_) => break,
            }
        }
        let mut rest = &noise[..];
        while !rest.is_empty() {
            let len = client.input().len().min(rest.len());
            prop_assert!(len > 0, "the client waits for no bytes and has not ended");
            client.input()[..len].copy_from_slice(&rest[..len]);
            rest = &rest[len..];
            match client.received(len) {
                Ok(welcome) => prop_assert!(!welcome),
                Err(_) => break,
            }
        }
    }
}

#[test]
fn a_hello_begins_with_its_magic_and_has_its_length() {
    let good = Hello {
        ranks: RANKS,
        nonce: [9; 16],
    }
    .bytes();
    let mut other = good;
    other[0] ^= 1;
    assert_eq!(Hello::parse(&good).map(|hello| hello.ranks), Ok(RANKS));
    for bad in [&other[..], &good[..good.len() - 1]] {
        let refused = Hello::parse(bad).map(|hello| hello.ranks);
        assert_eq!(refused, Err(HandshakeError::BadMagic));
    }
}

/// Both ranks keep the same connection, whatever each knows when the other connects.
#[test]
fn of_two_connects_one_is_kept() {
    use ConnectDecision::{Accept, Refuse};
    use PeerState::{Authenticated, Connected, Connecting, Lost, Unconnected};
    for (state, lower, higher) in [
        (Unconnected, Accept, Accept),
        (Connecting, Accept, Accept),
        (Authenticated, Refuse(Refusal::Duplicate), Accept),
        (
            Connected,
            Refuse(Refusal::Duplicate),
            Refuse(Refusal::Duplicate),
        ),
        (Lost, Refuse(Refusal::GivenUp), Refuse(Refusal::GivenUp)),
    ] {
        assert_eq!(decide(2, 7, state), lower, "{state:?}");
        assert_eq!(decide(7, 2, state), higher, "{state:?}");
    }
}
