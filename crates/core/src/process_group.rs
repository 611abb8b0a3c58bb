//! Groups of processes as pure data: made, compared, translated and combined (MPI 5.0, section 7.3).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::envelope::PROC_NULL;
use crate::error::{Error, Result};

/// An ordered set of processes of the job (`MPI_Group`). No call on it communicates.
///
/// # Cost
/// Constant to clone; the calls that read or make groups take time in proportion to the sizes of the groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessGroup {
    /// The rank in the job of each member, in the order of the group.
    processes: Arc<[u32]>,
    /// The rank in the job of the calling process, which need not be a member.
    own: u32,
}

/// How two groups or communicators compare (`MPI_Group_compare`, `MPI_Comm_compare`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// The same processes in the same order; of communicators: the same communicator (`MPI_IDENT`).
    Identical,
    /// Two communicators of identical groups (`MPI_CONGRUENT`). Groups never compare so.
    Congruent,
    /// The same processes in another order (`MPI_SIMILAR`).
    Similar,
    /// A process is a member of one of them only (`MPI_UNEQUAL`).
    Unequal,
}

impl ProcessGroup {
    /// The group of these processes, each once, for the process `own`. Processes are named by their ranks in
    /// the job.
    pub(crate) fn new(processes: impl IntoIterator<Item = u32>, own: u32) -> Self {
        Self {
            processes: processes.into_iter().collect(),
            own,
        }
    }

    /// Number of members (`MPI_Group_size`). A group may be empty.
    #[must_use]
    pub fn size(&self) -> usize {
        self.processes.len()
    }

    /// The rank of the calling process; `None`, if it is not a member (`MPI_Group_rank`, `MPI_UNDEFINED`).
    #[must_use]
    pub fn rank(&self) -> Option<usize> {
        self.processes
            .iter()
            .position(|&process| process == self.own)
    }

    /// How the groups compare: identical, similar or unequal (`MPI_Group_compare`).
    #[must_use]
    pub fn compare(&self, other: &Self) -> Comparison {
        match () {
            () if self.processes == other.processes => Comparison::Identical,
            () if self.size() == other.size() && self.difference(other).size() == 0 => {
                Comparison::Similar
            }
            () => Comparison::Unequal,
        }
    }

    /// The ranks in the group `to` of the processes that have `ranks` here; `None` for one that is not a member
    /// of `to` (`MPI_Group_translate_ranks`). [`PROC_NULL`] stays what it is.
    ///
    /// # Errors
    /// [`Error::GroupRank`] for a rank that this group does not have.
    pub fn translate(
        &self,
        ranks: impl IntoIterator<Item = usize>,
        to: &Self,
    ) -> Result<Vec<Option<usize>>> {
        let there: HashMap<u32, usize> = to.processes.iter().copied().zip(0..).collect();
        let translated = ranks.into_iter().map(|rank| match rank {
            PROC_NULL => Ok(Some(PROC_NULL)),
            rank => Ok(there.get(&self.process(rank)?).copied()),
        });
        translated.collect()
    }

    /// The members of this group, and after them those of `other` that this one does not have
    /// (`MPI_Group_union`).
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let more = other.difference(self);
        let processes = self.processes.iter().chain(&*more.processes);
        Self::new(processes.copied(), self.own)
    }

    /// The members of this group that are members of `other` too, in the order of this one
    /// (`MPI_Group_intersection`).
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.retain(other, true)
    }

    /// The members of this group that are not members of `other`, in the order of this one
    /// (`MPI_Group_difference`).
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.retain(other, false)
    }

    /// The members with these ranks, in the order of the ranks (`MPI_Group_incl`). No ranks give the empty group.
    ///
    /// The triplet (first, last, stride) of `MPI_Group_range_incl` is `(first..=last).step_by(stride)`, or
    /// `(last..=first).rev().step_by(stride)` downwards; several are chained.
    ///
    /// # Errors
    /// [`Error::GroupRank`] for a rank that the group does not have, or that is named twice.
    pub fn incl(&self, ranks: impl IntoIterator<Item = usize>) -> Result<Self> {
        let mut named = HashSet::new();
        let processes = ranks.into_iter().map(|rank| {
            let process = self.process(rank)?;
            let is_new = named.insert(rank);
            is_new.then_some(process).ok_or_else(|| self.no_rank(rank))
        });
        let processes: Vec<u32> = processes.collect::<Result<_>>()?;
        Ok(Self::new(processes, self.own))
    }

    /// The members without those that have these ranks (`MPI_Group_excl`). Ranges of `MPI_Group_range_excl` are
    /// given as for [`incl`](Self::incl).
    ///
    /// # Errors
    /// As there.
    pub fn excl(&self, ranks: impl IntoIterator<Item = usize>) -> Result<Self> {
        Ok(self.difference(&self.incl(ranks)?))
    }

    fn retain(&self, other: &Self, in_both: bool) -> Self {
        let others: HashSet<u32> = other.processes.iter().copied().collect();
        let processes = self.processes.iter().copied();
        Self::new(
            processes.filter(|process| others.contains(process) == in_both),
            self.own,
        )
    }

    fn process(&self, rank: usize) -> Result<u32> {
        let process = self.processes.get(rank).copied();
        process.ok_or_else(|| self.no_rank(rank))
    }

    #[cold]
    fn no_rank(&self, named: usize) -> Error {
        Error::GroupRank {
            named,
            size: self.size(),
        }
    }
}

#[cfg(test)]
mod tests;
