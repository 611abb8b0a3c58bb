//! Proves every algorithm of the catalog: on all numbers of ranks to 1,024, and on random ones to
//! 2^20 where a rank takes few steps, else to 4,096. `cargo xtask long plans` runs it, and
//! `cargo xtask ci plans` to 64.
//!
//! An algorithm of which every rank takes many steps is proved on few ranks by running all of them;
//! on many by a proof that all ranks are alike, and running one.
//!
//! Usage: `plans [--up-to RANKS] [NAME...]`, a name being `COLLECTIVE` or `COLLECTIVE/ALGORITHM`;
//! with `--up-to` every number of ranks to that one is proved, and no larger one.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use oxmpi_coll::catalog::Algorithm;
use oxmpi_coll::check::{Case, Report, cases, draw, promises_rounds};
use oxmpi_coll::plan::Plan;

/// All numbers of ranks up to this one are proved, if no other is given.
const EVERY: u32 = 1024;

/// Steps of all ranks together up to which all ranks are run.
const RUN_STEPS: u64 = 20_000;

/// The same for the plainest case, where ranks are not alike.
const DRAWN_STEPS: u64 = 5_000_000;

/// What proving one algorithm came to.
#[derive(Clone, Copy, Default)]
struct Tally {
    /// Cases proved by running every rank, and by running one that stands for all.
    proved: [u64; 2],
    messages: u64,
    /// The largest number of ranks.
    largest: u32,
    spent: Duration,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.proved[0] += other.proved[0];
        self.proved[1] += other.proved[1];
        self.messages += other.messages;
        self.largest = self.largest.max(other.largest);
        self.spent += other.spent;
    }

    fn note(&mut self, how: usize, case: &Case, report: Report) {
        self.proved[how] += 1;
        self.messages += report.messages;
        self.largest = self.largest.max(case.size);
    }
}

/// Whether the promised rounds are kept.
fn keeps_rounds(algorithm: Algorithm, case: &Case, report: Report) -> Result<(), String> {
    let rounds = algorithm.rounds(&case.call(0, &case.arrays()), &case.parameters);
    let found = u64::from(report.rounds);
    if promises_rounds(algorithm, case) && found > rounds {
        return Err(format!(
            "takes {found} rounds, not the {rounds} that it promises"
        ));
    }
    Ok(())
}

/// The steps of all ranks, and the most of one rank.
fn steps(algorithm: Algorithm, case: &Case) -> Result<(u64, u32), String> {
    let arrays = case.arrays();
    let (mut all, mut most) = (0, 0);
    // The first ranks, the last and every so manieth between stand for the rest of very many.
    let stride = (case.size / 4096).max(1);
    for rank in (0..case.size).step_by(stride as usize) {
        let plan = algorithm.plan(&case.call(rank, &arrays), &case.parameters);
        let steps = plan.map_err(|why| why.to_string())?.steps();
        all += u64::from(steps) * u64::from(stride);
        most = most.max(steps);
    }
    Ok((all, most))
}

/// How a case is to be proved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// By running all ranks.
    All,
    /// By running one, if all are alike, else all.
    One,
    /// By running one, if all are alike, else not.
    OnlyOne,
}

/// Proves one case.
fn prove(algorithm: Algorithm, case: &Case, how: How, tally: &mut Tally) -> Result<(), String> {
    let named = |what: &dyn std::fmt::Display| format!("{algorithm}: {what}\n    {case:?}");
    let alike = if how == How::All {
        None
    } else {
        case.check_alike(algorithm)
    };
    let (how, checked) = match alike {
        Some(checked) => (1, checked),
        None if how == How::OnlyOne => return Ok(()),
        None => (0, case.check(algorithm)),
    };
    let report = checked.map_err(|fault| named(&fault))?;
    keeps_rounds(algorithm, case, report).map_err(|why| named(&why))?;
    tally.note(how, case, report);
    Ok(())
}

/// Proves an algorithm on one number of ranks; `every` as for [`sizes`].
fn prove_size(algorithm: Algorithm, size: u32, every: u32) -> Result<Tally, String> {
    let (start, mut tally) = (Instant::now(), Tally::default());
    let all = cases(algorithm, size);
    // The plainest case and its like in place are proved on every number of ranks, the others where
    // they are not too long.
    let Some(plainest) = all.last() else {
        return Ok(tally);
    };
    let placed = all.iter().find(|case| case.in_place && size <= every);
    let placed = placed.map(|_| Case {
        in_place: true,
        ..*plainest
    });
    for case in [Some(*plainest), placed].into_iter().flatten() {
        let (steps, most) = steps(algorithm, &case)?;
        let how = match steps {
            ..=RUN_STEPS if size <= every => How::All,
            ..=DRAWN_STEPS => How::One,
            _ => How::OnlyOne,
        };
        if size <= 4096 || most <= 8 * (size.ilog2() + 2) {
            prove(algorithm, &case, how, &mut tally)?;
        }
    }
    // With a root a case is a few messages a rank; without one every eighth number of many ranks is
    // enough.
    let rooted = algorithm.collective().has_root();
    let others = size <= every && (rooted || size <= 128 || size % 8 == algorithm as u32 % 8);
    for case in all.iter().take_while(|_| others) {
        if steps(algorithm, case)?.0 <= RUN_STEPS {
            prove(algorithm, case, How::All, &mut tally)?;
        }
    }
    tally.spent = start.elapsed();
    Ok(tally)
}

/// The numbers of ranks to prove, the largest first: they take longest. All to `every`, and where
/// that is [`EVERY`] some beyond.
fn sizes(algorithm: Algorithm, every: u32) -> Vec<u32> {
    let drawn = |index, bits: u32| {
        let low = u64::from(EVERY) + 1;
        (low + draw(algorithm as u64, index) % ((1 << bits) - low)) as u32
    };
    let mut sizes: Vec<u32> = (1..=every).collect();
    if every == EVERY {
        sizes.extend([12, 16, 20].map(|bits| drawn(bits.into(), bits)));
    }
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes
}

fn main() -> ExitCode {
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    let mut every = EVERY;
    if wanted.first().is_some_and(|first| first == "--up-to") {
        let given = wanted.get(1).and_then(|ranks| ranks.parse().ok());
        let Some(ranks) = given.filter(|ranks| (1..=EVERY).contains(ranks)) else {
            eprintln!("--up-to needs a number of ranks from 1 to {EVERY}, as in --up-to 256");
            return ExitCode::from(2);
        };
        every = ranks;
        wanted.drain(..2);
    }
    let is_wanted = |algorithm: &Algorithm| {
        let collective = algorithm.collective().name();
        let name = format!("{collective}/{}", algorithm.name());
        wanted.is_empty()
            || wanted
                .iter()
                .any(|word| *word == name || word == collective)
    };
    let algorithms: Vec<_> = Algorithm::ALL.into_iter().filter(is_wanted).collect();
    let jobs: Vec<_> = (0..algorithms.len())
        .flat_map(|at| {
            sizes(algorithms[at], every)
                .into_iter()
                .map(move |size| (at, size))
        })
        .collect();
    let tallies = Mutex::new(vec![Tally::default(); algorithms.len()]);
    let next = AtomicUsize::new(0);
    let failed: Vec<_> = algorithms.iter().map(|_| AtomicBool::new(false)).collect();
    let start = Instant::now();
    let work = || {
        while let Some(&(at, size)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            match prove_size(algorithms[at], size, every) {
                Ok(tally) => tallies.lock().expect("nobody panics")[at].add(tally),
                // One fault of an algorithm is enough to begin with.
                Err(why) if failed[at].swap(true, Ordering::Relaxed) => drop(why),
                Err(why) => println!("{why}"),
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let tallies = tallies.into_inner().expect("nobody panics");
    println!(
        "algorithm                                     cases  by one rank  messages    to ranks    s"
    );
    for (algorithm, tally) in algorithms.iter().zip(&tallies) {
        println!(
            "{:<42} {:>8} {:>12} {:>9.1}M {:>10} {:>6.1}",
            algorithm.to_string(),
            tally.proved[0] + tally.proved[1],
            tally.proved[1],
            tally.messages as f64 / 1e6,
            tally.largest,
            tally.spent.as_secs_f64(),
        );
    }
    println!(
        "{:.1} s on {threads} threads",
        start.elapsed().as_secs_f64()
    );
    let failed = failed.into_iter().any(AtomicBool::into_inner);
    ExitCode::from(u8::from(failed))
}
