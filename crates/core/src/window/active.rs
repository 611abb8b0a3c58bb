//! Epochs in which the target takes part: fences, and those of post, start, complete and wait (MPI 5.0, sections 12.5.1
//! and 12.5.2).

use std::sync::atomic::{Ordering, fence};

use oxmpi_os::RawBytes;
use oxmpi_wire::window::WindowMessage;
use oxmpi_wire::{Fault, Peer};

use super::super::endpoint::Endpoint;
use super::super::threading::Threading;
use super::super::window_state::WindowState;
use super::Window;
use crate::error::{Error, Result};

/// The counts of what peers have announced, by link.
type Counts = std::collections::BTreeMap<u32, u32>;

impl<A: Threading> Window<A> {
    /// Ends an epoch of all ranks and, if it `opens` one, begins another (`MPI_Win_fence`). Collective. Accesses before have
    /// ended, here and at their targets.
    ///
    /// # Errors
    /// In another epoch; when a rank is lost.
    ///
    /// # Cost
    /// A barrier, and a message there and back for each target that was accessed by messages.
    pub fn fence(&self, opens: bool) -> Result<()> {
        self.epochs("fence", |epochs| epochs.fence(opens))?;
        fence(Ordering::Release);
        let flushed = self.flush_asked();
        if self.checks {
            // Nobody begins the next epoch before all have forgotten this one's accesses.
            self.comm.barrier()?;
            self.end_checked_epoch(opens)?;
        }
        self.comm.barrier()?;
        flushed
    }

    /// Exposes this rank's memory to some ranks (`MPI_Win_post`).
    ///
    /// # Errors
    /// When it is exposed already; when a rank is lost.
    pub fn post(&self, origins: &[usize]) -> Result<()> {
        let links = self.links(origins)?;
        let ranks = origins.iter().map(|&rank| rank as u32).collect();
        self.epochs("post", |epochs| epochs.post(ranks))?;
        if self.checks {
            self.end_checked_epoch(true)?;
        }
        self.tell(&links, WindowMessage::Post, |state| &mut state.posts)
    }

    /// Begins accesses to some ranks, once they have exposed their memory (`MPI_Win_start`).
    ///
    /// # Errors
    /// In another epoch; when a rank is lost.
    pub fn start(&self, targets: &[usize]) -> Result<()> {
        let links = self.links(targets)?;
        let ranks = targets.iter().map(|&rank| rank as u32).collect();
        self.epochs("start", |epochs| epochs.start(ranks))?;
        self.await_all(&links, |state| &mut state.posts)
    }

    /// Ends the accesses since [`Window::start`] (`MPI_Win_complete`).
    ///
    /// # Errors
    /// When there was no start; when a rank is lost.
    pub fn complete(&self) -> Result<()> {
        let ranks = self.epochs("complete", |epochs| epochs.complete())?;
        let ranks: Vec<usize> = ranks.iter().map(|&rank| rank as usize).collect();
        let links = self.links(&ranks)?;
        fence(Ordering::Release);
        let flushed = self.flush_asked();
        let announced = self.tell(&links, WindowMessage::Complete, |state| {
            &mut state.completes
        });
        flushed.and(announced)
    }

    /// Waits until all ranks to which this one's memory is exposed have ended their accesses (`MPI_Win_wait`).
    ///
    /// # Errors
    /// When it is not exposed; when a rank is lost.
    pub fn wait(&self) -> Result<()> {
        let links = self.exposed("wait")?;
        self.await_all(&links, |state| &mut state.completes)?;
        if self.checks {
            self.end_checked_epoch(false)?;
        }
        self.with_state(|state| state.epochs.end_exposure())
    }

    /// Whether [`Window::wait`] would return at once; then it has (`MPI_Win_test`).
    ///
    /// # Errors
    /// As [`Window::wait`].
    pub fn test(&self) -> Result<bool> {
        let links = self.exposed("test")?;
        let context = self.comm.context();
        let ended = self.comm.access().with(|endpoint| {
            endpoint.progress();
            take_all(endpoint, context, &links, |state| &mut state.completes)
        });
        match ended {
            None => Ok(false),
            Some(Err((peer, fault))) => Err(self.lost(peer, fault)),
            Some(Ok(())) => {
                if self.checks {
                    self.end_checked_epoch(false)?;
                }
                self.with_state(|state| state.epochs.end_exposure())?;
                Ok(true)
            }
        }
    }

    /// Whether this rank's memory is exposed since [`Window::post`]: also if that has failed, as a rank was lost.
    ///
    /// # Errors
    /// When the endpoint is not usable.
    pub fn is_exposed(&self) -> Result<bool> {
        self.with_state(|state| state.epochs.exposed().is_ok())
    }

    fn exposed(&self, call: &'static str) -> Result<Vec<Peer>> {
        let ranks = self.epochs(call, |epochs| epochs.exposed().map(<[u32]>::to_vec))?;
        let ranks: Vec<usize> = ranks.into_iter().map(|rank| rank as usize).collect();
        self.links(&ranks)
    }

    fn links(&self, ranks: &[usize]) -> Result<Vec<Peer>> {
        let mut sorted = ranks.to_vec();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let named = twice[0];
            let size = self.comm.group().size() as usize;
            return Err(Error::GroupRank { named, size });
        }
        ranks.iter().map(|&rank| self.peer(rank)).collect()
    }

    /// Sends `message` to all; this rank tells itself by its `counts`.
    fn tell(
        &self,
        links: &[Peer],
        message: WindowMessage,
        counts: fn(&mut WindowState) -> &mut Counts,
    ) -> Result<()> {
        let mut announced = Ok(());
        for &peer in links {
            let one = match self.comm.access().with(|endpoint| endpoint.is_own(peer)) {
                true => self.with_state(|state| *counts(state).entry(peer.0).or_default() += 1),
                false => self.ask(peer, message, (&RawBytes::empty(), 0, 0)),
            };
            announced = announced.and(one);
        }
        announced
    }

    /// Waits until all have announced what `counts` counts.
    fn await_all(&self, links: &[Peer], counts: fn(&mut WindowState) -> &mut Counts) -> Result<()> {
        let context = self.comm.context();
        let ended =
            (self.comm.access()).until(|endpoint| take_all(endpoint, context, links, counts))?;
        ended.map_err(|(peer, fault)| self.lost(peer, fault))
    }
}

/// Takes one announcement of each peer, if all have come; an error if one that has not is lost.
fn take_all(
    endpoint: &mut Endpoint,
    context: u32,
    links: &[Peer],
    counts: fn(&mut WindowState) -> &mut Counts,
) -> Option<Result<(), (Peer, Fault)>> {
    let counted = |endpoint: &mut Endpoint, peer: &Peer| {
        let counts = endpoint.window(context).map(counts);
        counts.is_some_and(|counts| counts.get(&peer.0).is_some_and(|&count| count > 0))
    };
    if let Some(&missing) = links.iter().find(|peer| !counted(endpoint, peer)) {
        let missing_loss = |&peer: &Peer| Some((peer, endpoint.loss(peer)?));
        return missing_loss(&missing).map(Err);
    }
    let counts = counts(endpoint.window(context)?);
    for peer in links {
        counts.entry(peer.0).and_modify(|count| *count -= 1);
    }
    Some(Ok(()))
}
