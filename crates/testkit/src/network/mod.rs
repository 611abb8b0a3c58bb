//! An in-process transport of any number of ends in one thread, made by a network plan.
//!
//! It has what the [plan](oxmpi_wire::paths::network) says: mailboxes for each peer or one pool for all,
//! allocated in blocks when a peer first sends or at the start; buffers for longer frames; bulk transfer with
//! or without copies. Its memory is really allocated and all bytes go through it, so that a test or a
//! benchmark measures what the plan predicts.

mod mailbox_end;
mod rx;

use std::cell::RefCell;
use std::rc::Rc;

use oxmpi_wire::paths::network::{BUFFER_LEN, ConnectTime, NetworkPlan};
use oxmpi_wire::{Bytes, Fault, Header};

use self::mailbox_end::MailboxEnd;
use crate::in_process::{InProcessNet, InProcessTx, Move};
use crate::region_store::RegionStore;

/// Memory and traffic of one end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndCounters {
    /// Bytes of mailboxes that are allocated.
    pub mailboxes: u64,
    /// Bytes of buffers that are allocated.
    pub buffers: u64,
    /// Sends that found no slot or no buffer.
    pub refused: u64,
    /// Bytes that the processor moved: path E0, and transfers below the threshold of the DMA engine.
    pub by_processor: u64,
    /// Bytes that the DMA engine moved.
    pub by_engine: u64,
    /// Bytes of bulk transfers that went through buffers.
    pub copied: u64,
}

/// State that all ends share.
#[derive(Debug)]
pub struct MailboxNet {
    plan: NetworkPlan,
    ends: Vec<MailboxEnd>,
    regions: RegionStore,
}

/// The sending half of one end.
pub type NetworkTx = InProcessTx<MailboxNet>;

/// The receiving half of one end.
#[derive(Debug)]
pub struct NetworkRx {
    me: u32,
    net: Rc<RefCell<MailboxNet>>,
}

/// Handle of a network: reports memory and traffic of the ends.
#[derive(Clone, Debug)]
pub struct Network(Rc<RefCell<MailboxNet>>);

/// Makes the network of `plan`, with an end for each rank.
#[must_use]
pub fn network(plan: NetworkPlan) -> (Network, Vec<(NetworkTx, NetworkRx)>) {
    let ranks = plan.ranks as u32;
    let mut ends: Vec<_> = (0..ranks).map(|_| MailboxEnd::new(&plan)).collect();
    if plan.settings.connect == ConnectTime::Start {
        for (me, end) in ends.iter_mut().enumerate() {
            let peers = (0..ranks).filter(|peer| *peer as usize != me);
            peers.for_each(|peer| end.connect(&plan, peer));
        }
    }
    let net = Rc::new(RefCell::new(MailboxNet {
        plan,
        ends,
        regions: RegionStore::default(),
    }));
    let half = |me| {
        let tx = NetworkTx::new(me, &net, plan.limits());
        let rx = NetworkRx {
            me,
            net: Rc::clone(&net),
        };
        (tx, rx)
    };
    let halves = (0..ranks).map(half).collect();
    (Network(net), halves)
}

impl Network {
    /// Memory and traffic of the end of `rank`.
    #[must_use]
    pub fn counters(&self, rank: u32) -> EndCounters {
        let net = self.0.borrow();
        net.ends[rank as usize].counters()
    }

    /// Number of regions that are registered now.
    #[must_use]
    pub fn regions(&self) -> usize {
        self.0.borrow().regions.count(|_| true)
    }
}

impl MailboxNet {
    /// Whether a frame with `buffers` buffers may go from `from` to `to`, which may be the same.
    fn admits(&mut self, from: u32, to: u32, buffers: u32) -> bool {
        let plan = self.plan;
        let there = &mut self.ends[to as usize];
        there.connect(&plan, from);
        there.has_room(from, buffers) && self.ends[from as usize].has_buffers(buffers)
    }

    /// Moves the bytes of a get or a put of end `me` through its buffers, one after the other.
    fn copy_by_buffers(&mut self, me: u32, bulk: &Move) -> Result<(), Fault> {
        let [(source, from), (target, mut at)] = bulk.ends(&self.regions)?;
        let end = &mut self.ends[me as usize];
        let bytes = &source.to_vec()[from as usize..][..bulk.len as usize];
        for part in bytes.chunks(BUFFER_LEN as usize) {
            let buffer = end.borrow(1);
            let buffer = buffer.ok_or(Fault::Refused("buffers of the network"))?;
            target.fill(at, &mut end.stage(buffer, part).as_slice());
            at += part.len() as u64;
        }
        end.counters.copied += bulk.len;
        Ok(())
    }
}

impl InProcessNet for MailboxNet {
    fn regions(&mut self) -> &mut RegionStore {
        &mut self.regions
    }

    fn admits_frame(&mut self, from: u32, to: u32, len: u32) -> bool {
        let admitted = self.admits(from, to, self.plan.buffers(len));
        self.ends[from as usize].counters.refused += u64::from(!admitted);
        admitted
    }

    fn post(&mut self, from: u32, to: u32, head: Header, body: Vec<u8>) {
        let buffers = self.plan.buffers(body.len() as u32);
        let by_engine = buffers > 0 && self.plan.by_engine(body.len() as u64);
        let sender = &mut self.ends[from as usize];
        sender.count(body.len() as u64, by_engine);
        let body = match buffers {
            0 => body,
            _ => {
                let own = sender.borrow(buffers).expect("asked before");
                sender.stage(own, &body)
            }
        };
        self.ends[to as usize].deliver(from, &head, &body, buffers);
    }

    fn move_bytes(&mut self, me: u32, bulk: &Move) -> Result<(), Fault> {
        let end = &mut self.ends[me as usize];
        end.count(bulk.len, self.plan.by_engine(bulk.len));
        if self.plan.settings.zero_copy {
            bulk.copy(&self.regions)
        } else {
            self.copy_by_buffers(me, bulk)
        }
    }
}
