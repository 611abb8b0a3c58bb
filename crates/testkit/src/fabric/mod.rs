//! A network of any number of ends in one thread, as bad as the interface allows.
//!
//! Frames keep their order between two ends and are delayed, refused, and mixed between pairs by a
//! seeded generator; bulk operations end late and in any order; an end can be killed at any moment.

mod rx;
mod tx;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use oxmpi_wire::{Bytes, Fault, Header, Key, Limits, Peer, Token};

use crate::frame_builder::number_in;
use crate::memory::SharedBytes;
use crate::rng::Rng;

/// How a fabric behaves.
#[derive(Clone, Copy, Debug)]
pub struct FabricConfig {
    /// Seed of everything that is random.
    pub seed: u64,
    /// Percentage of sends and bulk operations that are refused though there is room.
    pub refuse: u8,
    /// Percentage of looks at a peer that do not see what has been sent.
    pub delay: u8,
    /// Frames that are under way between two ends at most.
    pub capacity: usize,
    /// Sizes of the paths.
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
    /// Refusals, delays and little room.
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

/// What all ends share.
#[derive(Debug)]
struct Net {
    rng: Rng,
    config: FabricConfig,
    /// Frames under way, by sender and receiver.
    queues: BTreeMap<(u32, u32), Queue>,
    /// Registered memory, by owner and number.
    regions: BTreeMap<(u32, u64), SharedBytes>,
    next_region: u64,
    dead: Vec<bool>,
}

/// A place in registered memory: owner, number, offset.
type RegionOffset = (u32, u64, u64);

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
    /// Peers that were refused since they last had room.
    refused: Vec<bool>,
    /// Peers that the sink has given up.
    pub given_up: Vec<(Peer, Fault)>,
    /// What this end has moved.
    pub moves: BulkCounts,
}

/// Bulk operations that an end has started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BulkCounts {
    /// Gets.
    pub gets: u64,
    /// Puts.
    pub puts: u64,
    /// The most that were under way at once.
    pub most: u64,
}

/// The receiving half of one end.
#[derive(Debug)]
pub struct FabricRx {
    me: u32,
    net: Rc<RefCell<Net>>,
    /// Peers whose death was told.
    told: Vec<bool>,
}

/// Kills ends, and tells what is under way.
#[derive(Clone, Debug)]
pub struct Fabric(Rc<RefCell<Net>>);

/// Makes a fabric of `ends` ends.
#[must_use]
pub fn fabric(ends: u32, config: FabricConfig) -> (Fabric, Vec<(FabricTx, FabricRx)>) {
    let net = Rc::new(RefCell::new(Net {
        rng: Rng::new(config.seed),
        config,
        queues: BTreeMap::new(),
        regions: BTreeMap::new(),
        next_region: 0,
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
                told: vec![false; ends as usize],
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

    /// Ends `peer`: the others are told once they have seen all or some of what it sent.
    pub fn kill(&self, peer: Peer) {
        self.0.borrow_mut().dead[peer.0 as usize] = true;
    }

    /// Memory that is registered at this moment, at all living ends.
    #[must_use]
    pub fn regions(&self) -> usize {
        let net = self.0.borrow();
        net.regions
            .keys()
            .filter(|(owner, _)| !net.dead[*owner as usize])
            .count()
    }

    /// What is in the memory that `owner` registered and `key` reaches.
    #[must_use]
    pub fn registered(&self, owner: Peer, key: &Key) -> Option<Vec<u8>> {
        let net = self.0.borrow();
        let bytes = net.regions.get(&(owner.0, number_in(key)))?;
        Some(bytes.to_vec())
    }

    /// Frames that nobody has seen yet.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.0.borrow().queues.values().map(VecDeque::len).sum()
    }
}

impl Net {
    fn run(&mut self, me: u32, bulk: Bulk) -> Option<(Token, Result<(), Fault>)> {
        match bulk {
            Bulk::Release { region, token } => {
                self.regions.remove(&(me, region));
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
        let region = |(owner, number, at): RegionOffset| {
            self.regions
                .get(&(owner, number))
                .filter(|bytes| at.checked_add(len).is_some_and(|end| end <= bytes.len()))
                .ok_or(Fault::Protocol("a range outside of its region"))
        };
        region(to)?.copy_from(to.2, region(from)?, from.2, len);
        Ok(())
    }
}
