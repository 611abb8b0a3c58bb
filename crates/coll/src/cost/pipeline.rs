//! The cost of a vector in blocks over the circulant graph.

use super::Model;
use super::rounds::Rounds;
use crate::call::{Call, Parameters};
use crate::circulant::{Pipeline, Skips, idle};
use crate::reduce::without_folded_rank;

/// Bcast or reduce of a vector in blocks over the circulant graph.
pub(crate) fn pipeline(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let skips = Skips::new(call.size);
    let (cycle, blocks) = (
        skips.rounds(),
        u64::from(Pipeline::blocks_of(call, parameters)),
    );
    if call.size == 2 {
        // The root never waits.
        return super::chain(call, parameters, model);
    }
    let bytes = call.bytes().div_ceil(blocks);
    let work = if call.collective.reduces() {
        model.reduce(bytes)
    } else {
        0
    };
    let (mut rounds, mut first) = (Rounds::new(model), Rounds::new(model));
    let mut front = 0;
    let left = (blocks - 1) % u64::from(cycle);
    for k in 0..cycle {
        rounds.shift(skips.skip(k), 1, bytes, work);
        if u64::from(k) == u64::from(cycle) - left {
            front = first.time;
        }
        first.shift(skips.skip(k), 1, bytes, work);
    }
    let whole = rounds.time.saturating_mul((blocks - 1) / u64::from(cycle));
    let cut = if left == 0 { 0 } else { first.time - front };
    rounds.cross_twice();
    let crossings = rounds
        .crossings()
        .saturating_mul(1 + (blocks - 1) / u64::from(cycle));
    whole
        .saturating_add(cut)
        .saturating_add(rounds.time)
        .saturating_add(crossings)
        .saturating_add(rounds.tail)
        .saturating_sub(spared(call, parameters, model, bytes, work))
}

/// Reduce over the circulant graph with one rank folded, whose vector the root receives first. Short
/// messages of others arrive meanwhile and are copied once more; long ones wait.
pub(crate) fn reduce_folded(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let others = without_folded_rank(call);
    let taken = |reach, bytes| model.hop(reach, bytes).saturating_add(model.reduce(bytes));
    let welcomed = taken(model.reach(others.size.into()), call.bytes());
    if others.size == 1 {
        return welcomed;
    }
    let rounds = Pipeline::rounds_of(&others, parameters);
    let block = call
        .bytes()
        .div_ceil(Pipeline::blocks_of(call, parameters).into());
    let reach = model.reach(1);
    let each = match block > model.machine.eager {
        true => taken(reach, block),
        false => model
            .receive(reach, block)
            .saturating_add(model.reduce(block))
            .saturating_add(model.copy(block)),
    };
    let by_root = welcomed.saturating_add(each.saturating_mul(rounds));
    pipeline(&others, parameters, model).max(by_root)
}

/// The waiting that the root is spared in rounds in which the latest rank is idle.
fn spared(call: &Call, parameters: &Parameters, model: &Model, bytes: u64, work: u64) -> u64 {
    let skips = Skips::new(call.size);
    if bytes > model.machine.eager && call.collective.reduces() {
        // In the last rounds no rank waits for the completion of its sends.
        let distances = (0..skips.rounds()).map(|k| model.reach(skips.skip(k).into()));
        return distances
            .map(|reach| model.acknowledged(reach, bytes))
            .sum();
    }
    if bytes > model.machine.eager || call.size.is_power_of_two() {
        return 0;
    }
    // Messages that arrive before an awaited one from another node are received meanwhile; else all
    // arrive at the same time.
    let is_mixed = model.place.nodes() > 1 && model.place.per_node() > 1;
    let round = |distance: u32| {
        let mut waited = Rounds::new(model);
        waited.shift(distance, 1, bytes, work);
        let ends = model.ends(model.reach(distance.into()), bytes);
        let goes_on = match call.collective.reduces() {
            true if is_mixed => model.copy(bytes) + work,
            true => ends.recv + model.copy(bytes) + work,
            false => ends.send,
        };
        waited.time.saturating_sub(goes_on)
    };
    idle(call.size, parameters.blocks.max(1)).map(round).sum()
}
