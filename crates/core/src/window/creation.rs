//! Making and freeing a window: what the ranks tell each other of their memory.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use oxmpi_coll::catalog::Call;
use oxmpi_os::RawBytes;
use oxmpi_shm::window::{WindowPlace, WindowWords};
use oxmpi_wire::Bytes;

use super::super::async_progress;
use super::super::collective_state::{Area, Buffers};
use super::super::communicator::Communicator;
use super::super::threading::Threading;
use super::super::window_state::{Checker, WindowState};
use super::Window;
use super::near::Near;
use super::open_target::OpenTarget;
use super::target::Sizes;
use crate::bytes::{source, target};
use crate::error::Result;

/// Words that a rank tells the others: its place, and its unit.
pub(super) const WORDS: usize = WindowPlace::WORDS + 1;
/// The words of the length and of the unit.
const LEN: usize = 2;
const UNIT: usize = WindowPlace::WORDS;

impl<A: Threading> Window<A> {
    /// Makes a window of this rank's `memory`, which is contiguous, with displacements in units of `unit` bytes
    /// (`MPI_Win_create`). Collective over the communicator.
    ///
    /// The memory belongs to the window until it is freed: see [`RawBytes::new`]. Memory from the [heap](Communicator::heap)
    /// is reached by loads and stores on this node, other memory by system calls or messages.
    ///
    /// # Errors
    /// When a rank is lost meanwhile, or contexts are used up.
    ///
    /// # Cost
    /// An agreement on a context, an allgather of 40 B a rank and a barrier. Keeps 16 B a rank where sizes differ, else nothing
    /// that grows with the ranks of other nodes: see [`WindowFootprint`](super::WindowFootprint).
    pub fn create(comm: &Communicator<A>, memory: RawBytes, unit: u64) -> Result<Self> {
        Self::of_memory(comm.duplicate()?, memory, unit, Reach::AsChosen)
    }

    /// A window of this rank's memory, on a communicator of its own.
    pub(super) fn of_memory(
        comm: Communicator<A>,
        memory: RawBytes,
        unit: u64,
        reach: Reach,
    ) -> Result<Self> {
        let (start, len) = (memory.start(), memory.len());
        let (place, locks) = (comm.access()).with(|endpoint| endpoint.window_place((start, len)));
        let mut mine = [0; WORDS];
        mine[..UNIT].copy_from_slice(&place.words());
        mine[UNIT] = unit;
        let all = gather(&comm, mine)?;
        let sizes = Sizes::new(all.iter().map(|words| (words[LEN], words[UNIT])));

        let [me, on_node] = comm.access().with(|endpoint| endpoint.on_node());
        let mut near: Box<[Option<Near>]> = (0..on_node).map(|_| None).collect();
        let mut members = Vec::new();
        for (rank, words) in all.iter().enumerate() {
            let Some(peer) = comm.link(rank).filter(|peer| peer.0 < on_node) else {
                continue;
            };
            members.push(peer);
            let [place @ .., _] = *words;
            let place = WindowPlace::of_words(place);
            let reached = (comm.access())
                .with(|endpoint| endpoint.reach_window(peer, &place, reach == Reach::Mapped));
            near[peer.0 as usize] =
                reached.map(|(memory, words)| Near::reached(memory, Arc::new(words)));
        }
        let own = &mut near[me as usize];
        let is_served = own.is_none() || members.len() < all.len();
        let words = match own {
            Some(near) => Arc::clone(near.shared_words()),
            None => {
                // Private memory is reached as what it is, but its locks may be where others reach them.
                let shared = comm.access().with(|endpoint| endpoint.own_locks(&place));
                let words = Arc::new(shared.unwrap_or_else(|| WindowWords::own(len)));
                *own = Some(Near::own(memory, Arc::clone(&words)));
                words
            }
        };
        let mut state = WindowState::new(memory, (words, locks), (me, members.into()));
        state.is_served = is_served;
        let checks = comm.access().with(|endpoint| endpoint.checks_windows());
        if checks {
            let ranks = (0..).map_while(|rank| Some((comm.link(rank as usize)?.0, rank)));
            state.server.checker = Some(Checker::new(ranks.collect()));
        }
        let context = comm.context();
        (comm.access()).with(|endpoint| endpoint.windows.insert(context, state));
        if is_served && async_progress::is_on() {
            comm.access().offer();
        }
        // Nobody is asked before it has its window.
        comm.barrier()?;
        Ok(Self {
            comm,
            memory,
            sizes,
            near,
            me,
            open: OpenTarget::default(),
            is_shared: reach == Reach::Mapped,
            checks,
            own: None,
        })
    }

    /// Frees the window, and the memory that it has allocated, once all ranks have called it and nobody accesses its memory any more (`MPI_Win_free`). Collective.
    ///
    /// # Errors
    /// In an epoch; when a rank is lost meanwhile.
    pub fn free(self) -> Result<()> {
        self.check_free()?;
        // What this rank has done wrong does not keep the others.
        let flushed = self.flush_asked();
        self.comm.barrier()?;
        let context = self.comm.context();
        (self.comm.access()).with(|endpoint| endpoint.windows.remove(context));
        drop(self.own.map(ManuallyDrop::into_inner));
        flushed
    }

    /// Checks that the window may be freed now.
    ///
    /// # Errors
    /// In an epoch.
    pub fn check_free(&self) -> Result<()> {
        self.epochs("free", |epochs| epochs.free())
    }
}

/// Which memory of the node ranks reach themselves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// As the setting says.
    AsChosen,
    /// All that is mapped: the program accesses it without calls.
    Mapped,
}

/// The words of all ranks.
pub(super) fn gather<A: Threading, const WORDS: usize>(
    comm: &Communicator<A>,
    mine: [u64; WORDS],
) -> Result<Vec<[u64; WORDS]>> {
    let (rank, size) = (comm.group().rank(), comm.group().size());
    let mut all = vec![[0; WORDS]; size as usize];
    let call = Call::allgather(rank, size, size_of_val(&mine) as u64);
    let output = target(all.as_flattened_mut());
    let buffers = Buffers::new(Area::Whole(source(&mine)), Area::Whole(output));
    comm.collective(&call, &buffers, None)?;
    Ok(all)
}
