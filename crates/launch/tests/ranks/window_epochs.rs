//! Random epochs of windows on real ranks, compared with a model of all ranks' memory; and ranks that are killed in them.
//!
//! `OXMPI_TEST_WINDOW_STEPS` is the number of accesses of a job (default: 2,000), `OXMPI_TEST_WINDOW_KILLS` the number of ranks
//! that are killed by each path (default: 3).

use oxmpi::window::{ByteWindow, LockKind};
use oxmpi::{Comm, Error, Op, Result, World};
use rustix::process::Signal;

use crate::job::{Job, WINDOW_PATHS};

/// Bytes of a part of a rank's memory, which one kind of accesses uses in an epoch; and parts of a rank.
const PART: usize = 1 << 13;
const PARTS: usize = 4;

pub(crate) fn number_of(variable: &str, default: usize) -> usize {
    let set = std::env::var(variable).ok();
    set.map_or(default, |text| text.parse().expect("a number"))
}

/// Numbers that all ranks draw alike (splitmix64).
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }
}

/// What an access does to words of a part.
#[derive(Clone, Copy, PartialEq)]
enum What {
    /// The part is one origin's, which puts.
    Put,
    /// All read what was there before.
    Get,
    /// All add, and look at what was there before.
    Add,
}

struct Access {
    origin: usize,
    target: usize,
    what: What,
    /// The first word of the memory, and how many.
    first: usize,
    words: usize,
    seed: u64,
}

/// The accesses of an epoch, by all ranks: in each part of a rank's memory those of one kind.
fn accesses(draws: &mut Draws, size: usize, count: usize) -> Vec<Access> {
    let kinds: Vec<(What, usize)> = (0..size * PARTS)
        .map(|_| {
            let what = [What::Put, What::Get, What::Add][draws.below(3)];
            (what, draws.below(size))
        })
        .collect();
    let draw = |_| {
        let part = draws.below(size * PARTS);
        let (what, putter) = kinds[part];
        let origin = match what {
            What::Put => putter,
            What::Get | What::Add => draws.below(size),
        };
        let longest = [1, 8, 100, PART / 8][draws.below(4)];
        let words = 1 + draws.below(longest);
        let first = part % PARTS * (PART / 8) + draws.below(PART / 8 - words + 1);
        Access {
            origin,
            target: part / PARTS,
            what,
            first,
            words,
            seed: draws.next(),
        }
    };
    (0..count).map(draw).collect()
}

impl Access {
    fn values(&self) -> Vec<u64> {
        let mut draws = Draws(self.seed);
        (0..self.words).map(|_| draws.next()).collect()
    }

    fn make(&self, window: &ByteWindow) -> Result<()> {
        let (at, len) = (8 * self.first, 8 * self.words);
        match self.what {
            What::Put => {
                let bytes: Vec<u8> = self.values().iter().flat_map(|v| v.to_ne_bytes()).collect();
                window.put(&bytes, self.target, at)
            }
            What::Get => window.get(0..len, self.target, at),
            What::Add if self.seed.is_multiple_of(2) => {
                window.accumulate(&self.values(), Op::SUM, self.target, at)
            }
            What::Add => window.get_accumulate(&self.values(), Op::SUM, PART, self.target, at),
        }
    }

    /// Does the same to the model of its target's memory.
    fn model(&self, memory: &mut [u64]) {
        let words = &mut memory[self.first..][..self.words];
        for (word, value) in words.iter_mut().zip(self.values()) {
            match self.what {
                What::Put => *word = value,
                What::Get => {}
                What::Add => *word = word.wrapping_add(value),
            }
        }
    }
}

/// One epoch of a kind that all ranks draw alike, with the accesses of this rank.
fn epoch(
    comm: &Comm,
    window: &mut ByteWindow,
    kind: usize,
    all: &[Access],
    model: &[Vec<u64>],
) -> Result<()> {
    let me = comm.rank();
    let own = || all.iter().filter(|access| access.origin == me);
    // What a get brings is looked at as long as nobody may write there.
    let check = |access: &Access, window: &mut ByteWindow| {
        if access.what == What::Get {
            let expected = &model[access.target][access.first..][..access.words];
            let expected: Vec<u8> = expected.iter().flat_map(|v| v.to_ne_bytes()).collect();
            assert!(window.landing()?[..expected.len()] == expected, "a get");
        }
        Ok(())
    };
    match kind {
        0 => {
            window.fence(true)?;
            for access in own() {
                access.make(window)?;
                check(access, window)?;
            }
            window.fence(false)
        }
        1 => {
            window.lock_all()?;
            for access in own() {
                access.make(window)?;
                match access.seed % 3 {
                    0 => window.flush(access.target)?,
                    1 => window.flush_local_all()?,
                    _ => {}
                }
                check(access, window)?;
            }
            window.unlock_all()
        }
        _ => own().try_for_each(|access| {
            let exclusive = access.seed.is_multiple_of(5);
            let kind = if exclusive {
                LockKind::Exclusive
            } else {
                LockKind::Shared
            };
            window.lock(access.target, kind)?;
            access.make(window)?;
            check(access, window)?;
            window.unlock(access.target)
        }),
    }
}

#[test]
fn random_epochs_leave_what_a_model_says() {
    const EACH: usize = 50;
    let steps = number_of("OXMPI_TEST_WINDOW_STEPS", 2000);
    for [name, value] in WINDOW_PATHS {
        // One rank on a host, or two.
        for job in [Job::of(2), Job::of(4).cyclic(), Job::of(4).on_two_hosts()] {
            job.with(name, value).succeed(|world| {
                let comm = world.comm();
                let (me, size) = (comm.rank(), comm.size());
                let mut draws = Draws(size as u64);
                let words = PARTS * PART / 8;
                let mut model = vec![vec![0u64; words]; size];
                // Memory of the heap, and private memory.
                let memories = [comm.alloc(8 * words)?, vec![0u8; 8 * words].into()];
                for (number, memory) in memories.into_iter().enumerate() {
                    // What adds bring does not meet what gets bring.
                    let mut window = comm.byte_window(memory, comm.alloc(2 * PART)?)?;
                    if number > 0 {
                        model.iter_mut().for_each(|memory| memory.fill(0));
                    }
                    for _ in 0..steps / EACH / 2 {
                        let kind = draws.below(3);
                        let all = accesses(&mut draws, size, EACH);
                        epoch(comm, &mut window, kind, &all, &model)?;
                        all.iter()
                            .for_each(|access| access.model(&mut model[access.target]));
                        comm.barrier()?;
                        let mut bytes = vec![0u8; 8 * words];
                        window.lock(me, LockKind::Shared)?;
                        window.load(&mut bytes, 0)?;
                        window.unlock(me)?;
                        let has = bytes
                            .as_chunks::<8>()
                            .0
                            .iter()
                            .map(|word| u64::from_ne_bytes(*word));
                        assert!(has.eq(model[me].iter().copied()), "the memory of rank {me}");
                        comm.barrier()?;
                    }
                    window.free()?;
                }
                Ok(())
            });
        }
    }
}

/// Ends this process a little later, wherever it is then.
fn be_killed_soon(moments: usize) {
    std::thread::spawn(move || {
        (0..moments).for_each(|_| std::hint::spin_loop());
        // The launcher ends no rank while it is stopped.
        let launcher = rustix::process::getppid().expect("a launcher");
        rustix::process::kill_process(launcher, Signal::STOP).expect("it runs");
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, Signal::KILL).expect("it runs");
    });
}

/// Makes windows and accesses them, until an error; the rank that is to be killed is so during the calls after its step.
fn until_killed(comm: &Comm, victim: usize, step: usize) -> Result<()> {
    let mut draws = Draws(comm.rank() as u64);
    let mut steps = 0;
    let mut next = || {
        steps += 1;
        if comm.rank() == victim && steps == step {
            be_killed_soon(step * 7 % 2000);
        }
    };
    loop {
        let window = comm.byte_window(comm.alloc(PART)?, comm.alloc(PART)?)?;
        for _ in 0..20 {
            let target = draws.below(comm.size());
            window.lock(
                target,
                [LockKind::Exclusive, LockKind::Shared][draws.below(2)],
            )?;
            next();
            window.put(&[1; 100], target, 0)?;
            window.accumulate(&[1u64; 50], Op::SUM, target, 1024)?;
            next();
            window.get(0..PART, target, 0)?;
            window.unlock(target)?;
            next();
        }
        window.fence(true)?;
        next();
        window.put(&[2; PART], (comm.rank() + 1) % comm.size(), 0)?;
        window.fence(false)?;
        window.free()?;
    }
}

/// A rank is killed at a random moment, also within a call: all others get an error that names it, wherever they are, and none hangs.
#[test]
fn a_rank_that_is_killed_in_an_epoch_is_named() {
    let kills = number_of("OXMPI_TEST_WINDOW_KILLS", 3);
    let mut draws = Draws(7);
    for [name, value] in WINDOW_PATHS {
        for _ in 0..kills {
            let (victim, step) = (draws.below(3), 1 + draws.below(300));
            let job = Job::of(3).with(name, value);
            let job = job.with("TEST_VICTIM", &victim.to_string());
            let done = job.with("TEST_STEP", &step.to_string()).run(|| {
                let world = World::init()?;
                let comm = world.comm();
                let victim = number_of("TEST_VICTIM", 0);
                let ended = until_killed(comm, victim, number_of("TEST_STEP", 0));
                let error = ended.expect_err("it ends with an error");
                let named = error.to_string().contains(&format!("rank {victim}"));
                println!("named: {named} {error}");
                // Both have had their errors before one of them leaves.
                let other = (0..3).find(|&rank| rank != victim && rank != comm.rank());
                let other = other.expect("another one");
                comm.send(&[1u8], other, 2)?;
                comm.recv(&mut [0u8], other, 2)?;
                let launcher = rustix::process::getppid().expect("a launcher");
                rustix::process::kill_process(launcher, Signal::CONT).expect("it runs");
                Err::<(), Error>(error)
            });
            let named = done
                .out
                .lines()
                .filter(|line| line.starts_with("named: true"));
            assert_eq!(
                named.count(),
                2,
                "rank {victim} at step {step} by {value}: {done:?}"
            );
        }
    }
}
