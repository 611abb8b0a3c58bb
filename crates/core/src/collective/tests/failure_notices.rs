//! When a collective fails on one rank, all ranks get an error.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use oxmpi_coll::catalog::{Algorithm, Call, Parameters, SharedMemory};
use oxmpi_coll::placement::{Order, Placement};
use oxmpi_wire::Status;

use super::elementwise;
use super::job::{job, job_placed};
use crate::bytes::{source, target};
use crate::collective_state::NodeGroups;
use crate::collective_state::{Area, Buffers, PlanRun};
use crate::envelope::{Source, Tag};
use crate::error::{Error, Result};
use crate::operation::OwnedOperation;
use crate::{Communicator, Group, Mode, RawRequest, Single};

const SIZE: u32 = 5;

fn barrier(rank: u32) -> Call {
    Call::barrier(rank, SIZE)
}

/// An allreduce of two numbers that panics on rank 1.
fn failing_allreduce(comm: &Communicator<Single>) -> Result<()> {
    let rank = comm.group().rank();
    let mut values = [u64::from(rank); 2];
    let call = Call::allreduce(rank, SIZE, 2, 8).with_in_place(true);
    let buffers = Buffers::new(Area::empty(), Area::Whole(target(&mut values)));
    let operation = elementwise(move |a: u64, b: u64| {
        assert!(rank != 1, "the panic of this test");
        a + b
    });
    comm.collective(&call, &buffers, Some(&operation))
}

fn names_rank(error: &Error, rank: u32) -> bool {
    let text = error.to_string();
    text.contains(&format!("the part of rank {rank} failed"))
}

/// Every later collective is refused, and ends at once.
fn all_are_refused(comm: &Communicator<Single>) {
    let rank = comm.group().rank();
    for refused in [
        comm.barrier(),
        comm.collective(&barrier(rank), &Buffers::NONE, None),
    ] {
        let error = refused.expect_err("out of step");
        assert!(error.to_string().contains("out of step"), "{error}");
    }
    assert!(comm.start(barrier(rank), Buffers::NONE, None).is_err());
}

/// Placements on one node, and on two nodes that each reduce their own values first.
fn places() -> [Placement; 2] {
    [SIZE, 3].map(|per_node| Placement::new(Order::Block, SIZE, per_node))
}

#[test]
fn a_panic_of_an_operation_ends_the_collective_on_all_ranks() {
    job(SIZE, |comm| {
        match catch_unwind(AssertUnwindSafe(|| failing_allreduce(comm))) {
            Err(_) => assert_eq!(comm.group().rank(), 1),
            Ok(Err(error)) => assert!(names_rank(&error, 1), "{error}"),
            // It had its share before the panic.
            Ok(Ok(())) => {
                let error = comm.barrier().expect_err("rank 1 does not come");
                assert!(names_rank(&error, 1), "{error}");
            }
        }
        all_are_refused(comm);
    });
}

/// Sums up one number of each rank, those of each node first.
fn sum_on_nodes(
    comm: &Communicator<Single>,
    place: Placement,
    operation: impl Fn(u64, u64) -> u64,
) -> Result<u64> {
    let rank = comm.group().rank();
    let mut value = [u64::from(rank)];
    let call = Call::allreduce(rank, SIZE, 1, 8).with_in_place(true);
    let buffers = Buffers::new(Area::empty(), Area::Whole(target(&mut value)));
    let parameters = Parameters {
        per_node: place.per_node(),
        ..Parameters::NONE
    };
    let call = call.with_shared_memory(SharedMemory::All);
    let plan = Algorithm::AllreduceIntraNode.plan(&call, &parameters);
    let plan = plan.expect("it suits");
    let run = PlanRun::new(plan, &call, comm.numbers().once(), true);
    comm.carry_out(run, comm.group(), &buffers, Some(&elementwise(operation)))?;
    Ok(value[0])
}

/// A collective in which the ranks make their node group.
fn broadcast_a_byte(comm: &Communicator<Single>) -> Result<()> {
    let (rank, mut byte) = (comm.group().rank(), [0_u8]);
    let (input, output) = match rank {
        0 => (Area::Whole(target(&mut byte)), Area::empty()),
        _ => (Area::empty(), Area::Whole(target(&mut byte))),
    };
    let call = Call::bcast(rank, SIZE, 0, 1);
    comm.collective(&call, &Buffers::new(input, output), None)
}

#[test]
fn a_panic_in_an_intra_node_phase_ends_the_collective_on_all_ranks() {
    for place in places() {
        job_placed(place, |comm| {
            let rank = comm.group().rank();
            // It combines what the ranks of its node bring, and the others wait for that.
            let operation = |a, b| {
                assert!(rank != 0, "the panic of this test");
                a + b
            };
            let sum = || broadcast_a_byte(comm).and_then(|()| sum_on_nodes(comm, place, operation));
            match catch_unwind(AssertUnwindSafe(sum)) {
                Err(_) => assert_eq!(rank, 0),
                Ok(Err(error)) => assert!(names_rank(&error, 0), "{error}"),
                // Ranks of one node combine for themselves.
                Ok(Ok(_)) => assert_eq!(place.nodes(), 1),
            }
            assert!(broadcast_a_byte(comm).is_err());
            all_are_refused(comm);
        });
    }
}

/// A plan that takes other ranks for those of the node.
#[test]
fn a_node_group_of_other_ranks_is_refused() {
    let [all, some] = places();
    job_placed(some, |comm| {
        let sum = || sum_on_nodes(comm, all, |a, b| a + b);
        let error = broadcast_a_byte(comm).and_then(|()| sum());
        let error = error.expect_err("not of one node");
        let text = error.to_string();
        let is_own =
            text.contains("its plan has an intra-node phase that a node group does not serve");
        assert!(is_own || text.contains("failed there"), "{text}");
        all_are_refused(comm);
    });
}

#[test]
fn an_operation_calls_no_collective_while_its_node_group_is_in_use() {
    for place in places() {
        let refused = AtomicUsize::new(0);
        job_placed(place, |comm| {
            broadcast_a_byte(comm).expect("all call it");
            let first = Cell::new(true);
            let operation = |a, b| {
                if first.take() {
                    let error = broadcast_a_byte(comm).expect_err("its node group is in use");
                    let said = "one is in progress on this communicator";
                    assert!(error.to_string().contains(said), "{error}");
                    refused.fetch_add(1, Relaxed);
                }
                a + b
            };
            let sum = sum_on_nodes(comm, place, operation);
            let sum = sum.expect("what was refused was not begun");
            assert_eq!(sum, u64::from(SIZE * (SIZE - 1) / 2));
        });
        assert!(refused.into_inner() > 0, "{place:?}");
    }
}

#[test]
fn ranks_that_wait_in_a_barrier_by_flags_are_notified() {
    job(SIZE, |comm| {
        let rank = comm.group().rank();
        // The first barrier makes the node group, by messages.
        comm.barrier().expect("all come");
        let error = if rank == 3 {
            let plan = Algorithm::BarrierDissemination.plan(&barrier(rank), &Parameters::NONE);
            let plan = plan.expect("it suits");
            let started = comm.start_plan(
                &barrier(rank),
                (plan, NodeGroups::Waited),
                Buffers::NONE,
                None,
            );
            let started: RawRequest = started.expect("it starts");
            let taken_back = comm.cancel(started).expect("it is under way");
            assert!(taken_back.is_none());
            comm.barrier().expect_err("out of step")
        } else {
            comm.barrier().expect_err("rank 3 does not come")
        };
        let text = error.to_string();
        assert!(rank == 3 || names_rank(&error, 3), "{text}");
        all_are_refused(comm);
    });
}

/// Ranks that do not agree on the count: a rank that sees it fails, and the others are notified.
#[test]
fn ranks_that_do_not_agree_all_get_an_error() {
    job(SIZE, |comm| {
        let rank = comm.group().rank();
        let bytes = if rank == 0 { 8 } else { 4 };
        let mut block = vec![0u8; bytes];
        let mut all = vec![0u8; bytes * SIZE as usize];
        let call = Call::allgather(rank, SIZE, bytes as u64);
        let buffers = Buffers::new(
            Area::Whole(target(&mut block)),
            Area::Whole(target(&mut all)),
        );
        let request = comm.start(call, buffers, None).expect("it starts");
        comm.wait(request)
            .expect_err("the blocks are not of one length");
        all_are_refused(comm);
    });
}

/// A rank whose queue is so full of a peer's messages that the peer has no credit for eager ones: the peer's notice
/// is announced only, and names the right rank.
#[test]
fn a_rank_without_credit_for_eager_messages_gets_the_notice() {
    const BYTES: usize = 1024;
    const MESSAGES: usize = 2048;
    job(3, |comm| {
        let link = comm.group().rank();
        let group = Group::listed(vec![2, 1, 0], 3, 2 - link, comm.group().nodes().clone());
        let reversed = Communicator::new(comm.access().clone(), 2, group);
        let (mut body, mut word) = ([1u8; BYTES], [0u8]);
        reversed.barrier().expect("all come");
        let error = if link == 2 {
            let send = |tag| comm.isend(source(&body), 0, tag, Mode::Standard);
            let tags = std::iter::repeat_n(5, MESSAGES).chain([6]);
            let sent: Vec<_> = tags.map(send).collect();
            let held = comm.recv(target(&mut word), Source::Rank(0), Tag::Is(7));
            held.expect("link 0 sends");
            let started = reversed.start(Call::barrier(0, 3), Buffers::NONE, None);
            let taken_back = reversed.cancel(started.expect("it starts"));
            assert!(taken_back.expect("it is under way").is_none());
            let error = reversed.barrier().expect_err("out of step");
            for request in sent {
                comm.wait(request.expect("it starts"))
                    .expect("it is received");
            }
            error
        } else {
            if link == 0 {
                comm.probe(Source::Rank(2), Tag::Is(6)).expect("it comes");
                comm.send(source(&word), 2, 7, Mode::Standard)
                    .expect("link 2 receives");
            }
            reversed.barrier().expect_err("link 2 does not come")
        };
        let text = error.to_string();
        assert!(link == 2 || names_rank(&error, 0), "{text}");
        if link == 0 {
            for tag in std::iter::repeat_n(5, MESSAGES).chain([6]) {
                comm.recv(target(&mut body), Source::Rank(2), Tag::Is(tag))
                    .expect("it was sent");
                assert_eq!(body, [1; BYTES]);
            }
        }
    });
}

#[test]
fn a_message_that_was_taken_back_counts_as_none() {
    job(1, |comm| {
        let ended = comm.members().ended(Ok(Status::generalized(true)), 0);
        assert!(matches!(ended, Err(Error::Finalized)), "{ended:?}");
    });
}

/// A rank that has no memory for its part fails before it sends anything.
#[test]
fn no_memory_on_one_rank_ends_the_collective_on_all() {
    job(SIZE, |comm| {
        let rank = comm.group().rank();
        let element = if rank == 2 { 1 << 60 } else { 8 };
        let call = Call::allreduce(rank, SIZE, 2, element).with_in_place(true);
        let plan = Algorithm::AllreduceRecursiveDoubling.plan(&call, &Parameters::NONE);
        let mut values = [u64::from(rank); 2];
        let buffers = Buffers::new(Area::empty(), Area::Whole(target(&mut values)));
        let operation = OwnedOperation::predefined(elementwise(|a: u64, b: u64| a + b));
        let started = comm.start_plan(
            &call,
            (plan.expect("it suits"), NodeGroups::Waited),
            buffers,
            Some(operation),
        );
        let error = match started {
            Err(error) if rank == 2 => error,
            Ok(request) => comm.wait(request).expect_err("rank 2 does not come"),
            Err(error) => error,
        };
        let text = error.to_string();
        let is_own = rank == 2 && text.contains("no memory");
        assert!(is_own || names_rank(&error, 2), "{text}");
        all_are_refused(comm);
    });
}
