//! The symbols that buffers hold instead of numbers: reduced values, each stored once.

use alloc::vec::Vec;
use core::hash::{BuildHasherDefault, Hash, Hasher};
use std::collections::HashMap;

use super::fault::FaultKind;
use super::ranks::Ranks;

/// A reduced value: the contributing ranks, and the tree of operations that combined them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) ranks: Ranks,
    /// A digest of the tree of operations. Equal digests on two ranks mean that the results have the same
    /// bits for any operation; a commutative one is assumed to give the same bits for exchanged operands,
    /// not to associate.
    pub(super) tree: u64,
    /// Whether it is the root's array of counts instead of data.
    pub(super) counts: bool,
}

/// The digest alone suffices, unless few ranks represent all: then values of different ranks have equal
/// digests.
impl Hash for Sum {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.tree);
        state.write_u32(self.ranks.first().unwrap_or(0));
    }
}

/// The identifier of a sum. Equal identifiers mean equal sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SumId(u32);

/// A hash with one multiplication per number, for few small keys that no adversary chooses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SumHasher(u64);

impl Hasher for SumHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

pub(super) type SumHashState = BuildHasherDefault<SumHasher>;

/// All sums that the ranks of a network hold or have held.
#[derive(Debug)]
pub(super) struct Sums {
    /// Whether contributions form a set instead of a list.
    commutative: bool,
    all: Vec<Sum>,
    names: HashMap<Sum, SumId, SumHashState>,
    /// The results of reductions so far.
    joined: HashMap<(SumId, SumId), SumId, SumHashState>,
}

impl Sums {
    pub(super) fn new(commutative: bool) -> Self {
        Sums {
            commutative,
            all: Vec::new(),
            names: HashMap::default(),
            joined: HashMap::default(),
        }
    }

    pub(super) fn get(&self, name: SumId) -> &Sum {
        &self.all[name.0 as usize]
    }

    /// The identifier of a sum, new or known.
    pub(super) fn intern(&mut self, sum: Sum) -> SumId {
        let next = SumId(self.all.len() as u32);
        let all = &mut self.all;
        *self.names.entry(sum).or_insert_with_key(|sum| {
            all.push(sum.clone());
            next
        })
    }

    /// The contribution of one rank.
    pub(super) fn leaf(&mut self, rank: u32) -> SumId {
        self.leaf_as(rank, rank)
    }

    /// The contribution of one rank, with the digest of `other`'s.
    pub(super) fn leaf_as(&mut self, rank: u32, other: u32) -> SumId {
        self.intern(Sum {
            ranks: Ranks::one(rank),
            tree: mix(u64::from(other), 0),
            counts: false,
        })
    }

    /// The counts that one rank is given.
    pub(super) fn counts(&mut self, rank: u32) -> SumId {
        self.intern(Sum {
            ranks: Ranks::one(rank),
            tree: mix(u64::from(rank), 1),
            counts: true,
        })
    }

    /// The reduction of two operands.
    pub(super) fn join(&mut self, left: SumId, right: SumId) -> Result<SumId, FaultKind> {
        if let Some(&joined) = self.joined.get(&(left, right)) {
            return Ok(joined);
        }
        let sum = self.combined(self.get(left), self.get(right))?;
        let joined = self.intern(sum);
        self.joined.insert((left, right), joined);
        Ok(joined)
    }

    fn combined(&self, left: &Sum, right: &Sum) -> Result<Sum, FaultKind> {
        if left.counts || right.counts {
            return Err(FaultKind::CountsAsData);
        }
        if !left.ranks.is_disjoint(&right.ranks) {
            return Err(FaultKind::CountedTwice {
                one: left.ranks.clone(),
                other: right.ranks.clone(),
            });
        }
        let (low, high) = (left.tree.min(right.tree), left.tree.max(right.tree));
        let (ranks, tree) = match self.commutative {
            true => (left.ranks.union(&right.ranks), mix(low, high)),
            false => (left.ranks.then(&right.ranks), mix(left.tree, right.tree)),
        };
        Ok(Sum {
            ranks,
            tree,
            counts: false,
        })
    }
}

/// A digest of an ordered pair (the finaliser of a 64-bit multiplicative hash, twice).
fn mix(left: u64, right: u64) -> u64 {
    let scramble = |x: u64| {
        let x = (x ^ (x >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (x >> 32)
    };
    scramble(
        scramble(left.wrapping_add(1))
            .rotate_left(17)
            .wrapping_add(right),
    )
}
