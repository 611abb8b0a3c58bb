//! Bruck's algorithm between nodes, with a port for each rank, and inside them.

use super::exchanges::{allgather_bruck, block_of};
use super::nodes::inside;
use super::round::Round;
use super::rounds::Rounds;
use super::{Model, Way};
use crate::catalog::{Call, Parameters};
use crate::digits::Digits;
use crate::exec::IN_FLIGHT;
use crate::hierarchy::full_blocks;

/// Allgather by Bruck's algorithm between nodes, with a port for each rank, and inside.
pub(crate) fn allgather_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let (place, block) = (full_blocks(call, parameters), block_of(call));
    let (nodes, ranks) = (place.nodes(), place.per_node());
    if ranks == 1 {
        let binary = Parameters {
            radix: 2,
            ..*parameters
        };
        return allgather_bruck(call, &binary, model);
    }
    let between = Digits::new(nodes, ranks.saturating_add(1));
    let blocks = |nodes: u32| {
        block
            .saturating_mul(nodes.into())
            .saturating_mul(ranks.into())
    };
    let near = inside(model, ranks);
    let mut time = told(&near, parameters, block, blocks(1)).saturating_add(model.copy(block));
    for phase in 0..between.phases() {
        let (had, ports) = (between.weight(phase), between.values(phase));
        let bytes = blocks(had.min(nodes - had));
        let mut round = Rounds::new(model);
        round.add(Round {
            distance: ranks,
            span: 0,
            far: ports.into(),
            messages: 1,
            bytes,
            ends: [bytes; 2],
            work: 0,
        });
        let got = blocks(had.saturating_mul(ranks).min(nodes - had));
        time = time
            .saturating_add(round.time())
            .saturating_add(told(&near, parameters, bytes, got));
    }
    time
}

/// What the ranks of a node have, shares of so many bytes each and so many in all, they tell one another by Bruck's
/// algorithm. But for the shares that ranks begin with, some go around the end in two messages.
fn told(near: &Model, parameters: &Parameters, share: u64, all: u64) -> u64 {
    let digits = Digits::new(near.place.size(), parameters.radix);
    let owners = all.div_ceil(share.max(1));
    let mut rounds = Rounds::new(near);
    for phase in 0..digits.phases() {
        let (weight, values) = (digits.weight(phase), digits.values(phase));
        let bytes = share.saturating_mul(weight.into()).min(all);
        let filled = owners.div_ceil(weight.into()).clamp(1, values.into()) as u32;
        // Who has a share sends it to all others, even if few have one: long messages together as far as there is room.
        let room = IN_FLIGHT as u32 - (filled - 1).min(IN_FLIGHT as u32);
        let is_tight = bytes > near.machine.eager && values > room;
        rounds.shift(weight, if is_tight { values } else { filled }, bytes, 0);
        rounds.work(u64::from(values - filled).saturating_mul(near.send(Way::Node, bytes)));
        if weight > 1 {
            rounds.work(near.both(Way::Node, 0));
        }
    }
    rounds.time()
}
