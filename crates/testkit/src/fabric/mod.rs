//! An in-process transport of any number of ends in one thread, as adverse as the traits allow.
//!
//! A seeded generator delays and refuses frames and interleaves those of different pairs; frames between two
//! ends keep their order. Bulk operations end late and in any order. An end can be killed at any time.

mod rx;
mod tx;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use oxmpi_wire::{Fault, Header, Key, Limits, Peer, Token};

use crate::frame_builder::{RegionOffset, RegionStore, number_in};
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
struct Net {
    rng: Rng,
    config: FabricConfig,
    /// Frames under way, by sender and receiver.
    queues: BTreeMap<(u32, u32), Queue>,
    regions: RegionStore,
    dead: Vec<bool>,
}

/// A bulk operation under way.
#[derive(Debug)]
enum Bulk {
    /// A get or a put with `peer`.
    Move {
        peer: u32,
        from: RegionOffset,
        to: RegionOffset,
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
pub struct FabricTx {
    me: u32,
    net: Rc<RefCell<Net>>,
    limits: Limits,
    bulk: Vec<Bulk>,
    /// Peers to which sends were refused since they last had room.
    refused: Vec<bool>,
    /// Peers that the sink has given up, with the reason.
    pub given_up: Vec<(Peer, Fault)>,
    /// Counts of the bulk operations of this end.
    pub moves: BulkCounts,
}

/// Counts of bulk operations that an end has started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BulkCounts {
    /// Gets.
    pub gets: u64,
    /// Puts.
    pub puts: u64,
    /// Most operations under way at once.
    pub most: u64,
}

/// The receiving half of one end.
#[derive(Debug)]
pub struct FabricRx {
    me: u32,
    net: Rc<RefCell<Net>>,
    /// Peers whose loss was reported.
    reported: Vec<bool>,
}

/// Handle of a fabric: kills ends, and reports what is under way.
#[derive(Clone, Debug)]
pub struct Fabric(Rc<RefCell<Net>>);

/// Makes a fabric of `ends` ends.
#[must_use]
pub fn fabric(ends: u32, config: FabricConfig) -> (Fabric, Vec<(FabricTx, FabricRx)>) {
    let net = Rc::new(RefCell::new(Net {
        rng: Rng::new(config.seed),
        config,
        queues: BTreeMap::new(),
        regions: RegionStore::default(),
        dead: vec![false; ends as usize],
    }));
    let halves = (0..ends)
        .map(|me| {
            let tx = FabricTx {
                me,
                net: Rc::clone(&net),
                limits: config.limits,
                bulk: Vec::new(),
                refused: vec![false; ends as usize],
                given_up: Vec::new(),
                moves: BulkCounts::default(),
            };
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

impl Net {
    fn run(&mut self, me: u32, bulk: Bulk) -> Option<(Token, Result<(), Fault>)> {
        match bulk {
            Bulk::Release { region, token } => {
                self.regions.release(me, region);
                Some((token, Ok(())))
            }
            Bulk::Move { peer, .. } if self.dead[peer as usize] => None,
            Bulk::Move {
                from,
                to,
                len,
                token,
                ..
            } => Some((token, self.copy(from, to, len))),
        }
    }

    fn copy(&self, from: RegionOffset, to: RegionOffset, len: u64) -> Result<(), Fault> {
        let source = self.regions.range(from, len)?;
        self.regions
            .range(to, len)?
            .copy_from(to.2, source, from.2, len);
        Ok(())
    }
}
