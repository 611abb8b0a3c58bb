//! The device: regions, queue pairs connected to each other, and completion queues.
//!
//! A request is done when it is posted; the script says when its completion is visible. What a real device finds out
//! by retries, this one knows at once: a queue pair whose peer is destroyed or in error is in error itself.

mod completions;
mod events;
mod extended;
mod memory;
mod shared;
mod transfers;

use self::completions::Queue;
pub(super) use self::events::EVENT_LEN;
use self::extended::{DomainIdentity, Domains};
use self::memory::Memory;
pub(super) use self::memory::Span;
use self::shared::Shared;
use super::Script;
use crate::error::{EINVAL, ENOMEM};
use crate::ffi::{
    IBV_ACCESS_LOCAL_WRITE, IBV_QP_ACCESS_FLAGS, IBV_QP_DEST_QPN, IBV_QP_PORT, IBV_QP_RNR_RETRY,
    IBV_QPS_ERR, IBV_QPS_RTR, IBV_QPS_RTS, ibv_qp_attr, ibv_wc,
};
use crate::objects::Completion;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::c_int;
use std::os::unix::net::UnixDatagram;

/// `enum ibv_wc_status`: see `STATUSES` of `Completion`.
pub(super) mod status {
    pub(in crate::fake) const LOC_LEN_ERR: u32 = 1;
    pub(in crate::fake) const LOC_PROT_ERR: u32 = 4;
    pub(in crate::fake) const WR_FLUSH_ERR: u32 = 5;
    pub(in crate::fake) const REM_INV_REQ_ERR: u32 = 9;
    pub(in crate::fake) const REM_ACCESS_ERR: u32 = 10;
    pub(in crate::fake) const RETRY_EXC_ERR: u32 = 12;
    pub(in crate::fake) const RNR_RETRY_EXC_ERR: u32 = 13;
}

/// What a driver without the call returns.
const EOPNOTSUPP: c_int = 95;
/// Of connect(2), and of ibv_modify_qp(3) where there is no route.
const ENETUNREACH: c_int = 101;

/// The value of `rnr_retry` for "for ever".
const FOR_EVER: u8 = 7;

/// The device, and all that was made of it.
pub(super) struct Device {
    script: Option<Script>,
    pub(super) memory: Memory,
    pairs: BTreeMap<u32, Pair>,
    last_pair: u32,
    /// By the address of the C object.
    queues: BTreeMap<usize, Queue>,
    /// Where events of completion channels are written, by the address of the C object.
    channels: BTreeMap<usize, UnixDatagram>,
    /// Shared receive queues, by the address of the C object.
    shared: BTreeMap<usize, Shared>,
    /// Of XRC.
    domains: Domains,
    /// The device, and where asynchronous events are written, by the address of the context.
    events: BTreeMap<usize, (u8, UnixDatagram)>,
    /// Ports that are down, by device and number.
    cut: BTreeSet<(u8, u8)>,
    /// Devices that register no more memory.
    full: BTreeSet<u8>,
    /// Bytes by port, as of `cut`.
    pub(super) carried: BTreeMap<(u8, u8), u64>,
}

/// A queue pair.
#[derive(Default)]
struct Pair {
    domain: usize,
    /// Its device and the number of its port.
    port: (u8, u8),
    /// Its completion queues.
    sends: usize,
    receives: usize,
    max_send_wr: u32,
    state: u32,
    access: u32,
    rnr_retry: u8,
    peer: u32,
    /// On iWARP, the side that has accepted, until the other one has sent.
    is_silent: bool,
    is_broken: bool,
    /// How the next request fails.
    failing: Option<u32>,
    /// Sends whose completions are not taken, and unsignaled ones behind which none was taken.
    open: u32,
    /// Unsignaled sends that are done, behind all completions.
    unsignaled: u32,
    /// The same, before each completion that is not taken.
    unsignaled_before: VecDeque<u32>,
    posted: VecDeque<Receive>,
    /// The shared receive queue in place of them; 0 for none.
    shared: usize,
    /// The XRC domain whose shared receive queues requests name.
    target_of: Option<DomainIdentity>,
    /// Processes that have it open.
    users: u32,
    /// The addresses of its C object, and of its context.
    objects: [usize; 2],
    /// It completes nothing any more.
    is_mute: bool,
    /// Requests of which the first waits for a receive of the peer.
    waiting: VecDeque<Send>,
    /// Polls for which it has waited.
    waited: u32,
}

/// A posted receive.
pub(super) struct Receive {
    pub(super) id: u64,
    pub(super) to: Vec<Span>,
}

/// A request of a send queue.
pub(super) struct Send {
    pub(super) id: u64,
    pub(super) opcode: u32,
    pub(super) flags: u32,
    /// As on the wire.
    pub(super) immediate: u32,
    pub(super) payload: Payload,
    /// Address and key of the peer's memory.
    pub(super) remote: (u64, u32),
    /// The shared receive queue of the peer, of an initiator.
    pub(super) remote_queue: u32,
}

/// Where the bytes of a request are.
pub(super) enum Payload {
    Inline(Vec<u8>),
    Segments(Vec<Span>),
}

impl Device {
    /// The name of the first device.
    pub(super) const NAME: &str = "fake0";

    /// A device that does nothing.
    pub(super) fn recording() -> Self {
        Self {
            script: None,
            memory: Memory::default(),
            pairs: BTreeMap::new(),
            last_pair: 16,
            queues: BTreeMap::new(),
            channels: BTreeMap::new(),
            shared: BTreeMap::new(),
            domains: Domains::default(),
            events: BTreeMap::new(),
            cut: BTreeSet::new(),
            full: BTreeSet::new(),
            carried: BTreeMap::new(),
        }
    }

    pub(super) fn following(script: Script) -> Self {
        Self {
            script: Some(script),
            ..Self::recording()
        }
    }

    pub(super) fn is_recording(&self) -> bool {
        self.script.is_none()
    }

    pub(super) fn max_cqe(&self) -> i32 {
        self.script.map_or(1 << 22, |script| script.max_cqe)
    }

    pub(super) fn max_qp_wr(&self) -> i32 {
        self.script.map_or(1 << 15, |script| script.max_qp_wr)
    }

    /// Devices, and ports of each.
    pub(super) fn counts(&self) -> [u8; 2] {
        self.script
            .map_or([1, 1], |script| [script.devices, script.ports])
    }

    pub(super) fn refuses_inline(&self, inline: u32) -> bool {
        self.script
            .is_some_and(|script| inline >= script.refused_inline)
    }

    pub(super) fn pages_on_demand(&self, device: u8) -> bool {
        self.script
            .is_some_and(|script| device < script.paging_devices)
    }

    pub(super) fn is_iwarp(&self) -> bool {
        self.script.is_some_and(|script| script.is_iwarp)
    }

    pub(super) fn queue_pairs(&self) -> usize {
        self.pairs.len()
    }

    pub(super) fn registered(&self) -> usize {
        self.memory.len()
    }

    /// Lets a device have no room for another region.
    pub(super) fn fill(&mut self, device: u8) {
        self.full.insert(device);
    }

    pub(super) fn is_full(&self, device: u8) -> bool {
        self.full.contains(&device)
    }

    /// Whether the registration that is made now with a device succeeds.
    pub(super) fn can_register(&mut self, device: u8) -> bool {
        if self.is_full(device) {
            return false;
        }
        let Some(script) = &mut self.script else {
            return true;
        };
        let Some(left) = &mut script.failing_registration else {
            return true;
        };
        *left = left.wrapping_sub(1);
        *left != 0
    }

    pub(super) fn create_channel(&mut self, channel: usize, doorbell: UnixDatagram) {
        self.channels.insert(channel, doorbell);
    }

    pub(super) fn destroy_channel(&mut self, channel: usize) {
        self.channels.remove(&channel);
    }

    /// `channel` is 0 for none.
    pub(super) fn create_queue(&mut self, queue: usize, channel: usize, depth: c_int) {
        let doorbell = self.channels.get(&channel);
        let doorbell = doorbell.map(|doorbell| doorbell.try_clone().expect("a descriptor"));
        self.queues
            .insert(queue, Queue::new(queue, doorbell, depth));
    }

    /// Returns an errno.
    pub(super) fn resize_queue(&mut self, queue: usize, depth: c_int) -> c_int {
        if self.script.is_some_and(|script| !script.resizes_queues) {
            return EOPNOTSUPP;
        }
        if let Some(queue) = self.queues.get_mut(&queue) {
            queue.resize(depth);
        }
        0
    }

    /// Entries of all completion queues.
    pub(super) fn completion_entries(&self) -> usize {
        self.queues.values().map(Queue::depth).sum()
    }

    pub(super) fn destroy_queue(&mut self, queue: usize) {
        self.queues.remove(&queue);
    }

    pub(super) fn arm(&mut self, queue: usize) {
        if let Some(queue) = self.queues.get_mut(&queue) {
            queue.arm();
        }
    }

    /// Takes the next visible completion of a queue. The first call of a poll is `first`.
    pub(super) fn poll(&mut self, queue: usize, first: bool) -> Option<ibv_wc> {
        if first {
            self.try_again(queue);
        }
        let (pair, is_send, completion) = self.queues.get_mut(&queue)?.poll(first)?;
        if is_send && let Some(pair) = self.pairs.get_mut(&pair) {
            pair.open -= 1 + pair.unsignaled_before.pop_front().unwrap_or(0);
        }
        Some(completion)
    }

    /// Makes a queue pair; returns its number and the bytes inline that it is granted.
    pub(super) fn create_pair(
        &mut self,
        (device, domain): (u8, usize),
        [sends, receives]: [usize; 2],
        shared: usize,
        max_send_wr: u32,
        inline: u32,
    ) -> (u32, u32) {
        self.last_pair += 1;
        let pair = Pair {
            domain,
            port: (device, 0),
            sends,
            receives,
            shared,
            max_send_wr,
            users: 1,
            ..Pair::default()
        };
        self.pairs.insert(self.last_pair, pair);
        let granted = |script: Script| script.inline.min(inline) + script.more_inline;
        let granted = self.script.map_or(8, granted);
        (self.last_pair, granted)
    }

    /// Returns an errno or 0: a port that is down has no route to any peer.
    pub(super) fn modify_pair(
        &mut self,
        number: u32,
        attributes: &ibv_qp_attr,
        mask: u32,
    ) -> c_int {
        let Some(pair) = self.pairs.get_mut(&number) else {
            return 0;
        };
        if attributes.qp_state == IBV_QPS_RTR && self.cut.contains(&pair.port) {
            return ENETUNREACH;
        }
        pair.state = attributes.qp_state;
        if mask & IBV_QP_ACCESS_FLAGS != 0 {
            pair.access = attributes.qp_access_flags;
        }
        if mask & IBV_QP_PORT != 0 {
            pair.port.1 = attributes.port_num;
        }
        if mask & IBV_QP_DEST_QPN != 0 {
            pair.peer = attributes.dest_qp_num;
        }
        if mask & IBV_QP_RNR_RETRY != 0 {
            pair.rnr_retry = attributes.rnr_retry;
        }
        if attributes.qp_state == IBV_QPS_ERR {
            self.set_broken(number);
        }
        0
    }

    /// Connects two queue pairs as iWARP does: the first one, whose side has asked, sends first, and neither waits for a
    /// receive of the other.
    pub(super) fn connect(&mut self, first: u32, second: u32) {
        for (number, peer) in [(first, second), (second, first)] {
            if let Some(pair) = self.pairs.get_mut(&number) {
                (pair.state, pair.peer, pair.rnr_retry) = (IBV_QPS_RTS, peer, 0);
                pair.is_silent = number == second;
            }
        }
    }

    /// Removes a queue pair with its completions.
    pub(super) fn destroy_pair(&mut self, number: u32) {
        if let Some(pair) = self.pairs.get_mut(&number) {
            pair.users -= 1;
            if pair.users > 0 {
                // It may have been the object of events.
                pair.objects = [0, 0];
                return;
            }
        }
        let Some(pair) = self.pairs.remove(&number) else {
            return;
        };
        for queue in [pair.sends, pair.receives] {
            if let Some(queue) = self.queues.get_mut(&queue) {
                queue.forget(number);
            }
        }
        self.set_broken(pair.peer);
    }

    /// See [`fail_next`](super::fail_next).
    pub(super) fn fail_next(&mut self, number: u32, status: u32) {
        if let Some(pair) = self.pairs.get_mut(&number) {
            pair.failing = Some(status);
        }
    }

    /// Posts a receive to a queue pair; returns an errno or 0.
    pub(super) fn post_receive(&mut self, number: u32, receive: Receive) -> c_int {
        let is_running = self.script.is_some();
        let Some(pair) = self.pairs.get_mut(&number).filter(|_| is_running) else {
            return 0;
        };
        if pair.is_broken {
            let flushed = completion(number, receive.id, status::WR_FLUSH_ERR);
            self.complete(number, false, flushed);
        } else {
            pair.posted.push_back(receive);
            let peer = pair.peer;
            self.advance(peer);
        }
        0
    }

    /// Posts a request to a send queue; returns an errno or 0.
    pub(super) fn post_send(&mut self, number: u32, send: Send) -> c_int {
        let Some(pair) = self
            .pairs
            .get_mut(&number)
            .filter(|_| self.script.is_some())
        else {
            return 0;
        };
        if pair.is_mute {
            return 0;
        }
        if pair.open >= pair.max_send_wr {
            return ENOMEM;
        }
        if pair.is_silent {
            return EINVAL;
        }
        pair.open += 1;
        let peer = pair.peer;
        if let Some(peer) = self.pairs.get_mut(&peer) {
            peer.is_silent = false;
        }
        let pair = self.pairs.get_mut(&number).expect("looked up above");
        pair.waiting.push_back(send);
        self.advance(number);
        0
    }
}

/// A completion without bytes. The opcode of one that failed is not known.
fn completion(number: u32, id: u64, status: u32) -> ibv_wc {
    let mut completion = Completion::default().into_c();
    (completion.wr_id, completion.qp_num, completion.status) = (id, number, status);
    completion
}

/// What [`Memory::find`] needs to write.
const WRITABLE: u32 = IBV_ACCESS_LOCAL_WRITE;
