//! A network of any number of ends in one thread, made by a plan.
//!
//! Where the [fabric](crate::fabric) is as bad as the interface allows, this network is as the
//! [plan](oxmpi_wire::paths::network) says: mailboxes for each peer or one pool for all, made in
//! blocks when a peer first sends or at the start; buffers for longer frames; bulk with or without
//! copies. Its memory is really allocated and its bytes really go through it, so that a test or a
//! benchmark measures what the plan predicts.

mod mailbox_end;
mod rx;
mod tx;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use oxmpi_wire::paths::network::{ConnectTime, NetworkPlan};
use oxmpi_wire::{Limits, Token};

use self::mailbox_end::MailboxEnd;
use crate::memory::SharedBytes;

/// What one end has taken and done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndCounters {
    /// Bytes of mailboxes that are allocated.
    pub mailboxes: u64,
    /// Bytes of buffers that are allocated.
    pub buffers: u64,
    /// Sends that found no slot or no buffer.
    pub refused: u64,
    /// Bytes that the processor moved: E0, and below the engine's threshold.
    pub by_processor: u64,
    /// Bytes that the network's engine moved.
    pub by_engine: u64,
    /// Bytes of bulk that went through buffers.
    pub copied: u64,
}

#[derive(Debug)]
struct Net {
    plan: NetworkPlan,
    ends: Vec<MailboxEnd>,
    /// Registered memory, by owner and number.
    regions: BTreeMap<(u32, u64), SharedBytes>,
    next_region: u64,
}

/// A bulk operation under way.
#[derive(Debug)]
enum Bulk {
    Move {
        from: (u32, u64, u64),
        to: (u32, u64, u64),
        len: u64,
        token: Token,
    },
    Release {
        region: u64,
        token: Token,
    },
}

/// The sending half of one end.
#[derive(Debug)]
pub struct NetworkTx {
    me: u32,
    net: Rc<RefCell<Net>>,
    limits: Limits,
    bulk: Vec<Bulk>,
    /// Peers that were full when last sent to.
    refused: Vec<u32>,
}

/// The receiving half of one end.
#[derive(Debug)]
pub struct NetworkRx {
    me: u32,
    net: Rc<RefCell<Net>>,
}

/// Tells what the ends have taken and done.
#[derive(Clone, Debug)]
pub struct Network(Rc<RefCell<Net>>);

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
    let net = Rc::new(RefCell::new(Net {
        plan,
        ends,
        regions: BTreeMap::new(),
        next_region: 0,
    }));
    let half = |me| {
        let tx = NetworkTx {
            me,
            net: Rc::clone(&net),
            limits: plan.limits(),
            bulk: Vec::new(),
            refused: Vec::new(),
        };
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
    /// What the end of `rank` has taken and done.
    #[must_use]
    pub fn counters(&self, rank: u32) -> EndCounters {
        let net = self.0.borrow();
        net.ends[rank as usize].counters()
    }

    /// Memory that is registered at this moment.
    #[must_use]
    pub fn regions(&self) -> usize {
        self.0.borrow().regions.len()
    }
}
