//! Collectives of a shared endpoint: one thread waits for or cancels what another advances.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;

use oxmpi_coll::catalog::{Algorithm, Call, Parameters};
use oxmpi_os::RawBytes;

use super::elementwise;
use super::job::job;
use crate::bytes::target;
use crate::collective_state::NodeGroups;
use crate::collective_state::{Area, Buffers};
use crate::envelope::{Source, Tag};
use crate::error::Result;
use crate::operation::OwnedOperation;
use crate::threading::sealed::EndpointAccess;
use crate::{Communicator, Mode, Multi, thread_endpoints};

/// Times a persistent collective is run.
const RUNS: usize = 500;

/// Does the work while another thread drives the communicator's endpoint.
fn while_another_thread_drives(shared: &Communicator<Multi>, work: impl FnOnce()) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // No rank sends it.
                let found = shared.iprobe(Source::Rank(0), Tag::Is(1));
                assert!(found.expect("no rank is lost").is_none());
                thread::yield_now();
            }
        });
        work();
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_persistent_collective_can_start_again_once_it_has_completed() {
    job(2, |comm| {
        let shared = comm.share().expect("the ranks agree");
        let call = Call::barrier(comm.group().rank(), 2);
        let prepared = shared.prepare(call, Buffers::NONE, None).expect("it suits");
        while_another_thread_drives(&shared, || {
            for _ in 0..RUNS {
                let request = prepared.start().expect("it has ended");
                shared.wait(request).expect("it ends well");
            }
        });
    });
}

/// Of four ranks the last two never come, so it ends only if it is taken back.
#[test]
fn a_collective_that_another_thread_advances_can_be_cancelled() {
    const SIZE: u32 = 4;
    job(SIZE, |comm| {
        let rank = comm.group().rank();
        let shared = comm.share().expect("the ranks agree");
        let mut value = [u64::from(rank)];
        let call = Call::allreduce(rank, SIZE, 1, 8).with_in_place(true);
        let buffers = Buffers::new(Area::empty(), Area::Whole(target(&mut value)));
        let plan = Algorithm::AllreduceRecursiveDoubling.plan(&call, &Parameters::NONE);
        let (entered, is_out) = channel();
        let operation = OwnedOperation::by_program(elementwise(move |a: u64, b: u64| {
            let _heard = entered.send(());
            (0..1000).for_each(|_| thread::yield_now());
            a + b
        }));
        let start = || {
            shared.start_plan(
                &call,
                (plan.expect("it suits"), NodeGroups::Waited),
                buffers,
                Some(operation),
            )
        };
        let error = match rank {
            0 => {
                let request = start().expect("it starts");
                while_another_thread_drives(&shared, || {
                    comm.send(RawBytes::empty(), 1, 2, Mode::Standard)
                        .expect("rank 1 receives");
                    is_out.recv().expect("the driver advances it");
                    let taken_back = shared.cancel(request).expect("it is under way");
                    assert!(taken_back.is_none());
                });
                return;
            }
            1 => {
                let go = comm.recv(RawBytes::empty(), Source::Rank(0), Tag::Is(2));
                go.expect("rank 0 sends");
                let request = start().expect("it starts");
                shared.wait(request).expect_err("not all come")
            }
            _ => shared.barrier().expect_err("rank 0 does not come"),
        };
        let text = error.to_string();
        assert!(text.contains("the part of rank 0 failed"), "{text}");
    });
}

/// Leaving while another thread is inside an operation waits until that has come back.
#[test]
fn an_endpoint_is_left_after_what_another_thread_advances() {
    const SIZE: u32 = 2;
    job(SIZE, |comm| {
        let rank = comm.group().rank();
        let shared = comm.share().expect("the ranks agree");
        let mut value = [u64::from(rank)];
        let call = Call::allreduce(rank, SIZE, 1, 8).with_in_place(true);
        let buffers = Buffers::new(Area::empty(), Area::Whole(target(&mut value)));
        let plan = Algorithm::AllreduceRecursiveDoubling.plan(&call, &Parameters::NONE);
        let (entered, is_out) = channel();
        let come_back = Arc::new(AtomicBool::new(false));
        let comes_back = Arc::clone(&come_back);
        let operation = OwnedOperation::by_program(elementwise(move |a: u64, b: u64| {
            let _heard = entered.send(());
            (0..1000).for_each(|_| thread::yield_now());
            comes_back.store(true, Ordering::Relaxed);
            a + b
        }));
        let request = shared
            .start_plan(
                &call,
                (plan.expect("it suits"), NodeGroups::Waited),
                buffers,
                Some(operation),
            )
            .expect("it starts");
        if rank == 1 {
            shared.wait(request).expect("rank 0 has sent its part");
            return;
        }
        thread::scope(|scope| {
            scope.spawn(|| while shared.iprobe(Source::Rank(1), Tag::Is(1)).is_ok() {});
            is_out.recv().expect("the thread advances it");
            shared.access().leave();
            assert!(come_back.load(Ordering::Relaxed));
        });
        // Well, if that was its last step.
        let _ended = shared.wait(request);
    });
}

/// Ranks that connect anew wait in system calls for ranks that may still need messages of theirs.
#[test]
fn a_rank_that_waits_in_a_system_call_still_delivers() {
    /// More than fits anywhere between two ranks.
    const MESSAGES: u32 = 20_000;
    let connected = Barrier::new(2);
    job(2, |comm| {
        if comm.group().rank() == 1 {
            for tag in 0..MESSAGES {
                let came = comm.recv(RawBytes::empty(), Source::Rank(0), Tag::Is(tag));
                came.expect("rank 0 sends");
            }
            connected.wait();
            return;
        }
        let send = |tag| comm.isend(RawBytes::empty(), 1, tag, Mode::Standard);
        let sent: Result<Vec<_>> = (0..MESSAGES).map(send).collect();
        thread_endpoints::while_driving(|| {
            connected.wait();
            Ok(())
        })
        .expect("they connect");
        for request in sent.expect("rank 1 is there") {
            comm.wait(request).expect("it has come");
        }
    });
}
