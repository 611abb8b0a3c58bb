//! The cost of Bruck's algorithm between nodes with one port per rank of a full node: allgather, and
//! reversed reduce-scatter.

use super::exchanges::{allgather_bruck, block_of, reduce_scatter_circulant};
use super::nodes::{gather_node_aware, inside, scatter_node_aware};
use super::rounds::Rounds;
use super::{Model, Reach};
use crate::call::{Call, Collective, Parameters};
use crate::digits::Digits;
use crate::exec::IN_FLIGHT;
use crate::hierarchy::{one_after_another, sharers, with_second_radix};
use crate::placement::Placement;

/// The nodes of a multirail exchange.
struct MultirailNodes<'a> {
    model: &'a Model,
    place: Placement,
    block: u64,
    /// Elements of all blocks, which limit the messages that carry data.
    elements: u64,
    /// The most ports that share the data of one node.
    most: u32,
}

/// The processor's work on this many received bytes.
type Work = fn(&Model, u64) -> u64;

/// The messages of a node's ranks in a phase.
struct Phase {
    /// The ranks of the node.
    ranks: u32,
    /// Each rank's messages with other nodes, all messages out of the node, and their bytes.
    messages: u32,
    far: u64,
    bytes: u64,
    /// Whether several ports share the data for one node.
    is_shared: bool,
    /// The bytes that all ranks of the node receive together.
    all: u64,
}

impl<'a> MultirailNodes<'a> {
    /// `None` if each rank has its own node.
    fn of(call: &Call, parameters: &Parameters, model: &'a Model) -> Option<Self> {
        let place = one_after_another(call, parameters);
        (place.ranks_on(0) > 1).then(|| MultirailNodes {
            model,
            place,
            block: block_of(&of_blocks(call)),
            elements: match call.collective {
                // The count is that of all blocks together.
                Collective::Allgatherv | Collective::ReduceScatter => call.count,
                _ if is_vector(call) => call.count,
                _ => call.count.saturating_mul(call.size.into()),
            },
            most: parameters.blocks,
        })
    }

    /// The bytes of the blocks of `ranks` ranks.
    fn blocks(&self, ranks: u32) -> u64 {
        self.block.saturating_mul(ranks.into())
    }

    /// The phases between nodes, each for a full node and for the last node.
    fn phases(&self) -> impl Iterator<Item = [Phase; 2]> {
        let place = self.place;
        let (nodes, full, last) = (place.nodes(), place.ranks_on(0), place.on_last_node());
        let digits = Digits::new(nodes, full.saturating_add(1));
        (0..digits.phases()).map(move |phase| {
            let (had, ports) = (digits.weight(phase), digits.values(phase));
            let parts = sharers(self.most, place, ports);
            let used = u64::from(ports * parts).min(self.elements).max(1) as u32;
            let got = had.saturating_mul(full).min(nodes - had);
            // Of two nodes, the full one gets the last one's data.
            let from_one = had.min(nodes - had);
            [(full, if nodes == 2 { last } else { full }), (last, full)].map(|(ranks, each)| {
                Phase {
                    ranks,
                    messages: used.div_ceil(ranks),
                    far: used.into(),
                    is_shared: parts > 1,
                    bytes: self.blocks(from_one * each).div_ceil(parts.into()),
                    all: self.blocks(got * each),
                }
            })
        })
    }

    /// The time of a phase between full nodes, with `work` on the received data. On unequal nodes
    /// requests of late ranks wait behind other messages, so that adapters idle for about a quarter of
    /// their busy time.
    fn crossed(&self, phase: &Phase, work: Work) -> u64 {
        let (model, bytes) = (self.model, phase.bytes);
        let carried = (phase.far - 1).saturating_mul(model.load(bytes));
        let merged = work(model, bytes);
        let are_late = merged > 0 && !model.is_even() && self.place.nodes() > 2;
        let waits = match are_late && bytes > model.machine.eager {
            true => carried / 4,
            false => 0,
        };
        (model.hop(Reach::Network, bytes))
            .saturating_add(carried)
            .saturating_add(waits)
            .saturating_add(merged)
    }

    /// The time that requests wait behind messages of their own node if one node starts `later` than
    /// another. Of two nodes each waits for all messages of the other; of more, a full node for about two
    /// thirds of another node's messages.
    fn behind(&self, phase: &Phase, later: u64) -> u64 {
        let (model, network) = (self.model, self.model.machine.network);
        let begin_at_once = later <= network.latency + network.send;
        if phase.bytes <= model.machine.eager || begin_at_once || phase.is_shared {
            return 0;
        }
        match self.place.nodes() {
            2 => phase.far.saturating_mul(model.load(phase.bytes)),
            _ if !model.carries_slowly() => 0,
            _ => model.load(self.blocks(self.place.ranks_on(0))) / 3 * 2,
        }
    }

    /// The time until the last node's ranks have the full nodes' messages.
    fn handed_on(&self, phase: &Phase, work: Work) -> u64 {
        let (model, bytes) = (self.model, phase.bytes);
        let taken =
            u64::from(phase.messages - 1).saturating_mul(model.receive(Reach::Network, bytes));
        let carried = (phase.far - 1).saturating_mul(model.load(bytes));
        let merged = work(model, bytes).saturating_mul(phase.messages.into());
        let hop = model.hop(Reach::Network, bytes);
        hop.saturating_add(taken.max(carried))
            .saturating_add(merged)
    }

    /// The time at which a node's ranks are done with a phase that they begin at `begun`, with messages
    /// that arrive at `came`.
    fn done(&self, phase: &Phase, [begun, arrival]: [u64; 2]) -> u64 {
        let each = self.model.both(Reach::Network, phase.bytes);
        let busy = each.saturating_mul(phase.messages.into());
        begun.saturating_add(busy).max(arrival)
    }

    /// The time of all phases, and of the exchanges inside nodes with this radix.
    fn time(&self, radix: u32, work: Work) -> u64 {
        let near = |ranks, share, all| {
            let near = inside(self.model, ranks);
            among(&near, radix, work, [share, all])
        };
        let exchanged = |phase: &Phase, done: u64| {
            let share = phase.bytes.saturating_mul(phase.messages.into());
            done.saturating_add(near(phase.ranks, share, phase.all))
        };
        let begun = self.model.copy(self.block);
        // A last node with fewer ranks is ready first.
        let ready = [self.place.ranks_on(0), self.place.on_last_node()]
            .map(|ranks| begun.saturating_add(near(ranks, self.block, self.blocks(ranks))));
        let [full, last] = self
            .phases()
            .fold(ready, |[full, last], [of_full, of_last]| {
                let behind = self.behind(&of_full, full.abs_diff(last));
                let peer = if self.place.nodes() == 2 { last } else { full };
                let arrival =
                    peer.saturating_add(self.crossed(&of_full, work).saturating_add(behind));
                let full_done = exchanged(&of_full, self.done(&of_full, [full, arrival]));
                if of_last.ranks == of_full.ranks {
                    return [full_done; 2];
                }
                let arrival =
                    full.saturating_add(self.handed_on(&of_last, work).saturating_add(behind));
                let last_done = exchanged(&of_last, self.done(&of_last, [last, arrival]));
                [full_done.max(last_done); 2]
            });
        full.max(last)
    }
}

/// Node-aware allgather.
pub(crate) fn allgather_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    match MultirailNodes::of(call, parameters, model) {
        Some(nodes) => nodes.time(parameters.radix, |_, _| 0),
        None => {
            let binary = parameters.with_radix(2);
            allgather_bruck(&of_blocks(call), &binary, model)
        }
    }
}

/// Node-aware reduce-scatter.
pub(crate) fn reduce_scatter_node_aware(
    call: &Call,
    parameters: &Parameters,
    model: &Model,
) -> u64 {
    match MultirailNodes::of(call, parameters, model) {
        Some(nodes) => nodes.time(parameters.radix, Model::reduce),
        None => reduce_scatter_circulant(&of_blocks(call), parameters, model),
    }
}

/// Multirail allreduce: reduce-scatter and allgather of a vector's blocks.
pub(crate) fn allreduce_multirail(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let scattered = reduce_scatter_node_aware(call, parameters, model);
    scattered.saturating_add(allgather_node_aware(call, parameters, model))
}

/// Multirail reduce: reduce-scatter, then a gather along a tree.
pub(crate) fn reduce_multirail(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let scattered = reduce_scatter_node_aware(call, parameters, model);
    let gathered = gather_node_aware(&of_blocks(call), &with_second_radix(parameters), model);
    scattered.saturating_add(gathered)
}

/// Multirail bcast: a scatter along a tree, then an allgather.
pub(crate) fn bcast_multirail(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let scattered = scatter_node_aware(&of_blocks(call), parameters, model);
    let gathered = allgather_node_aware(call, &with_second_radix(parameters), model);
    scattered.saturating_add(gathered)
}

/// Whether the call's data are one vector, which is cut into a block per rank.
const fn is_vector(call: &Call) -> bool {
    matches!(
        call.collective,
        Collective::Bcast | Collective::Reduce | Collective::Allreduce
    )
}

/// The call with the blocks of its vector, if it has one.
fn of_blocks(call: &Call) -> Call {
    match is_vector(call) {
        true => Call {
            count: call.count.div_ceil(call.size.into()),
            ..*call
        },
        false => *call,
    }
}

/// The time in which ranks of a node exchange or reduce their shares by Bruck's algorithm. Shares of
/// several ranks may wrap at the end and take two messages.
fn among(near: &Model, radix: u32, work: Work, [share, all]: [u64; 2]) -> u64 {
    let digits = Digits::new(near.place.size(), radix);
    let owners = all.div_ceil(share.max(1));
    let mut rounds = Rounds::new(near);
    for phase in 0..digits.phases() {
        let (weight, values) = (digits.weight(phase), digits.values(phase));
        let missing = near.place.size() - weight;
        let shares = |n: u32| share.saturating_mul(weight.min(n).into()).min(all);
        let longest = shares(missing);
        let new = share
            .saturating_mul(missing.min(weight * values).into())
            .min(all);
        if 2 * owners > u64::from(near.place.size()) {
            let least = match longest > near.machine.eager {
                true => near.machine.eager.saturating_add(1),
                false => 0,
            };
            let mean = new.div_ceil(values.into()).min(longest).max(least);
            let ends = [longest, shares(missing - (values - 1) * weight)];
            rounds.shift_unequal(weight, values, mean, ends, work(near, new));
        } else {
            // A rank with a share sends it to all others, or gets it from them, even if few have one.
            let filled = owners.div_ceil(weight.into()).clamp(1, values.into()) as u32;
            let merged = work(near, longest).saturating_mul(values.into());
            // Long messages are under way together as far as there is room.
            let room = IN_FLIGHT as u32 - (filled - 1).min(IN_FLIGHT as u32);
            let is_tight = longest > near.machine.eager && values > room && !near.serial_copies;
            let messages = match merged {
                0 if !is_tight => filled,
                _ => values,
            };
            let sent = if merged == 0 { values - filled } else { 0 };
            rounds.shift(weight, messages, longest, merged);
            rounds.work(u64::from(sent).saturating_mul(near.send(Reach::Node, longest)));
        }
        // Wrapped shares take two messages, unless only the first of few shares are filled.
        if weight > 1 && owners.saturating_add(weight.into()) > u64::from(near.place.size()) {
            rounds.work(near.both(Reach::Node, 0));
        }
    }
    rounds.time()
}
