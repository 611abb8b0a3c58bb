//! Puts and gets (MPI 5.0, section 12.3).

use oxmpi_os::RawBytes;
use oxmpi_shm::window::{ATTACHED_LATER, MOST_RUNS};
use oxmpi_wire::{Bytes, Peer};

use super::super::envelope::PROC_NULL;
use super::super::request::RawRequest;
use super::super::threading::Threading;
use super::super::window_state::{AccessKind, AwaitedBy, Needs};
use super::Window;
use super::near::Near;
use super::target::{Shape, WindowRange, offset};
use crate::error::{Error, ErrorClass, Result};

/// A target that was checked: its link, the offset that places count from, and how many bytes are named.
pub(super) struct Checked {
    pub(super) peer: Peer,
    pub(super) base: u64,
    pub(super) len: u64,
}

impl<A: Threading> Window<A> {
    /// Writes `from` to memory of a target (`MPI_Put`). The bytes are read before this returns.
    ///
    /// # Errors
    /// Outside of an epoch; where the range is beyond the target's memory, or has another length than `from`; when the
    /// target is lost.
    ///
    /// # Cost
    /// On this node a copy; else a message for each contiguous range.
    #[inline]
    pub fn put(&self, from: RawBytes, to: &WindowRange<'_>) -> Result<()> {
        match self.open_near(to, from.len()) {
            Some((near, at)) => {
                (near.write(at, (&from, 0, from.len()))).map_err(|_| self.unreached(to.rank))
            }
            None => self.put_runs(from, to),
        }
    }

    #[inline(never)]
    fn put_runs(&self, from: RawBytes, to: &WindowRange<'_>) -> Result<()> {
        let Some(target) = self.target(("put", AccessKind::Put), to, from.len())? else {
            return Ok(());
        };
        match self.near(target.peer) {
            Some(near) => self.each_batch(&target, to, |runs, first, len| {
                (near.write_runs(runs, (&from, first, len))).map_err(|_| self.unreached(to.rank))
            }),
            None => self.each_run(&target, to, |at, first, len| {
                self.put_far(target.peer, at, (&from, first, len))
            }),
        }
    }

    /// Reads memory of a target into `to` (`MPI_Get`), which has the bytes when the access is flushed or its epoch ends, and
    /// belongs to the window until then.
    ///
    /// # Errors
    /// As [`Window::put`].
    ///
    /// # Cost
    /// As [`Window::put`].
    #[inline]
    pub fn get(&self, to: RawBytes, from: &WindowRange<'_>) -> Result<()> {
        match self.open_near(from, to.len()) {
            Some((near, at)) => {
                (near.read(at, (&to, 0, to.len()))).map_err(|_| self.unreached(from.rank))
            }
            None => self.get_checked(to, from),
        }
    }

    #[inline(never)]
    fn get_checked(&self, to: RawBytes, from: &WindowRange<'_>) -> Result<()> {
        let Some(target) = self.target(("get", AccessKind::Get), from, to.len())? else {
            return Ok(());
        };
        self.get_runs(&target, to, from, AwaitedBy::Flush)
    }

    /// The memory of a target that is open to accesses, and the offset there of a range of `len` contiguous bytes, if this
    /// rank reaches it and the range is within. `None` says nothing: [`Self::target`] does.
    #[inline(always)]
    pub(super) fn open_near(&self, range: &WindowRange<'_>, len: u64) -> Option<(&Near, u64)> {
        let Shape::Bytes(bytes) = range.shape else {
            return None;
        };
        let near = self.near(Peer(self.comm.group().equal_link(range.rank)?))?;
        let (size, unit) = self.sizes.of(range.rank);
        let at = range.displacement.checked_mul(unit)?;
        let inside = bytes == len && at <= size && len <= size - at && size != ATTACHED_LATER;
        let is_open = inside
            && self.open.allows(range.rank)
            && self.comm.access().with(|endpoint| endpoint.is_usable());
        is_open.then_some((near, at))
    }

    /// As [`Window::get`], with a request that completes when `to` has the bytes (`MPI_Rget`); `None`: it has them. A put and an accumulate have
    /// ended here when their calls return, so their requests are complete (`MPI_Rput`, `MPI_Raccumulate`).
    ///
    /// # Errors
    /// As [`Window::put`].
    pub fn rget(&self, to: RawBytes, from: &WindowRange<'_>) -> Result<Option<RawRequest>> {
        let Some(target) = self.target(("rget", AccessKind::Get), from, to.len())? else {
            return Ok(None);
        };
        let request = self.request_far(&target)?;
        let awaited_by = request.map_or(AwaitedBy::Flush, AwaitedBy::Request);
        let asked = self.get_runs(&target, to, from, awaited_by);
        self.requested(request, asked)
    }

    fn get_runs(
        &self,
        target: &Checked,
        to: RawBytes,
        from: &WindowRange<'_>,
        awaited_by: AwaitedBy,
    ) -> Result<()> {
        match self.near(target.peer) {
            Some(near) => self.each_batch(target, from, |runs, first, _| {
                (near.read_runs(runs, (&to, first))).map_err(|_| self.unreached(from.rank))
            }),
            None => self.each_run(target, from, |at, first, len| {
                self.get_far(target.peer, at, (&to, first, len), awaited_by)
            }),
        }
    }

    /// Checks that `range`, which should have `len` packed bytes, may be accessed now. `None`: nothing is to be done.
    #[inline]
    pub(super) fn target(
        &self,
        (call, kind): (&'static str, AccessKind),
        range: &WindowRange<'_>,
        len: u64,
    ) -> Result<Option<Checked>> {
        let rank = range.rank;
        if rank == PROC_NULL {
            return Ok(None);
        }
        let peer = self.peer(rank)?;
        if !(self.open.allows(rank) && self.comm.access().with(|endpoint| endpoint.is_usable())) {
            self.open(call, rank, peer)?;
        }
        let has = range.shape.len();
        if has != Some(len) {
            return Err(self.counts_differ(len, has.unwrap_or(u64::MAX)));
        }
        let (size, unit) = self.sizes.of(rank);
        let base = (range.displacement.checked_mul(unit)).filter(|&base| base <= i64::MAX as u64);
        let inside = base.zip(range.shape.span()).and_then(|(base, [low, end])| {
            let low = base.checked_add_signed(low)?;
            let end = base.checked_add_signed(end)?;
            (low <= end && end <= size).then_some(base)
        });
        match inside {
            Some(base) => {
                let target = Checked { peer, base, len };
                if self.checks && self.near(peer).is_some() {
                    self.note_own(kind, &target, range)?;
                }
                if self.is_dynamic()
                    && let Some(near) = self.near(peer)
                {
                    self.check_attached(near, &target, range)?;
                }
                Ok(Some(target))
            }
            None => Err(self.out_of_range(range)),
        }
    }

    /// Checks that the epochs allow an access to `rank`, and takes the lock that it needs.
    #[inline(never)]
    pub(super) fn open(&self, call: &'static str, rank: usize, peer: Peer) -> Result<()> {
        let locked = loop {
            let (needs, locked) = self.epochs(call, |epochs| {
                let needs = epochs.access(rank as u32)?;
                Ok((needs, epochs.flush(Some(rank as u32)).is_ok()))
            })?;
            match needs {
                Needs::Nothing => break locked,
                Needs::Lock => {
                    self.lock_for_access(rank, peer)?;
                    break locked;
                }
                Needs::LockSoon => self.wait_for_access(rank)?,
            }
        };
        if !self.checks {
            self.open.open(rank as u32, locked);
        }
        Ok(())
    }

    /// Calls `with` for each contiguous range of the target: its offset there, and its packed bytes.
    #[inline]
    pub(super) fn each_run(
        &self,
        target: &Checked,
        range: &WindowRange<'_>,
        mut with: impl FnMut(u64, u64, u64) -> Result<()>,
    ) -> Result<()> {
        if let Some(at) = range.shape.contiguous_at() {
            return match target.len {
                0 => Ok(()),
                len => with(offset(target.base, at), 0, len),
            };
        }
        let mut first = 0;
        for run in range.shape.runs(target.len) {
            with(offset(target.base, run.offset), first, run.len)?;
            first += run.len;
        }
        Ok(())
    }

    /// As [`Self::each_run`], of several ranges at a time, each an offset and a length, and the packed bytes of all.
    fn each_batch(
        &self,
        target: &Checked,
        range: &WindowRange<'_>,
        mut with: impl FnMut(&[(u64, u64)], u64, u64) -> Result<()>,
    ) -> Result<()> {
        let mut runs = [(0, 0); MOST_RUNS];
        let (mut count, mut first, mut len) = (0, 0, 0);
        self.each_run(target, range, |at, _, run| {
            runs[count] = (at, run);
            (count, len) = (count + 1, len + run);
            if count == MOST_RUNS {
                with(&runs, first, len)?;
                (count, first, len) = (0, first + len, 0);
            }
            Ok(())
        })?;
        match count {
            0 => Ok(()),
            _ => with(&runs[..count], first, len),
        }
    }

    #[cold]
    fn counts_differ(&self, origin: u64, target: u64) -> Error {
        Error::Window {
            rank: self.rank(),
            class: ErrorClass::Count,
            why: format!(
                "{origin} B at the origin, but {target} B at the target; both must be the same"
            ),
        }
    }

    #[cold]
    fn out_of_range(&self, range: &WindowRange<'_>) -> Error {
        let (size, unit) = self.sizes.of(range.rank);
        let end = range.shape.span().map_or(i64::MAX, |[_, end]| end);
        Error::WindowRange {
            rank: self.rank(),
            target: range.rank,
            displacement: range.displacement,
            unit,
            len: u64::try_from(end).unwrap_or(0),
            size,
        }
    }
}
