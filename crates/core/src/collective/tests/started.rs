//! Collectives that are started: any number at once, ended in any order, once or again and again.

use std::cell::RefCell;

use oxmpi_coll::catalog::{Algorithm, Call, Collective};
use oxmpi_coll::check::{Case, Task, draw};
use oxmpi_os::RawBytes;

use super::arena::{Arena, combine};
use super::elementwise;
use super::job::{job, job_placed};
use super::{calls, sample, uneven_nodes};
use crate::bytes::{source, target};
use crate::collective_state::{Buffers, NodeGroups};
use crate::envelope::{Source, Tag};
use crate::operation::OwnedOperation;
use crate::placement::on_one_node;
use crate::{Communicator, Mode, RawRequest, Single};

/// Collectives that are under way at once.
const AT_ONCE: usize = 5;

/// One rank's share of a case.
pub(super) struct Share {
    algorithm: Algorithm,
    case: Case,
    pub(super) call: Call,
    pub(super) task: Task,
    pub(super) arena: Arena,
}

impl Share {
    pub(super) fn new(algorithm: Algorithm, case: Case, rank: u32) -> Self {
        let (mut calls, mut contract) = calls(&case);
        let task = contract.tasks.swap_remove(rank as usize);
        Self {
            algorithm,
            case,
            call: calls.swap_remove(rank as usize),
            arena: Arena::new(&case, rank, &task),
            task,
        }
    }

    pub(super) fn operation(&self) -> Option<OwnedOperation> {
        let commutative = self.case.commutative || self.case.exact;
        let combine = elementwise(move |left, right| combine(commutative, left, right));
        Some(OwnedOperation::by_program(combine))
    }

    pub(super) fn check(&mut self) {
        let what = format!("{} of {:?}", self.algorithm, self.case);
        self.arena.check(&self.case, &self.task, || what.clone());
    }
}

/// The places of a list in another order on each rank.
fn shuffled(len: usize, rank: u32, seed: u64) -> Vec<usize> {
    let mut places: Vec<usize> = (0..len).collect();
    places.sort_by_key(|&place| draw(seed ^ u64::from(rank) << 32, place as u64));
    places
}

fn barrier(comm: &Communicator<Single>) -> RawRequest {
    let call = Call::barrier(comm.group().rank(), comm.group().size());
    comm.start(call, Buffers::NONE, None).expect("it starts")
}

#[test]
fn several_collectives_run_at_once_and_complete_in_any_order() {
    for size in [1, 2, 3, 4, 7] {
        job(size, |comm| {
            let rank = comm.group().rank();
            // The first collective that a rank waits for makes the node group.
            comm.allreduce_in_place(&mut [rank], Ord::max)
                .expect("no rank fails");
            let all = Algorithm::ALL.into_iter();
            let all: Vec<(Algorithm, Case)> = all
                .flat_map(|algorithm| {
                    let cases = sample(algorithm, on_one_node(size)).into_iter().take(3);
                    cases.map(move |case| (algorithm, case))
                })
                .collect();
            for (round, some) in all.chunks(AT_ONCE).enumerate() {
                let shares = some
                    .iter()
                    .map(|&(algorithm, case)| Share::new(algorithm, case, rank));
                let mut shares: Vec<Share> = shares.collect();
                let requests: Vec<RawRequest> = shares
                    .iter()
                    .map(|share| {
                        let parameters = &share.case.parameters;
                        let plan = share
                            .algorithm
                            .plan(&share.call, parameters)
                            .expect("suits");
                        let buffers = share.arena.buffers();
                        let groups = match share.algorithm.is_by_messages() {
                            true => NodeGroups::Waited,
                            false => NodeGroups::Queued(
                                comm.queue_for_node_group().expect("no rank failed"),
                            ),
                        };
                        let plan = (plan, groups);
                        comm.start_plan(&share.call, plan, buffers, share.operation())
                            .expect("it starts")
                    })
                    .collect();
                if round % 3 == 0 {
                    comm.barrier().expect("no rank fails");
                }
                for at in shuffled(requests.len(), rank, round as u64) {
                    if round % 2 == 0 {
                        comm.wait(requests[at]).expect("it ends well");
                    } else {
                        let test = || {
                            // The ranks share processors.
                            std::thread::yield_now();
                            Some(comm.test(requests[at]))
                        };
                        let ended = std::iter::from_fn(test);
                        ended.flatten().next().expect("it ends").expect("well");
                    }
                    shares[at].check();
                }
            }
        });
    }
}

#[test]
fn persistent_collectives_start_repeatedly_in_any_order() {
    let one_node = [1, 2, 5].map(|size| on_one_node(size).into());
    for nodes in one_node.into_iter().chain(uneven_nodes()) {
        let size = nodes.size();
        job_placed(nodes, |comm| {
            let rank = comm.group().rank();
            let shares = Collective::ALL.into_iter().map(|collective| {
                let case = Case {
                    seed: 3,
                    ..Case::new(collective, size, 50)
                };
                let algorithm = collective.algorithms().next().expect("there is one");
                Share::new(algorithm, case, rank)
            });
            let mut shares: Vec<Share> = shares.collect();
            let prepared: Vec<_> = shares
                .iter()
                .map(|share| {
                    let buffers = share.arena.buffers();
                    let prepared = comm.prepare(share.call, buffers, share.operation());
                    prepared.expect("it suits")
                })
                .collect();
            for round in 0..4 {
                let order = shuffled(prepared.len(), rank, round);
                let start = |&at: &usize| (at, prepared[at].start().expect("it starts"));
                let started: Vec<_> = order.iter().map(start).collect();
                for (at, request) in started {
                    comm.wait(request).expect("it ends well");
                    shares[at].check();
                    shares[at].arena.forget(shares[at].task.output);
                }
            }
        });
    }
}

#[test]
fn a_collective_in_progress_is_not_started_again() {
    job(2, |comm| {
        let call = Call::barrier(comm.group().rank(), 2);
        let prepared = comm.prepare(call, Buffers::NONE, None).expect("it suits");
        if comm.group().rank() == 0 {
            let request = prepared.start().expect("it starts");
            let again = prepared.start().expect_err("it has not ended");
            assert!(again.to_string().contains("has not ended"), "{again}");
            comm.send(RawBytes::empty(), 1, 1, Mode::Standard)
                .expect("rank 1 receives");
            comm.wait(request).expect("it ends well");
        } else {
            let go = comm.recv(RawBytes::empty(), Source::Rank(0), Tag::Is(1));
            go.expect("rank 0 sends");
            let request = prepared.start().expect("it starts");
            comm.wait(request).expect("it ends well");
        }
    });
}

/// While a rank waits for a message, what it owes to a collective goes on.
#[test]
fn a_wait_for_a_message_advances_collectives() {
    for size in [3, 8] {
        job(size, |comm| {
            let (rank, size) = (comm.group().rank(), comm.group().size());
            let started = barrier(comm);
            let mut word = [u64::from(rank)];
            if rank == 0 {
                // Sent only when the others have left the barrier, to which this rank belongs.
                for from in 1..size as usize {
                    comm.recv(target(&mut word), Source::Rank(from), Tag::Is(5))
                        .expect("it comes");
                    assert_eq!(word, [from as u64]);
                }
                comm.wait(started).expect("it ends well");
            } else {
                comm.wait(started).expect("it ends well");
                comm.send(source(&word), 0, 5, Mode::Standard)
                    .expect("rank 0 receives");
            }
        });
    }
}

thread_local! {
    static CALLED: RefCell<Option<Communicator<Single>>> = const { RefCell::new(None) };
}

/// An owner whose end calls the endpoint.
struct Calling;

impl Drop for Calling {
    fn drop(&mut self) {
        CALLED.with_borrow(|comm| {
            if let Some(comm) = comm {
                let polled = comm.poll_for(|_| Some(()));
                assert_eq!(polled.expect("the endpoint is there"), Some(()));
            }
        });
    }
}

#[test]
fn owners_of_detached_operations_may_call_the_endpoint() {
    job(1, |comm| {
        CALLED.set(Some(comm.alone().expect("there are contexts")));
        let mut into = [0u8; 40];
        for at in 0..into.len() {
            let place = target(&mut into[at..=at]);
            let tag = at as u32;
            let request = comm.irecv(place, Source::Rank(0), Tag::Is(tag));
            comm.detach(request.expect("it is posted"), Box::new(Calling));
            let sent = comm.send(source(&[tag as u8]), 0, tag, Mode::Standard);
            sent.expect("it is received");
        }
        comm.wait_for_detached().expect("the endpoint is there");
        assert!(
            into.iter()
                .enumerate()
                .all(|(at, &value)| at == usize::from(value))
        );
        drop(CALLED.take());
    });
}
