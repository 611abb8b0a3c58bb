//! Proves an algorithm on one number of ranks, and selects the cases.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use oxmpi_coll::catalog::{Algorithm, Collective};
use oxmpi_coll::check::{
    Case, Fault, ProofReport, Ranks, cases, draw, least_volume, plain, promises_rounds,
};
use oxmpi_coll::placement::Order;
use oxmpi_coll::plan::Plan;

use crate::options::Options;

/// All numbers of ranks to this one are proved unless the command line gives another.
pub(crate) const EVERY: u32 = 1024;

/// Every case is proved by running all ranks on up to this many ranks; none is skipped.
pub(crate) const FEW: u32 = 64;

/// Node-aware algorithms are proved in block and cyclic placement on up to this many ranks; no such case
/// is skipped.
pub(crate) const PLACED: u32 = 128;

/// Variants are proved on one in this many numbers of ranks.
pub(crate) const VARIED: u32 = 8;

/// A variant with more steps of all ranks together is proved on one of [`SAMPLE`] numbers of ranks only.
pub(crate) const LONG: u64 = 20_000;

/// The most steps of all ranks together for which all ranks are run on [`FEW`] to [`EVERY`] ranks.
/// Plainest cases take fewer or have equivalent ranks.
const MANY: u64 = 2_500_000;

/// See [`LONG`].
pub(crate) const SAMPLE: u32 = 256;

/// A random number of ranks is halved while the plans of all ranks read more blocks than this.
const READ: u64 = 1 << 31;

/// The counts of one algorithm's proofs.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    /// The cases proved by running every rank, and by running representatives of equivalent ranks.
    pub proved: [u64; 2],
    /// The variants skipped because of their steps.
    pub skipped: u64,
    /// The messages of all cases.
    pub messages: u64,
    /// The largest number of ranks proved.
    pub largest: u32,
    /// The processor time taken.
    pub spent: Duration,
}

impl Tally {
    /// Adds the counts of another number of ranks.
    pub(crate) fn add(&mut self, other: Tally) {
        self.proved[0] += other.proved[0];
        self.proved[1] += other.proved[1];
        self.skipped += other.skipped;
        self.messages += other.messages;
        self.largest = self.largest.max(other.largest);
        self.spent += other.spent;
    }

    fn note(&mut self, how: usize, case: &Case, report: ProofReport) {
        self.proved[how] += 1;
        self.messages += report.messages;
        self.largest = self.largest.max(case.size);
    }
}

/// The most steps of all ranks together with which a case is proved.
#[derive(Clone, Copy)]
struct StepLimit {
    /// If all ranks are run.
    run: u64,
    /// If representatives are run.
    equivalent: u64,
}

impl StepLimit {
    /// No limit.
    const ANY: StepLimit = StepLimit::run(u64::MAX);

    /// A limit that applies only if all ranks are run.
    const fn run(steps: u64) -> Self {
        StepLimit {
            run: steps,
            equivalent: u64::MAX,
        }
    }
}

/// Checks that the plan takes at most the stated rounds and exactly the stated volume.
fn check_bounds(algorithm: Algorithm, case: &Case, report: ProofReport) -> Result<(), String> {
    let rounds = algorithm.rounds(&case.call(0, &case.arrays()), &case.parameters);
    let found = u64::from(report.rounds);
    if promises_rounds(algorithm, case) && found > rounds {
        return Err(format!(
            "takes {found} rounds, more than the {rounds} that the catalog states"
        ));
    }
    match least_volume(algorithm, case) {
        Some(volume) if volume != report.volume => Err(format!(
            "a rank sends {} elements, not the {volume} that the catalog states",
            report.volume
        )),
        _ => Ok(()),
    }
}

/// The steps of all ranks together, and the most steps of one rank.
fn steps(algorithm: Algorithm, case: &Case) -> Result<(u64, u32), String> {
    let arrays = case.arrays();
    let (mut all, mut most) = (0, 0);
    // Of very many ranks, every `stride`th represents those around it.
    let stride = (case.size / 4096).max(1);
    for rank in (0..case.size).step_by(stride as usize) {
        let plan = algorithm.plan(&case.call(rank, &arrays), &case.parameters);
        let steps = plan.map_err(|why| why.to_string())?.steps();
        all += u64::from(steps) * u64::from(stride);
        most = most.max(steps);
    }
    Ok((all, most))
}

/// Proves one case unless it takes more steps than `most`. Returns whether it was proved.
fn prove(
    algorithm: Algorithm,
    case: &Case,
    limit: StepLimit,
    tally: &mut Tally,
) -> Result<bool, String> {
    let located = |problem: &dyn std::fmt::Display| format!("{algorithm}: {problem}\n    {case:?}");
    let proved = match case.size > EVERY {
        true => prove_far(algorithm, case, limit)?,
        false => prove_near(algorithm, case, limit)?,
    };
    let Some((how, checked)) = proved else {
        return Ok(false);
    };
    let report = checked.map_err(|fault| located(&fault))?;
    check_bounds(algorithm, case, report).map_err(|why| located(&why))?;
    tally.note(how, case, report);
    Ok(true)
}

/// The checker's report with the index into [`Tally::proved`], or `None` if the proof takes too many
/// steps.
type Proved = Result<Option<(usize, Result<ProofReport, Fault>)>, String>;

/// Proves a case with the plans of all ranks in memory.
fn prove_near(algorithm: Algorithm, case: &Case, limit: StepLimit) -> Proved {
    let arrays = case.arrays();
    let calls = case.calls(&arrays);
    let plans = calls
        .iter()
        .map(|call| algorithm.plan(call, &case.parameters));
    let plans = plans.collect::<Result<Vec<_>, _>>();
    let plans = plans.map_err(|why| why.to_string())?;
    let steps: u64 = plans.iter().map(|plan| u64::from(plan.steps())).sum();
    if steps > limit.equivalent {
        return Ok(None);
    }
    let equivalent =
        (case.size > FEW).then(|| case.check_plans_by_symmetry(|rank| Ok(plans[rank as usize])));
    Ok(match equivalent.flatten() {
        Some(checked) => Some((1, checked)),
        None if steps > limit.run => None,
        None => Some((0, case.check_plans(&plans))),
    })
}

/// Proves a case of too many ranks to keep their plans in memory.
fn prove_far(algorithm: Algorithm, case: &Case, limit: StepLimit) -> Proved {
    let steps = steps(algorithm, case)?.0;
    if steps > limit.equivalent {
        return Ok(None);
    }
    Ok(match case.check_by_symmetry(algorithm) {
        Some(checked) => Some((1, checked)),
        None if steps > limit.run => None,
        None if is_allgather(case) => {
            let followed = [0, case.size / 3, case.size - 1].map(Ranks::one);
            let all = followed
                .iter()
                .fold(Ranks::new(), |all, one| all.union(one));
            Some((0, case.check_following(algorithm, &all)))
        }
        None => Some((0, case.check(algorithm))),
    })
}

/// Whether every rank gets a block of every other.
fn is_allgather(case: &Case) -> bool {
    matches!(
        case.collective,
        Collective::Allgather | Collective::Allgatherv
    )
}

/// Proves an algorithm on one number of ranks, if it supports that number.
pub(crate) fn prove_size(
    algorithm: Algorithm,
    size: u32,
    options: &Options,
) -> Result<Tally, String> {
    let (start, mut tally) = (processor_time(), Tally::default());
    if size > EVERY {
        prove_random(algorithm, size, options, &mut tally)?;
    } else if size > FEW {
        prove_many(algorithm, size, options, &mut tally)?;
    } else {
        for case in &cases(algorithm, size) {
            require(prove(algorithm, case, StepLimit::ANY, &mut tally)?, case)?;
        }
    }
    tally.spent = processor_time().saturating_sub(start);
    Ok(tally)
}

/// The processor time of this thread, or the time since the first call if the kernel does not give it.
fn processor_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat");
    let nanoseconds = schedstat
        .ok()
        .and_then(|line| line.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// An error if a case that must be proved was not.
fn require(proved: bool, case: &Case) -> Result<(), String> {
    let why = || format!("a case that must be proved takes too many steps\n    {case:?}");
    proved.then_some(()).ok_or_else(why)
}

/// Proves an algorithm on more than [`FEW`] and up to [`EVERY`] ranks.
fn prove_many(
    algorithm: Algorithm,
    size: u32,
    options: &Options,
    tally: &mut Tally,
) -> Result<(), String> {
    let all = cases(algorithm, size);
    let Some(plainest) = all.last() else {
        return Ok(());
    };
    require(
        prove(algorithm, plainest, StepLimit::run(MANY), tally)?,
        plainest,
    )?;
    if size <= PLACED {
        for case in placed(algorithm, plainest) {
            require(prove(algorithm, &case, StepLimit::ANY, tally)?, &case)?;
        }
    }
    let is_sampled = size % SAMPLE == algorithm as u32 % SAMPLE;
    let run = if is_sampled { MANY } else { LONG };
    let equivalent = if options.random { u64::MAX } else { run };
    for case in variants(algorithm, plainest, &all) {
        let proved = prove(algorithm, &case, StepLimit { run, equivalent }, tally)?;
        tally.skipped += u64::from(!proved);
    }
    Ok(())
}

/// Proves an algorithm on a random number of ranks. Halves the number while a rank takes many steps or
/// reads all blocks, or all ranks take more steps than the command line allows.
fn prove_random(
    algorithm: Algorithm,
    size: u32,
    options: &Options,
    tally: &mut Tally,
) -> Result<(), String> {
    let mut size = size;
    while algorithm
        .suits(&plain(algorithm, size).call(0, &[]))
        .is_ok()
    {
        let case = plain(algorithm, size);
        // The intra-node alltoall is one step, but each rank gets a block of every other.
        let is_logarithmic = steps(algorithm, &case)?.1 <= 8 * (size.ilog2() + 2)
            && algorithm != Algorithm::AlltoallIntraNode;
        let fits = size <= 4096 || is_logarithmic && reads(algorithm, &case) <= READ;
        if size <= EVERY
            || fits && prove(algorithm, &case, StepLimit::run(options.most_steps), tally)?
        {
            return Ok(());
        }
        size /= 2;
    }
    Ok(())
}

/// The blocks that all ranks' plans read together: every rank reads every block if it is given all
/// lengths or has a block for every rank, unless its plan is shift-invariant, so that few plans are read.
fn reads(algorithm: Algorithm, case: &Case) -> u64 {
    let given = matches!(
        case.collective,
        Collective::Allgatherv | Collective::ReduceScatter | Collective::Alltoall
    );
    let arrays = case.arrays();
    let plan = |rank| algorithm.plan(&case.call(rank, &arrays), &case.parameters);
    let holds_none = || match (plan(0), plan(1)) {
        (Ok(one), Ok(other)) => one.is_rotation(1, &other),
        _ => false,
    };
    match given && !holds_none() {
        true => u64::from(case.size) * u64::from(case.size),
        false => 0,
    }
}

/// The plainest case in block and cyclic placement, if the algorithm is node-aware.
fn placed(algorithm: Algorithm, plainest: &Case) -> Vec<Case> {
    if algorithm.row().parameters.per_node == 0 {
        return Vec::new();
    }
    let drawn = draw(algorithm as u64, plainest.size.into()) as usize;
    let placed = |order| Case {
        parameters: plainest
            .parameters
            .with_per_node([2, 3, 4, 5, 16][drawn % 5])
            .with_order(order),
        ..*plainest
    };
    [Order::Block, Order::Cyclic].map(placed).into()
}

/// The variants of the plainest case, and one drawn case: on every [`VARIED`]th number of ranks, with a
/// root on all.
fn variants(algorithm: Algorithm, plainest: &Case, all: &[Case]) -> Vec<Case> {
    let is_varied = plainest.size % VARIED == algorithm as u32 % VARIED;
    let in_place = Case {
        in_place: true,
        ..*plainest
    };
    let can_be_in_place = all.iter().any(|case| case.in_place);
    let drawn = all[draw(algorithm as u64, plainest.size.into()) as usize % all.len()];
    let mut variants = Vec::new();
    if is_varied && can_be_in_place {
        variants.push(in_place);
    }
    if is_varied && plainest.size > PLACED {
        variants.extend(placed(algorithm, plainest));
    }
    if is_varied || algorithm.collective().has_root() {
        variants.push(drawn);
    }
    variants
}

/// Random numbers of ranks beyond [`EVERY`] that the algorithm supports.
pub(crate) fn beyond(algorithm: Algorithm) -> Vec<u32> {
    let needs = algorithm.row().needs;
    let drawn = |(index, bits): (u64, u32)| {
        let low = EVERY + 1;
        let size = low + (draw(algorithm as u64, index) % u64::from((1 << bits) - low)) as u32;
        match () {
            () if needs.power_of_two => 1 << size.ilog2(),
            () => size,
        }
    };
    (0..).zip([12, 12, 16, 20]).map(drawn).collect()
}
