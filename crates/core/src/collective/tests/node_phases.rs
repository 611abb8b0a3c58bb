//! Started and persistent collectives that go through a node group, among blocking ones.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::channel;

use oxmpi_coll::catalog::{Call, Collective};
use oxmpi_coll::check::{Case, draw};

use super::elementwise;
use super::job::{job, job_placed};
use super::started::Share;
use super::uneven_nodes;
use crate::bytes::target;
use crate::collective_state::{Area, Buffers};
use crate::error::Result;
use crate::operation::OwnedOperation;
use crate::placement::on_one_node;
use crate::threading::Threading;
use crate::{Communicator, RawRequest};

/// Collectives that one job runs.
const RUNS: u64 = 120;

/// Started collectives under way at once, at most.
const AT_ONCE: usize = 4;

/// Makes the node group: the first collective that all ranks wait for.
fn make_group(comm: &Communicator<impl Threading>) {
    let made = comm.allreduce_in_place(&mut [comm.group().rank()], Ord::max);
    made.expect("no rank fails");
}

fn share(collective: Collective, size: u32, seed: u64, rank: u32) -> Share {
    let block = [1, 7, 50, 3000, 40_000][draw(seed, 1) as usize % 5];
    let case = Case {
        seed,
        root: draw(seed, 2) as u32 % size,
        ..Case::new(collective, size, block)
    };
    let algorithm = collective.algorithms().next().expect("there is one");
    Share::new(algorithm, case, rank)
}

/// All ranks call the same collectives in one order, and each waits for the started ones when it likes.
#[test]
fn started_and_blocking_collectives_keep_their_order() {
    let one_node = [2, 3, 4].map(|size| on_one_node(size).into());
    for nodes in one_node.into_iter().chain(uneven_nodes()) {
        let size = nodes.size();
        job_placed(nodes, |comm| {
            make_group(comm);
            let rank = comm.group().rank();
            let mut open: Vec<(Share, RawRequest)> = Vec::new();
            let wait = |(mut share, request): (Share, RawRequest)| {
                comm.wait(request).expect("it ends well");
                share.check();
            };
            for run in 0..RUNS / u64::from(size) {
                let kinds = Collective::ALL.len();
                let collective = Collective::ALL[draw(run, 0) as usize % kinds];
                let mut share = share(collective, size, run, rank);
                let buffers = share.arena.buffers();
                if draw(run, 3).is_multiple_of(3) {
                    let operation = share.operation().expect("there is one");
                    let operation = |from, into, side| operation.combine(from, into, side);
                    let done = comm.collective(&share.call, &buffers, Some(&operation));
                    done.expect("no rank fails");
                    share.check();
                } else {
                    let request = comm.start(share.call, buffers, share.operation());
                    open.push((share, request.expect("it starts")));
                }
                // Each rank in an order of its own.
                let seed = run << 8 | u64::from(rank);
                while open.len() > AT_ONCE || !open.is_empty() && draw(seed, 4).is_multiple_of(4) {
                    wait(open.swap_remove(draw(seed, open.len() as u64) as usize % open.len()));
                }
            }
            open.into_iter().for_each(wait);
        });
    }
}

/// More persistent collectives than there are node groups for them, freed and made again.
#[test]
fn node_groups_of_persistent_collectives_are_used_again() {
    job(3, |comm| {
        let rank = comm.group().rank();
        for round in 0..4 {
            let kinds = [
                Collective::Bcast,
                Collective::Allreduce,
                Collective::Alltoall,
            ];
            let shares = (0..10).map(|at| share(kinds[at as usize % 3], 3, round * 10 + at, rank));
            let mut shares: Vec<Share> = shares.collect();
            let prepare = |share: &Share| {
                let buffers = share.arena.buffers();
                let prepared = comm.prepare(share.call, buffers, share.operation());
                prepared.expect("it suits")
            };
            let prepared: Vec<_> = shares.iter().map(prepare).collect();
            for _ in 0..3 {
                // Ranks start them in orders of their own.
                let first = (rank as usize + round as usize) % shares.len();
                let order: Vec<usize> = (first..shares.len()).chain(0..first).collect();
                let start = |&at: &usize| prepared[at].start().expect("it starts");
                let started: Vec<RawRequest> = order.iter().map(start).collect();
                for (&at, request) in order.iter().zip(started) {
                    comm.wait(request).expect("it ends well");
                    shares[at].check();
                    shares[at].arena.forget(shares[at].task.output);
                }
            }
        }
    });
}

/// Starts an allreduce of one number.
fn start_sum(
    comm: &Communicator<impl Threading>,
    value: &mut [u64; 1],
    operation: impl Fn(u64, u64) -> u64 + Send + 'static,
) -> Result<RawRequest> {
    let (rank, size) = (comm.group().rank(), comm.group().size());
    let call = Call::allreduce(rank, size, 1, 8).with_in_place(true);
    let buffers = Buffers::new(Area::empty(), Area::Whole(target(value)));
    comm.start(
        call,
        buffers,
        Some(OwnedOperation::by_program(elementwise(operation))),
    )
}

#[test]
fn a_panic_in_a_started_phase_ends_the_collective_on_all_ranks() {
    job(3, |comm| {
        make_group(comm);
        let rank = comm.group().rank();
        let mut value = [u64::from(rank)];
        let operation = move |a, b| {
            assert!(rank != 1, "the panic of this test");
            a + b
        };
        let request = start_sum(comm, &mut value, operation).expect("it starts");
        match comm.wait(request) {
            Err(error) => assert!(error.to_string().contains("panicked"), "{error}"),
            // Each rank combines for itself.
            Ok(_) => assert_eq!((rank != 1, value), (true, [3])),
        }
        let error = comm.barrier().expect_err("out of step");
        let is_known = ["out of step", "the part of rank 1 failed"]
            .iter()
            .any(|known| error.to_string().contains(known));
        assert!(is_known, "{error}");
    });
}

/// Rank 1 does not come, so the collective ends only when it is taken back; one behind it ends, too.
#[test]
fn a_started_phase_can_be_cancelled() {
    job(2, |comm| {
        make_group(comm);
        if comm.group().rank() == 1 {
            let error = comm.barrier().expect_err("rank 0 has cancelled");
            assert!(
                error.to_string().contains("the part of rank 0 failed"),
                "{error}"
            );
            return;
        }
        let (mut first, mut second) = ([1], [2]);
        let one = start_sum(comm, &mut first, |a, b| a + b).expect("it starts");
        let other = start_sum(comm, &mut second, |a, b| a + b).expect("it starts");
        assert!(comm.test(one).is_none() && comm.test(other).is_none());
        let taken_back = comm.cancel(one).expect("it is under way");
        assert!(taken_back.is_none());
        comm.wait(other)
            .expect_err("the communicator's collectives have ended");
    });
}

/// An endpoint is left while a phase waits: no buffer is in use afterwards, and no rank hangs.
#[test]
fn an_endpoint_is_left_while_a_phase_waits() {
    job(2, |comm| {
        make_group(comm);
        if comm.group().rank() == 0 {
            // So long that the other rank could read it where it is.
            let mut block = vec![7_u8; 1 << 20];
            let buffers = Buffers::new(Area::Whole(target(&mut block)), Area::empty());
            let call = Call::bcast(0, 2, 0, 1 << 20);
            let request = comm.start(call, buffers, None).expect("it starts");
            let _maybe_done = comm.test(request);
        }
    });
}

#[test]
fn an_operation_of_a_started_phase_calls_no_collective() {
    let refused = AtomicUsize::new(0);
    job(3, |comm| {
        let shared = Arc::new(comm.share().expect("the ranks agree"));
        make_group(&shared);
        let mut value = [u64::from(comm.group().rank())];
        let (said, hears) = channel();
        let called = Arc::clone(&shared);
        let operation = move |a, b| {
            let error = called.allreduce_in_place(&mut [0_u32], Ord::max);
            said.send(error.expect_err("its node group is in use").to_string())
                .expect("the rank listens");
            a + b
        };
        let request = start_sum(&shared, &mut value, operation).expect("it starts");
        shared
            .wait(request)
            .expect("what was refused was not begun");
        assert_eq!(value, [3]);
        for text in hears.try_iter() {
            assert!(
                text.contains("one is in progress on this communicator"),
                "{text}"
            );
            refused.fetch_add(1, Relaxed);
        }
    });
    assert!(refused.into_inner() > 0);
}
