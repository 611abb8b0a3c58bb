//! An in-process transport of any number of ends in one thread, as adverse as the traits allow.
//!
//! A seeded generator delays and refuses frames and interleaves those of different pairs; frames between two
//! ends keep their order. Bulk operations end late and in any order. An end can be killed at any time.

mod rx;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use oxmpi_wire::{Fault, Header, Key, Limits, Peer};

pub use crate::in_process::BulkCounts;

use crate::in_process::{InProcessNet, InProcessTx, Move};
use crate::region_store::{RegionStore, number_in};
use crate::rng::Rng;

/// Configuration of a fabric.
#[derive(Clone, Copy, Debug)]
pub struct FabricConfig {
    /// Seed of everything that is random.
    pub seed: u64,
    /// Percentage of sends and bulk operations that are refused although there is room.
    pub refuse: u8,
    /// Percentage of polls of a peer that do not see what it has sent.
    pub delay: u8,
    /// Most frames that are under way from one end to another.
    pub capacity: usize,
    /// Limits of the paths.
    pub limits: Limits,
}

impl Default for FabricConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            refuse: 0,
            delay: 0,
            capacity: 64,
            limits: Limits::new(48, 1024),
        }
    }
}

impl FabricConfig {
    /// Many refusals and delays, and little room.
    #[must_use]
    pub fn adverse(seed: u64) -> Self {
        Self {
            seed,
            refuse: 30,
            delay: 40,
            capacity: 3,
            ..Self::default()
        }
    }
}

/// Frames from one end to another.
type Queue = VecDeque<(Header, Vec<u8>)>;

/// State that all ends share.
#[derive(Debug)]
pub struct FabricNet {
    rng: Rng,
    config: FabricConfig,
    /// Frames under way, by sender and receiver.
    queues: BTreeMap<(u32, u32), Queue>,
    regions: RegionStore,
    dead: Vec<bool>,
}

/// The sending half of one end.
pub type FabricTx = InProcessTx<FabricNet>;

/// The receiving half of one end.
#[derive(Debug)]
pub struct FabricRx {
    me: u32,
    net: Rc<RefCell<FabricNet>>,
    /// Peers whose loss was reported.
    reported: Vec<bool>,
}

/// Handle of a fabric: kills ends, and reports what is under way.
#[derive(Clone, Debug)]
pub struct Fabric(Rc<RefCell<FabricNet>>);

/// Makes a fabric of `ends` ends.
#[must_use]
pub fn fabric(ends: u32, config: FabricConfig) -> (Fabric, Vec<(FabricTx, FabricRx)>) {
    let net = Rc::new(RefCell::new(FabricNet {
        rng: Rng::new(config.seed),
        config,
        queues: BTreeMap::new(),
        regions: RegionStore::default(),
        dead: vec![false; ends as usize],
    }));
    let halves = (0..ends)
        .map(|me| {
            let tx = FabricTx::new(me, &net, config.limits);
            let rx = FabricRx {
                me,
                net: Rc::clone(&net),
                reported: vec![false; ends as usize],
            };
            (tx, rx)
        })
        .collect();
    (Fabric(net), halves)
}

impl Fabric {
    /// The fabric that an end belongs to.
    #[must_use]
    pub fn of(tx: &FabricTx) -> Self {
        Self(Rc::clone(&tx.net))
    }

    /// Kills `peer`: the others learn it once they have received all or some of what it sent.
    pub fn kill(&self, peer: Peer) {
        self.0.borrow_mut().dead[peer.0 as usize] = true;
    }

    /// Number of regions that are registered now, at all living ends.
    #[must_use]
    pub fn regions(&self) -> usize {
        let net = self.0.borrow();
        net.regions.count(|owner| !net.dead[owner as usize])
    }

    /// The content of the memory that `owner` registered with this key.
    #[must_use]
    pub fn registered(&self, owner: Peer, key: &Key) -> Option<Vec<u8>> {
        let net = self.0.borrow();
        let bytes = net.regions.get(owner.0, number_in(key))?;
        Some(bytes.to_vec())
    }

    /// Number of frames that were not received yet.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.0.borrow().queues.values().map(VecDeque::len).sum()
    }
}

impl InProcessNet for FabricNet {
    fn regions(&mut self) -> &mut RegionStore {
        &mut self.regions
    }

    fn admits_frame(&mut self, from: u32, to: u32, _len: u32) -> bool {
        self.admits_move(from, to)
    }

    fn admits_move(&mut self, me: u32, peer: u32) -> bool {
        let queue = self.queues.get(&(me, peer));
        let full = queue.is_some_and(|queue| queue.len() >= self.config.capacity);
        // A dead peer never has room again: the next event is its loss.
        !self.dead[peer as usize] && !full && !self.rng.chance(self.config.refuse)
    }

    fn post(&mut self, from: u32, to: u32, head: Header, body: Vec<u8>) {
        if !self.dead[to as usize] {
            let queue = self.queues.entry((from, to)).or_default();
            queue.push_back((head, body));
        }
    }

    fn delays(&mut self) -> bool {
        self.rng.chance(self.config.delay)
    }

    fn is_dead(&self, peer: u32) -> bool {
        self.dead[peer as usize]
    }

    fn move_bytes(&mut self, _me: u32, bulk: &Move) -> Result<(), Fault> {
        bulk.copy(&self.regions)
    }
}
