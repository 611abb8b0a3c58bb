//! Fuzz body of PMI: a hostile process manager for the client, a hostile rank for the server, and correct
//! ones over a stream in arbitrary pieces.

use oxmpi_wire::pmi::{
    Client, Event, LINE_MAX, Line, Mapping, PmiRequest, PortHandshake, RankState, Reply, Server,
};

/// The rank that obeys the protocol.
const HONEST: u32 = 0;
/// The rank that sends `data`.
const HOSTILE: u32 = 1;

/// Uses `data` as a line, a mapping, a manager's replies and a rank's requests, then as sizes of the pieces
/// of a correct conversation.
///
/// # Panics
/// If a part panics, writes a line that it would refuse, answers after a fault, or if the correct
/// conversation fails.
pub fn pmi(data: &[u8]) {
    line(data);
    mapping(data);
    port_handshake(data);
    hostile_manager(data);
    hostile_rank(data);
    honest(data);
}

fn line(data: &[u8]) {
    match Line::parse(data) {
        Ok(line) => {
            assert!(!line.command().is_empty());
            assert_eq!(line.value("cmd"), Some(line.command()));
        }
        Err(error) => assert!(error.to_string().len() < 200, "{error}"),
    }
}

/// Parses `data` as a mapping: a valid one has a node for every rank, and each rank is its own neighbour.
fn mapping(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    match Mapping::parse(text) {
        Ok(mapping) => {
            for rank in [0, 1, 63] {
                assert!((1..=64).contains(&mapping.neighbours(rank, 64)));
            }
            assert!(mapping.node(u32::MAX) < u32::MAX);
        }
        Err(error) => assert!(error.to_string().len() < 300, "{error}"),
    }
}

/// Uses `data` as the answer of the handshake at a port.
fn port_handshake(data: &[u8]) {
    let mut handshake = PortHandshake::default();
    for piece in data.chunks(7) {
        match handshake.feed(piece) {
            Ok(None) => {}
            Ok(Some(place)) => {
                assert!(place.rank < place.size);
                return;
            }
            Err(error) => {
                assert!(error.to_string().len() < 400, "{error}");
                return;
            }
        }
    }
}

const REQUESTS: [PmiRequest<'_>; 9] = [
    PmiRequest::Init,
    PmiRequest::Maxes,
    PmiRequest::Appnum,
    PmiRequest::UniverseSize,
    PmiRequest::KvsName,
    PmiRequest::Put {
        kvs: "k",
        key: "a",
        value: "b",
    },
    PmiRequest::Barrier,
    PmiRequest::Get { kvs: "k", key: "a" },
    PmiRequest::Finalize,
];

/// Uses each line of `data` as the reply to the next request.
fn hostile_manager(data: &[u8]) {
    let mut client = Client::new();
    let mut answers = data.split_inclusive(|byte| *byte == b'\n');
    for request in REQUESTS {
        let Ok(line) = client.request(request) else {
            return;
        };
        assert!(Line::parse(line.as_bytes()).is_ok() && line.len() <= LINE_MAX);
        loop {
            let Some(answer) = answers.next() else { return };
            match client.feed(answer) {
                Ok(None) => {}
                Ok(Some(_)) => break,
                Err(error) => {
                    assert!(error.to_string().len() < 400, "{error}");
                    assert!(client.request(PmiRequest::Barrier).is_err());
                    return;
                }
            }
        }
    }
}

/// A rank sends `data`; the other one is served as usual.
fn hostile_rank(data: &[u8]) {
    let mut server = Server::new("k", &[0, 0]);
    let mut faults = 0;
    for piece in data.chunks(LINE_MAX / 3) {
        server.feed(HOSTILE, piece);
        while let Some(event) = server.poll() {
            assert_eq!(
                faults, 0,
                "nothing is read after a fault or an abort: {event:?}"
            );
            match event {
                Event::Write { rank, line } => {
                    assert_eq!(rank, HOSTILE);
                    assert!(Line::parse(line.as_bytes()).is_ok() && line.ends_with('\n'));
                    assert!(line.len() <= LINE_MAX + 64, "{} bytes", line.len());
                }
                Event::Fault { .. } | Event::Abort { .. } => faults += 1,
                _ => {}
            }
        }
    }
    server.feed(
        HONEST,
        b"cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_my_kvsname\n",
    );
    let answers: Vec<Event> = std::iter::from_fn(|| server.poll()).collect();
    assert_eq!(answers.len(), 3, "{answers:?}");
    assert_eq!(server.rank_state(HONEST), RankState::Joined);
    server.gone(HOSTILE);
}

/// One rank joins, puts, gets and leaves; the bytes of `data` are the lengths of the pieces of its stream.
fn honest(data: &[u8]) {
    let mut server = Server::new("k", &[3]);
    let mut client = Client::new();
    let mut sizes = data
        .iter()
        .map(|byte| usize::from(*byte % 32) + 1)
        .chain(std::iter::repeat(1));
    for request in REQUESTS {
        let line = client.request(request).expect("it is in turn").to_owned();
        let mut answer = Vec::new();
        for piece in pieces(line.as_bytes(), &mut sizes) {
            server.feed(HONEST, piece);
        }
        while let Some(event) = server.poll() {
            match event {
                Event::Write { line, .. } => answer.extend_from_slice(line.as_bytes()),
                Event::Joined(_) | Event::Left(_) => {}
                wrong => panic!("{wrong:?}"),
            }
        }
        let mut replies = 0;
        for piece in pieces(&answer, &mut sizes) {
            if let Some(reply) = client.feed(piece).expect("it is honest") {
                replies += 1;
                assert!(expected(request, reply), "{request:?} gave {reply:?}");
            }
        }
        assert_eq!(replies, 1);
    }
}

fn expected(request: PmiRequest<'_>, reply: Reply<'_>) -> bool {
    match request {
        PmiRequest::Appnum => reply == Reply::Appnum(Some(3)),
        PmiRequest::UniverseSize => reply == Reply::UniverseSize(Some(1)),
        PmiRequest::KvsName => reply == Reply::KvsName("k"),
        PmiRequest::Get { .. } => reply == Reply::Value(Some("b")),
        _ => true,
    }
}

/// Cuts `bytes` into pieces of these sizes.
fn pieces<'b>(mut bytes: &'b [u8], sizes: &mut impl Iterator<Item = usize>) -> Vec<&'b [u8]> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let (piece, rest) = bytes.split_at(sizes.next().unwrap_or(1).min(bytes.len()));
        all.push(piece);
        bytes = rest;
    }
    all
}
