//! Epochs of locks, in which the target does nothing (MPI 5.0, section 12.5.3), and flushes.

use std::sync::atomic::{Ordering, fence};

use oxmpi_shm::window::LockKind;
use oxmpi_wire::Peer;
use oxmpi_wire::window::WindowMessage;

use super::super::threading::Threading;
use super::Window;
use super::near::Near;
use crate::error::Result;

/// Polls for a lock between two looks at all ranks for one that is lost, which takes as long as there are ranks.
const POLLS_BETWEEN_LOOKS: u32 = 16;

impl<A: Threading> Window<A> {
    /// Locks the memory of a target (`MPI_Win_lock`). Locks are granted in the order in which they are asked for, shared
    /// ones side by side.
    ///
    /// # Errors
    /// In another epoch; when the target is lost, or a rank that may have the lock: of another node what ends the accesses
    /// says so.
    ///
    /// # Cost
    /// On this node two atomic instructions where the lock is free. Of another node it is asked for with the first access,
    /// without waiting.
    pub fn lock(&self, rank: usize, kind: LockKind) -> Result<()> {
        let peer = self.peer(rank)?;
        self.epochs("lock", |epochs| epochs.lock(rank as u32, kind))?;
        let locked = self.take_lock(peer, kind);
        if locked.is_err() {
            self.epochs("lock", |epochs| epochs.unlock(rank as u32))?;
        }
        locked
    }

    /// Gives back the lock of a target: all accesses to it have ended, here and there (`MPI_Win_unlock`).
    ///
    /// # Errors
    /// When the target was not locked; when it is lost.
    pub fn unlock(&self, rank: usize) -> Result<()> {
        let peer = self.peer(rank)?;
        let kind = self.epochs("unlock", |epochs| epochs.unlock(rank as u32))?;
        self.release_lock(peer, kind)
    }

    /// Locks the memory of all ranks, shared (`MPI_Win_lock_all`). Each lock is taken at the first access to its target.
    ///
    /// # Errors
    /// In another epoch.
    pub fn lock_all(&self) -> Result<()> {
        self.epochs("lock_all", |epochs| epochs.lock_all())
    }

    /// Ends an epoch of [`Window::lock_all`] (`MPI_Win_unlock_all`).
    ///
    /// # Errors
    /// When there is none; when a target is lost.
    pub fn unlock_all(&self) -> Result<()> {
        let taken = self.epochs("unlock_all", |epochs| epochs.unlock_all())?;
        let mut ended = Ok(());
        for rank in taken {
            if let Some(peer) = self.comm.link(rank as usize) {
                ended = ended.and(self.release_lock(peer, LockKind::Shared));
            }
        }
        ended
    }

    /// Ends all accesses to a target so far, here and there (`MPI_Win_flush`).
    ///
    /// # Errors
    /// When the target is not locked; when it is lost.
    ///
    /// # Cost
    /// On this node a look at a list; else a message there and back, if there were accesses.
    #[inline]
    pub fn flush(&self, rank: usize) -> Result<()> {
        let peer = self.peer(rank)?;
        if !self.open.allows_flush(rank) {
            self.epochs("flush", |epochs| epochs.flush(Some(rank as u32)))?;
        }
        self.settle(peer)
    }

    /// As [`Window::flush`], in an epoch of any kind.
    ///
    /// # Errors
    /// When the target is lost, which then answers nothing any more.
    pub fn finish(&self, rank: usize) -> Result<()> {
        let peer = self.peer(rank)?;
        self.settle(peer)
    }

    #[inline]
    fn settle(&self, peer: Peer) -> Result<()> {
        match self.near(peer) {
            Some(_) => {
                fence(Ordering::Release);
                if self.checks {
                    self.end_own(peer)?;
                }
                Ok(())
            }
            None => self.flush_far(peer),
        }
    }

    /// As [`Window::flush`], of all targets that are locked (`MPI_Win_flush_all`).
    ///
    /// # Errors
    /// As [`Window::flush`].
    pub fn flush_all(&self) -> Result<()> {
        self.epochs("flush_all", |epochs| epochs.flush(None))?;
        fence(Ordering::Release);
        self.flush_asked()
    }

    /// As [`Window::flush`], but only here: buffers of this rank may be used again (`MPI_Win_flush_local`).
    ///
    /// # Errors
    /// As [`Window::flush`].
    pub fn flush_local(&self, rank: usize) -> Result<()> {
        let peer = self.peer(rank)?;
        self.epochs("flush_local", |epochs| epochs.flush(Some(rank as u32)))?;
        match self.with_state(|state| state.answers.misses_bytes_of(peer))? {
            true => self.flush_far(peer),
            false => self.all_done(peer),
        }
    }

    /// As [`Window::flush_local`], of all targets that are locked (`MPI_Win_flush_local_all`).
    ///
    /// # Errors
    /// As [`Window::flush`].
    pub fn flush_local_all(&self) -> Result<()> {
        self.epochs("flush_local_all", |epochs| epochs.flush(None))?;
        match self.with_state(|state| state.answers.misses_bytes())? {
            true => self.flush_asked(),
            false => self.all_done_by_all(),
        }
    }

    /// Orders what this rank has loaded and stored itself against the accesses of others (`MPI_Win_sync`), and makes progress.
    ///
    /// # Errors
    /// When the endpoint is not usable.
    pub fn sync(&self) -> Result<()> {
        fence(Ordering::SeqCst);
        self.comm.access().with(|endpoint| {
            endpoint.check()?;
            endpoint.progress();
            Ok(())
        })
    }

    /// Takes the lock that an access needs in an epoch of all targets.
    #[cold]
    pub(super) fn lock_for_access(&self, rank: usize, peer: Peer) -> Result<()> {
        let taken = self.take_lock(peer, LockKind::Shared);
        self.with_state(|state| state.epochs.took_lock(rank as u32, taken.is_ok()))?;
        taken
    }

    /// Waits until another thread has taken the lock that an access needs: a second ticket could wait for a writer that
    /// waits for the first one.
    #[cold]
    pub(super) fn wait_for_access(&self, rank: usize) -> Result<()> {
        let context = self.comm.context();
        (self.comm.access()).until(|endpoint| {
            let state = endpoint.window(context)?;
            (!state.epochs.takes_lock(rank as u32)).then_some(())
        })
    }

    fn take_lock(&self, peer: Peer, kind: LockKind) -> Result<()> {
        match self.near(peer) {
            Some(near) => self.lock_near(near, kind),
            None => self.with_state(|state| {
                state.locks_to_ask.insert(peer.0, kind);
            }),
        }
    }

    fn lock_near(&self, near: &Near, kind: LockKind) -> Result<()> {
        let locks = near.words().locks();
        let ticket = locks.ticket();
        if locks.is_granted(ticket, kind) {
            return Ok(());
        }
        self.until_on_node(|| {
            if locks.is_granted(ticket, kind) {
                return Some(());
            }
            locks.wait(self.me);
            locks.is_granted(ticket, kind).then_some(())
        })
    }

    fn release_lock(&self, peer: Peer, kind: LockKind) -> Result<()> {
        if self.checks {
            self.end_own(peer)?;
        }
        match self.near(peer) {
            Some(near) => {
                let context = self.comm.context();
                near.words().locks().release(kind, |rank| {
                    (self.comm.access()).with(|endpoint| endpoint.wake_for_window(context, rank));
                });
                Ok(())
            }
            None => {
                // Without an access it was never asked for.
                if self
                    .with_state(|state| state.locks_to_ask.remove(&peer.0))?
                    .is_some()
                {
                    return Ok(());
                }
                // What was asked before is done before.
                let exclusive = kind == LockKind::Exclusive;
                let unlock = |answer| WindowMessage::Unlock { answer, exclusive };
                self.end_asked(peer, unlock).and(self.all_done(peer))
            }
        }
    }

    /// Waits until `ready` gives something, which ranks of the node decide by words in shared memory.
    ///
    /// # Errors
    /// When a rank is lost that may keep it from that.
    pub(super) fn until_on_node<R>(&self, mut ready: impl FnMut() -> Option<R>) -> Result<R> {
        let group = self.comm.group();
        let mut polls = 0u32;
        let ended = self.comm.access().until(|endpoint| {
            if let Some(come) = ready() {
                return Some(Ok(come));
            }
            polls += 1;
            if !polls.is_multiple_of(POLLS_BETWEEN_LOOKS) {
                return None;
            }
            let links = (0..group.size()).filter_map(|rank| group.link(rank as usize));
            let lost = links.map(Peer).find_map(|peer| {
                let fault = endpoint.loss(peer)?;
                fault.is_failure().then_some((peer, fault))
            })?;
            // It may have given it back before it was lost.
            Some(ready().ok_or(lost))
        })?;
        ended.map_err(|(peer, fault)| self.lost(peer, fault))
    }
}
