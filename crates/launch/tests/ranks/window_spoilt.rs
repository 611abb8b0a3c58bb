//! A rank that writes random words over the locks and the list of attached memory of another rank's window, while others
//! access it, and is killed then: each gets an error that names a rank, and none crashes or waits for ever.
//!
//! `OXMPI_TEST_WINDOW_SPOILS` is the number of jobs of each kind (default: 2).

use std::sync::atomic::{AtomicU64, Ordering};

use oxmpi::window::LockKind;
use oxmpi::{Comm, Error, ErrorClass, Memory, Op, Result, World};
use rustix::process::Signal;

use crate::job::Job;
use crate::window_epochs::{Draws, number_of};

/// Bytes of a rank's memory: 16 blocks with a lock of their own.
const BYTES: usize = 64 << 10;

/// Bytes of a rank's area of the heap. The areas of all ranks are one behind the other.
const AREA: usize = 4 << 20;

/// The rank that spoils words, and the one whose words they are.
const SPOILER: usize = 2;
const SPOILT: usize = 0;

/// Words of a window: of the lock, of those of blocks, and of what is attached.
const WORDS: [std::ops::Range<usize>; 4] = [0..4, 16..32, 16 + 4096..16 + 4096 + 40, 0..4200];

/// The word at this address of the heap, which other ranks have mapped, too.
fn word(address: usize) -> &'static AtomicU64 {
    let at = std::ptr::with_exposed_provenance_mut(address);
    // SAFETY: the areas of the heap are mapped as long as the rank runs; words of locks are accessed by atomics only.
    unsafe { AtomicU64::from_ptr(at) }
}

/// Where the words of this rank's next window are: the heap gives it the first place that is free.
fn next_words(world: &World) -> Result<usize> {
    Ok(world.alloc::<u8>(BYTES)?.as_ptr().expose_provenance())
}

/// Accesses the window of all ranks until one is lost. That attached memory is not found is an error of its access only.
fn access(comm: &Comm, step: impl Fn(usize, &mut Draws) -> Result<()>) -> Result<()> {
    let mut draws = Draws(comm.rank() as u64);
    loop {
        // Mostly the one whose words are spoilt.
        let target = [SPOILT, SPOILT, SPOILT, 1, SPOILER][draws.below(5)];
        match step(target, &mut draws) {
            Err(error) if error.class() != ErrorClass::RmaRange => return Err(error),
            _ => {}
        }
    }
}

/// Writes random values to some of the words, and ends this process.
fn spoil(words: usize, range: std::ops::Range<usize>, seed: u64) -> ! {
    let mut draws = Draws(seed);
    for _ in 0..10_000 {
        let at = range.start + draws.below(range.len());
        let value = match draws.below(4) {
            0 => draws.below(4) as u64,
            1 => word(words + 8 * at).load(Ordering::Relaxed).wrapping_add(1),
            2 => u64::MAX - draws.below(2) as u64,
            _ => draws.next(),
        };
        word(words + 8 * at).store(value, Ordering::Relaxed);
        std::thread::yield_now();
    }
    // The launcher ends no rank while it is stopped.
    let launcher = rustix::process::getppid().expect("a launcher");
    rustix::process::kill_process(launcher, Signal::STOP).expect("it runs");
    let own = rustix::process::getpid();
    rustix::process::kill_process(own, Signal::KILL).expect("it runs");
    unreachable!("it is killed")
}

/// Runs `step` on all ranks until errors; prints them. The spoiler begins once all have made some accesses.
fn until_spoilt(
    world: &World,
    words: usize,
    step: impl Fn(usize, &mut Draws) -> Result<()>,
) -> Result<()> {
    let comm = world.comm();
    // One more than before: a lock of this rank's own memory takes a ticket.
    let before = word(words).load(Ordering::Relaxed);
    let mut draws = Draws(7);
    (0..10).try_for_each(|_| step(comm.rank(), &mut draws))?;
    assert!(
        word(words).load(Ordering::Relaxed) > before,
        "the words of the window are elsewhere"
    );
    comm.barrier()?;
    if comm.rank() == SPOILER {
        let range = WORDS[number_of("TEST_WORDS", 0)].clone();
        let words = words - (SPOILER - SPOILT) * AREA;
        let tickets = word(words).load(Ordering::Relaxed);
        assert!((10..1000).contains(&tickets), "there are other words");
        spoil(words, range, number_of("TEST_SEED", 0) as u64);
    }
    let error = access(comm, step).expect_err("it ends with an error");
    println!("named: {} {error}", error.to_string().contains("rank "));
    // The spoiler has stopped the launcher, and both have had their errors before one of them leaves.
    comm.recv(&mut [0u8], SPOILER, 2).expect_err("it is killed");
    let other = 1 - comm.rank();
    comm.send(&[1u8], other, 2)?;
    comm.recv(&mut [0u8], other, 2)?;
    let launcher = rustix::process::getppid().expect("a launcher");
    rustix::process::kill_process(launcher, Signal::CONT).expect("it runs");
    Err(error)
}

/// Jobs of each kind, with the words that are spoilt; each ends with an error on both ranks that are left.
fn spoilt_jobs(words: &[usize], start: impl Fn(Job) -> crate::common::Done) {
    for seed in 0..number_of("OXMPI_TEST_WINDOW_SPOILS", 2) {
        for direct in ["on", "off"] {
            for words in words {
                let job = Job::of(3).on_one_host().with("OXMPI_WINDOW_DIRECT", direct);
                let job = job
                    .with("OXMPI_SHM_HEAP", "4MiB")
                    .with("TEST_WORDS", &words.to_string());
                let done = start(job.with("TEST_SEED", &seed.to_string()));
                let what = format!("words {words}, seed {seed}, direct {direct}: {done:?}");
                let named = done
                    .out
                    .lines()
                    .filter(|line| line.starts_with("named: true"));
                assert_eq!(named.count(), 2, "{what}");
                assert!(!done.err.contains("panicked"), "{what}");
            }
        }
    }
}

#[test]
fn spoilt_locks_are_no_crash_and_no_wait_for_ever() {
    spoilt_jobs(&[0, 1], |job| {
        job.run(|| {
            let world = World::init()?;
            let comm = world.comm();
            let words = next_words(&world)?;
            let private = || Memory::from(vec![0u8; BYTES]);
            let window = comm.byte_window(private(), private())?;
            until_spoilt(&world, words, |target, draws| {
                let kind = [LockKind::Exclusive, LockKind::Shared][draws.below(2)];
                window.lock(target, kind)?;
                window.put(&[1; 100], target, draws.below(BYTES - 100))?;
                window.accumulate(&[1u64; 50], Op::SUM, target, 4096 * draws.below(15) + 3800)?;
                window.get_accumulate(&[1u64], Op::SUM, 0, target, 8 * draws.below(4096))?;
                window.get(0..100, target, draws.below(BYTES - 100))?;
                window.unlock(target)
            })?;
            Ok::<_, Error>(())
        })
    });
}

#[test]
fn a_spoilt_list_of_attached_memory_is_no_crash() {
    spoilt_jobs(&[2, 3], |job| {
        job.run(|| {
            let world = World::init()?;
            let comm = world.comm();
            let words = next_words(&world)?;
            let window = comm.dynamic_window()?;
            let attached = window.attach(Memory::from(vec![0u64; BYTES / 8]))?;
            let addresses = comm.allgather(&attached.address())?;
            until_spoilt(&world, words, |target, draws| {
                let at = addresses[target] + 8 * draws.below(BYTES / 8 - 64) as u64;
                window.lock(target, LockKind::Exclusive, |epoch| {
                    epoch.put(&[1u64; 50], target, at)?;
                    epoch.accumulate(&[1u64; 50], Op::SUM, target, at)
                })?;
                window.lock_all(|epoch| epoch.load::<u64>(target, at).map(drop))
            })?;
            Ok::<_, Error>(())
        })
    });
}
