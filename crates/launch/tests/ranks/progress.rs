//! Tests of the helper thread: what goes on while a rank is in no call.
//!
//! A rank that computes does so until the others have got what they wait for. They say so by a file, so without a helper the
//! test does not end, however long it takes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::{env, process, thread};

use oxmpi::window::LockKind;
use oxmpi::{Comm, Op, Result, Threading, collective};

use crate::job::Job;

/// The variable with the folder of [`Flags`].
const FOLDER: &str = "TEST_FLAGS";

/// Files by which ranks tell each other how far they are, without a call.
pub(crate) struct Flags(PathBuf);

impl Flags {
    /// Those of the job that this process is a rank of.
    pub(crate) fn of_job() -> Self {
        Self(env::var_os(FOLDER).expect("set").into())
    }

    /// Says that this rank has got the result number `round`.
    pub(crate) fn set(&self, round: usize, rank: usize) {
        File::create(self.0.join(format!("{round}-{rank}"))).expect("a file");
    }

    /// Computes until all these ranks have got the result number `round`.
    pub(crate) fn compute_until(&self, round: usize, ranks: impl IntoIterator<Item = usize>) {
        for rank in ranks {
            let flag = self.0.join(format!("{round}-{rank}"));
            while !flag.exists() {
                thread::yield_now();
            }
        }
    }
}

/// A folder that ends with the test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        // A rank has that of the test that started it.
        let path = env::var_os(FOLDER).map_or_else(
            || env::temp_dir().join(format!("oxmpi-progress-{test}-{}", process::id())),
            PathBuf::from,
        );
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A job with helper threads, and flags in `folder`.
pub(crate) fn job(ranks: usize, folder: &Path) -> Job {
    Job::of(ranks)
        .on_one_host()
        .with("OXMPI_ASYNC_PROGRESS", "on")
        .with(FOLDER, folder.to_str().expect("a path"))
}

/// Variables that select each protocol of long messages.
const PROTOCOLS: [[&str; 2]; 6] = [
    ["OXMPI_SHM_PROTOCOL", "auto"],
    ["OXMPI_SHM_PROTOCOL", "cma"],
    ["OXMPI_SHM_PROTOCOL", "copy"],
    ["OXMPI_SHM_PROTOCOL", "slots"],
    ["OXMPI_RENDEZVOUS", "put"],
    ["OXMPI_TRANSPORTS", "tcp"],
];

fn pattern(len: usize, seed: usize) -> Vec<u32> {
    (0..len).map(|at| (at * 7 + seed) as u32).collect()
}

/// Rank 0 starts to send and then to receive, and computes until rank 1 has done its part.
fn exchange<A: Threading>(comm: &Comm<A>) -> Result<()> {
    let (me, flags) = (comm.rank(), Flags::of_job());
    for (round, len) in [5_000, 20_000, 300_000].into_iter().enumerate() {
        let (sent, mut got) = (pattern(len, round), vec![0; len]);
        let [send, receive] = [2 * round, 2 * round + 1];
        if me == 0 {
            comm.scope(|s| {
                s.isend(&sent, 1, 7)?;
                flags.compute_until(send, [1]);
                Ok(())
            })?;
            comm.scope(|s| {
                let request = s.irecv(&mut got, 1, 8)?;
                flags.compute_until(receive, [1]);
                request.wait()
            })?;
        } else {
            comm.recv(&mut got, 0, 7)?;
            flags.set(send, 1);
            comm.ssend(&sent, 0, 8)?;
            flags.set(receive, 1);
        }
        assert!(got == sent, "round {round}");
    }
    Ok(())
}

#[test]
fn messages_end_while_a_rank_computes() {
    for variable in PROTOCOLS {
        let folder = Folder::new("messages");
        let [name, value] = variable;
        job(2, &folder.0)
            .with(name, value)
            .succeed(|world| exchange(world.comm()));
    }
}

#[test]
fn messages_of_shared_endpoints_end_while_a_rank_computes() {
    for variable in PROTOCOLS {
        let folder = Folder::new("shared");
        let [name, value] = variable;
        job(2, &folder.0)
            .with(name, value)
            .succeed(|world| exchange(&world.comm().share()?));
    }
}

/// Each rank in turn computes while it is in a collective of all.
fn collectives<A: Threading>(comm: &Comm<A>) -> Result<()> {
    let (me, size, flags) = (comm.rank(), comm.size(), Flags::of_job());
    let mut round = 0;
    for len in [1, 1000, 100_000] {
        for late in 0..size {
            let others = || (0..size).filter(|&rank| rank != late);
            let mut end = || {
                round += 1;
                match me == late {
                    true => flags.compute_until(round, others()),
                    false => flags.set(round, me),
                }
            };
            // Those that compute do so before they wait, and the others after.
            macro_rules! run {
                ($collective:expr) => {
                    comm.scope(|s| {
                        let request = s.start($collective)?;
                        if me == late {
                            end();
                            request.wait().map(drop)
                        } else {
                            request.wait().map(drop)?;
                            end();
                            Ok(())
                        }
                    })?
                };
            }
            let mine = vec![me as u64 + 1; len];
            let sum = (size * (size + 1) / 2) as u64;
            let mut all = vec![if me == late { 9 } else { 0 }; len];
            run!(collective::bcast(&mut all, late));
            assert!(all.iter().all(|&value| value == 9));
            run!(collective::allreduce(&mine, &mut all, Op::SUM));
            assert!(all.iter().all(|&value| value == sum));
            let operation = Op::commutative(|a: u64, b: u64| a + b);
            run!(collective::allreduce(&mine, &mut all, operation));
            assert!(all.iter().all(|&value| value == sum));
            let (mine, mut all) = (vec![me as u64; len * size], vec![0; len * size]);
            run!(collective::alltoall(&mine, &mut all));
            assert!((0..len * size).all(|at| all[at] == (at / len) as u64));
        }
    }
    Ok(())
}

#[test]
fn collectives_end_while_a_rank_computes() {
    for [name, value] in [
        ["OXMPI_SHM_COLLECTIVES", "on"],
        ["OXMPI_SHM_COLLECTIVES", "off"],
        ["OXMPI_TRANSPORTS", "tcp"],
    ] {
        for ranks in [2, 4] {
            let folder = Folder::new("collectives");
            job(ranks, &folder.0)
                .with(name, value)
                .succeed(|world| collectives(world.comm()));
        }
    }
}

#[test]
fn collectives_of_shared_endpoints_end_while_a_rank_computes() {
    let folder = Folder::new("shared-collectives");
    job(3, &folder.0).succeed(|world| collectives(&world.comm().share()?));
}

/// A rank that computes serves its window to peers that reach it by messages only.
#[test]
fn windows_are_served_while_their_rank_computes() {
    for [name, value] in [["OXMPI_WINDOW_DIRECT", "off"], ["OXMPI_TRANSPORTS", "tcp"]] {
        let folder = Folder::new("windows");
        job(2, &folder.0).with(name, value).succeed(|world| {
            let (comm, flags) = (world.comm(), Flags::of_job());
            let mut window = comm.passive_window(vec![0u64; 40_000].into())?;
            if comm.rank() == 0 {
                flags.compute_until(0, [1]);
            } else {
                let mut read = vec![0; 40_000];
                window.lock(0, LockKind::Exclusive, |epoch| {
                    epoch.put(&[7; 40_000], 0, 0)
                })?;
                window.lock(0, LockKind::Exclusive, |epoch| {
                    epoch.accumulate(&[1; 600], Op::SUM, 0, 100)
                })?;
                window.lock(0, LockKind::Shared, |epoch| epoch.get(&mut read, 0, 0))?;
                assert_eq!((read[0], read[100], read[39_999]), (7, 8, 7));
                flags.set(0, 1);
            }
            comm.barrier()?;
            if comm.rank() == 0 {
                assert_eq!(window.with_local(|local| local[699])?, 8);
            }
            window.free().map(drop)
        });
    }
}
