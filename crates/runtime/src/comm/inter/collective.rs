//! Collectives between two groups: each group gathers, reduces or spreads within itself, and rank 0
//! of it, or the root, talks to the other group.

use super::InterComm;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::op::Reduction;
use crate::raw::Access;

/// The root of an operation between two groups, as a rank sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// This rank (`MPI_ROOT`).
    Me,
    /// Another rank of this rank's group, whose other ranks take no part (`MPI_PROC_NULL`).
    Beside,
    /// This rank of the other group.
    There(usize),
}

/// The rank of a group that talks to the other one.
const LEADER: usize = 0;
/// Messages of one operation go one way between two ranks, and operations follow each other, so one
/// tag is enough.
const TAG: u32 = 0;

impl<A: Access> InterComm<A> {
    /// Returns when every rank of the other group has called it (`MPI_Barrier`), and of this one.
    ///
    /// # Errors
    /// When a rank is lost.
    pub fn barrier(&self) -> Result<()> {
        self.inside.barrier()
    }

    /// Gives every rank of the other group the root's `values` (`MPI_Bcast`).
    ///
    /// # Errors
    /// When the root does not exist, lengths differ, or a rank is lost.
    pub fn bcast<T: Data>(&self, values: &mut [T], root: Root) -> Result<()> {
        match root {
            Root::Me => self.inside.send(values, self.far(LEADER)?, TAG),
            Root::Beside => Ok(()),
            Root::There(root) => {
                let root = self.far(root)?;
                if self.leads() {
                    self.shared(self.take(values, root))?;
                }
                self.local.bcast(values, LEADER)
            }
        }
    }

    /// Gives the root the values of every rank of the other group, as many of each, in the order of
    /// their ranks (`MPI_Gather`). The root alone gives `all`; of its group no `values` are used.
    ///
    /// # Errors
    /// As [`InterComm::bcast`], or when the root gives no room or another rank does.
    pub fn gather<T: Data>(&self, values: &[T], all: Option<&mut [T]>, root: Root) -> Result<()> {
        match (root, all) {
            (Root::Me, Some(all)) => self.take(all, self.far(LEADER)?),
            (Root::Beside, None) => Ok(()),
            (Root::There(root), None) => {
                let root = self.far(root)?;
                let mut gathered = self.led(values.len() * self.local.size())?;
                self.local.gather(values, gathered.as_deref_mut(), LEADER)?;
                gathered.map_or(Ok(()), |all| self.inside.send(&all, root, TAG))
            }
            (root, all) => Err(self.misgiven(root, all.is_some())),
        }
    }

    /// Gives every rank of the other group its part of the root's `all`, as many values each, in the
    /// order of their ranks (`MPI_Scatter`). The root alone gives `all`; its group's `into` stays.
    ///
    /// # Errors
    /// As [`InterComm::gather`].
    pub fn scatter<T: Data>(&self, all: Option<&[T]>, into: &mut [T], root: Root) -> Result<()> {
        match (root, all) {
            (Root::Me, Some(all)) => self.inside.send(all, self.far(LEADER)?, TAG),
            (Root::Beside, None) => Ok(()),
            (Root::There(root), None) => {
                let root = self.far(root)?;
                let mut all = self.led(into.len() * self.local.size())?;
                if let Some(all) = &mut all {
                    self.shared(self.take(all, root))?;
                }
                self.local.scatter(all.as_deref(), into, LEADER)
            }
            (root, all) => Err(self.misgiven(root, all.is_some())),
        }
    }

    /// Reduces the `values` of the other group's ranks, element by element, into the root's `result`
    /// (`MPI_Reduce`). The root alone gives it; of its group no `values` are used.
    ///
    /// # Errors
    /// As [`InterComm::gather`].
    pub fn reduce<T: Data>(
        &self,
        values: &[T],
        result: Option<&mut [T]>,
        op: impl Reduction<T>,
        root: Root,
    ) -> Result<()> {
        match (root, result) {
            (Root::Me, Some(result)) => self.take(result, self.far(LEADER)?),
            (Root::Beside, None) => Ok(()),
            (Root::There(root), None) => {
                let root = self.far(root)?;
                let reduced = self.reduced(values, op)?;
                reduced.map_or(Ok(()), |reduced| self.inside.send(&reduced, root, TAG))
            }
            (root, result) => Err(self.misgiven(root, result.is_some())),
        }
    }

    /// Gives every rank the values of all ranks of the other group, in the order of their ranks
    /// (`MPI_Allgather`). Within a group all give as many; the groups may differ.
    ///
    /// # Errors
    /// When lengths do not fit, or a rank is lost.
    pub fn allgather<T: Data>(&self, values: &[T], all: &mut [T]) -> Result<()> {
        let mut gathered = self.led(values.len() * self.local.size())?;
        self.local.gather(values, gathered.as_deref_mut(), LEADER)?;
        if let Some(mine) = gathered {
            self.shared(self.trade(&mine, all))?;
        }
        self.local.bcast(all, LEADER)
    }

    /// Gives rank r of the other group the r-th part of `values`, and takes its part for this rank
    /// into the r-th part of `into` (`MPI_Alltoall`).
    ///
    /// # Errors
    /// When a length is no multiple of the other group's size or does not fit the sender's, or a
    /// rank is lost.
    pub fn alltoall<T: Data>(&self, values: &[T], into: &mut [T]) -> Result<()> {
        let ranks = self.remote.len();
        for length in [values.len(), into.len()] {
            if !length.is_multiple_of(ranks) {
                return Err(Error::Count {
                    rank: self.local.rank(),
                    what: "the values for or of the other group",
                    has: length,
                    needs: length.next_multiple_of(ranks),
                });
            }
        }
        let (out, room) = (values.len() / ranks, into.len() / ranks);
        self.inside.scope(|scope| {
            let mut parts = into;
            for from in self.remote.clone() {
                let (part, rest) = parts.split_at_mut(room);
                parts = rest;
                scope.irecv(part, from, TAG)?;
            }
            for (at, to) in self.remote.clone().enumerate() {
                scope.isend(&values[at * out..][..out], to, TAG)?;
            }
            Ok(())
        })
    }

    /// Reduces the `values` of the other group's ranks, element by element, into every rank's
    /// `result` (`MPI_Allreduce`).
    ///
    /// # Errors
    /// As [`InterComm::allgather`], or when the element has no such operation.
    pub fn allreduce<T: Data>(
        &self,
        values: &[T],
        result: &mut [T],
        op: impl Reduction<T>,
    ) -> Result<()> {
        if let Some(mine) = self.reduced(values, op)? {
            self.shared(self.trade(&mine, result))?;
        }
        self.local.bcast(result, LEADER)
    }

    /// Reduces the `values` of the other group's ranks, element by element, and spreads the result
    /// over this group, as many elements a rank (`MPI_Reduce_scatter_block`). All ranks of both
    /// groups bring as many values.
    ///
    /// # Errors
    /// As [`InterComm::allreduce`].
    pub fn reduce_scatter_block<T: Data>(
        &self,
        values: &[T],
        into: &mut [T],
        op: impl Reduction<T>,
    ) -> Result<()> {
        let mut theirs = self.led(into.len() * self.local.size())?;
        if let (Some(mine), Some(theirs)) = (self.reduced(values, op)?, &mut theirs) {
            self.shared(self.trade(&mine, theirs))?;
        }
        self.local.scatter(theirs.as_deref(), into, LEADER)
    }

    /// Whether this rank talks to the other group.
    fn leads(&self) -> bool {
        self.local.rank() == LEADER
    }

    /// Room for a group's values, where this rank leads it.
    fn led<T: Data>(&self, count: usize) -> Result<Option<Vec<T>>> {
        self.leads().then(|| self.local.room(count)).transpose()
    }

    /// This group's reduced values, where this rank leads it.
    fn reduced<T: Data>(&self, values: &[T], op: impl Reduction<T>) -> Result<Option<Vec<T>>> {
        let mut result = self.led(values.len())?;
        self.local
            .reduce_into(values, result.as_deref_mut(), op, LEADER)?;
        Ok(result)
    }

    /// Receives from a rank of both, and has to fill `values`.
    fn take<T: Data>(&self, values: &mut [T], from: usize) -> Result<()> {
        let status = self.inside.recv(values, from, TAG)?;
        self.filled(values, status.bytes)
    }

    /// The leaders send each other what their groups have.
    fn trade<T: Data>(&self, mine: &[T], theirs: &mut [T]) -> Result<()> {
        let other = self.far(LEADER)?;
        let status = (self.inside).sendrecv(mine, other, TAG, theirs, other, TAG)?;
        self.filled(theirs, status.bytes)
    }

    fn filled<T: Data>(&self, values: &[T], bytes: u64) -> Result<()> {
        if size_of_val(values) as u64 == bytes {
            return Ok(());
        }
        Err(Error::Count {
            rank: self.local.rank(),
            what: "the room for the other group's values",
            has: values.len(),
            needs: bytes as usize / size_of::<T>().max(1),
        })
    }

    /// What the leader has met, for its group: the others wait for it, and are told of an error.
    fn shared<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| self.local.raw.meeting().end_for(error))
    }

    #[cold]
    fn misgiven(&self, root: Root, given: bool) -> Error {
        let why = match given {
            true => "this rank is not the root, and gives a buffer that only the root has",
            false => "this rank is the root, and does not give the buffer of all ranks",
        };
        Error::Collective {
            rank: self.local.rank(),
            why: format!("{why} (it says {root:?})"),
        }
    }
}
