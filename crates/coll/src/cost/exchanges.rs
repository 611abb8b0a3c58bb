//! The cost of algorithms in rounds in which every rank sends and receives.

use super::round::Round;
use super::rounds::Rounds;
use super::{Model, Reach};
use crate::allreduce;
use crate::call::{Call, Parameters};
use crate::circulant::Skips;
use crate::digits::Digits;
use crate::exscan;
use crate::placement::Order;
use crate::tree::{levels, levels_of};

/// The bytes of one of `parts` parts of a vector.
pub(super) fn share(call: &Call, parts: u32) -> u64 {
    call.bytes().div_ceil(parts.max(1).into())
}

/// Barrier by dissemination.
pub(crate) fn dissemination(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let digits = Digits::new(call.size, parameters.radix);
    let mut rounds = Rounds::new(model);
    for phase in 0..digits.phases() {
        let (weight, values) = (digits.weight(phase), digits.values(phase));
        rounds.shift(weight, values, 0, 0);
    }
    rounds.time()
}

/// Allgather by Bruck's algorithm.
pub(crate) fn allgather_bruck(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    bruck(Rounds::digit_by_digit(model), call, parameters)
}

/// [`allgather_bruck`] after a scatter.
pub(super) fn bruck_after_scatter(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    bruck(Rounds::out_of_step(model), call, parameters)
}

/// Bruck's algorithm: in each phase a rank's data are sent once per value of the digit.
fn bruck(mut rounds: Rounds<'_>, call: &Call, parameters: &Parameters) -> u64 {
    let (model, block) = (rounds.model, block_of(call));
    let digits = Digits::new(call.size, parameters.radix);
    rounds.work(model.copy(block));
    for phase in 0..digits.phases() {
        let (weight, values) = (digits.weight(phase), digits.values(phase));
        let missing = call.size - weight;
        let blocks = |n: u32| block.saturating_mul(weight.min(n).into());
        // The last message of a phase may be short where the others are long.
        let least = match blocks(missing) > model.machine.eager {
            true => model.machine.eager.saturating_add(1),
            false => 0,
        };
        let all = block.saturating_mul(missing.into());
        let mean = all.div_ceil(values.into()).min(blocks(missing)).max(least);
        let last = blocks(missing - (values - 1) * weight);
        rounds.shift_unequal(weight, values, mean, [blocks(missing), last], 0);
    }
    rounds.time()
}

/// The bytes of one rank's block, or their mean.
pub(super) fn block_of(call: &Call) -> u64 {
    use crate::call::Collective::{Allgatherv, ReduceScatter};
    match call.collective {
        Allgatherv | ReduceScatter => share(call, call.size),
        _ => call.bytes(),
    }
}

/// Adds the rounds of the circulant allgather.
fn gather_around(rounds: &mut Rounds<'_>, size: u32, block: u64) {
    let skips = Skips::new(size);
    for k in 0..skips.rounds() {
        let (from, to) = (skips.skip(k), skips.skip(k + 1));
        rounds.shift(from, 1, block.saturating_mul((to - from).into()), 0);
    }
}

/// Adds the rounds of the circulant reduce-scatter.
fn scatter_around(rounds: &mut Rounds<'_>, size: u32, block: u64) {
    let skips = Skips::new(size);
    let model = rounds.model;
    for k in (0..skips.rounds()).rev() {
        let (from, to) = (skips.skip(k), skips.skip(k + 1));
        let bytes = block.saturating_mul((to - from).into());
        rounds.shift(from, 1, bytes, model.reduce(bytes));
    }
    if !size.is_multiple_of(2) {
        rounds.work(model.copy(block));
    }
}

/// Allgather over the circulant graph.
pub(crate) fn allgather_circulant(call: &Call, _: &Parameters, model: &Model) -> u64 {
    let block = block_of(call);
    let mut rounds = Rounds::new(model);
    rounds.work(model.copy(block));
    gather_around(&mut rounds, call.size, block);
    rounds.time()
}

/// Allgather of the pieces of a vector after a scatter.
pub(super) fn regather(call: &Call, model: &Model) -> u64 {
    let mut rounds = Rounds::out_of_step(model);
    gather_around(&mut rounds, call.size, share(call, call.size));
    rounds.time()
}

/// Allgather by recursive doubling.
pub(crate) fn allgather_doubling(call: &Call, _: &Parameters, model: &Model) -> u64 {
    let block = call.bytes();
    let mut rounds = Rounds::new(model);
    rounds.work(model.copy(block));
    for level in 0..levels(call.size) {
        rounds.pairs(1 << level, block.saturating_mul(1 << level), 0);
    }
    rounds.time()
}

/// Reduce-scatter over the circulant graph.
pub(crate) fn reduce_scatter_circulant(call: &Call, _: &Parameters, model: &Model) -> u64 {
    let mut rounds = Rounds::new(model);
    scatter_around(&mut rounds, call.size, block_of(call));
    rounds.latest()
}

/// Allreduce over the circulant graph.
pub(crate) fn allreduce_circulant(call: &Call, _: &Parameters, model: &Model) -> u64 {
    let [there, back] = there_and_back(call, model);
    there.latest().saturating_add(back.latest())
}

/// [`allreduce_circulant`] in rails, whose messages all share the adapters.
pub(super) fn allreduce_circulant_in_rails(call: &Call, model: &Model) -> u64 {
    let [there, back] = there_and_back(call, model);
    there.time().saturating_add(back.time())
}

/// The rounds of reduce-scatter and allgather.
fn there_and_back<'a>(call: &Call, model: &'a Model) -> [Rounds<'a>; 2] {
    let block = share(call, call.size);
    let (mut there, mut back) = (Rounds::new(model), Rounds::new(model));
    scatter_around(&mut there, call.size, block);
    if !model.is_even() || there.mixes_nodes() {
        back.fall_out_of_step();
    }
    gather_around(&mut back, call.size, block);
    [there, back]
}

/// [`reduce_scatter_circulant`] in rails, whose messages all share the adapters.
pub(super) fn reduce_scatter_circulant_in_rails(call: &Call, model: &Model) -> u64 {
    let mut rounds = Rounds::new(model);
    scatter_around(&mut rounds, call.size, block_of(call));
    rounds.time()
}

/// Reduce-scatter by recursive halving, farthest first, so that blocks keep their order.
pub(crate) fn reduce_scatter_halving(call: &Call, _: &Parameters, model: &Model) -> u64 {
    let mut rounds = Rounds::new(model);
    for level in (0..levels(call.size)).rev() {
        let half = block_of(call).saturating_mul(1 << level);
        rounds.pairs(1 << level, half, model.reduce(half));
    }
    rounds.latest()
}

/// Allreduce by recursive splitting, by the largest groups of each phase, in which some ranks also send
/// to ranks without a partner.
pub(crate) fn allreduce_splitting(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let (radix, bytes) = (parameters.radix, call.bytes());
    let mut rounds = Rounds::new(model);
    for cuts in (0..levels_of(call.size, radix)).rev() {
        let ranks = call.size.div_ceil(radix.pow(cuts));
        let parts = radix.min(ranks);
        let (length, longer) = (ranks / parts, ranks % parts);
        let leaving = |times: u32| {
            let distance = length * times;
            model.leaving(distance.min(call.size - 1)).max(1)
        };
        let far = match is_within_nodes(model, radix, cuts) {
            true => 0,
            false => (1..parts).map(leaving).sum(),
        };
        // Shorter parts with one message less have time for that.
        let left_over = match in_splits(length, radix) < in_splits(length + 1, radix) {
            true => 0,
            false => longer.div_ceil(length).into(),
        };
        let work = u64::from(parts - 1) * model.reduce(bytes);
        rounds.add(Round {
            distance: call.size,
            span: u64::from(length) * u64::from(parts - 1),
            far: if far > 0 { far + left_over } else { 0 },
            messages: parts - 1,
            bytes,
            ends: [bytes; 2],
            work: work.saturating_add(model.send(Reach::Node, bytes).saturating_mul(left_over)),
        });
        if longer > 0 || !call.size.is_multiple_of(radix.pow(cuts)) {
            rounds.fall_out_of_step();
        }
    }
    rounds.latest()
}

/// The messages of a rank within its group, which is split into almost equal parts again and again.
fn in_splits(ranks: u32, radix: u32) -> u32 {
    let groups = (0..levels_of(ranks, radix)).map(|cuts| ranks.div_ceil(radix.pow(cuts)));
    groups.map(|group| radix.min(group) - 1).sum()
}

/// Whether no node ends within a group of ranks after `cuts` splits: neither the first node nor the last
/// but one.
fn is_within_nodes(model: &Model, radix: u32, cuts: u32) -> bool {
    let place = model.place;
    let starts = [1, place.nodes() - 1].map(|node| node * place.per_node());
    let begins = |rank| allreduce::begins_group(rank, place.size(), radix, cuts);
    match place.order() {
        _ if place.nodes() == 1 => true,
        Order::Block => starts.into_iter().all(begins),
        Order::Cyclic => false,
    }
}

/// Allreduce by an allgather of whole vectors, which each rank reduces.
pub(crate) fn allreduce_gather_reduce(call: &Call, _: &Parameters, model: &Model) -> u64 {
    let mut rounds = Rounds::new(model);
    gather_around(&mut rounds, call.size, call.bytes());
    let reduced = u64::from(call.size - 1) * model.reduce(call.bytes());
    rounds.work(reduced + 2 * model.copy(call.bytes()));
    rounds.latest()
}

/// Allreduce by the census algorithm.
pub(crate) fn census(call: &Call, _: &Parameters, model: &Model) -> u64 {
    let mut rounds = Rounds::new(model);
    let reduce = model.reduce(call.bytes());
    rounds.work(model.copy(call.bytes()));
    let all = levels(call.size);
    for round in 0..all {
        let distance = ((call.size - 1) >> (all - 1 - round)).div_ceil(2);
        let twice = round > 0 && round + 1 < all && !call.size.is_power_of_two();
        rounds.shift(distance, 1, call.bytes(), reduce * (1 + u64::from(twice)));
    }
    rounds.time()
}

/// The rounds of a prefix sum over these distances. In the last round not all ranks receive; a short
/// message from a rank that had few rounds has arrived before and is copied once more.
fn prefix(call: &Call, count: u32, distance: impl Fn(u32) -> u32, model: &Model) -> u64 {
    let (bytes, reduce) = (call.bytes(), model.reduce(call.bytes()));
    let is_short = bytes <= model.machine.eager;
    let after = |rounds: u32, last: Option<u32>| {
        // The sender of a long message waits until a rank above requests it.
        let mut all = match is_short {
            true => Rounds::upwards(model),
            false => Rounds::in_step(model),
        };
        all.work(model.copy(bytes));
        for round in (0..rounds).chain(last) {
            all.shift(distance(round).min(call.size - 1), 1, bytes, reduce);
        }
        all.time()
    };
    let Some(last) = count.checked_sub(1).filter(|_| is_short) else {
        return after(count, None);
    };
    let apart = distance(last);
    let mut below = call.size - 1 - apart.min(call.size - 1);
    let had = |&round: &u32| {
        let reached = distance(round) <= below;
        below = below.saturating_sub(distance(round));
        reached
    };
    let had = (0..last).take_while(had).count() as u32;
    let reach = model.reach(apart.into());
    let found = (model.ends(reach, bytes).recv)
        .saturating_add(model.copy(bytes))
        .saturating_add(reduce);
    let latest = match had == last {
        true => after(count, None),
        false => after(had, Some(last)).max(after(last, None).saturating_add(found)),
    };
    // The first ranks wait for few others, and their node's adapter for none.
    let leaving = |round| model.leaving(distance(round).min(call.size - 1));
    match (0..count).map(leaving).sum::<u64>() {
        0 => latest,
        messages => (model.load(bytes).saturating_mul(messages))
            .saturating_add(model.end(Reach::Network))
            .saturating_add(reduce)
            .max(latest),
    }
}

/// Scan by doubling.
pub(crate) fn scan(call: &Call, _: &Parameters, model: &Model) -> u64 {
    prefix(call, levels(call.size), |round| 1 << round.min(31), model)
}

/// Exscan by 123-doubling: of more than two rounds one reduces twice.
pub(crate) fn exscan_doubling(call: &Call, _: &Parameters, model: &Model) -> u64 {
    let rounds = exscan::Doubling123::rounds(call.size);
    let twice = if rounds > 2 {
        model.reduce(call.bytes())
    } else {
        0
    };
    let distance = |round: u32| exscan::distance(round).min(u32::MAX.into()) as u32;
    prefix(call, rounds, distance, model).saturating_add(twice)
}

/// Exscan by a shift and a scan.
pub(crate) fn exscan_shift(call: &Call, _: &Parameters, model: &Model) -> u64 {
    let first = model.both(Reach::Node, 0);
    let distance = |round: u32| 1 << round.saturating_sub(1).min(31);
    prefix(call, exscan::Shift::rounds(call.size), distance, model).saturating_add(first)
}

/// Alltoall by Bruck's algorithm, which packs blocks before each phase and unpacks them after it.
pub(crate) fn alltoall_bruck(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let (size, block) = (u64::from(call.size), call.bytes());
    let digits = Digits::new(call.size, parameters.radix);
    let mut rounds = Rounds::digit_by_digit(model);
    rounds.work(model.copy(size.saturating_mul(2 * block)));
    for phase in 0..digits.phases() {
        let (weight, values) = (digits.weight(phase), digits.values(phase));
        let weight64 = u64::from(weight);
        let period = weight64 * u64::from(digits.radix());
        let whole = size / period * weight64;
        let rest = (size % period).saturating_sub(weight64).min(weight64);
        let bytes = (whole + rest).saturating_mul(block);
        let copied = model.copy(2 * bytes.saturating_mul(values.into()));
        rounds.shift(weight, values, bytes, copied);
    }
    rounds.time()
}
