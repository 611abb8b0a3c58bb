//! What the setting `rma_check` adds to calls on windows: accesses that conflict are errors.

use oxmpi_wire::Peer;

use super::super::threading::Threading;
use super::super::window_state::{AccessKind, Conflict};
use super::Window;
use super::target::{WindowRange, offset};
use super::transfer::Checked;
use crate::error::{Error, ErrorClass, Result};

impl<A: Threading> Window<A> {
    /// Notes an access of this rank to its own memory, which no message asks for.
    #[cold]
    pub(super) fn note_own(
        &self,
        kind: AccessKind,
        target: &Checked,
        range: &WindowRange<'_>,
    ) -> Result<()> {
        let found = self.with_state(|state| {
            let checker = state.server.checker.as_mut()?;
            let mut runs = range.shape.runs(target.len);
            runs.find_map(|run| {
                let at = offset(target.base, run.offset);
                checker.conflict_of(target.peer, (kind, at, run.len))
            })
        })?;
        found.map_or(Ok(()), |conflict| Err(self.conflict(range.rank, conflict)))
    }

    /// The accesses of this rank to its own memory have ended, unless all end together.
    #[cold]
    pub(super) fn end_own(&self, peer: Peer) -> Result<()> {
        let is_own = self.comm.access().with(|endpoint| endpoint.is_own(peer));
        self.with_state(|state| {
            if let (Some(checker), true) = (&mut state.server.checker, is_own) {
                checker.end_of(peer);
            }
        })
    }

    /// The epoch of all ranks that access this one's memory has ended; whether another one has begun, whose accesses end at once.
    #[cold]
    pub(super) fn end_checked_epoch(&self, opens: bool) -> Result<()> {
        self.with_state(|state| {
            if let Some(checker) = &mut state.server.checker {
                checker.end_of_all(opens);
            }
        })
    }

    /// The error of an access that conflicts.
    #[cold]
    pub(super) fn conflict(&self, target: usize, conflict: Conflict) -> Error {
        let (rank, class) = (self.rank(), ErrorClass::RmaConflict);
        let Conflict { at, other, kinds } = conflict;
        let [own, others] = kinds;
        let whose = match other as usize == rank {
            true => format!("its own {others} before"),
            false => format!("the {others} of rank {other}"),
        };
        let why = format!(
            "its {own} at byte {at} of the memory of rank {target} conflicts with {whose} in the same epoch"
        );
        Error::Window { rank, class, why }
    }
}
