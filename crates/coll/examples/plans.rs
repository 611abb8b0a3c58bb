//! Proves every algorithm of the catalog: on all numbers of ranks to 1,024, and on random ones to
//! 2^20 where a rank takes few steps, else to 4,096. `cargo xtask long plans` runs it, `ci plans` to 1,024 ranks.
//!
//! What is proved how:
//! - On few ranks every case runs all ranks: all roots, counts that are less than, equal to and more
//!   than the ranks, both orders, in place and not, parameters as drawn.
//! - To 1,024 the plainest case. Where all ranks are proved to be like the first ones, step by step,
//!   these are run for all. On every eighth number of ranks the same in place, on nodes of several
//!   ranks, and one drawn case; where all ranks would be run and take more than 20,000 steps
//!   together, on every 256th. With a root one drawn case on all. With `--up-to` these variants of more
//!   than 20,000 steps are proved on every 256th number of ranks, alike or not.
//! - Beyond, the plainest case on random numbers of ranks. Where all ranks would be run and take more
//!   steps together than a limit, half as many ranks are taken, and so on; where each rank gets a
//!   block of every other and they are not alike, some blocks are followed.
//!
//! Usage: `plans [--up-to RANKS | --beyond STEPS] [NAME...]`, a name being `COLLECTIVE` or
//! `COLLECTIVE/ALGORITHM`; with `--up-to` every number of ranks to that one is proved, and no larger
//! one; with `--beyond` only the random ones, and so many steps are the limit.

use std::ops::Range;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use oxmpi_coll::catalog::{Algorithm, Collective, Parameters};
use oxmpi_coll::check::{Case, Ranks, Report, cases, draw, plain, promises_rounds};
use oxmpi_coll::plan::Plan;

/// All numbers of ranks up to this one are proved, if no other is given.
const EVERY: u32 = 1024;

/// Numbers of ranks up to which every case is proved by running all ranks.
const FEW: u32 = 64;

/// Steps of all ranks together up to which all ranks are run on every number of ranks.
const RUN_STEPS: u64 = 20_000;

/// The same on every 256th number of ranks, and for the plainest case, if no other is given.
const MANY_STEPS: u64 = 2_500_000;

/// Of so many numbers of ranks one has its variants proved by running all ranks.
const SAMPLE: u32 = 256;

/// What is asked for.
struct Asked {
    /// Every one of these numbers of ranks is proved.
    every: Range<u32>,
    /// Whether random ones beyond [`EVERY`] are.
    random: bool,
    /// Steps of all ranks together up to which the plainest case is proved by running all ranks.
    most: u64,
    /// The algorithms by name; all if none is named.
    names: Vec<String>,
}

impl Asked {
    /// Reads the command line; what is wrong with it is told.
    fn of(mut words: Vec<String>) -> Result<Self, String> {
        let mut asked = Asked {
            every: 1..EVERY + 1,
            random: true,
            most: MANY_STEPS,
            names: Vec::new(),
        };
        let number = words.get(1).and_then(|word| word.parse::<u64>().ok());
        match (words.first().map(String::as_str), number) {
            (Some("--beyond"), Some(steps)) => {
                asked = Asked {
                    every: 0..0,
                    most: steps,
                    ..asked
                }
            }
            (Some("--up-to"), Some(ranks)) if (1..=EVERY.into()).contains(&ranks) => {
                asked = Asked {
                    every: std::env::var("PROOF_FROM").map_or(1, |f| f.parse().unwrap())
                        ..ranks as u32 + 1,
                    random: false,
                    ..asked
                }
            }
            (Some("--beyond"), _) => return Err("--beyond needs a number of steps".into()),
            (Some("--up-to"), _) => {
                return Err(format!("--up-to needs a number of ranks from 1 to {EVERY}"));
            }
            _ => {
                asked.names = words;
                return Ok(asked);
            }
        }
        asked.names = words.split_off(2);
        Ok(asked)
    }

    fn names(&self, algorithm: &Algorithm) -> bool {
        let collective = algorithm.collective().name();
        let name = format!("{collective}/{}", algorithm.name());
        let is_it = |word: &String| *word == name || word == collective;
        self.names.is_empty() || self.names.iter().any(is_it)
    }
}

/// What proving one algorithm came to.
#[derive(Clone, Copy, Default)]
struct Tally {
    /// Cases proved by running every rank, and by running few that stand for all.
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

/// Proves one case, if all ranks need not be run or take no more steps together than `most`; whether
/// it has.
fn prove(algorithm: Algorithm, case: &Case, most: u64, tally: &mut Tally) -> Result<bool, String> {
    let named = |what: &dyn std::fmt::Display| format!("{algorithm}: {what}\n    {case:?}");
    let alike = (case.size > FEW).then(|| case.check_alike(algorithm));
    let (how, checked) = match alike.flatten() {
        Some(checked) => (1, checked),
        None if steps(algorithm, case)?.0 > most => return Ok(false),
        None if case.size > EVERY && gathers(case) => {
            let followed = [0, case.size / 3, case.size - 1].map(Ranks::one);
            let all = followed
                .iter()
                .fold(Ranks::new(), |all, one| all.union(one));
            (0, case.check_following(algorithm, &all))
        }
        None => (0, case.check(algorithm)),
    };
    let report = checked.map_err(|fault| named(&fault))?;
    keeps_rounds(algorithm, case, report).map_err(|why| named(&why))?;
    tally.note(how, case, report);
    Ok(true)
}

/// Whether every rank gets a block of every other.
fn gathers(case: &Case) -> bool {
    matches!(
        case.collective,
        Collective::Allgather | Collective::Allgatherv
    )
}

/// Proves an algorithm on one number of ranks, if it takes so many.
fn prove_size(algorithm: Algorithm, size: u32, asked: &Asked) -> Result<Tally, String> {
    let (start, mut tally) = (Instant::now(), Tally::default());
    if size > EVERY {
        prove_random(algorithm, size, asked.most, &mut tally)?;
    } else if size > FEW {
        prove_many(algorithm, size, asked, &mut tally)?;
    } else {
        for case in &cases(algorithm, size) {
            prove(algorithm, case, RUN_STEPS, &mut tally)?;
        }
    }
    tally.spent = start.elapsed();
    Ok(tally)
}

/// Proves an algorithm on more than a few ranks.
fn prove_many(
    algorithm: Algorithm,
    size: u32,
    asked: &Asked,
    tally: &mut Tally,
) -> Result<(), String> {
    let all = cases(algorithm, size);
    let Some(plainest) = all.last() else {
        return Ok(());
    };
    if !prove(algorithm, plainest, asked.most, tally)? {
        return Err(format!("{algorithm}: too many steps on {size} ranks"));
    }
    let is_sampled = size % SAMPLE == algorithm as u32 % SAMPLE;
    let most = if is_sampled { asked.most } else { RUN_STEPS };
    for case in variants(algorithm, plainest, &all) {
        if asked.random || steps(algorithm, &case)?.0 <= most {
            prove(algorithm, &case, most, tally)?;
        }
    }
    Ok(())
}

/// Proves an algorithm on a random number of ranks, or on half as many and so on where those are too
/// many.
fn prove_random(
    algorithm: Algorithm,
    size: u32,
    most: u64,
    tally: &mut Tally,
) -> Result<(), String> {
    let is_even = algorithm.row().needs.even;
    let mut size = size;
    while algorithm
        .suits(&plain(algorithm, size).call(0, &[]))
        .is_ok()
    {
        let case = plain(algorithm, size);
        let is_logarithmic = steps(algorithm, &case)?.1 <= 8 * (size.ilog2() + 2);
        let fits = size <= 4096 || is_logarithmic;
        if size <= EVERY || fits && prove(algorithm, &case, most, tally)? {
            return Ok(());
        }
        size = if is_even { size / 4 * 2 } else { size / 2 };
    }
    Ok(())
}

/// The plainest case as it may be varied, and one of the drawn cases: on every eighth number of
/// ranks, other roots on all.
fn variants(algorithm: Algorithm, plainest: &Case, all: &[Case]) -> Vec<Case> {
    let eighth = plainest.size % 8 == algorithm as u32 % 8;
    let drawn = |below: usize| (draw(algorithm as u64, plainest.size.into()) as usize) % below;
    let placed = Case {
        in_place: true,
        ..*plainest
    };
    let can_be_placed = all.iter().any(|case| case.in_place);
    let on_nodes = Case {
        parameters: Parameters {
            per_node: [2, 3, 4, 16][drawn(4)],
            ..plainest.parameters
        },
        ..*plainest
    };
    let takes_nodes = algorithm.row().parameters.per_node > 0;
    let rooted = algorithm.collective().has_root();
    let chosen = [
        (can_be_placed && eighth, placed),
        (takes_nodes && eighth, on_nodes),
        (rooted || eighth, all[drawn(all.len())]),
    ];
    let chosen = chosen.into_iter().filter(|(chosen, _)| *chosen);
    chosen.map(|(_, case)| case).collect()
}

/// Random numbers of ranks beyond [`EVERY`], of which the algorithm takes many.
fn beyond(algorithm: Algorithm) -> Vec<u32> {
    let needs = algorithm.row().needs;
    let drawn = |(index, bits): (u64, u32)| {
        let low = EVERY + 1;
        let size = low + (draw(algorithm as u64, index) % u64::from((1 << bits) - low)) as u32;
        match () {
            () if needs.power_of_two => 1 << size.ilog2(),
            () if needs.even => size & !1,
            () => size,
        }
    };
    (0..).zip([12, 12, 16, 20]).map(drawn).collect()
}

fn main() -> ExitCode {
    let asked = match Asked::of(std::env::args().skip(1).collect()) {
        Ok(asked) => asked,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    let algorithms = Algorithm::ALL.into_iter();
    let algorithms: Vec<_> = algorithms.filter(|one| asked.names(one)).collect();
    let sizes = |at: usize| {
        let drawn = asked.random.then(|| beyond(algorithms[at]));
        let drawn = drawn.into_iter().flatten();
        asked.every.clone().chain(drawn).map(move |size| (size, at))
    };
    let mut jobs: Vec<_> = (0..algorithms.len()).flat_map(sizes).collect();
    // The largest take longest.
    jobs.sort_unstable_by(|one, other| other.cmp(one));
    let tallies = Mutex::new(vec![Tally::default(); algorithms.len()]);
    let next = AtomicUsize::new(0);
    let failed: Vec<_> = algorithms.iter().map(|_| AtomicBool::new(false)).collect();
    let start = Instant::now();
    let work = || {
        while let Some(&(size, at)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            match prove_size(algorithms[at], size, &asked) {
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
        "algorithm                                     cases  by few ranks  messages    to ranks    s"
    );
    for (algorithm, tally) in algorithms.iter().zip(&tallies) {
        println!(
            "{:<42} {:>8} {:>13} {:>9.1}M {:>10} {:>6.1}",
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
