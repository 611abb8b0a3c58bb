//! The cost of exchanges with all other ranks of one node, a window at a time, with overlapping copies.
//!
//! All ranks act in step, so receives are posted in time. Either the processor is always busy, or an
//! exchange waits for the one that frees its slot in the window.

use super::{Model, Reach};
use crate::exec::IN_FLIGHT;

/// The short exchanges that can be under way: a step starts when there is room for its receive and its
/// send.
pub(super) const SHORT_AT_A_TIME: u64 = IN_FLIGHT as u64 - 1;

/// The time of exchanges with `others` ranks, and the copy of the own block after the first or the last
/// of them.
pub(super) fn inside(model: &Model, bytes: u64, others: u64, window: u32, own_first: bool) -> u64 {
    let own = model.copy(bytes);
    if others == 0 {
        return own;
    }
    let is_short = bytes <= model.machine.eager;
    let most = match is_short {
        true => SHORT_AT_A_TIME,
        false => IN_FLIGHT as u64 / 2,
    };
    let window = u64::from(window).min(most);
    let time = match is_short {
        true => short(model, bytes, [others, window], own * u64::from(own_first)),
        false => long(model, bytes, [others, window], own),
    };
    let busy = model.both(Reach::Node, bytes).saturating_mul(others);
    time.max(busy.saturating_add(own))
}

/// The time of short exchanges: the last one waits for its slot, or for the processor.
fn short(model: &Model, bytes: u64, [others, window]: [u64; 2], own: u64) -> u64 {
    let hop = model.hop(Reach::Node, bytes);
    let both = model.both(Reach::Node, bytes);
    let one = model
        .send(Reach::Node, bytes)
        .max(model.receive(Reach::Node, bytes));
    let last = others - 1;
    let after = |waves: u64| {
        let before = last - waves * window;
        let spread = match (before, waves) {
            (0, _) => 0,
            (_, 0) => own + before * one,
            _ => own + one + (before - 1) * both,
        };
        hop.saturating_mul(waves + 1).saturating_add(spread)
    };
    let waves = last / window;
    after(waves).max(after(waves.min(1)))
}

/// The time of a bcast in short pieces, dealt out in rounds and forwarded by each rank, until the rank
/// that gets the last piece of each round has all of them.
pub(super) fn in_pieces(
    model: &Model,
    bytes: u64,
    others: u64,
    rounds: [u32; 2],
    ahead: u64,
) -> u64 {
    let [rounds, left] = rounds.map(u64::from);
    let (send, receive) = (
        model.send(Reach::Node, bytes),
        model.receive(Reach::Node, bytes),
    );
    let hop = model.hop(Reach::Node, bytes);
    let given = |pieces: u64| ((pieces - 1) * send).saturating_add(hop);
    if rounds == 1 && left == 0 {
        return given(others).saturating_add(handed_on(model, bytes, others - 1, ahead));
    }
    let (all, exchanges) = (rounds * others + left, rounds * (others - 1));
    let busy = given(others).saturating_add((all - 1) * receive + exchanges * send);
    let last = given(rounds * others).saturating_add(given(others - 1));
    let last = last.max(given((rounds + left) * others));
    if all <= SHORT_AT_A_TIME {
        // Other ranks' pieces that arrive before the root's last one delay it.
        let spread = (rounds - 1) * others * send;
        let others_came = match (spread + send).checked_sub(hop) {
            Some(after) => 1 + after / (others * send).max(1),
            None => 0,
        };
        let work =
            (rounds - 1) * (receive + (others - 1) * send) + others_came * (others - 1) * receive;
        return last.saturating_add(work.saturating_sub(spread)).max(busy);
    }
    // Until another rank's first piece arrives, the root's pieces free slots for further receives.
    let first = given(others).saturating_add(hop - receive);
    let arrival = rounds.min(1 + (hop - receive) / (others * send).max(1));
    let sent = (SHORT_AT_A_TIME - ahead + arrival).saturating_sub(rounds);
    let more = (all - arrival) * receive + exchanges.saturating_sub(sent) * send;
    // Otherwise each exchange waits for the one whose slot it takes.
    let places = others * (SHORT_AT_A_TIME - ahead);
    let in_waves = match all.checked_sub(SHORT_AT_A_TIME + rounds + 1) {
        Some(waits) => given(others)
            .saturating_add(hop.saturating_mul(waits * (others - 1)) / places)
            .saturating_add(2 * hop + ahead * send),
        None => 0,
    };
    last.max(busy).max(first.saturating_add(more)).max(in_waves)
}

/// The time from when every rank has its short piece of a bcast until it has sent it to all others and
/// has theirs, with `ahead` receives posted before.
fn handed_on(model: &Model, bytes: u64, others: u64, ahead: u64) -> u64 {
    let (send, receive) = (
        model.send(Reach::Node, bytes),
        model.receive(Reach::Node, bytes),
    );
    let (hop, both) = (model.hop(Reach::Node, bytes), send + receive);
    let busy = others.saturating_mul(both);
    // First the receives that take the free slots, then the last sends.
    let waits = others.saturating_sub(SHORT_AT_A_TIME);
    if waits == 0 {
        return busy.max((others.saturating_sub(1) * send).saturating_add(hop));
    }
    let sent = SHORT_AT_A_TIME - ahead;
    let filled = hop + (others - 1) * receive + (others - sent) * send;
    // Messages follow one another, or each waits for the one whose slot it takes.
    let (waves, place) = ((waits - 1) / sent, (waits - 1) % sent);
    let one_by_one = hop + (waits - 1) * both;
    let in_waves = hop.saturating_mul(waves + 1).saturating_add(place * both);
    let last = hop + ahead * send;
    busy.max(filled)
        .max(one_by_one.max(in_waves).saturating_add(last))
}

/// [`in_pieces`] for long pieces, some of which the root sends early.
pub(super) fn in_long_pieces(
    model: &Model,
    bytes: u64,
    others: u64,
    rounds: u64,
    [early, ahead]: [u64; 2],
) -> u64 {
    let node = model.machine.node;
    let hop = model.hop(Reach::Node, bytes);
    let in_flight = hop.saturating_mul(others) / IN_FLIGHT as u64;
    let given = in_flight.max((others * node.send).saturating_add(hop));
    let (exchanges, room) = (rounds * (others - 1), IN_FLIGHT as u64 - ahead);
    // A piece of the root leaves no slot for an exchange if its round takes all slots.
    let between = if 2 * (others - 1) < room { 1 } else { 2 };
    let taken = 2 * exchanges + rounds.saturating_sub(early) * between;
    let taken = taken.saturating_sub(ahead);
    // Ranks stay in step for about half as many waves as there are slots; each of these takes its whole
    // time.
    let in_step = taken.div_ceil(room).max(1);
    let wave = long_wave(model, bytes);
    let waves = match in_step > room / 2 {
        true => wave.saturating_mul(taken) / room,
        false => wave.saturating_mul(in_step),
    };
    let busy = (node.send + 2 * node.recv).saturating_mul(exchanges);
    let announced = room / 2 * node.send + node.recv;
    given
        .saturating_add(waves.max(busy))
        .saturating_add(announced)
}

/// The time from one long exchange to its successor, with the processor busy with another one.
fn long_wave(model: &Model, bytes: u64) -> u64 {
    let node = model.machine.node;
    let again = node.send + 2 * node.latency + node.recv;
    let copied = bytes.saturating_mul(node.byte);
    copied.saturating_add(again + node.send + 2 * node.recv)
}

/// The time of long exchanges: a rank copies its own block and announces a whole window before it copies
/// the first message.
fn long(model: &Model, bytes: u64, [others, window]: [u64; 2], own: u64) -> u64 {
    let node = model.machine.node;
    let copied = bytes.saturating_mul(node.byte);
    let exchanged = node.latency.max(node.recv);
    let announced = others.min(window) * node.send;
    let (waves, place) = ((others - 1) / window, (others - 1) % window);
    let each = node.send + 2 * node.recv;
    let started = match waves {
        0 => (others * node.recv).max(node.latency + node.recv),
        _ => long_wave(model, bytes)
            .saturating_mul(waves)
            .saturating_add(node.recv + place * each),
    };
    let before = own.saturating_add(announced).saturating_add(started);
    before.saturating_add(copied).saturating_add(exchanged)
}
