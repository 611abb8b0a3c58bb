//! Bruck's algorithm between nodes, with a port for each rank: allgather, and turned around reduce-scatter.

use super::exchanges::{allgather_bruck, block_of, reduce_scatter_circulant};
use super::nodes::inside;
use super::round::Round;
use super::rounds::Rounds;
use super::{Model, Way};
use crate::catalog::{Call, Parameters};
use crate::circulant::Skips;
use crate::digits::Digits;
use crate::exec::IN_FLIGHT;
use crate::hierarchy::{full_blocks, sharers};

/// Full nodes, each with a port for each rank, and what they exchange.
struct Nodes<'a> {
    model: &'a Model,
    nodes: u32,
    ranks: u32,
    block: u64,
    /// The most ranks that share what comes from one node.
    most: u32,
}

impl<'a> Nodes<'a> {
    /// None where each rank is a node.
    fn of(call: &Call, parameters: &Parameters, model: &'a Model) -> Option<Self> {
        let place = full_blocks(call, parameters);
        (place.per_node() > 1).then(|| Nodes {
            model,
            nodes: place.nodes(),
            ranks: place.per_node(),
            block: block_of(call),
            most: parameters.blocks,
        })
    }

    /// The bytes of so many nodes' blocks.
    fn blocks(&self, nodes: u32) -> u64 {
        let block = self.block.saturating_mul(nodes.into());
        block.saturating_mul(self.ranks.into())
    }

    /// The phases of exchanges between nodes. Each has the bytes of a rank's message, and of those that all ranks of a
    /// node get together, and how long it takes where so much work is done on what comes.
    fn phases(&self, work: fn(&Model, u64) -> u64) -> impl Iterator<Item = (u64, u64, u64)> {
        let digits = Digits::new(self.nodes, self.ranks.saturating_add(1));
        (0..digits.phases()).map(move |phase| {
            let (had, ports) = (digits.weight(phase), digits.values(phase));
            let parts = sharers(self.most, self.ranks, ports);
            let bytes = self
                .blocks(had.min(self.nodes - had))
                .div_ceil(parts.into());
            let mut round = Rounds::new(self.model);
            round.add(Round {
                distance: self.ranks,
                span: 0,
                far: u64::from(ports) * u64::from(parts),
                messages: 1,
                bytes,
                ends: [bytes; 2],
                work: work(self.model, bytes),
            });
            let got = had.saturating_mul(self.ranks).min(self.nodes - had);
            (bytes, self.blocks(got), round.time())
        })
    }
}

/// Allgather by Bruck's algorithm between nodes, with a port for each rank, and inside.
pub(crate) fn allgather_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let Some(nodes) = Nodes::of(call, parameters, model) else {
        let binary = Parameters {
            radix: 2,
            ..*parameters
        };
        return allgather_bruck(call, &binary, model);
    };
    let near = inside(model, nodes.ranks);
    let own = told(&near, parameters, nodes.block, nodes.blocks(1));
    let phases = nodes.phases(|_, _| 0);
    phases.fold(
        own.saturating_add(model.copy(nodes.block)),
        |time, (share, all, crossed)| {
            let told = told(&near, parameters, share, all);
            time.saturating_add(crossed).saturating_add(told)
        },
    )
}

/// Reduce-scatter by the same turned around, and over the circulant graph inside.
pub(crate) fn reduce_scatter_node_aware(
    call: &Call,
    parameters: &Parameters,
    model: &Model,
) -> u64 {
    let Some(nodes) = Nodes::of(call, parameters, model) else {
        return reduce_scatter_circulant(call, parameters, model);
    };
    let near = inside(model, nodes.ranks);
    let own = summed(&near, nodes.block, nodes.blocks(1));
    let phases = nodes.phases(Model::reduce);
    phases.fold(
        own.saturating_add(model.copy(nodes.block)),
        |time, (share, all, crossed)| {
            let summed = summed(&near, share, all);
            time.saturating_add(crossed).saturating_add(summed)
        },
    )
}

/// The ranks of a node reduce among themselves shares of so many bytes each and so many in all, over the circulant graph.
/// But for those of single ranks, some go around the end in two messages.
fn summed(near: &Model, share: u64, all: u64) -> u64 {
    let skips = Skips::new(near.place.size());
    let mut rounds = Rounds::new(near);
    for k in (0..skips.rounds()).rev() {
        let (kept, sent) = (skips.skip(k), skips.skip(k + 1) - skips.skip(k));
        let bytes = share.saturating_mul(sent.into()).min(all);
        rounds.shift(kept, 1, bytes, near.reduce(bytes));
        if sent > 1 {
            rounds.work(near.both(Way::Node, 0));
        }
    }
    rounds.time()
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
