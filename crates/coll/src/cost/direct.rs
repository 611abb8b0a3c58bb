//! The cost of algorithms in which a rank exchanges with every other rank, or with its neighbours in a
//! graph.

use super::exchanges::block_of;
use super::peers::PeerCounts;
use super::windows::{SHORT_AT_A_TIME, in_long_pieces, in_pieces, inside};
use super::{Fraction, HALF, Model, Reach};
use crate::bcast;
use crate::call::{Call, Parameters};
use crate::exec::IN_FLIGHT;
use crate::placement::Order;

/// The time of exchanges of all ranks with all others, a window at a time, for a full node and for the
/// last one.
pub(super) fn all_exchanges(model: &Model, bytes: u64, window: u32) -> u64 {
    let place = model.place;
    // A short message completes at once; a long one is under way as long as the received one.
    let ends = if bytes > model.machine.eager { 2 } else { 1 };
    let window = window.min(IN_FLIGHT as u32 / ends);
    let full = place.per_node().min(place.size());
    let last = model.place.on_last_node();
    let time = |ranks: u32| {
        let peers = PeerCounts::on(model, ranks);
        let load = model
            .load_both_directions(bytes)
            .saturating_mul(peers.far * u64::from(ranks));
        let flight = peers.flight(
            window,
            model.hop(Reach::Node, bytes),
            model.hop(Reach::Network, bytes),
        );
        let end = model.end(peers.last());
        // A message that arrives before its receive is copied once more, unless copies are serial.
        let beyond = (peers.near + peers.far).saturating_sub(window.into());
        let early = match window {
            1 => 0,
            _ if model.serial_copies => 0,
            _ => beyond.saturating_mul(model.copy(bytes.min(model.machine.eager))),
        };
        let each = peers.processor(|reach| model.both(reach, bytes));
        let each = each.saturating_add(early);
        // Eager messages travel while others arrive.
        let sent = peers.processor(|reach| model.send(reach, bytes));
        let processor = match ends {
            1 if window > 1 => each.max(sent.saturating_add(end)),
            _ => each.saturating_add(end),
        };
        flight.max(load.saturating_add(end)).max(processor)
    };
    // With a window of 1 every exchange waits for its peer. On two nodes ranks fall into step again where
    // the second is half full. Fitted to the simulation on nodes of 4 to 24 ranks: with a window most
    // forms are within a tenth.
    let shown = match (window, place.nodes(), model.serial_copies) {
        (1, ..) => Fraction(2, 3),
        _ if last <= 2 => HALF,
        (_, 2, true) if full <= 8 => Fraction(1, 1),
        (_, 2, _) if 2 * last >= full => Fraction(0, 1),
        (_, 2, true) => Fraction(1, 3),
        _ => Fraction(1, 6),
    };
    model.uneven(bytes, [time(full), time(last)], shown)
}

/// [`all_exchanges`] with the copy of a rank's own block after the first or the last exchange.
fn exchanged(model: &Model, bytes: u64, window: u32, own_first: bool) -> u64 {
    let place = model.place;
    match place.nodes() == 1 && !model.serial_copies && window > 1 {
        true => inside(model, bytes, u64::from(place.size()) - 1, window, own_first),
        false => all_exchanges(model, bytes, window).saturating_add(model.copy(bytes)),
    }
}

/// Alltoall, one exchange at a time.
pub(crate) fn alltoall_pairwise(call: &Call, _: &Parameters, model: &Model) -> u64 {
    let (block, longest) = (call.bytes(), model.machine.eager);
    let one_by_one = |bytes| all_exchanges(model, bytes, 1);
    let meet = model.place.nodes() > 1 && model.is_even();
    let exchanged = match meet && block > longest {
        true => in_sequence(model, block).max(one_by_one(longest)),
        false => one_by_one(block),
    };
    exchanged.saturating_add(model.copy(block))
}

/// The time of long exchanges of all ranks, one at a time. Announcements and requests wait at the adapter
/// behind messages of other ranks of the node.
fn in_sequence(model: &Model, bytes: u64) -> u64 {
    let (place, peers) = (model.place, PeerCounts::of(model));
    let [near, far] = [Reach::Node, Reach::Network].map(|reach| model.hop(reach, bytes));
    let ranks = peers.near + 1;
    let (own, leaving) = (model.load_both_directions(bytes), peers.far * ranks);
    let network = model.machine.network;
    let behind = own.saturating_sub(network.send + network.recv);
    let alone = far.saturating_sub(behind);
    let in_pairs = place.size().is_power_of_two() && ranks.is_power_of_two();
    let nearest = match place.order() {
        // Some of the nearest ranks are on the next node, and the others wait for their partners.
        Order::Block if !in_pairs => alone,
        _ => near,
    };
    let paced = (alone.saturating_mul(peers.far))
        .saturating_add(behind.saturating_mul(leaving))
        .saturating_add(nearest.saturating_mul(peers.near));
    let load = own.saturating_mul(leaving);
    paced.max(load.saturating_add(model.end(Reach::Network)))
}

/// Alltoall with a window of exchanges.
pub(crate) fn alltoall_linear(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    exchanged(model, call.bytes(), parameters.window, false)
}

/// Bcast in pieces dealt by the root to the ranks and forwarded by each to all others: the slower of the
/// two sets the pace.
pub(crate) fn bcast_linear_linear(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let dealt = bcast::PieceCounts::of(call, parameters);
    let bcast::PieceCounts { each, left } = dealt;
    let others = u64::from(call.size) - 1;
    let piece = call.bytes().div_ceil(dealt.total(call.size).into());
    let is_short = piece <= model.machine.eager;
    let peers = call.size.max(2) - 2;
    let on_one_node = model.place.nodes() == 1;
    let asking = bcast::ReceivesAhead {
        peers,
        pieces: each,
        is_short,
        on_one_node,
    };
    let (ahead, early) = (asking.ahead().into(), asking.of_root().into());
    let alone = on_one_node && !model.serial_copies;
    let least = match alone && is_short && call.size > 2 {
        true => in_pieces(model, piece, others, [each, left], ahead),
        false => 0,
    };
    if least > 0 && (each == 1 && left == 0 || others * u64::from(each) <= SHORT_AT_A_TIME) {
        return least;
    }
    if alone && !is_short && call.size > 2 {
        return in_long_pieces(model, piece, others, each.into(), [early, ahead]);
    }
    if on_one_node && model.serial_copies && !is_short && call.size > 2 {
        return copied_one_by_one(model, piece, others, each.into());
    }
    let first = model.hop(model.reach(1), piece);
    // An eager message completes at once.
    let wait = |reach| if is_short { 0 } else { model.hop(reach, piece) };
    let last = PeerCounts::of(model).last();
    let far = model.hop(last, piece);
    let by_root = |times: u32| {
        let root = PeerCounts::of(model).each(times);
        let flight = root.flight(IN_FLIGHT as u32, wait(Reach::Node), wait(Reach::Network));
        let load = model.load(piece).saturating_mul(root.far);
        let sent = root.processor(|reach| model.send(reach, piece));
        flight.max(load).max(sent.saturating_add(far))
    };
    let given = by_root(each);
    // Of two ranks the other one forwards nothing.
    let window = match call.size {
        2 => IN_FLIGHT as u32,
        _ => bcast::in_flight(is_short),
    };
    // The rank with the last piece sends it to all others while it receives theirs.
    let to_all = |each: u64| each.saturating_mul(others - 1);
    let remote = u64::from(model.place.size() - model.place.on_last_node());
    let carried = model.load(piece).saturating_mul(remote.saturating_sub(1));
    let handed = to_all(model.send(last, piece))
        .max(carried)
        .saturating_add(far);
    let both = to_all(model.both(last, piece));
    let from_root = given.saturating_add(handed.max(both));
    let from_root = from_root.max(by_root(each + left));
    // The root sends short pieces faster than they are forwarded: soon they arrive before their receives
    // and are copied once more.
    let before = match is_short && !model.serial_copies && call.size > 2 {
        true if !on_one_node => {
            u64::from(each.saturating_sub(window)).saturating_mul(model.copy(piece))
        }
        true => {
            let (send, receive) = (model.send(last, piece), model.receive(last, piece));
            let made_up = (others * receive).saturating_sub(send);
            let met = early * (others * send) / made_up.max(1);
            let copied = (u64::from(each) - early).saturating_sub(met) + u64::from(left);
            copied.saturating_mul(model.copy(piece))
        }
        false => 0,
    };
    // The last rank of a node sends beyond its node first; before that the root sends to all.
    let edge = match (model.place.order(), PeerCounts::of(model)) {
        (Order::Block, PeerCounts { near, far: 1.. }) => {
            near.saturating_sub(1) * model.send(Reach::Node, piece)
        }
        _ => 0,
    };
    let onward = |ranks: u32| {
        let peers = PeerCounts::on(model, ranks).each(each);
        let arrival = peers.processor(|reach| model.receive(reach, piece));
        let gone = peers.processor(|reach| model.send(reach, piece));
        let gone = gone / others * (others - 1);
        let hop = |reach| model.hop(reach, piece);
        let flight = peers.flight(window, hop(Reach::Node), hop(Reach::Network));
        let load = model
            .load(piece)
            .saturating_mul(peers.far * u64::from(ranks))
            .saturating_add(edge);
        let left = u64::from(left) * model.receive(last, piece);
        let busy = load.max(
            arrival
                .saturating_add(gone)
                .saturating_add(left)
                .saturating_add(before),
        );
        flight.max(busy.saturating_add(model.end(peers.last())))
    };
    let place = model.place;
    let full = place.per_node().min(place.size());
    let last_node = place.size() - (place.nodes() - 1) * full;
    let handed_on = model.uneven(piece, [onward(full), onward(last_node)], HALF);
    match call.size {
        2 => given.max(handed_on),
        _ => from_root.max(first.saturating_add(handed_on)).max(least),
    }
}

/// [`bcast_linear_linear`] with long pieces on a node with serial copies, where the root's pieces compete
/// with the forwarded ones.
fn copied_one_by_one(model: &Model, piece: u64, others: u64, rounds: u64) -> u64 {
    let (room, send) = (IN_FLIGHT as u64, model.send(Reach::Node, piece));
    let hop = model.hop(Reach::Node, piece);
    let given = match others > room {
        true => hop.saturating_mul(others.div_ceil(room / 2)),
        false => hop.saturating_add((others - 1) * send),
    };
    let arrival = model
        .receive(Reach::Node, piece)
        .saturating_mul(rounds * others - 1);
    let gone = send.saturating_mul(rounds * (others - 1));
    given.saturating_add(arrival).saturating_add(gone)
}

/// Allgather with a message from each rank to every other one.
pub(crate) fn linear(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let block = block_of(call);
    exchanged(model, block, parameters.window, true)
}

/// The time of short blocks exchanged with others on one kind of path, two exchanges at a time: each
/// waits for the message and the reduction of the one before, or the processor is always busy.
fn in_two_rows(model: &Model, reach: Reach, bytes: u64, others: u64) -> u64 {
    let (send, work) = (model.send(reach, bytes), model.reduce(bytes));
    let busy = model.both(reach, bytes).saturating_add(work);
    // The second row starts when its message can follow the first one's, and continues after a turn of
    // the first.
    let behind = match others {
        2 => model.gap(reach, bytes),
        _ if others.is_multiple_of(2) => busy,
        _ => 0,
    };
    let hop = model.hop(reach, bytes);
    let row = hop.saturating_add(work);
    let rows = row
        .saturating_mul(others.div_ceil(2))
        .saturating_add(behind);
    // Before the first message arrives, the processor has sent two.
    let idle = hop.saturating_sub(model.receive(reach, bytes).saturating_add(2 * send));
    rows.max(busy.saturating_mul(others).saturating_add(idle))
}

/// Reduce-scatter with a message from each rank to every other one, two at a time, each reduced while the
/// next ones travel.
pub(crate) fn reduce_scatter_pairwise(call: &Call, _: &Parameters, model: &Model) -> u64 {
    let (place, block) = (model.place, block_of(call));
    let work = model.reduce(block);
    let joined = match call.commutative {
        true => 0,
        false => work.saturating_add(model.copy(block)),
    };
    let peers = PeerCounts::of(model);
    let load = model
        .load_both_directions(block)
        .saturating_mul(peers.far * u64::from(place.per_node()));
    let after = model.end(peers.last()).saturating_add(work);
    let is_long = block > model.machine.eager;
    if !is_long && (peers.near == 0 || peers.far == 0) {
        let exchanged = in_two_rows(model, peers.last(), block, peers.near + peers.far);
        return exchanged
            .max(load.saturating_add(after))
            .saturating_add(joined);
    }
    // A long message is requested when its receiver has reduced the one before.
    let busy_for = |reach| {
        let busy = model.both(reach, block).saturating_add(work);
        let half = model.hop(reach, block) / 2;
        busy.max(if is_long {
            half.saturating_add(work)
        } else {
            half
        })
    };
    let last = PeerCounts::on(model, place.on_last_node());
    let processor = peers.processor(busy_for).max(last.processor(busy_for));
    // On unequal nodes ranks fall out of step: per node a quarter of the shorter time is exposed, at most
    // three quarters (fitted to the simulation).
    let (more, less) = (load.max(processor), load.min(processor));
    let all = match model.is_even() || !is_long {
        true => more,
        false => more.saturating_add(less / 4 * u64::from(place.nodes() - 1).min(3)),
    };
    all.saturating_add(after).saturating_add(joined)
}

/// A message for each neighbour.
pub(crate) fn neighbors(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let most = u64::from(call.sources.max(call.destinations));
    let reach = model.reach(1);
    let hop = model.hop(reach, call.bytes());
    let waves = most.div_ceil(parameters.window.max(1).into());
    let flight = hop.saturating_mul(waves);
    flight.max(most.saturating_mul(model.gap(reach, call.bytes())))
}
