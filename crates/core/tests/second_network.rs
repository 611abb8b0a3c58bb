//! A network that the core does not know carries the ranks of a job.

use std::process;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use oxmpi_core::{
    Communicator, Endpoint, EndpointCell, EndpointPolicy, Error, Mode, OtherNetwork, Serialized,
    Single, Source, Tag, Threading, WaitMode,
};
use oxmpi_os::RawBytes;
use oxmpi_testkit::memory::pattern;
use oxmpi_testkit::switch::switch;

/// How long a job may take.
const WATCHDOG: Duration = Duration::from_secs(120);

/// Lengths around the switch's limits (48 B, 1,024 B), and some that take gets and puts.
const LENGTHS: [usize; 7] = [0, 8, 48, 49, 1024, 1025, 3_000_000];

/// Runs `rank` as each of `size` ranks: threads, each on a node of its own.
fn job(size: u32, wait: WaitMode, rank: impl Fn(&Communicator<Single>) + Sync) {
    endpoints(size, wait, |endpoint, number| {
        let group = endpoint.all_ranks(number);
        let access = Single::new(EndpointCell::new(endpoint).expect("a cell"));
        rank(&Communicator::new(access, Endpoint::FIRST_CONTEXT, group));
    });
}

/// Hands `rank` the endpoint and the number of each of `size` ranks.
fn endpoints(size: u32, wait: WaitMode, rank: impl Fn(Endpoint, u32) + Sync) {
    let ends = switch::<RawBytes>(size).expect("pipes");
    let (done, ended) = channel();
    thread::scope(|scope| {
        for (number, (tx, rx)) in (0..).zip(ends) {
            let (rank, done) = (&rank, done.clone());
            scope.spawn(move || {
                let network = OtherNetwork::new(tx, rx);
                let policy = EndpointPolicy {
                    wait,
                    ..EndpointPolicy::default()
                };
                let pids = vec![process::id(); size as usize];
                let endpoint = Endpoint::over_network(network, number, pids, policy);
                let endpoint = endpoint.expect("an endpoint");
                rank(endpoint, number);
                done.send(()).expect("the test waits");
            });
        }
        drop(done);
        for _ in 0..size {
            if ended.recv_timeout(WATCHDOG) == Err(RecvTimeoutError::Timeout) {
                eprintln!("a job over the switch hangs");
                process::abort();
            }
        }
    });
}

/// The range of `bytes`, which the caller keeps until the call that gets it has returned.
fn range(bytes: &mut [u8]) -> RawBytes {
    // SAFETY: the callers wait for each call, and use the bytes only between two calls.
    unsafe { RawBytes::new(bytes.as_mut_ptr(), bytes.len()) }
}

fn send<A: Threading>(comm: &Communicator<A>, to: usize, tag: u32, bytes: &mut [u8]) {
    let sent = comm.send(range(bytes), to, tag, Mode::Standard);
    sent.expect("the peer receives");
}

fn recv<A: Threading>(comm: &Communicator<A>, from: usize, tag: u32, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    let status = comm.recv(range(&mut bytes), Source::Rank(from), Tag::Is(tag));
    assert_eq!(status.expect("the peer sends").bytes, len as u64);
    bytes
}

/// In both directions, on every path of a message, whether ranks spin or sleep.
#[test]
fn messages_of_all_lengths_reach_both_ranks() {
    for wait in [WaitMode::Auto, WaitMode::Passive] {
        job(2, wait, |comm| {
            let me = comm.group().rank() as usize;
            for (tag, len) in (0..).zip(LENGTHS) {
                let mut own = pattern(len, me as u64);
                if me == 0 {
                    send(comm, 1, tag, &mut own);
                    assert!(recv(comm, 1, tag, len) == pattern(len, 1), "{len} B back");
                } else {
                    assert!(recv(comm, 0, tag, len) == pattern(len, 0), "{len} B");
                    send(comm, 0, tag, &mut own);
                }
            }
            comm.barrier().expect("both are here");
        });
    }
}

/// More messages than a receiver keeps: those that it does not want yet wait with the sender.
#[test]
fn a_flood_is_taken_last_first() {
    const MESSAGES: u32 = 500;
    job(2, WaitMode::Passive, |comm| {
        if comm.group().rank() == 0 {
            (0..MESSAGES).for_each(|tag| send(comm, 1, tag, &mut tag.to_le_bytes()));
        } else {
            for tag in (0..MESSAGES).rev() {
                assert_eq!(recv(comm, 0, tag, 4), tag.to_le_bytes());
            }
        }
    });
}

/// Collectives, and a communicator made from another one.
fn split_and_agree<A: Threading>(comm: &Communicator<A>) {
    comm.connect().expect("a switch connects all");
    let rank = comm.group().rank();
    let part = comm.split(Some(rank % 2), 0).expect("a part");
    let part = part.expect("a colour was given");
    assert_eq!(part.group().size(), 3 - rank % 2);
    part.barrier().expect("the part is here");
    comm.barrier().expect("all are here");
}

#[test]
fn ranks_split_and_agree() {
    job(5, WaitMode::Auto, split_and_agree);
}

/// A communicator that a program promised to use by one call at a time, from whichever thread.
struct Promised(Communicator<Serialized>);

// SAFETY: the test below joins each thread that has it before it uses it again.
unsafe impl Send for Promised {}

impl Promised {
    fn comm(&self) -> &Communicator<Serialized> {
        &self.0
    }
}

/// Rank 0 has the endpoint of the process, which it uses from two threads one after the other.
#[test]
fn the_endpoint_of_the_process_serves_one_call_at_a_time() {
    endpoints(5, WaitMode::Passive, |endpoint, number| {
        let group = endpoint.all_ranks(number);
        let cell = EndpointCell::new(endpoint).expect("a cell");
        if number > 0 {
            let comm = Communicator::new(Single::new(cell), Endpoint::FIRST_CONTEXT, group);
            assert!(recv(&comm, 0, 7, 3000) == pattern(3000, 0));
            return split_and_agree(&comm);
        }
        let access = Serialized::new(cell).expect("the first one of this process");
        let comm = Promised(Communicator::new(access, Endpoint::FIRST_CONTEXT, group));
        let sending = move || {
            (1..5).for_each(|to| send(comm.comm(), to, 7, &mut pattern(3000, 0)));
            comm
        };
        let comm = thread::spawn(sending).join().expect("all messages go out");
        split_and_agree(comm.comm());
        comm.comm().leave();
        let error = comm.comm().barrier();
        assert!(matches!(error, Err(Error::Finalized)), "{error:?}");
    });
    let one = switch::<RawBytes>(1).expect("pipes").pop();
    let (tx, rx) = one.expect("a rank");
    let endpoint = Endpoint::over_network(
        OtherNetwork::new(tx, rx),
        0,
        vec![process::id()],
        EndpointPolicy::default(),
    );
    let cell = EndpointCell::new(endpoint.expect("an endpoint")).expect("a cell");
    let second = Serialized::new(cell).err();
    assert!(matches!(second, Some(Error::SecondInit)), "{second:?}");
}

/// A rank that leaves is lost to one that waits for its message.
#[test]
fn a_rank_that_left_is_reported() {
    job(2, WaitMode::Passive, |comm| {
        comm.barrier().expect("both are here");
        if comm.group().rank() == 0 {
            comm.leave();
        } else {
            let error = comm.recv(range(&mut [0]), Source::Rank(0), Tag::Any);
            assert!(
                matches!(error, Err(Error::Peer { peer: 0, .. })),
                "{error:?}"
            );
        }
    });
}
