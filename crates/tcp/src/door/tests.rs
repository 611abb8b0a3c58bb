use proptest::prelude::*;

use super::message::{Challenge, Hello, Welcome};
use super::*;

const WHO: Who = Who { from: 3, to: 5 };

fn key() -> JobKey {
    JobKey::new(b"the job's")
}

/// How a greeting went on either side.
#[derive(Debug, PartialEq)]
struct Met {
    caller: Result<bool, Turned>,
    host: Result<Option<Who>, Turned>,
    said: [usize; 2],
}

/// Lets a caller and a host talk in pieces of `piece` bytes, until neither says more. `change` may
/// change what is on its way: the sender (0: the caller), how much it has said before, and a byte.
fn talk(
    mut caller: Caller,
    mut host: Host,
    piece: usize,
    change: impl Fn(usize, usize, u8) -> u8,
) -> Met {
    let mut met = Met {
        caller: Ok(false),
        host: Ok(None),
        said: [0; 2],
    };
    loop {
        let to_host: Vec<u8> = caller.output().iter().copied().take(piece).collect();
        let to_host = &to_host[..to_host.len().min(host.input().len())];
        caller.wrote(to_host.len());
        let mut moved = to_host.len();
        if met.host == Ok(None) && !to_host.is_empty() {
            for (at, (to, from)) in host.input().iter_mut().zip(to_host).enumerate() {
                *to = change(0, met.said[0] + at, *from);
            }
            met.host = host.came(to_host.len());
            if matches!(met.host, Ok(Some(_))) {
                host.conclude(Verdict::Welcome);
            }
        }
        met.said[0] += to_host.len();

        let to_caller: Vec<u8> = host.output().iter().copied().take(piece).collect();
        let to_caller = &to_caller[..to_caller.len().min(caller.input().len())];
        host.wrote(to_caller.len());
        moved += to_caller.len();
        if met.caller == Ok(false) && !to_caller.is_empty() {
            for (at, (to, from)) in caller.input().iter_mut().zip(to_caller).enumerate() {
                *to = change(1, met.said[1] + at, *from);
            }
            met.caller = caller.came(to_caller.len());
        }
        met.said[1] += to_caller.len();
        if moved == 0 {
            return met;
        }
    }
}

fn caller(key: JobKey, who: Who) -> Caller {
    Caller::new(key, who, [1; 16])
}

fn host(key: JobKey) -> Host {
    Host::new(key, WHO.to, 8, [2; 16])
}

fn same(_: usize, _: usize, byte: u8) -> u8 {
    byte
}

#[test]
fn who_knows_the_key_is_let_in_whatever_the_pieces() {
    let said = [Hello::LEN + Proof::LEN, Challenge::LEN + Welcome::LEN];
    for piece in 1..=said[1] {
        let met = talk(caller(key(), WHO), host(key()), piece, same);
        assert_eq!(
            met,
            Met {
                caller: Ok(true),
                host: Ok(Some(WHO)),
                said
            },
            "pieces of {piece}"
        );
    }
}

#[test]
fn another_key_opens_nothing() {
    let met = talk(caller(JobKey::new(b"other"), WHO), host(key()), 99, same);
    assert_eq!(met.caller, Err(Turned::Key), "the host proves itself first");
    assert_eq!(
        (met.host, met.said[0]),
        (Ok(None), Hello::LEN),
        "a proof is not given to a liar"
    );
}

/// A stranger may copy the host's proof back, or guess: the roles are part of a proof.
#[test]
fn a_proof_cannot_be_turned_round() {
    let mut host = host(key());
    let hello = Hello {
        who: WHO,
        nonce: [7; 16],
    }
    .bytes();
    host.input().copy_from_slice(&hello);
    assert_eq!(host.came(hello.len()), Ok(None));
    let challenge = host.output().to_vec();
    host.wrote(challenge.len());
    host.input().copy_from_slice(&challenge[32..]);
    assert_eq!(host.came(Proof::LEN), Err(Turned::Key));
    assert_eq!(
        host.output(),
        Welcome::bytes(Some(Refusal::Key)),
        "it is told why"
    );
}

#[test]
fn names_that_cannot_be_are_refused() {
    for (from, to) in [(3, 4), (8, 5), (5, 5), (u32::MAX, 5)] {
        let who = Who { from, to };
        let met = talk(caller(key(), who), host(key()), 99, same);
        assert_eq!(met.caller, Err(Turned::Refused(Refusal::Name)));
        assert_eq!(
            met.host,
            Err(Turned::Name {
                who,
                here: 5,
                ranks: 8
            })
        );
    }
    let why = Turned::Name {
        who: Who { from: 9, to: 4 },
        here: 5,
        ranks: 8,
    };
    assert_eq!(
        why.to_string(),
        "it says that it is rank 9 and wants rank 4; here is rank 5 of 8"
    );
}

#[test]
fn a_twin_is_told() {
    let (mut caller, mut host) = (caller(key(), WHO), host(key()));
    for _ in 0..2 {
        let said = caller.output().to_vec();
        caller.wrote(said.len());
        host.input().copy_from_slice(&said);
        host.came(said.len()).unwrap();
        let said = host.output().to_vec();
        if !said.is_empty() {
            host.wrote(said.len());
            caller.input().copy_from_slice(&said);
            assert_eq!(caller.came(said.len()), Ok(false));
        }
    }
    host.conclude(Verdict::Refuse(Refusal::Twin));
    let said = host.output().to_vec();
    caller.input().copy_from_slice(&said);
    assert_eq!(caller.came(said.len()), Err(Turned::Refused(Refusal::Twin)));
}

#[test]
fn old_versions_are_told_and_scanners_are_not() {
    let other = |sender, at, byte| if (sender, at) == (0, 8) { 77 } else { byte };
    let met = talk(caller(key(), WHO), host(key()), 99, other);
    assert_eq!(
        (met.host, met.said[1]),
        (Err(Turned::Version(77)), Challenge::LEN)
    );
    let other = |sender, at, byte| if (sender, at) == (1, 8) { 77 } else { byte };
    assert_eq!(
        talk(caller(key(), WHO), host(key()), 99, other).caller,
        Err(Turned::Version(77))
    );

    let mut host = host(key());
    host.input()[..4].copy_from_slice(b"GET ");
    assert_eq!(
        host.came(4),
        Err(Turned::Stranger),
        "told by its first words"
    );
    assert!(host.output().is_empty(), "and not answered");
}

proptest! {
    /// Whatever one byte on its way is changed to, nobody is let in who was not.
    #[test]
    fn every_byte_counts(
        sender in 0usize..2,
        at in 0usize..Challenge::LEN,
        flip in 1u8..=255,
        piece in 1usize..100,
    ) {
        let said = [Hello::LEN + Proof::LEN, Challenge::LEN + Welcome::LEN];
        prop_assume!(at < said[sender]);
        let change = |from, place, byte| if (from, place) == (sender, at) { byte ^ flip } else { byte };
        let met = talk(caller(key(), WHO), host(key()), piece, change);
        prop_assert!(met.caller.is_err() || met.host.is_err(), "{met:?}");
    }

    /// Noise opens no door, on either side.
    #[test]
    fn noise_opens_nothing(noise in prop::collection::vec(any::<u8>(), 0..300), rightly in any::<bool>()) {
        let mut noise = noise;
        if rightly {
            noise.splice(0..0, Hello { who: WHO, nonce: [9; 16] }.bytes());
        }
        let (mut host, mut caller) = (host(key()), caller(key(), WHO));
        let mut rest = &noise[..];
        while !rest.is_empty() {
            let len = host.input().len().min(rest.len());
            host.input()[..len].copy_from_slice(&rest[..len]);
            rest = &rest[len..];
            match host.came(len) {
                Ok(who) => prop_assert_eq!(who, None),
                Err(_) => break,
            }
        }
        let mut rest = &noise[..];
        while !rest.is_empty() {
            let len = caller.input().len().min(rest.len());
            caller.input()[..len].copy_from_slice(&rest[..len]);
            rest = &rest[len..];
            match caller.came(len) {
                Ok(welcome) => prop_assert!(!welcome),
                Err(_) => break,
            }
        }
    }
}

/// Both ranks come to the same choice, whatever each of them knows when the other's call comes.
#[test]
fn of_two_calls_one_is_kept() {
    use Standing::{Apart, Calling, Lost, Met, Proved};
    use Verdict::{Refuse, Welcome};
    for (standing, lower, higher) in [
        (Apart, Welcome, Welcome),
        (Calling, Welcome, Welcome),
        (Proved, Refuse(Refusal::Twin), Welcome),
        (Met, Refuse(Refusal::Twin), Refuse(Refusal::Twin)),
        (Lost, Refuse(Refusal::Lost), Refuse(Refusal::Lost)),
    ] {
        assert_eq!(judge(2, 7, standing), lower, "{standing:?}");
        assert_eq!(judge(7, 2, standing), higher, "{standing:?}");
    }
}
