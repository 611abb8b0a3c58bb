//! The symbols that buffers hold instead of numbers: reduced values, each kept once.

use alloc::vec::Vec;
use core::hash::{BuildHasherDefault, Hash, Hasher};
use std::collections::HashMap;

use super::fault::FaultKind;
use super::ranks::Ranks;

/// A reduced value: who contributed, and in which tree of operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) ranks: Ranks,
    /// A digest of the tree of operations. Equal digests on two ranks mean that the results have
    /// the same bits, for any operation: an operation that commutes is only taken to give the same
    /// bits either way round, not to associate.
    pub(super) tree: u64,
    /// Whether it is not data but the root's counts, as numbers.
    pub(super) counts: bool,
}

/// The digest is enough, but where few ranks stand for all: then sums of other ranks have the digest of theirs.
impl Hash for Sum {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.tree);
        state.write_u32(self.ranks.first().unwrap_or(0));
    }
}

/// Names a sum. Two names are the same just where the sums are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Name(u32);

/// A hash of few small numbers that nobody chose to collide: one multiplication each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mix(u64);

impl Hasher for Mix {
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

pub(super) type State = BuildHasherDefault<Mix>;

/// All sums that the ranks of a world hold or have held.
#[derive(Debug)]
pub(super) struct Sums {
    /// Whether reductions are taken as sets.
    commutative: bool,
    all: Vec<Sum>,
    names: HashMap<Sum, Name, State>,
    /// What became of two operands.
    joined: HashMap<(Name, Name), Name, State>,
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

    pub(super) fn get(&self, name: Name) -> &Sum {
        &self.all[name.0 as usize]
    }

    /// The name of a sum.
    pub(super) fn name(&mut self, sum: Sum) -> Name {
        let next = Name(self.all.len() as u32);
        let all = &mut self.all;
        *self.names.entry(sum).or_insert_with_key(|sum| {
            all.push(sum.clone());
            next
        })
    }

    /// What one rank gives.
    pub(super) fn leaf(&mut self, rank: u32) -> Name {
        self.leaf_as(rank, rank)
    }

    /// What one rank gives, as if it were another rank where bits are compared.
    pub(super) fn leaf_as(&mut self, rank: u32, other: u32) -> Name {
        self.name(Sum {
            ranks: Ranks::one(rank),
            tree: mix(u64::from(other), 0),
            counts: false,
        })
    }

    /// The counts that one rank is given.
    pub(super) fn counts(&mut self, rank: u32) -> Name {
        self.name(Sum {
            ranks: Ranks::one(rank),
            tree: mix(u64::from(rank), 1),
            counts: true,
        })
    }

    /// What reducing two operands gives.
    pub(super) fn join(&mut self, left: Name, right: Name) -> Result<Name, FaultKind> {
        if let Some(&joined) = self.joined.get(&(left, right)) {
            return Ok(joined);
        }
        let sum = self.joint(self.get(left), self.get(right))?;
        let joined = self.name(sum);
        self.joined.insert((left, right), joined);
        Ok(joined)
    }

    fn joint(&self, left: &Sum, right: &Sum) -> Result<Sum, FaultKind> {
        if left.counts || right.counts {
            return Err(FaultKind::Numbers);
        }
        if !left.ranks.is_disjoint(&right.ranks) {
            return Err(FaultKind::Twice {
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
