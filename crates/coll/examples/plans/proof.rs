//! What is proved of an algorithm on one number of ranks, and which variants are left out.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use oxmpi_coll::catalog::{Algorithm, Collective, Parameters};
use oxmpi_coll::check::{
    Case, Fault, ProofReport, Ranks, cases, draw, least_volume, plain, promises_rounds,
};
use oxmpi_coll::placement::Order;
use oxmpi_coll::plan::Plan;

use crate::asked::Asked;

/// All numbers of ranks up to this one are proved, if no other is given.
pub(crate) const EVERY: u32 = 1024;

/// Numbers of ranks up to which every case is proved by running all ranks. Nothing is left out.
pub(crate) const FEW: u32 = 64;

/// Numbers of ranks up to which algorithms that know nodes are proved with ranks on nodes in blocks and
/// dealt in turn. Nothing of that is left out.
pub(crate) const PLACED: u32 = 128;

/// Of so many numbers of ranks one has its variants proved.
pub(crate) const VARIED: u32 = 8;

/// Steps of all ranks together beyond which a variant is proved on one of [`SAMPLE`] numbers of ranks.
pub(crate) const LONG: u64 = 20_000;

/// Steps of all ranks together beyond which on more than [`FEW`] and up to [`EVERY`] ranks nothing is proved by running all
/// ranks; the plainest cases take fewer, or few ranks stand for all.
const MANY: u64 = 2_500_000;

/// See [`LONG`].
pub(crate) const SAMPLE: u32 = 256;

/// Blocks that the plans of all ranks look at together beyond which half as many ranks are taken.
const READ: u64 = 1 << 31;

/// What proving one algorithm came to.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    /// Cases proved by running every rank, and by running few that stand for all.
    pub proved: [u64; 2],
    /// Variants that are left out for their steps.
    pub left_out: u64,
    /// Messages of all cases.
    pub messages: u64,
    /// The largest number of ranks.
    pub largest: u32,
    /// Time on a processor.
    pub spent: Duration,
}

impl Tally {
    /// Adds what another number of ranks came to.
    pub(crate) fn add(&mut self, other: Tally) {
        self.proved[0] += other.proved[0];
        self.proved[1] += other.proved[1];
        self.left_out += other.left_out;
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
struct Most {
    /// Where all ranks are run.
    run: u64,
    /// Where some stand for all.
    alike: u64,
}

impl Most {
    /// Any number.
    const ANY: Most = Most::run(u64::MAX);

    /// So many where all ranks are run.
    const fn run(steps: u64) -> Self {
        Most {
            run: steps,
            alike: u64::MAX,
        }
    }
}

/// Whether the promised rounds and the promised volume are kept.
fn keeps_promises(algorithm: Algorithm, case: &Case, report: ProofReport) -> Result<(), String> {
    let rounds = algorithm.rounds(&case.call(0, &case.arrays()), &case.parameters);
    let found = u64::from(report.rounds);
    if promises_rounds(algorithm, case) && found > rounds {
        return Err(format!(
            "takes {found} rounds, not the {rounds} that it promises"
        ));
    }
    match least_volume(algorithm, case) {
        Some(volume) if volume != report.volume => Err(format!(
            "a rank sends {} elements, not the {volume} that are promised",
            report.volume
        )),
        _ => Ok(()),
    }
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

/// Proves one case, if it takes no more steps than `most`; whether it has.
fn prove(algorithm: Algorithm, case: &Case, most: Most, tally: &mut Tally) -> Result<bool, String> {
    let named = |what: &dyn std::fmt::Display| format!("{algorithm}: {what}\n    {case:?}");
    let proved = match case.size > EVERY {
        true => prove_far(algorithm, case, most)?,
        false => prove_near(algorithm, case, most)?,
    };
    let Some((how, checked)) = proved else {
        return Ok(false);
    };
    let report = checked.map_err(|fault| named(&fault))?;
    keeps_promises(algorithm, case, report).map_err(|why| named(&why))?;
    tally.note(how, case, report);
    Ok(true)
}

/// What proving a case came to, and whether few ranks stood for all; `None` where that takes too many
/// steps.
type Proved = Result<Option<(usize, Result<ProofReport, Fault>)>, String>;

/// Proves a case whose plans are made once, and kept.
fn prove_near(algorithm: Algorithm, case: &Case, most: Most) -> Proved {
    let arrays = case.arrays();
    let calls = case.calls(&arrays);
    let plans = calls
        .iter()
        .map(|call| algorithm.plan(call, &case.parameters));
    let plans = plans.collect::<Result<Vec<_>, _>>();
    let plans = plans.map_err(|why| why.to_string())?;
    let steps: u64 = plans.iter().map(|plan| u64::from(plan.steps())).sum();
    if steps > most.alike {
        return Ok(None);
    }
    let alike = (case.size > FEW).then(|| case.check_plans_alike(|rank| Ok(plans[rank as usize])));
    Ok(match alike.flatten() {
        Some(checked) => Some((1, checked)),
        None if steps > most.run => None,
        None => Some((0, case.check_plans(&plans))),
    })
}

/// Proves a case of so many ranks that their plans are not kept.
fn prove_far(algorithm: Algorithm, case: &Case, most: Most) -> Proved {
    let steps = steps(algorithm, case)?.0;
    if steps > most.alike {
        return Ok(None);
    }
    Ok(match case.check_alike(algorithm) {
        Some(checked) => Some((1, checked)),
        None if steps > most.run => None,
        None if gathers(case) => {
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
fn gathers(case: &Case) -> bool {
    matches!(
        case.collective,
        Collective::Allgather | Collective::Allgatherv
    )
}

/// Proves an algorithm on one number of ranks, if it takes so many.
pub(crate) fn prove_size(algorithm: Algorithm, size: u32, asked: &Asked) -> Result<Tally, String> {
    let (start, mut tally) = (on_processor(), Tally::default());
    if size > EVERY {
        prove_random(algorithm, size, asked, &mut tally)?;
    } else if size > FEW {
        prove_many(algorithm, size, asked, &mut tally)?;
    } else {
        for case in &cases(algorithm, size) {
            must(prove(algorithm, case, Most::ANY, &mut tally)?, case)?;
        }
    }
    tally.spent = on_processor().saturating_sub(start);
    Ok(tally)
}

/// The time that this thread has had on a processor, so that what runs beside does not count; where the
/// system does not tell it, time.
fn on_processor() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat");
    let nanoseconds = told
        .ok()
        .and_then(|line| line.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// A case that may not be left out.
fn must(proved: bool, case: &Case) -> Result<(), String> {
    let why = || format!("a case that may not be left out takes too many steps\n    {case:?}");
    proved.then_some(()).ok_or_else(why)
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
    must(
        prove(algorithm, plainest, Most::run(MANY), tally)?,
        plainest,
    )?;
    if size <= PLACED {
        for case in placed(algorithm, plainest) {
            must(prove(algorithm, &case, Most::ANY, tally)?, &case)?;
        }
    }
    let is_sampled = size % SAMPLE == algorithm as u32 % SAMPLE;
    let run = if is_sampled { MANY } else { LONG };
    let alike = if asked.random { u64::MAX } else { run };
    for case in variants(algorithm, plainest, &all) {
        let proved = prove(algorithm, &case, Most { run, alike }, tally)?;
        tally.left_out += u64::from(!proved);
    }
    Ok(())
}

/// Proves an algorithm on a random number of ranks, or on half as many and so on where a rank takes many steps or
/// looks at all blocks, or all ranks take more than is asked for.
fn prove_random(
    algorithm: Algorithm,
    size: u32,
    asked: &Asked,
    tally: &mut Tally,
) -> Result<(), String> {
    let is_even = algorithm.row().needs.even;
    let mut size = size;
    while algorithm
        .suits(&plain(algorithm, size).call(0, &[]))
        .is_ok()
    {
        let case = plain(algorithm, size);
        // A team's alltoall is a single step, in which each rank gets a block of every other.
        let is_logarithmic = steps(algorithm, &case)?.1 <= 8 * (size.ilog2() + 2)
            && algorithm != Algorithm::AlltoallIntraNode;
        let fits = size <= 4096 || is_logarithmic && reads(algorithm, &case) <= READ;
        if size <= EVERY || fits && prove(algorithm, &case, Most::run(asked.most), tally)? {
            return Ok(());
        }
        size = if is_even { size / 4 * 2 } else { size / 2 };
    }
    Ok(())
}

/// The blocks that all ranks' plans look at together, if each looks at all: where every rank is given all
/// lengths, or has a block for every other, but for a plan that holds no rank, of which few are asked.
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

/// The plainest case with ranks on nodes in blocks and dealt in turn, where the algorithm knows nodes.
fn placed(algorithm: Algorithm, plainest: &Case) -> Vec<Case> {
    if algorithm.row().parameters.per_node == 0 {
        return Vec::new();
    }
    let drawn = draw(algorithm as u64, plainest.size.into()) as usize;
    let placed = |order| Case {
        parameters: Parameters {
            per_node: [2, 3, 4, 5, 16][drawn % 5],
            order,
            ..plainest.parameters
        },
        ..*plainest
    };
    [Order::Block, Order::Cyclic].map(placed).into()
}

/// The plainest case as it may be varied, and one of the drawn cases: on every [`VARIED`]th number of
/// ranks, other roots on all.
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

/// Random numbers of ranks beyond [`EVERY`], of which the algorithm takes many.
pub(crate) fn beyond(algorithm: Algorithm) -> Vec<u32> {
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
