//! The cost of linear gather and scatter between the root and all others, and of the root of a scatter.

use super::peers::PeerCounts;
use super::{Model, Reach};
use crate::call::{Call, Parameters};
use crate::exec::IN_FLIGHT;
use crate::placement::Order;

/// The root of a scatter, while it sends.
#[derive(Default)]
pub(super) struct Root {
    /// The time at which its processor has sent everything.
    pub(super) sent: u64,
    /// The time at which its adapter has carried everything.
    pub(super) carried: u64,
    /// The time at which no rank needs anything of it any more.
    pub(super) done: u64,
    /// The first rank that gets its block through the root's last child.
    pub(super) last_child: u32,
}

impl Root {
    /// Sends a message of this many bytes and returns the time of its arrival. The root waits for a long
    /// message.
    pub(super) fn send(&mut self, model: &Model, reach: Reach, bytes: u64) -> u64 {
        let (start, path) = (self.sent, model.path(reach));
        let is_long = bytes > model.machine.eager;
        self.sent = start.saturating_add(model.send(reach, bytes));
        if reach == Reach::Network {
            let ready = match is_long {
                true => start.saturating_add(model.bare(reach, 0) + path.send + path.latency),
                false => self.sent,
            };
            self.carried = self.carried.max(ready).saturating_add(model.load(bytes));
        }
        let arrival = match reach {
            Reach::Network => self.carried.saturating_add(model.end(reach)),
            Reach::Node => start.saturating_add(model.hop(reach, bytes)),
        };
        let acknowledged = match reach {
            _ if !is_long => self.sent,
            Reach::Network => self.carried,
            Reach::Node => arrival.saturating_add(model.acknowledged(reach, bytes)),
        };
        self.done = self.done.max(acknowledged);
        arrival
    }
}

/// The form of the root in a scatter. It reports ranks that may get their blocks much later than the
/// ranks below them, with the times.
pub(super) type RootForm = fn(&Call, &Parameters, &Model, &mut dyn FnMut(u32, u64)) -> Root;

/// The time of messages between one rank and all others, a window at a time, which are `asked` for if
/// they are long.
fn rooted(call: &Call, parameters: &Parameters, model: &Model, asked: bool) -> u64 {
    let (peers, bytes) = (PeerCounts::of(model), call.bytes());
    let others = peers.near + peers.far;
    let beyond = others.saturating_sub(parameters.window.into());
    let ask = u64::from(asked && beyond > 0);
    // An eager message completes at once.
    let completes_late = asked || bytes > model.machine.eager;
    let wait = |reach| {
        if completes_late {
            model
                .hop(reach, bytes)
                .saturating_add(ask * model.hop(reach, 0))
        } else {
            0
        }
    };
    // The number of messages that can be under way; short ones need no room.
    let window = match bytes > model.machine.eager {
        true => parameters.window.clamp(1, IN_FLIGHT as u32),
        false => parameters.window.max(1),
    };
    let flight = match peers.far {
        // Messages that start at once end at once.
        0 => wait(Reach::Node).saturating_mul(peers.near.div_ceil(window.into())),
        _ => peers.flight(parameters.window, wait(Reach::Node), wait(Reach::Network)),
    };
    let load = model.load(bytes).saturating_mul(peers.far);
    let signals = ask * beyond * model.path(peers.last()).send;
    let each = |reach| match asked {
        true => model.receive(reach, bytes),
        false => model.send(reach, bytes),
    };
    let processor = peers.processor(each).saturating_add(signals);
    let end = model.end(peers.last());
    flight
        .max(load.saturating_add(end))
        .max(processor.saturating_add(model.hop(peers.last(), bytes)))
        .saturating_add(model.copy(bytes))
}

/// Linear gather and gatherv.
pub(crate) fn gather_linear(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let (bytes, eager) = (call.bytes(), model.machine.eager);
    if bytes <= eager || model.place.order() == Order::Cyclic {
        return rooted(call, parameters, model, true);
    }
    let short = Call {
        count: eager / call.element_bytes.max(1),
        ..*call
    };
    gathered_long(bytes, parameters.window, model).max(rooted(&short, parameters, model, true))
}

/// A gather of long blocks.
fn gathered_long(bytes: u64, window: u32, model: &Model) -> u64 {
    let peers = PeerCounts::of(model);
    let beyond = (peers.near + peers.far).saturating_sub(window.into());
    let asked = [Reach::Node, Reach::Network].map(|reach| beyond.min(1) * model.hop(reach, 0));
    let received = peers.processor(|reach| model.receive(reach, bytes));
    let signals = beyond * model.path(peers.last()).send;
    let busy = received.saturating_add(model.bare(peers.last(), 0) + signals);
    if !model.serial_copies {
        return in_windows(peers, bytes, (window, asked), model).max(busy);
    }
    // Requests of blocks from other nodes wait while the processor copies those of its own node.
    let one = model.receive(Reach::Node, bytes);
    let copied = match peers.near {
        0 => 0,
        near => one.saturating_mul(near).saturating_add(model.copy(bytes)),
    };
    let first = model.bare(Reach::Node, 0).saturating_add(copied);
    let others = across(copied, peers.far, bytes, window, model);
    first.max(others).max(busy)
}

/// Linear scatter and scatterv. In block placement the root serves its own node first, but last where it
/// is told the nodes and blocks are short.
pub(crate) fn scatter_linear(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let (peers, bytes) = (PeerCounts::of(model), call.bytes());
    if model.place.order() == Order::Cyclic {
        return rooted(call, parameters, model, false);
    }
    let (near, far) = ((Reach::Node, peers.near), (Reach::Network, peers.far));
    let given = match bytes > model.machine.eager {
        true => in_windows(
            peers,
            bytes,
            (parameters.window, [model.machine.node.latency, 0]),
            model,
        ),
        false if parameters.per_node > 0 => at_once([far, near], bytes, model),
        false => at_once([near, far], bytes, model),
    };
    let sent = peers.processor(|reach| model.send(reach, bytes));
    given.max(sent.saturating_add(model.copy(bytes)))
}

/// The root of [`scatter_linear`] with short blocks.
pub(super) fn scattering(
    call: &Call,
    _: &Parameters,
    model: &Model,
    _: &mut dyn FnMut(u32, u64),
) -> Root {
    let (peers, bytes) = (PeerCounts::of(model), call.bytes());
    let sent = peers.processor(|reach| model.send(reach, bytes));
    Root {
        sent,
        carried: model.load(bytes).saturating_mul(peers.far),
        done: sent,
        last_child: call.size - 1,
    }
}

/// The time of short messages of one kind of path, then of another: all are eager.
fn at_once([first, last]: [(Reach, u64); 2], bytes: u64, model: &Model) -> u64 {
    let one_way = |start: u64, (reach, messages): (Reach, u64)| match messages.checked_sub(1) {
        None => 0,
        Some(before) => {
            let pace = match reach {
                Reach::Node => model.send(reach, bytes),
                Reach::Network => model.send(reach, bytes).max(model.load(bytes)),
            };
            start
                .saturating_add(pace.saturating_mul(before))
                .saturating_add(model.hop(reach, bytes))
        }
    };
    let sent = model.send(first.0, bytes).saturating_mul(first.1);
    one_way(0, first).max(one_way(sent, last))
}

/// The time of long messages inside a node, then of others, a window at a time, with a time between two
/// of them for either path.
fn in_windows(
    peers: PeerCounts,
    bytes: u64,
    (window, between): (u32, [u64; 2]),
    model: &Model,
) -> u64 {
    let room = u64::from(window.clamp(1, IN_FLIGHT as u32));
    let one = model.hop(Reach::Node, bytes).saturating_add(between[0]);
    let all = |messages: u64| one.saturating_mul(messages);
    let last = peers.near % room;
    let beside = match last {
        0 => 0,
        // Each of the others starts when one of them ends.
        _ if window > IN_FLIGHT as u32 => peers.far,
        _ => peers.far.min(room - last),
    };
    // The last of those that start at once starts when the others have been sent.
    let at_once = if last == 0 {
        room.min(peers.near)
    } else {
        last
    };
    let others = at_once.saturating_sub(1) * model.send(Reach::Node, bytes);
    let inside = all(peers.near.div_ceil(room)).saturating_sub(between[0]) + others;
    let begun = all(peers.near / room);
    // The adapter carries the others after those.
    let carried = begun.saturating_add(model.load(bytes).saturating_mul(beside));
    let ended = all(peers.near.div_ceil(room)).max(carried);
    let across = |start, messages| across(start, messages, bytes, window, model);
    let with_last = across(begun, beside);
    let after = across(ended.saturating_add(between[1]), peers.far - beside);
    inside.max(with_last).max(after)
}

/// The time of long messages between nodes, a window at a time: requests of one window wait at the
/// adapter behind the messages of the window before, or each message waits for the one whose slot it
/// takes.
fn across(start: u64, messages: u64, bytes: u64, window: u32, model: &Model) -> u64 {
    let Some(more) = messages.checked_sub(1) else {
        return 0;
    };
    let (load, hop) = (model.load(bytes), model.hop(Reach::Network, bytes));
    let (room, window) = (IN_FLIGHT as u64, u64::from(window.max(1)));
    let carried = match window > room {
        true => load.max(hop / room).saturating_mul(more),
        false => {
            let alone = hop - bytes.saturating_mul(model.machine.network.byte);
            let inputs = model.end(Reach::Network) + model.send(Reach::Network, bytes);
            let asked = alone.saturating_sub(inputs).saturating_mul(more / window);
            load.saturating_mul(more).saturating_add(asked)
        }
    };
    start.saturating_add(carried).saturating_add(hop)
}
