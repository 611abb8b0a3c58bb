//! Clients and their server joined: whatever the order of ranks and the pieces of their streams,
//! every rank reads after the barrier what the others put before it.

use std::collections::VecDeque;

use oxmpi_wire::pmi::{Client, Event, PmiRequest, Reply, Server};
use proptest::prelude::*;

/// Steps after which a job that has not ended hangs.
const PATIENCE: usize = 1 << 20;

/// One rank: what it still has to ask, and the bytes under way to and from it.
struct Party {
    client: Client,
    script: VecDeque<Step>,
    to_server: VecDeque<u8>,
    to_client: VecDeque<u8>,
    waiting: Option<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Init,
    Put(String, String),
    Barrier,
    Expect(String, String),
    Finalize,
}

impl Step {
    fn request(&self) -> PmiRequest<'_> {
        match self {
            Self::Init => PmiRequest::Init,
            Self::Put(key, value) => PmiRequest::Put {
                kvs: "kvs",
                key,
                value,
            },
            Self::Barrier => PmiRequest::Barrier,
            Self::Expect(key, _) => PmiRequest::Get { kvs: "kvs", key },
            Self::Finalize => PmiRequest::Finalize,
        }
    }
}

/// Takes up to `count` bytes off the front.
fn some(from: &mut VecDeque<u8>, count: usize) -> Vec<u8> {
    let count = count.min(from.len());
    from.drain(..count).collect()
}

/// The scripts of a job whose rank `r` puts `values[r]`.
fn parties(values: &[Vec<String>]) -> Vec<Party> {
    let key = |rank: usize, i: usize| format!("{rank}-{i}");
    let script = |rank: usize| {
        let puts = values[rank]
            .iter()
            .enumerate()
            .map(|(i, value)| Step::Put(key(rank, i), value.clone()));
        let gets = values.iter().enumerate().flat_map(|(rank, values)| {
            values
                .iter()
                .enumerate()
                .map(move |(i, value)| Step::Expect(key(rank, i), value.clone()))
        });
        let mut steps = VecDeque::from([Step::Init]);
        steps.extend(puts);
        steps.push_back(Step::Barrier);
        steps.extend(gets);
        steps.push_back(Step::Finalize);
        steps
    };
    (0..values.len())
        .map(|rank| Party {
            client: Client::new(),
            script: script(rank),
            to_server: VecDeque::new(),
            to_client: VecDeque::new(),
            waiting: None,
        })
        .collect()
}

proptest! {
    #[test]
    fn what_is_put_before_a_barrier_is_got_after_it(
        values in prop::collection::vec(prop::collection::vec("[!-\\[\\]-~]{1,40}", 0..4), 1..5),
        choices in prop::collection::vec((0..5_usize, 1..64_usize), 1..64),
    ) {
        let mut parties = parties(&values);
        let mut server = Server::new("kvs", &vec![0; values.len()]);
        let mut left = 0;
        let mut choices = choices.iter().cycle();
        for _ in 0..PATIENCE {
            if left == parties.len() {
                return Ok(());
            }
            let (rank, size) = choices.next().expect("they go round");
            // The other ranks move, too: a cycle of choices may name some rank only.
            for rank in [*rank % values.len(), left % values.len()].into_iter().chain(0..values.len()) {
                let party = &mut parties[rank];
                if party.waiting.is_none() && let Some(step) = party.script.pop_front() {
                    let line = party.client.request(step.request()).expect("it is in turn");
                    party.to_server.extend(line.bytes());
                    party.waiting = Some(step);
                }
                let bytes = some(&mut party.to_server, *size);
                server.feed(u32::try_from(rank).expect("few ranks"), &bytes);
                let bytes = some(&mut party.to_client, *size);
                if let Some(reply) = party.client.feed(&bytes).expect("the server is honest") {
                    match party.waiting.take() {
                        Some(Step::Expect(_, value)) => prop_assert_eq!(reply, Reply::Value(Some(&value))),
                        Some(Step::Barrier) => prop_assert_eq!(reply, Reply::Barrier),
                        waiting => prop_assert!(waiting.is_some()),
                    }
                }
                while let Some(event) = server.poll() {
                    match event {
                        Event::Write { rank, line } => parties[rank as usize].to_client.extend(line.bytes()),
                        Event::Joined(_) => {}
                        Event::Left(_) => left += 1,
                        wrong => prop_assert!(false, "{:?}", wrong),
                    }
                }
            }
        }
        prop_assert!(false, "the job hangs");
    }
}
