//! Workloads: calls of a collective in which all ranks contribute the same number of bytes.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::RefCell;

use crate::call::{Algorithm, Call, Collective, Parameters, SharedMemory};
use crate::choice::{ChoiceTables, Tuning};
use crate::nodes::NodeMap;
use crate::phased::{PhasedPlan, Strategy};
use crate::plan::CallArrays;

use super::error::Error;
use super::{Placement, SimReport, Simulation};

/// A collective call of all ranks with equal contributions: one block in gather, scatter, allgather,
/// alltoall and reduce_scatter, the whole vector in the others. The root is rank 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    collective: Collective,
    ranks: u32,
    bytes: u64,
    commutative: bool,
    /// The length of each block, for collectives that are given lengths.
    lengths: Vec<u64>,
}

impl Workload {
    /// A call of `ranks` ranks, at least one, that contribute `bytes` bytes each. Reductions have
    /// elements of 8 bytes if that divides the bytes, else of one byte, and an operation that commutes.
    pub fn new(collective: Collective, ranks: u32, bytes: u64) -> Self {
        let mut work = Workload {
            collective,
            ranks: ranks.max(1),
            bytes,
            commutative: true,
            lengths: Vec::new(),
        };
        if collective.has_unequal_blocks() {
            work.lengths = alloc::vec![work.count(); work.ranks as usize];
        }
        work
    }

    /// The same with an operation that commutes or not.
    #[must_use]
    pub fn with_commutative(self, commutative: bool) -> Self {
        Workload {
            commutative,
            ..self
        }
    }

    /// The collective.
    pub const fn collective(&self) -> Collective {
        self.collective
    }

    /// The number of ranks.
    pub const fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The bytes that each rank contributes.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes of an element.
    pub const fn element_bytes(&self) -> u64 {
        if self.collective.reduces() && self.bytes.is_multiple_of(8) {
            8
        } else {
            1
        }
    }

    const fn count(&self) -> u64 {
        self.bytes / self.element_bytes()
    }

    /// The arrays that every rank is given.
    pub fn given(&self) -> CallArrays<'_> {
        CallArrays {
            sends: &self.lengths,
            recvs: &self.lengths,
            ..CallArrays::NOTHING
        }
    }

    /// One rank's call; `None` for neighbourhood collectives.
    pub fn call(&self, rank: u32) -> Option<Call> {
        let count = match self.collective {
            Collective::Barrier | Collective::Alltoallv => 0,
            Collective::Allgatherv | Collective::ReduceScatter => {
                self.count() * u64::from(self.ranks)
            }
            _ => self.count(),
        };
        let call = Call {
            collective: self.collective,
            count,
            element_bytes: self.element_bytes(),
            commutative: self.commutative,
            ..Call::barrier(rank, self.ranks)
        };
        (!self.collective.is_neighborhood()).then_some(call)
    }

    /// One rank's call if ranks are placed like this, share the memory of their node and wait for the end
    /// of the call.
    pub fn blocking_call(&self, rank: u32, place: Placement) -> Option<Call> {
        let sharing = match place.nodes() {
            1 => SharedMemory::All,
            _ => SharedMemory::OnNodes,
        };
        self.call(rank).map(|call| call.with_shared_memory(sharing))
    }
}

impl<'a> Simulation<'a> {
    /// Runs an algorithm on the workload, whose ranks are those of the placement. Parameters that do not
    /// name the ranks of a node get those of the placement.
    ///
    /// # Errors
    ///
    /// If the algorithm does not support the call, or its plans do not match each other.
    pub fn work(
        self,
        work: &'a Workload,
        algorithm: Algorithm,
        parameters: &Parameters,
    ) -> Result<SimReport, Error> {
        let place = self.setup.placement;
        let call = |rank| work.blocking_call(rank, place).ok_or(Error::Neighborhood);
        call(0)?;
        let parameters = match parameters.per_node {
            0 => parameters
                .with_per_node(place.per_node())
                .with_order(place.order()),
            _ => *parameters,
        };
        self.of(work)
            .run(|rank| Ok(algorithm.plan(&call(rank)?, &parameters)?))
    }

    /// Runs the workload on nodes of any sizes, by this strategy.
    ///
    /// # Errors
    ///
    /// If the collective has no phases, or no algorithm suits one.
    pub fn work_by(
        self,
        work: &'a Workload,
        nodes: &'a Arc<NodeMap>,
        (strategy, tuning): (Strategy, &Tuning),
    ) -> Result<SimReport, Error> {
        // Ranks share tables, one for each placement of a phase.
        let tables = RefCell::new(Vec::<(Placement, ChoiceTables)>::new());
        let choose = |call: &Call, place| {
            let mut tables = tables.borrow_mut();
            let known = tables.iter().position(|(known, _)| *known == place);
            let at = known.unwrap_or_else(|| {
                tables.push((place, ChoiceTables::new(tuning.clone().placed(place))));
                tables.len() - 1
            });
            tables[at].1.choose(call).copied()
        };
        self.of(work).on(nodes).run(|rank| {
            let call = work.call(rank).ok_or(Error::Neighborhood)?;
            let call = call.with_shared_memory(SharedMemory::OnNodes);
            Ok(match strategy {
                Strategy::Phased => PhasedPlan::new(&call, nodes, choose)?,
                Strategy::InSlots(choice) => PhasedPlan::in_slots(&call, nodes, choice)?,
            })
        })
    }

    /// The simulation with the workload's elements and arrays.
    pub(super) fn of(self, work: &'a Workload) -> Self {
        self.element_bytes(work.element_bytes())
            .given(work.given())
            .block(work.bytes)
    }
}
