//! The cost of rounds in which every rank sends and receives.

use super::latest_rank::{Crossings, LatestRank, RoundCost};
use super::round::Round;
use super::{HALF, Model, Reach};
use crate::placement::Order;

/// The accumulated times of consecutive rounds.
pub(super) struct Rounds<'a> {
    pub(super) model: &'a Model,
    pub(super) time: u64,
    crossing: Crossings,
    /// The total distance of rounds in which some messages stay inside a node.
    covered: u64,
    /// The time after the last message of a round has been sent.
    pub(super) tail: u64,
    latest: LatestRank,
    /// The nodes that a path may still descend, if no rank waits for a rank above it.
    down: Option<u64>,
    /// The blocks that precede an announced long message in the other direction, if ranks are out of
    /// step.
    behind: u64,
    /// Whether ranks of a node had peers on two other nodes.
    mixes_nodes: bool,
    /// Whether a path may be anywhere after a round between nodes, and cross as often again.
    starts_anew: bool,
}

impl<'a> Rounds<'a> {
    pub(super) const fn new(model: &'a Model) -> Self {
        Rounds {
            model,
            time: 0,
            crossing: Crossings::NONE,
            covered: 0,
            tail: 0,
            latest: LatestRank::NONE,
            down: None,
            behind: behind(model),
            mixes_nodes: false,
            starts_anew: false,
        }
    }

    /// Rounds over growing distances, after which a path's distance from the end of its node is unknown.
    pub(super) const fn digit_by_digit(model: &'a Model) -> Self {
        Rounds {
            starts_anew: true,
            ..Rounds::new(model)
        }
    }

    /// Rounds that ranks start at different times.
    pub(super) const fn out_of_step(model: &'a Model) -> Self {
        let mut rounds = Rounds::new(model);
        if model.place.per_node() > 1 {
            rounds.fall_out_of_step();
        }
        rounds
    }

    /// Rounds in which no rank waits for a rank above it.
    pub(super) const fn upwards(model: &'a Model) -> Self {
        Rounds {
            down: Some(model.place.nodes() as u64 - 1),
            ..Rounds::new(model)
        }
    }

    /// Rounds in which no request waits behind a block, because requests go the other way or ranks are in
    /// step.
    pub(super) const fn in_step(model: &'a Model) -> Self {
        Rounds {
            behind: 0,
            ..Rounds::new(model)
        }
    }

    /// Adds a round. An adapter that is busy longer than one message takes sets the pace. Ranks wait for
    /// the same rank of other nodes, or for the last message of each node if it is long.
    pub(super) fn add(&mut self, round: Round) {
        let Round {
            distance,
            far,
            messages,
            bytes,
            work,
            ..
        } = round;
        let model = self.model;
        let reach = match self.down {
            Some(_) => model.reach(distance.into()),
            None => round.reach(model),
        };
        if reach == Reach::Network && self.starts_anew {
            self.time = self.time.saturating_add(self.crossings());
            self.crossing = Crossings::NONE;
            self.covered = 0;
        }
        let is_long = bytes > model.machine.eager;
        let is_paced = messages == 1 && self.keeps_places(distance);
        // Of two nodes, the smaller one's adapter is busy while the others copy several messages.
        let is_halved = messages > 1 && model.place.nodes() == 2;
        let own = model.load_both_directions(bytes);
        let load = far.saturating_mul(own);
        let carried = load.saturating_add(self.kept_waiting(&round));
        let alone = round.along(model, reach, messages, 0).saturating_add(work);
        let last = round
            .along(model, reach, messages.min(1), 0)
            .saturating_add(work)
            .min(alone);
        let after_carried = match reach {
            Reach::Network if round.span > 0 => last.saturating_sub(own),
            _ => work,
        };
        let added = match is_long {
            _ if self.down.is_some() => alone.max(load),
            true if is_paced => alone.max(carried),
            true if !is_halved => alone.max(carried.saturating_add(after_carried)),
            // It is no worse than with more ranks there.
            true if self.is_behind_one_alone() => self
                .given_by_one_alone(alone, load, bytes)
                .min(model.uneven(bytes, [alone, load], HALF))
                .max(alone),
            _ => model.uneven(bytes, [alone, load], HALF),
        };
        self.time = self.time.saturating_add(added);
        self.tail = (load.saturating_sub(own)).min(model.bare(Reach::Network, bytes));
        self.mixes_nodes |= distance > model.place.per_node() && !self.keeps_places(distance);
        let all_wait = is_long && !is_paced;
        if all_wait {
            self.latest.wait_for_latest();
        }
        self.latest.add(&RoundCost {
            alone: if all_wait { added } else { alone },
            load: if all_wait { 0 } else { carried },
            last,
            own,
            copied: match is_long {
                true => 0,
                false => model.copy(bytes).saturating_mul(messages.into()),
            },
        });
        if reach == Reach::Node && far > 0 {
            let met = messages.min(self.on_other(distance, messages));
            let crossed = round
                .along(model, Reach::Network, met, messages - met)
                .saturating_add(work);
            let beyond = match is_long && !is_halved {
                true => crossed.saturating_add(carried - own),
                false => crossed.max(load),
            }
            .saturating_sub(added);
            if model.place.nodes() > 2 {
                // A late rank meets an adapter that is done with the others' messages.
                let queued =
                    (load.saturating_sub(own)).saturating_add(model.hop(Reach::Network, bytes));
                self.tail = self.tail.min(queued.saturating_sub(crossed));
            }
            self.crossing.add(beyond);
            self.latest.cross(match is_long {
                true => beyond,
                false => crossed.saturating_sub(alone),
            });
            self.covered += u64::from(distance) * u64::from(messages);
        }
        if let Some(down) = &mut self.down {
            *down = down.saturating_sub((distance / model.place.per_node()).into());
            self.cross_twice();
        }
    }

    /// Whether ranks with serial copies that are out of step wait for one that is alone on the second of
    /// two nodes.
    const fn is_behind_one_alone(&self) -> bool {
        let model = self.model;
        self.are_out_of_step()
            && is_one_alone(model)
            && matches!(model.place.order(), Order::Block)
            && model.serial_copies
    }

    /// Whether ranks start the rounds at different times.
    const fn are_out_of_step(&self) -> bool {
        self.behind == ENDS
    }

    /// The time at which all have their long messages from the rank that is alone, which the adapter
    /// carries one after another.
    fn given_by_one_alone(&self, copied_all: u64, load: u64, bytes: u64) -> u64 {
        let (model, network) = (self.model, self.model.machine.network);
        let copied = copied_all.saturating_sub(model.receive(Reach::Node, bytes));
        let asked = copied.saturating_add(network.send + network.latency);
        asked
            .saturating_add(load)
            .saturating_add(model.end(Reach::Network))
    }

    /// Whether the ranks of each of equal nodes have their peers at this distance on one other node.
    fn keeps_places(&self, distance: u32) -> bool {
        let place = self.model.place;
        let is_one = match place.order() {
            Order::Block => distance.is_multiple_of(place.per_node()),
            Order::Cyclic => true,
        };
        self.model.is_even() && is_one
    }

    /// The time that an adapter carries blocks one way and nothing the other way because requests wait.
    fn kept_waiting(&self, round: &Round) -> u64 {
        let model = self.model;
        let behind = match round.work {
            _ if round.bytes <= model.machine.eager => 0,
            0 => self.behind,
            _ => u64::from(self.are_out_of_step()),
        };
        let blocks = round.far.min(behind);
        (round.bytes.saturating_mul(model.machine.network.byte)).saturating_mul(blocks)
    }

    /// The most of a rank's peers at these distances that are on the other of two nodes.
    fn on_other(&self, distance: u32, messages: u32) -> u32 {
        let place = self.model.place;
        match (place.order(), place.nodes()) {
            (Order::Block, 2) if distance < place.size() => {
                let last = place.on_last_node();
                let beside = (last - 1) / distance;
                last.div_ceil(distance).max(messages.saturating_sub(beside))
            }
            _ => messages,
        }
    }

    /// Limits the crossings of a path to a node and back.
    pub(super) const fn cross_twice(&mut self) {
        self.crossing.cross_twice();
        self.latest.cross_twice();
    }

    /// Adds a round over a distance, or over `messages` multiples of it.
    pub(super) fn shift(&mut self, distance: u32, messages: u32, bytes: u64, work: u64) {
        self.shift_unequal(distance, messages, bytes, [bytes; 2], work);
    }

    /// [`Rounds::shift`] for messages of unequal length, whose mean is `bytes`.
    pub(super) fn shift_unequal(
        &mut self,
        distance: u32,
        messages: u32,
        bytes: u64,
        ends: [u64; 2],
        work: u64,
    ) {
        let leaving = |times| self.model.leaving(distance * times);
        let far = (1..=messages).map(leaving).sum();
        // A single peer more than half-way around is nearer in the other direction.
        let size = self.model.place.size();
        let distance = match messages {
            1 if self.down.is_none() => distance.min(size - distance),
            _ => distance,
        };
        self.add(Round {
            distance,
            span: 0,
            far,
            messages,
            bytes,
            ends,
            work,
        });
    }

    /// Adds a round of pairs at this distance.
    pub(super) fn pairs(&mut self, distance: u32, bytes: u64, work: u64) {
        let far = self.model.parting(distance);
        self.add(Round {
            distance,
            span: 0,
            far,
            messages: 1,
            bytes,
            ends: [bytes; 2],
            work,
        });
    }

    /// Adds work that nothing overlaps.
    pub(super) const fn work(&mut self, time: u64) {
        self.time = self.time.saturating_add(time);
        self.latest.work(time);
    }

    /// Lets ranks start the following rounds at different times.
    pub(super) const fn fall_out_of_step(&mut self) {
        self.behind = ENDS;
    }

    /// Whether messages of different nodes met at adapters, so that nodes are no longer in step.
    pub(super) const fn mixes_nodes(&self) -> bool {
        self.mixes_nodes
    }

    /// Makes a rank start late.
    pub(super) const fn start(&mut self, late: u64) {
        self.latest.start(late);
    }

    /// The time that crossings between nodes add.
    pub(super) fn crossings(&self) -> u64 {
        let place = self.model.place;
        let around = self.covered.saturating_mul(place.nodes().into());
        let times = around.div_ceil(place.size().into());
        self.crossing
            .most(self.down.map_or(times, |down| times.min(down)))
    }

    pub(super) fn time(&self) -> u64 {
        self.time
            .saturating_add(self.crossings())
            .saturating_add(self.tail)
    }

    /// The completion time of the latest rank.
    pub(super) fn latest(&self) -> u64 {
        self.latest.time(self.times())
    }

    /// The completion time of a rank that was spared some of the others' waiting.
    pub(super) fn early(&self, spared: u64) -> u64 {
        self.latest.early(self.times(), spared)
    }

    /// The most crossings of a path that once around the group meets the ends of all nodes.
    fn times(&self) -> u64 {
        let place = self.model.place;
        if place.order() == Order::Cyclic || self.model.is_even() {
            let around = self.covered.saturating_mul(place.nodes().into());
            return around.div_ceil(place.size().into());
        }
        let into_last = self.covered.min(1);
        match self
            .covered
            .checked_sub(1 + u64::from(place.on_last_node()))
        {
            Some(beyond) => into_last + 1 + beyond / u64::from(place.per_node()),
            None => into_last,
        }
    }
}

/// The ends of adapters that an announcement and a request pass; at each it may wait behind a block.
const ENDS: u64 = 4;

/// The blocks behind which requests wait on unequal nodes, whose ranks are out of step. Two nodes stay in
/// step, unless the second has one rank.
const fn behind(model: &Model) -> u64 {
    let place = model.place;
    match place.nodes() {
        _ if model.is_even() || matches!(place.order(), Order::Cyclic) => 0,
        2 if is_one_alone(model) => 1,
        2 => 0,
        _ => ENDS,
    }
}

/// Whether the second of two nodes has a single rank.
const fn is_one_alone(model: &Model) -> bool {
    model.place.nodes() == 2 && model.place.on_last_node() == 1
}
