//! Exchanges with all other ranks of one node, so many at a time, where copies overlap.
//!
//! All ranks do the same at the same time: there is a receive for what comes. Either the processor is busy
//! throughout, or an exchange waits for the one that frees its place in the window.

use super::{Model, Reach};
use crate::exec::IN_FLIGHT;

/// Short messages are sent at once; but a step starts where there is room for what it receives and for what
/// it sends.
pub(super) const SHORT_AT_A_TIME: u64 = IN_FLIGHT as u64 - 1;

/// Exchanges of so many bytes with so many others, and a rank's own block, copied after the first one has
/// begun, or the last one.
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

/// What the last exchange waits for: all that had its place before, or one of them and the processor.
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

/// A bcast in short pieces, so many turns of one for each of so many others, and some that are left, which the
/// root sends to all: what the rank waits for that gets the last one of each turn.
pub(super) fn in_pieces(
    model: &Model,
    bytes: u64,
    others: u64,
    turns: [u32; 2],
    ahead: u64,
) -> u64 {
    let [turns, left] = turns.map(u64::from);
    let (send, receive) = (
        model.send(Reach::Node, bytes),
        model.receive(Reach::Node, bytes),
    );
    let hop = model.hop(Reach::Node, bytes);
    let given = |pieces: u64| ((pieces - 1) * send).saturating_add(hop);
    if turns == 1 && left == 0 {
        return given(others).saturating_add(handed_on(model, bytes, others - 1, ahead));
    }
    let (all, exchanges) = (turns * others + left, turns * (others - 1));
    let busy = given(others).saturating_add((all - 1) * receive + exchanges * send);
    let last = given(turns * others).saturating_add(given(others - 1));
    let last = last.max(given((turns + left) * others));
    if all <= SHORT_AT_A_TIME {
        // Pieces of others that came before the last one of the root keep it waiting.
        let spread = (turns - 1) * others * send;
        let others_came = match (spread + send).checked_sub(hop) {
            Some(after) => 1 + after / (others * send).max(1),
            None => 0,
        };
        let work =
            (turns - 1) * (receive + (others - 1) * send) + others_came * (others - 1) * receive;
        return last.saturating_add(work.saturating_sub(spread)).max(busy);
    }
    // Until the first piece of another rank comes those of the root make room for what is asked for.
    let first = given(others).saturating_add(hop - receive);
    let come = turns.min(1 + (hop - receive) / (others * send).max(1));
    let sent = (SHORT_AT_A_TIME - ahead + come).saturating_sub(turns);
    let more = (all - come) * receive + exchanges.saturating_sub(sent) * send;
    // Or each exchange waits for the one whose place it takes.
    let places = others * (SHORT_AT_A_TIME - ahead);
    let in_waves = match all.checked_sub(SHORT_AT_A_TIME + turns + 1) {
        Some(waits) => given(others)
            .saturating_add(hop.saturating_mul(waits * (others - 1)) / places)
            .saturating_add(2 * hop + ahead * send),
        None => 0,
    };
    last.max(busy).max(first.saturating_add(more)).max(in_waves)
}

/// From when a rank has got its short piece of a bcast, and all the others have, each in its turn, until it
/// has sent that to so many others, and got all of theirs. So many are asked for before; then each step asks
/// for one more, while there is room.
fn handed_on(model: &Model, bytes: u64, others: u64, ahead: u64) -> u64 {
    let (send, receive) = (
        model.send(Reach::Node, bytes),
        model.receive(Reach::Node, bytes),
    );
    let (hop, both) = (model.hop(Reach::Node, bytes), send + receive);
    let busy = others.saturating_mul(both);
    // The receives that make room for all that is left to ask for; then the last messages are sent.
    let waits = others.saturating_sub(SHORT_AT_A_TIME);
    if waits == 0 {
        return busy.max((others.saturating_sub(1) * send).saturating_add(hop));
    }
    let sent = SHORT_AT_A_TIME - ahead;
    let filled = hop + (others - 1) * receive + (others - sent) * send;
    // One message after another, or each after the one whose place it takes.
    let (waves, place) = ((waits - 1) / sent, (waits - 1) % sent);
    let in_turn = hop + (waits - 1) * both;
    let in_waves = hop.saturating_mul(waves + 1).saturating_add(place * both);
    let last = hop + ahead * send;
    busy.max(filled)
        .max(in_turn.max(in_waves).saturating_add(last))
}

/// The same of long pieces, of which the root sends so many early and others ask for as many ahead: that leaves room for
/// so many at a time, sent or received.
pub(super) fn in_long_pieces(
    model: &Model,
    bytes: u64,
    others: u64,
    turns: u64,
    [early, ahead]: [u64; 2],
) -> u64 {
    let node = model.machine.node;
    let hop = model.hop(Reach::Node, bytes);
    let under_way = hop.saturating_mul(others) / IN_FLIGHT as u64;
    let given = under_way.max((others * node.send).saturating_add(hop));
    let (exchanges, room) = (turns * (others - 1), IN_FLIGHT as u64 - ahead);
    // A piece of the root that comes in between leaves no room for an exchange, where its turn takes all of it.
    let between = if 2 * (others - 1) < room { 1 } else { 2 };
    let taken = 2 * exchanges + turns.saturating_sub(early) * between;
    let taken = taken.saturating_sub(ahead);
    // Ranks are in step for about half as many waves as they have room for: each of these is a whole one.
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

/// From one long exchange to the next that takes its place, while the processor is busy with another one.
fn long_wave(model: &Model, bytes: u64) -> u64 {
    let node = model.machine.node;
    let again = node.send + 2 * node.latency + node.recv;
    let copied = bytes.saturating_mul(node.byte);
    copied.saturating_add(again + node.send + 2 * node.recv)
}

/// What the last exchange of long messages waits for: a rank has its own block copied and all of a window announced before it copies
/// the first one that comes; the sender is told when that is done.
fn long(model: &Model, bytes: u64, [others, window]: [u64; 2], own: u64) -> u64 {
    let node = model.machine.node;
    let copied = bytes.saturating_mul(node.byte);
    let told = node.latency.max(node.recv);
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
    before.saturating_add(copied).saturating_add(told)
}
