//! The transport over a device of this process.

mod churn;
mod conformance;
mod events;
mod faults;
mod floods;
mod memory;
mod pipeline;
mod rails;
mod registered_once;
mod rings;
mod room;
mod shared;
mod short_path;
mod stripes;
mod unsignaled;
mod use_of_memory;

use super::{
    LongMessages, PairAddress, PortPair, Rail, ReceiveQueue, VerbsEndpoint, VerbsOptions, VerbsRx,
    VerbsTx,
};
use crate::fake::{self, HeapMemory, Script};
use crate::objects::{Context, devices_of};
use oxmpi_testkit::conformance::EventLog;
use oxmpi_wire::{Peer, Rx};

/// A device that follows `script`, opened.
fn device(script: Script) -> Context {
    fake::run(script);
    let devices = devices_of(&fake::LIBRARY).expect("a list");
    devices[0].open().expect("it opens")
}

/// Makes `count` ends, by all ports of the devices that follow `script`, each connected with all others.
fn connected(count: u32, script: Script, options: &VerbsOptions) -> Vec<(VerbsTx, VerbsRx)> {
    joined(count, script, options, false)
}

/// As [`connected`]; if `is_crossed`, the first port of an end is joined with the last one of another, and so on.
fn joined(
    count: u32,
    script: Script,
    options: &VerbsOptions,
    is_crossed: bool,
) -> Vec<(VerbsTx, VerbsRx)> {
    fake::run(script);
    let devices = devices_of(&fake::LIBRARY).expect("a list");
    let of_device = |context: Context| {
        (1..=script.ports).map(move |port| Rail {
            context: context.clone(),
            port,
            gid_index: 0,
        })
    };
    // Each end opens the devices anew: their events go to all.
    let rails = || {
        let contexts = devices.iter().map(|device| device.open());
        let contexts = contexts.map(|context| context.expect("it opens"));
        contexts.flat_map(of_device).collect::<Vec<Rail>>()
    };
    let open =
        |_| VerbsEndpoint::open_rails(&rails(), count, options.clone()).expect("an endpoint");
    let mut ends: Vec<_> = (0..count).map(open).collect();
    for a in 0..count {
        for b in 0..a {
            let [here, there] =
                [(a, b), (b, a)].map(|(of, to)| ends[of as usize].offer(Peer(to)).expect("pairs"));
            let last = here.len() - 1;
            let other = |at: usize| if is_crossed { last - at } else { at };
            let port_pair = |rail: usize, at: usize, there: &[PairAddress]| PortPair {
                rail: rail as u8,
                device: at as u8 / script.ports,
                there: there[at].clone(),
            };
            let both = |at| {
                (
                    port_pair(other(at), at, &here),
                    port_pair(at, other(at), &there),
                )
            };
            let (here, there): (Vec<_>, Vec<_>) = (0..=last).map(both).unzip();
            (ends[a as usize].connect(Peer(b), &there)).expect("a connection");
            (ends[b as usize].connect(Peer(a), &here)).expect("a connection");
        }
    }
    ends.into_iter().map(VerbsEndpoint::into_halves).collect()
}

/// Options with these receive queues; all memory is registered.
fn with_queues(queues: &str) -> VerbsOptions {
    VerbsOptions {
        receive_queues: ReceiveQueue::parse_all(queues).expect("queues"),
        long: LongMessages {
            min_rdma_size: 0,
            ..LongMessages::default()
        },
        ..VerbsOptions::default()
    }
}

/// Two connected ends.
pub(super) fn pair(script: Script) -> [(VerbsTx, VerbsRx); 2] {
    let ends = connected(2, script, &with_queues("P,1000,4"));
    ends.try_into().expect("two ends were asked for")
}

/// Polls until nothing happens for as long as completions may be late.
fn settle(ends: &mut [&mut (VerbsTx, VerbsRx)], log: &mut EventLog) {
    let mut idle = 0;
    while idle < 10 {
        let polled = ends
            .iter_mut()
            .map(|(tx, rx)| rx.poll(tx, 64, log))
            .sum::<u32>();
        idle = if polled == 0 { idle + 1 } else { 0 };
    }
}
