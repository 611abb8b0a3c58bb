//! The cost of algorithms between leaders onto which the other ranks are folded.

use super::round::Round;
use super::rounds::Rounds;
use super::{Model, Reach};
use crate::call::{Call, Parameters};
use crate::fold::Fold;
use crate::placement::Order;
use crate::tree::{levels, levels_of};

/// The groups of folded ranks, each of which acts as one.
#[derive(Clone, Copy)]
struct FoldedGroups {
    count: u32,
    /// Whether only the first leaders count, onto which more ranks are folded.
    front: bool,
}

/// The first rank of the second node, and of the last one.
fn starts(model: &Model) -> [u32; 2] {
    let place = model.place;
    [1, place.nodes() - 1].map(|node| node * place.per_node())
}

impl FoldedGroups {
    /// The leaders of a group of `group` that the end of a node separates from equally many or more; half
    /// of them in cyclic placement.
    fn cut_off(self, model: &Model, group: u32) -> u32 {
        let place = model.place;
        let across = |start: u32| {
            let fold = Fold::new(start, place.size(), self.count, 0);
            let first = fold.place() - fold.place() % group;
            let end = first.saturating_add(group).min(self.count);
            // The first one whose leader is on the later node.
            let beyond = fold.place() + u32::from(!fold.leads());
            match self.front && first > 0 {
                true => 0,
                false => (beyond - first).min(end - beyond),
            }
        };
        match place.order() {
            _ if place.nodes() == 1 => 0,
            Order::Block => starts(model).map(across).into_iter().max().unwrap_or(0),
            Order::Cyclic => group / 2,
        }
    }

    /// The most ranks folded onto a leader, within a node and across the end of a node.
    fn followers(self, model: &Model) -> [(Reach, u32); 2] {
        let place = model.place;
        let most = Fold::most(place.size(), self.count) - 1;
        let across = |start: u32| {
            let fold = |rank| Fold::new(rank, place.size(), self.count, 0);
            match fold(start).leads() {
                true => 0,
                false => fold(fold(start).leader(fold(start).place())).followers(),
            }
        };
        let remote = match place.order() {
            _ if place.nodes() == 1 => 0,
            Order::Block => starts(model).map(across).into_iter().max().unwrap_or(0),
            Order::Cyclic => most,
        };
        [(Reach::Node, most), (Reach::Network, remote)]
    }

    /// The time that a late leader with folded ranks on another node does not wait in a first phase of
    /// short messages, which have arrived by then and are only copied. 0 if a group spans more than a
    /// node.
    fn finds(self, call: &Call, radix: u32, model: &Model, phase: u64) -> u64 {
        let group = Fold::most(model.place.size(), self.count).saturating_mul(radix);
        let is_dealt = model.place.order() == Order::Cyclic && model.place.nodes() > 1;
        if is_dealt || group > model.place.per_node() || call.bytes() > model.machine.eager {
            return 0;
        }
        let [near, remote] = self.handed_back(call, model);
        let each = (model.copy(call.bytes())).saturating_add(model.send(Reach::Node, call.bytes()));
        let found = each.saturating_mul(u64::from(radix) - 1);
        phase.saturating_sub(found).min(remote.saturating_sub(near))
    }

    /// The time of the result's message to folded ranks on the leader's node, and on another node.
    fn handed_back(self, call: &Call, model: &Model) -> [u64; 2] {
        let followers = self.followers(model);
        followers.map(|followers| passed(call, model, followers))
    }

    /// Adds a round among groups of `radix` leaders at a distance; nodes may end within groups.
    fn exchange(self, rounds: &mut Rounds<'_>, groups: (u32, u32), bytes: u64, work: u64) {
        let (model, size, (apart, radix)) = (rounds.model, rounds.model.place.size(), groups);
        let folded = u64::from(size / self.count);
        let ranks = folded * u64::from(apart);
        let cut_off = self.cut_off(model, apart.saturating_mul(radix));
        let leaving = |times: u32| {
            let all = model.leaving((ranks * u64::from(times)).min(u64::from(size) - 1) as u32);
            all.div_ceil(folded).max(1)
        };
        let on_node = u64::from(model.place.per_node().min(size)).div_ceil(folded);
        let far = match cut_off {
            0 => 0,
            _ => (1..radix)
                .map(leaving)
                .sum::<u64>()
                .min(parted(on_node, groups)),
        };
        rounds.add(Round {
            distance: size,
            span: ranks * u64::from(radix - 1),
            far,
            messages: radix - 1,
            bytes,
            ends: [bytes; 2],
            work,
        });
        if cut_off == 1 {
            rounds.cross_twice();
        }
    }
}

/// The messages that leave a node of `on_node` leaders in such a round, if no whole group is on it.
fn parted(on_node: u64, (apart, radix): (u32, u32)) -> u64 {
    let (apart, radix) = (u64::from(apart), u64::from(radix));
    if on_node >= apart * radix {
        return u64::MAX;
    }
    let (each, more) = (on_node / apart, on_node % apart);
    let stay = more * (each + 1) * (each + 1) + (apart - more) * each * each;
    radix * on_node - stay
}

/// The time of whole vectors between a leader and its folded ranks, one after another.
fn passed(call: &Call, model: &Model, (reach, followers): (Reach, u32)) -> u64 {
    match followers.checked_sub(1) {
        None => 0,
        Some(more) => {
            let gap = model.gap(reach, call.bytes());
            (model.hop(reach, call.bytes())).saturating_add(gap.saturating_mul(more.into()))
        }
    }
}

/// Adds the messages and reductions that fold ranks onto their leaders.
fn fold(rounds: &mut Rounds<'_>, call: &Call, places: FoldedGroups) {
    let model = rounds.model;
    let [near, remote] = places.followers(model).map(|followers| {
        let reduced = model
            .reduce(call.bytes())
            .saturating_mul(followers.1.into());
        passed(call, model, followers).saturating_add(reduced)
    });
    rounds.work(near);
    rounds.start(remote.saturating_sub(near));
}

/// Allreduce by recursive doubling.
pub(crate) fn allreduce_doubling(call: &Call, _: &Parameters, model: &Model) -> u64 {
    let [done, handed] = multiply(call, 2, model);
    done.max(handed)
}

/// Allreduce by recursive multiplying.
pub(crate) fn allreduce_multiplying(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let [done, handed] = multiply(call, parameters.radix, model);
    done.max(handed)
}

/// [`allreduce_doubling`] among the leaders of nodes: when the last one is done, and when all others are.
pub(super) fn among_leaders(call: &Call, model: &Model) -> [u64; 2] {
    let [done, handed] = multiply(call, 2, model);
    let (bytes, is_single) = (call.bytes(), (call.size - 1).is_power_of_two());
    let waited = match is_single && bytes <= model.machine.eager {
        true => model.hop(Reach::Network, bytes) - model.send(Reach::Network, bytes),
        false => 0,
    };
    [done.max(handed), done.saturating_sub(waited).max(handed)]
}

/// Exchanges of whole vectors among ever larger groups. Returns when leaders without additional folded
/// ranks are done, and when the last folded rank has the result.
fn multiply(call: &Call, radix: u32, model: &Model) -> [u64; 2] {
    let (phases, count) = Fold::power(call.size, radix);
    let places = FoldedGroups {
        count,
        front: false,
    };
    let late = match call.size / count {
        1 if call.bytes() <= model.machine.eager => call.size % count,
        _ => count,
    };
    let among_late = levels_of(late.max(1), radix);
    let reach = match model.place.nodes() {
        1 => Reach::Node,
        _ => Reach::Network,
    };
    let messages = u64::from(radix - 1);
    let work = model.reduce(call.bytes()).saturating_mul(messages);
    let busy = (model.both(reach, call.bytes()).saturating_mul(messages)).saturating_add(work);
    let mut rounds = Rounds::new(model);
    fold(&mut rounds, call, places);
    let folded = rounds.latest();
    let (mut ready, mut early, mut spared) = (folded, folded, 0);
    for phase in 0..phases {
        places.exchange(&mut rounds, (radix.pow(phase), radix), call.bytes(), work);
        if phase == 0 {
            let taken = rounds.latest().saturating_sub(folded);
            spared = places.finds(call, radix, model, taken.saturating_sub(work));
        }
        [ready, early] = match phase < among_late {
            true => [rounds.latest(), rounds.early(spared)],
            false => [ready, early].map(|time| time.saturating_add(busy)),
        };
    }
    let [near, remote] = places.handed_back(call, model);
    let handed = ready.saturating_add(near);
    [rounds.latest(), handed.max(early.saturating_add(remote))]
}

/// The copies of messages that arrived before the first leaders, which are late, posted receives.
fn found(places: FoldedGroups, bytes: u64, model: &Model) -> u64 {
    let are_late = places.front && model.place.size() > places.count;
    match are_late && bytes <= model.machine.eager {
        true => model.copy(bytes),
        false => 0,
    }
}

/// The later of the times over the first leaders and over those at the ends of nodes.
fn later(count: u32, time: impl Fn(FoldedGroups) -> u64) -> u64 {
    let [first, others] = [true, false].map(|front| time(FoldedGroups { count, front }));
    first.max(others)
}

/// Folding of ranks and recursive halving, nearest first.
fn halve(call: &Call, count: u32, model: &Model) -> u64 {
    later(count, |places| {
        let mut rounds = Rounds::new(model);
        if places.front {
            fold(&mut rounds, call, places);
        }
        for level in 0..levels(count) {
            let half = call.bytes() >> (level + 1);
            let work = model
                .reduce(half)
                .saturating_add(found(places, half, model));
            places.exchange(&mut rounds, (1 << level, 2), half, work);
        }
        rounds.latest()
    })
}

/// Allreduce by recursive halving and doubling.
pub(crate) fn allreduce_rabenseifner(call: &Call, _: &Parameters, model: &Model) -> u64 {
    let (levels, count) = Fold::power(call.size, 2);
    let gathered = later(count, |places| {
        let mut rounds = Rounds::new(model);
        for level in (0..levels).rev() {
            let bytes = call.bytes() >> (level + 1);
            let work = found(places, bytes, model);
            places.exchange(&mut rounds, (1 << level, 2), bytes, work);
        }
        if places.front {
            let [near, remote] = places.handed_back(call, model);
            rounds.work(near.max(remote));
        }
        rounds.latest()
    });
    halve(call, count, model).saturating_add(gathered)
}

/// Reduce by recursive halving and a gather in which half of the remaining ranks send in each round.
pub(crate) fn reduce_rabenseifner(call: &Call, _: &Parameters, model: &Model) -> u64 {
    let (levels, count) = Fold::power(call.size, 2);
    let first = FoldedGroups { count, front: true };
    let gather = |level: u32| {
        let distance = (call.size / count) << level;
        let active = u64::from(model.place.per_node()).min(u64::from(distance));
        let leave = model.parting(distance).min(active);
        let bytes = call.bytes() >> (level + 1);
        let reach = match first.cut_off(model, 2 << level) {
            0 => Reach::Node,
            _ => Reach::Network,
        };
        (model.hop(reach, bytes)).max(model.load(bytes).saturating_mul(leave))
    };
    let gathered = (0..levels).map(gather);
    gathered.fold(halve(call, count, model), u64::saturating_add)
}
