//! When one rank's part of a collective fails, all ranks learn of it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use oxmpi_coll::catalog::{Algorithm, Call, Parameters};

use super::job::job;
use crate::data::target;
use crate::error::{Error, Result};
use crate::op::custom;
use crate::raw::collective::{Area, Buffers};
use crate::raw::{Communicator, Own, RawRequest};

const SIZE: u32 = 5;

fn barrier(rank: u32) -> Call {
    Call::barrier(rank, SIZE)
}

fn nothing() -> Buffers {
    Buffers::new(Area::empty(), Area::empty())
}

/// An allreduce of two numbers that panics on rank 1.
fn treacherous(comm: &Communicator<Own>) -> Result<()> {
    let rank = comm.group().rank();
    let mut values = [u64::from(rank); 2];
    let call = Call::allreduce(rank, SIZE, 2, 8).with_in_place(true);
    let buffers = Buffers::new(Area::empty(), Area::Whole(target(&mut values)));
    let operation = custom(move |a: u64, b: u64| {
        assert!(rank != 1, "as the test wants it");
        a + b
    });
    comm.collective(call, &buffers, Some(&operation))
}

fn is_told_of(error: &Error, rank: u32) -> bool {
    let text = error.to_string();
    text.contains(&format!("the part of rank {rank} failed"))
}

/// Every later collective is refused, and ends at once.
fn is_over(comm: &Communicator<Own>) {
    let rank = comm.group().rank();
    for refused in [
        comm.barrier(),
        comm.collective(barrier(rank), &nothing(), None),
    ] {
        let error = refused.expect_err("out of step");
        assert!(error.to_string().contains("out of step"), "{error}");
    }
    assert!(comm.start(barrier(rank), nothing(), None).is_err());
}

#[test]
fn a_panic_of_an_operation_ends_the_collective_on_all_ranks() {
    job(SIZE, |comm| {
        match catch_unwind(AssertUnwindSafe(|| treacherous(comm))) {
            Err(_) => assert_eq!(comm.group().rank(), 1),
            Ok(Err(error)) => assert!(is_told_of(&error, 1), "{error}"),
            // It had its share before the panic.
            Ok(Ok(())) => {
                let error = comm.barrier().expect_err("rank 1 does not come");
                assert!(is_told_of(&error, 1), "{error}");
            }
        }
        is_over(comm);
    });
}

#[test]
fn ranks_that_wait_in_a_barrier_of_flags_learn_of_it_too() {
    job(SIZE, |comm| {
        let rank = comm.group().rank();
        let error = if rank == 3 {
            let plan = Algorithm::BarrierDissemination.plan(&barrier(rank), &Parameters::NONE);
            let plan = plan.expect("it suits");
            let started = comm.start_plan(&barrier(rank), plan, nothing(), None);
            let started: RawRequest = started.expect("it starts");
            let taken_back = comm.cancel(started).expect("it is under way");
            assert!(taken_back.is_none());
            comm.barrier().expect_err("out of step")
        } else {
            comm.barrier().expect_err("rank 3 does not come")
        };
        let text = error.to_string();
        assert!(rank == 3 || is_told_of(&error, 3), "{text}");
        is_over(comm);
    });
}

/// Ranks that do not agree on the count: whoever sees it fails, and the others are told.
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
        is_over(comm);
    });
}
