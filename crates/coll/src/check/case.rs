//! Test cases of the checker: the calls and arrays of all ranks, described by a few numbers.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::arrays::{Arrays, Lengths};
use super::contract::Contract;
use super::fault::Fault;
use super::{ProofReport, Ranks, check, check_plans, plan_of};
use crate::call::{Algorithm, Call, Collective, PROC_NULL, Parameters, SharedMemory};
use crate::catalog::AnyPlan;

/// A collective call of all ranks, described by a few numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The collective that is called.
    pub collective: Collective,
    /// The number of ranks.
    pub size: u32,
    /// The root, if the collective has one, else 0.
    pub root: u32,
    /// Elements of the vector or of one block. Blocks of unequal lengths have up to twice as many.
    pub count: u64,
    /// Whether the operation commutes.
    pub commutative: bool,
    /// Whether the operation is exact, which includes that it commutes.
    pub exact: bool,
    /// Whether every rank calls in place, where the collective allows it.
    pub in_place: bool,
    /// The seed of unequal block lengths and of neighbours; with 0 all blocks have the same length.
    pub seed: u64,
    /// The parameters; 0 stands for the default.
    pub parameters: Parameters,
}

impl Case {
    /// A case with root 0, not in place, with a commutative operation, default parameters and equal
    /// blocks.
    pub const fn new(collective: Collective, size: u32, count: u64) -> Self {
        Case {
            collective,
            size,
            root: 0,
            count,
            commutative: true,
            exact: false,
            in_place: false,
            seed: 0,
            parameters: Parameters::NONE,
        }
    }

    /// Proves an algorithm on the case.
    ///
    /// # Errors
    ///
    /// The first fault found.
    pub fn check(&self, algorithm: Algorithm) -> Result<ProofReport, Fault> {
        let arrays = self.arrays();
        check(algorithm, &self.calls(&arrays), &arrays, &self.parameters)
    }

    /// Proves an algorithm on the case, following only what these ranks contribute.
    ///
    /// # Errors
    ///
    /// The first fault found.
    pub fn check_following(
        &self,
        algorithm: Algorithm,
        ranks: &Ranks,
    ) -> Result<ProofReport, Fault> {
        let arrays = self.arrays();
        let calls = self.calls(&arrays);
        let plans = self.plans_of(algorithm, &calls)?;
        let contract = Contract::following(&calls, &arrays, ranks);
        check_plans(&plans, &self.placed(contract))
    }

    /// The plans of all ranks, and the contract of the case.
    ///
    /// # Errors
    ///
    /// If the algorithm does not support the case.
    pub fn plans(&self, algorithm: Algorithm) -> Result<(Vec<AnyPlan>, Contract), Fault> {
        let arrays = self.arrays();
        let calls = self.calls(&arrays);
        let plans = self.plans_of(algorithm, &calls)?;
        Ok((plans, self.placed(Contract::of(&calls, &arrays))))
    }

    fn plans_of(&self, algorithm: Algorithm, calls: &[Call]) -> Result<Vec<AnyPlan>, Fault> {
        let plan = |call| plan_of(algorithm, call, &self.parameters);
        calls.iter().map(plan).collect()
    }

    /// Proves given plans on the case; tests pass modified plans.
    ///
    /// # Errors
    ///
    /// The first fault found.
    pub fn check_plans<P: crate::plan::Plan + Clone>(
        &self,
        plans: &[P],
    ) -> Result<ProofReport, Fault> {
        let arrays = self.arrays();
        let contract = Contract::of(&self.calls(&arrays), &arrays);
        check_plans(plans, &self.placed(contract))
    }

    /// The contract for ranks that are placed on nodes as the parameters say.
    pub fn placed(&self, contract: Contract) -> Contract {
        contract.placed(self.size, &self.parameters)
    }

    /// The arrays of all ranks; empty if the collective takes none.
    pub fn arrays(&self) -> Vec<Arrays> {
        let size = self.size;
        let shared = |fill: &dyn Fn(&mut Arrays)| {
            let mut arrays = Arrays::default();
            fill(&mut arrays);
            Vec::from_iter((0..size).map(|_| arrays.clone()))
        };
        match self.collective {
            Collective::Gatherv => {
                let mut all = shared(&|_| {});
                all[self.root as usize].recvs = self.lengths(0);
                all
            }
            Collective::Scatterv => {
                let mut all = shared(&|_| {});
                all[self.root as usize].sends = self.lengths(0);
                all
            }
            Collective::Allgatherv => shared(&|arrays| arrays.recvs = self.lengths(0)),
            Collective::ReduceScatter => shared(&|arrays| arrays.sends = self.lengths(0)),
            Collective::Alltoallv if self.seed == 0 => shared(&|arrays| {
                arrays.sends = self.lengths(0);
                arrays.recvs = arrays.sends.clone();
            }),
            Collective::Alltoallv => {
                let between = |from: u32, to: u32| {
                    // In place, both directions have the same length.
                    let (from, to) = match self.in_place {
                        true => (from.min(to), from.max(to)),
                        false => (from, to),
                    };
                    self.length(u64::from(from) << 32 | u64::from(to))
                };
                let rank = |rank| Arrays {
                    sends: Lengths::new((0..size).map(|to| between(rank, to))),
                    recvs: Lengths::new((0..size).map(|from| between(from, rank))),
                    ..Arrays::default()
                };
                (0..size).map(rank).collect()
            }
            collective if collective.is_neighborhood() => self.neighbors(),
            _ => Vec::new(),
        }
    }

    /// The calls of all ranks, given their arrays.
    pub fn calls(&self, arrays: &[Arrays]) -> Vec<Call> {
        (0..self.size).map(|rank| self.call(rank, arrays)).collect()
    }

    /// One rank's call, given all ranks' arrays.
    pub fn call(&self, rank: u32, arrays: &[Arrays]) -> Call {
        let (size, root, count) = (self.size, self.root, self.count);
        let (own, at_root) = (arrays.get(rank as usize), arrays.get(root as usize));
        let degree = |list: fn(&Arrays) -> &[u32]| own.map_or(0, |own| list(own).len() as u32);
        let block = |list: fn(&Arrays) -> &Lengths| {
            at_root.map_or(0, |arrays| list(arrays).length(rank as usize))
        };
        let total = |list: fn(&Arrays) -> &Lengths| own.map_or(0, |own| list(own).total());
        let call = Call {
            collective: self.collective,
            root: if self.collective.has_root() { root } else { 0 },
            count: match self.collective {
                Collective::Gatherv => block(|arrays| &arrays.recvs),
                Collective::Scatterv => block(|arrays| &arrays.sends),
                Collective::Allgatherv => total(|arrays| &arrays.recvs),
                Collective::ReduceScatter => total(|arrays| &arrays.sends),
                Collective::NeighborAllgatherv => self.length(rank.into()),
                Collective::Barrier | Collective::Alltoallv | Collective::NeighborAlltoallv => 0,
                _ => count,
            },
            sources: degree(|arrays| &arrays.sources),
            destinations: degree(|arrays| &arrays.destinations),
            cartesian: self.collective.is_neighborhood() && self.is_grid(),
            ..Call::barrier(rank, size)
        };
        let allows_in_place = !self.collective.has_root() || rank == root;
        let call = match self.exact {
            true => call.exactly(),
            false => call.with_commutative(self.commutative),
        };
        call.with_in_place(self.in_place && allows_in_place)
            .with_shared_memory(SharedMemory::All)
    }

    /// The lengths of all ranks' blocks. `list` selects one of several sets of lengths.
    fn lengths(&self, list: u64) -> Lengths {
        Lengths::new((0..u64::from(self.size)).map(|rank| self.length(list << 40 | rank)))
    }

    /// The length of the block with this key: one in four is 0, unless the seed is 0.
    fn length(&self, key: u64) -> u64 {
        let drawn = draw(self.seed, key);
        match self.seed {
            0 => self.count,
            _ if drawn.is_multiple_of(4) => 0,
            _ => (drawn >> 8) % (2 * self.count + 1),
        }
    }

    /// Whether the neighbours form a grid.
    fn is_grid(&self) -> bool {
        self.seed.is_multiple_of(2)
    }

    /// The neighbours of all ranks, and the lengths of the blocks between them.
    fn neighbors(&self) -> Vec<Arrays> {
        let size = self.size;
        let lists: Vec<[Vec<u32>; 2]> = if self.is_grid() {
            let list = |rank| self.grid_neighbors(rank);
            (0..size).map(|rank| [list(rank), list(rank)]).collect()
        } else {
            let mut lists = Vec::from_iter((0..size).map(|_| [Vec::new(), Vec::new()]));
            for edge in 0..3 * u64::from(size) {
                let end = |which| (draw(self.seed ^ which, edge) % u64::from(size)) as u32;
                let (from, to) = (end(0), end(1 << 32));
                lists[to as usize][0].push(from);
                lists[from as usize][1].push(to);
            }
            lists
        };
        let length = |from: u32, to: u32, nth: usize| match self.collective {
            Collective::NeighborAllgatherv => self.length(from.into()),
            _ => self.length((u64::from(from) << 32) | (u64::from(to) << 4) | (nth as u64 % 16)),
        };
        let arrays = |rank: u32| {
            let [sources, destinations] = &lists[rank as usize];
            // The index of a block among the blocks of the same sender to the same receiver.
            let nth = |list: &[u32], at: usize| match self.is_grid() {
                true => at,
                false => list[..at].iter().filter(|&&peer| peer == list[at]).count(),
            };
            let sends = (0..destinations.len()).map(|at| match destinations[at] {
                PROC_NULL => 0,
                to => length(rank, to, nth(destinations, at)),
            });
            let recvs = (0..sources.len()).map(|at| match sources[at] {
                PROC_NULL => 0,
                from if self.is_grid() => length(from, rank, at ^ 1),
                from => length(from, rank, nth(sources, at)),
            });
            let varies = matches!(
                self.collective,
                Collective::NeighborAllgatherv | Collective::NeighborAlltoallv
            );
            let (sends, recvs) = (Lengths::new(sends), Lengths::new(recvs));
            Arrays {
                sends: match self.collective {
                    Collective::NeighborAlltoallv => sends,
                    _ => Lengths::default(),
                },
                recvs: if varies { recvs } else { Lengths::default() },
                sources: Arc::from(&sources[..]),
                destinations: Arc::from(&destinations[..]),
            }
        };
        (0..size).map(arrays).collect()
    }

    /// The neighbours below and above in each of two dimensions, the first of which is periodic.
    fn grid_neighbors(&self, rank: u32) -> Vec<u32> {
        let columns = 1 + (draw(self.seed, 7) % u64::from(self.size.min(4))) as u32;
        let columns = (1..=columns)
            .rev()
            .find(|&n| self.size.is_multiple_of(n))
            .unwrap_or(1);
        let rows = self.size / columns;
        let (row, column) = (rank / columns, rank % columns);
        let at = |row: u32, column: u32| row * columns + column;
        let beside = |there: bool, column: u32| if there { at(row, column) } else { PROC_NULL };
        Vec::from([
            at((row + rows - 1) % rows, column),
            at((row + 1) % rows, column),
            beside(column > 0, column.wrapping_sub(1)),
            beside(column + 1 < columns, column + 1),
        ])
    }
}

/// A pseudorandom number that depends only on its arguments (the finaliser of splitmix64).
pub fn draw(seed: u64, index: u64) -> u64 {
    let x = seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(index.wrapping_mul(0xd1b5_4a32_d192_ed03));
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
