//! The cost of algorithms that pass data from rank to rank: chains, rings and neighbour exchanges.

use super::alternating::alternate;
use super::exchanges::{block_of, share};
use super::peers::{across_edge, got_by_last, to_last};
use super::{Model, Reach};
use crate::call::{Call, Parameters};
use crate::exec::IN_FLIGHT;
use crate::placement::Order;

/// The direction of messages along a line of ranks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// Away from rank 0.
    Down,
    /// Towards rank 0.
    Up,
    /// Around a ring.
    Around,
}

/// The edges of a line of ranks.
pub(super) struct Line {
    course: Direction,
    /// The edges between nodes and inside nodes, each at most `size - 1`.
    pub(super) far: u64,
    pub(super) near: u64,
    /// The pieces in which a message goes between nodes.
    pieces: u64,
}

impl Line {
    fn of(model: &Model, course: Direction) -> Self {
        let place = model.place;
        let edges = u64::from(place.size()) - 1;
        let last = u64::from(course != Direction::Around);
        let far = match place.order() {
            _ if place.nodes() == 1 => 0,
            Order::Block => u64::from(place.nodes()) - last,
            Order::Cyclic => edges,
        };
        let far = far.min(edges);
        Line {
            course,
            far,
            near: edges - far,
            pieces: 1,
        }
    }

    /// The line from rank 0 to `rank`.
    pub(super) fn down(model: &Model, rank: u32) -> Self {
        let place = model.place;
        let far = match place.order() {
            _ if place.nodes() == 1 => 0,
            Order::Block => rank / place.per_node(),
            Order::Cyclic => rank,
        };
        Line {
            course: Direction::Down,
            far: far.into(),
            near: (rank - far).into(),
            pieces: 1,
        }
    }

    /// The bytes of a piece.
    const fn piece(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.pieces)
    }

    /// The time of one message from one end of the line to the other, with `work` at each stop.
    fn along(&self, model: &Model, bytes: u64, work: u64) -> u64 {
        let piece = self.piece(bytes);
        // The announcement and the request of a piece wait at an adapter behind a piece in the same
        // direction.
        let waits = match piece > model.machine.eager {
            true => model.load(piece).saturating_mul((self.pieces - 1).min(2)),
            false => 0,
        };
        let across = model
            .hop(Reach::Network, piece)
            .saturating_add(work.saturating_add(waits));
        let inside = model.hop(Reach::Node, bytes).saturating_add(work);
        // A message in pieces goes on in pieces, or when the last has arrived and all are worked on.
        let gathered = if self.near > 0 || work > 0 {
            self.far
        } else {
            1
        };
        (across.saturating_mul(self.far))
            .saturating_add(inside.saturating_mul(self.near))
            .saturating_add(self.others(model, bytes).saturating_mul(gathered))
    }

    /// The time between the first and the last piece of a message between nodes.
    fn others(&self, model: &Model, bytes: u64) -> u64 {
        let gap = model.gap(Reach::Network, self.piece(bytes));
        gap.saturating_mul(self.pieces - 1)
    }

    /// The time that each further message adds, which is that of the slowest place on the line. At the
    /// edge of a node a rank has one message over the network, or two if it is alone there.
    pub(super) fn pace(&self, model: &Model, bytes: u64, work: u64) -> u64 {
        let (place, course) = (model.place, self.course);
        let each = |reach, time: &dyn Fn(u64) -> u64| match reach {
            Reach::Node => time(bytes),
            Reach::Network => time(self.piece(bytes)).saturating_mul(self.pieces),
        };
        let stop = |from, to| {
            let arrival = each(from, &|bytes| model.receive(from, bytes));
            let gone = each(to, &|bytes| model.send(to, bytes));
            match place.size() {
                2 if course != Direction::Around => arrival.saturating_add(work).max(gone),
                _ => arrival.saturating_add(gone).saturating_add(work),
            }
        };
        let inside = match self.near {
            0 => 0,
            _ => stop(Reach::Node, Reach::Node),
        };
        // A long message that is worked on is copied after the previous one has been sent.
        let copied = match work > 0 && bytes > model.machine.eager && !model.serial_copies {
            true => bytes.saturating_mul(model.machine.node.byte),
            false => 0,
        };
        let leaves = stop(Reach::Node, Reach::Network).saturating_add(copied);
        let enters = stop(Reach::Network, Reach::Node);
        // A rank alone on the second of two nodes is the end of the line.
        let ends = place.size() - 1 <= place.per_node();
        let edge = match course {
            _ if self.near == 0 => stop(Reach::Network, Reach::Network),
            Direction::Down if ends => leaves,
            Direction::Up if ends => enters,
            _ => leaves.max(enters),
        };
        let rails = match place.order() {
            Order::Block => 1,
            Order::Cyclic => u64::from(place.per_node()),
        };
        let busy = match self.far {
            0 => inside,
            _ => {
                let load = |bytes| match course {
                    Direction::Around => model.load_both_directions(bytes),
                    Direction::Down | Direction::Up => model.load(bytes),
                };
                let carried = each(Reach::Network, &load).saturating_add(self.behind(model, bytes));
                inside.max(edge).max(carried.saturating_mul(rails))
            }
        };
        busy.max(self.wait(model, bytes, work))
    }

    /// The time per block that an adapter of a ring is idle because requests wait behind blocks, if the
    /// last node has fewer ranks. Fitted to simulations: half of a piece's load with one rank there, two
    /// fifths with more, each divided by the pieces; all of it with two ranks, of which [one does not
    /// post ahead](Parameters::receives_ahead). 0 if copies inside a node take longer.
    fn behind(&self, model: &Model, bytes: u64) -> u64 {
        let (place, piece) = (model.place, self.piece(bytes));
        let is_full = place.on_last_node() == place.per_node();
        if self.course != Direction::Around
            || place.order() != Order::Block
            || is_full
            || piece <= model.machine.eager
            || !model.carries_slowly()
        {
            return 0;
        }
        let load = model.load(piece);
        match place.on_last_node() {
            1 => load / 2 / self.pieces,
            2 if bytes > Parameters::LONGEST_AHEAD_IN_PAIRS => load,
            _ => load.saturating_mul(2) / 5 / self.pieces,
        }
    }

    /// The time that each message adds on a line inside a node.
    pub(super) fn inside(self, model: &Model, bytes: u64) -> u64 {
        Line { far: 0, ..self }.pace(model, bytes, 0)
    }

    /// The time from one long message to the next, with `work` on each, where ranks request a message
    /// once they have offered the previous one. Between nodes without work, ranks at the edges [post
    /// ahead](Parameters::receives_ahead). A rank alone on the last of several nodes leaves about a quarter
    /// of its adapter's load exposed.
    fn wait(&self, model: &Model, bytes: u64, work: u64) -> u64 {
        if bytes <= model.machine.eager {
            return 0;
        }
        let (place, piece) = (model.place, self.piece(bytes));
        let acknowledged = model.hop(Reach::Node, bytes) + model.machine.node.latency;
        let near = match self.near {
            0 => 0,
            _ => acknowledged.saturating_add(work),
        };
        let last = model.place.on_last_node();
        let is_pair = last == 2 || place.per_node() == 2;
        let hop = model.hop(Reach::Network, piece);
        let far = match self.course {
            _ if self.far == 0 || piece <= model.machine.eager => 0,
            Direction::Up => hop.saturating_add(work),
            _ if work > 0 => (hop - model.end(Reach::Network))
                .saturating_add(self.others(model, bytes))
                .saturating_add(work),
            Direction::Around if is_pair && bytes > Parameters::LONGEST_AHEAD_IN_PAIRS => {
                hop - model.end(Reach::Network)
            }
            _ => {
                (hop - model.end(Reach::Network)).saturating_mul(self.pieces)
                    / u64::from(1 + Parameters::AHEAD)
            }
        };
        match self.course {
            Direction::Around
                if work == 0
                    && last == 1
                    && place.nodes() > 2
                    && place.per_node() > 1
                    && piece > model.machine.eager =>
            {
                near.saturating_add(model.load(piece) / 4).max(far)
            }
            _ => near.max(far),
        }
    }
}

/// Bcast or reduce of a vector in blocks along a chain.
pub(crate) fn chain(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let blocks = u64::from(parameters.blocks).min(call.count).max(1);
    let bytes = call.bytes().div_ceil(blocks);
    let (course, work) = match call.collective.reduces() {
        true => (Direction::Up, model.reduce(bytes)),
        false => (Direction::Down, 0),
    };
    let line = Line::of(model, course);
    let pace = line.pace(model, bytes, work);
    line.along(model, bytes, work)
        .saturating_add(pace.saturating_mul(blocks - 1))
}

/// The time of messages around a ring until every rank has each of them; `longest` is the longest path.
fn around(model: &Model, bytes: u64, work: u64, pieces: u64, longest: Direction) -> u64 {
    let [line, reach] = [Direction::Around, longest].map(|course| Line {
        pieces,
        ..Line::of(model, course)
    });
    let rounds = u64::from(model.place.size()) - 1;
    let steady = line.pace(model, bytes, work).saturating_mul(rounds);
    reach
        .along(model, bytes, work)
        .max(steady)
        .max(past_one_alone(model, line.piece(bytes), rounds * pieces))
}

/// The time of messages through a rank that is alone on the last node.
fn past_one_alone(model: &Model, bytes: u64, messages: u64) -> u64 {
    let place = model.place;
    let is_there =
        place.order() == Order::Block && place.nodes() > 1 && place.size() % place.per_node() == 1;
    match is_there {
        true => model
            .both(Reach::Network, bytes)
            .saturating_mul(messages)
            .saturating_add(2 * model.machine.network.latency),
        false => 0,
    }
}

/// Allgather around a ring.
pub(crate) fn ring(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let block = block_of(call);
    let pieces = parameters.pieces_between_nodes(model.place, block);
    alternate(model, block, 0, pieces.into())
        .saturating_add(model.copy(block))
        .max(ring_after_tree(call, parameters, model))
}

/// [`ring`] where rank 0 has all blocks.
pub(super) fn ring_after_tree(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    gathered(call, parameters, model, Direction::Around)
}

/// [`ring`] where the other ranks get their blocks from rank 0 directly.
pub(super) fn ring_from_root(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    gathered(call, parameters, model, Direction::Down)
}

fn gathered(call: &Call, parameters: &Parameters, model: &Model, longest: Direction) -> u64 {
    let block = block_of(call);
    let pieces = parameters.pieces_between_nodes(model.place, block);
    around(model, block, 0, pieces.into(), longest).saturating_add(model.copy(block))
}

/// Allgather by neighbour exchange of two blocks at a time. An odd number of ranks leaves one folded,
/// which gets a block from each rank.
pub(crate) fn neighbor_exchange(call: &Call, _: &Parameters, model: &Model) -> u64 {
    let (place, block) = (model.place, call.bytes());
    if call.size.is_multiple_of(2) {
        return between_neighbors(call, None, model);
    }
    let rounds = rounds_of_pairs(call);
    // The folded rank's partner may have another block to copy before.
    let copied = match to_last(model) {
        Reach::Node if model.serial_copies && rounds > 0 => {
            block.saturating_mul(model.machine.node.byte)
        }
        _ => 0,
    };
    let given = model.hop(to_last(model), block).saturating_add(copied);
    // The three blocks travel half-way around the ring.
    let three = block.saturating_mul(3);
    let edges = match place.order() {
        _ if place.nodes() == 1 => 0,
        Order::Block => rounds.div_ceil(place.per_node().into()),
        Order::Cyclic => rounds,
    };
    let near = model.hop(Reach::Node, three).saturating_mul(rounds - edges);
    let far = model.hop(Reach::Network, three).saturating_mul(edges);
    let handed_on = (given.max(model.hop(model.reach(1), block)))
        .saturating_add(near.saturating_add(far))
        .saturating_add(model.copy(block));
    between_neighbors(call, Some(given), model).max(handed_on)
}

/// The rounds in which neighbours exchange pairs of blocks.
fn rounds_of_pairs(call: &Call) -> u64 {
    u64::from(call.size / 2).saturating_sub(1)
}

/// The rounds of pairs, after the `given` time in which a folded rank sends its own block, if it has one.
fn between_neighbors(call: &Call, given: Option<u64>, model: &Model) -> u64 {
    let (place, block) = (model.place, call.bytes());
    let eager = model.machine.eager;
    let bytes = match block.saturating_mul(2) {
        // A long message of three blocks delays others, too.
        two if two > eager && given.is_some() => block.saturating_mul(3),
        two => two,
    };
    let has_folded_rank = !call.size.is_multiple_of(2);
    let edges = two_rounds_at_edges(call.size & !1, bytes, model);
    // Blocks for the folded rank pass its node's adapter in most rounds, or leave each node before other
    // long blocks.
    let load = model.load(block);
    let (beside, before) = match place.on_last_node() {
        _ if !has_folded_rank || edges == 0 => (0, 0),
        1 if given.is_some() && bytes > eager => (0, load.saturating_mul(place.per_node().into())),
        1 => (0, 0),
        _ => (load.saturating_mul(3), 0),
    };
    let two_rounds = (2 * model.hop(Reach::Node, bytes)).max(edges.saturating_add(beside));
    let pace = two_rounds.saturating_mul(rounds_of_pairs(call)) / 2;
    let first = model.hop(model.reach(1), block);
    let got = match has_folded_rank {
        true => got_by_last(model, block),
        false => 0,
    };
    (given.map_or(first, |given| given.max(first)))
        .saturating_add(pace.saturating_add(before))
        .max(got)
        .saturating_add(model.copy(block))
}

/// The time of two rounds at the ends of nodes: at most one neighbour of a rank is on another node,
/// unless it is alone on its node.
fn two_rounds_at_edges(ranks: u32, bytes: u64, model: &Model) -> u64 {
    let (place, is_long) = (model.place, bytes > model.machine.eager);
    let [near, far] = [Reach::Node, Reach::Network].map(|reach| model.hop(reach, bytes));
    let load = model.load_both_directions(bytes);
    let is_one_alone = place.per_node() > 1 && ranks % place.per_node() == 1;
    match place.order() {
        _ if place.nodes() == 1 => 0,
        // The rank that sends all blocks is on the other node.
        Order::Block if ranks <= place.per_node() => 0,
        Order::Block if is_one_alone && is_long => 2 * far.saturating_add(load),
        // Messages to the lone rank leave a round before they are awaited: of three rounds two are whole.
        Order::Block if is_one_alone => {
            across_edge(model, bytes).max((2 * far).saturating_add(near) / 3 * 2)
        }
        Order::Block if is_long => {
            // A long block's request waits at the adapter behind an arriving block; of two ranks on the
            // last node both request at once.
            let is_odd = |ranks: u32| !ranks.is_multiple_of(2);
            let last = place.on_last_node();
            // Both ends of the last node exchange in the same rounds.
            let at_both_ends = is_odd(place.per_node()) && is_odd(place.nodes()) && !is_odd(last);
            let behind = match last {
                _ if at_both_ends && model.carries_slowly() => 3,
                2 => 2,
                _ => 1,
            };
            far.saturating_add(load.saturating_mul(behind))
                .saturating_add(near)
        }
        Order::Block => across_edge(model, bytes),
        Order::Cyclic => 2 * far.max(load.saturating_mul(place.per_node().into())),
    }
}

/// Allreduce around a ring: once with reductions, once without. Of a chunk in segments one is
/// reduced while the next one travels.
pub(crate) fn allreduce_ring(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let chunk = share(call, call.size);
    let longest = parameters.segment.max(1);
    let segments = chunk.div_ceil(longest).clamp(1, 64);
    let segment = chunk.div_ceil(segments);
    let reduce = model.reduce(segment);
    // A segment has at least one element.
    let elements = call.count.div_ceil(call.size.into()).max(1);
    let whole = |bytes| {
        let pieces = u64::from(parameters.pieces_between_nodes(model.place, bytes)).min(elements);
        let once = |work| {
            around(model, bytes, work, pieces, Direction::Around)
                .max(alternate(model, bytes, work, pieces))
        };
        once(model.reduce(bytes)).saturating_add(once(0))
    };
    if segments == 1 {
        return whole(chunk);
    }
    let rounds = u64::from(call.size) - 1;
    let line = Line::of(model, Direction::Around);
    let reach = if line.far > 0 {
        Reach::Network
    } else {
        Reach::Node
    };
    // A processor that reduces requests nothing meanwhile.
    let step = model.hop(Reach::Node, segment).saturating_add(reduce);
    let first = step
        .max(model.hop(reach, segment))
        .saturating_mul(rounds * segments);
    let busy = model
        .both(Reach::Node, segment)
        .saturating_mul(rounds * segments);
    let load = match reach {
        Reach::Network => model.load(chunk).saturating_mul(rounds),
        Reach::Node => 0,
    };
    let waves = segments.div_ceil(IN_FLIGHT as u64 / 2);
    let passed = line.along(model, segment, 0).saturating_mul(waves);
    let segmented = first.saturating_add(passed.max(load).max(busy));
    // A chunk just too long for one message is cheaper in segments; a longer one never costs less.
    segmented.max(whole(longest))
}
