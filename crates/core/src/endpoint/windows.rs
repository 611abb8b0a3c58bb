//! What the calls on windows need of an endpoint.

use oxmpi_os::RawBytes;
use oxmpi_shm::heap::HeapBlock;
use oxmpi_shm::window::{LockKind, MOST_WAITING, WindowMemory, WindowPlace, WindowWords};
use oxmpi_wire::window::WindowMessage;
use oxmpi_wire::{Busy, Fault, Peer};

use super::super::window_state::{Peers, WindowState, frame_room, wake};
use super::Endpoint;

impl Endpoint {
    /// Goes on with what windows have waited for. Returns how much moved.
    #[cold]
    pub(super) fn advance_windows(&mut self) -> u32 {
        let peers = Peers {
            engine: &self.engine,
            ranks: self.link_ranks.as_ref(),
        };
        let moved = self.windows.advance(&mut self.tx, &peers);
        for (request, outcome) in self.windows.take_ended() {
            self.engine.complete_generalized(request, outcome);
        }
        moved
    }

    /// The window of the communicator with this context.
    #[inline]
    pub(crate) fn window(&mut self, context: u32) -> Option<&mut WindowState> {
        self.windows.get(context)
    }

    /// This rank's number on its node, and how many ranks that has.
    pub(crate) const fn on_node(&self) -> [u32; 2] {
        [self.own_link, self.node_links]
    }

    /// The place of this rank's memory in a window, and its locks: in shared memory, if other ranks are on the node and there
    /// is some.
    pub(crate) fn window_place(
        &mut self,
        (start, len): (*mut u8, u64),
    ) -> (WindowPlace, Option<HeapBlock>) {
        // Of more, the locks could not wake all.
        let has_room = (2..=MOST_WAITING).contains(&self.node_links);
        let areas = self.reach.as_ref().filter(|_| has_room);
        let locks = areas.and_then(|areas| {
            let spare = self.windows.take_spare(WindowWords::bytes(len));
            spare.or_else(|| WindowPlace::allocate_locks(areas, len))
        });
        let place = WindowPlace::of(areas, self.own_link, (start, len), locks.as_ref());
        (place, locks)
    }

    /// The memory at this place of the peer, and its locks, if this rank reaches them: unless `always`, as the policy says.
    pub(crate) fn reach_window(
        &mut self,
        peer: Peer,
        place: &WindowPlace,
        always: bool,
    ) -> Option<(WindowMemory, WindowWords)> {
        let is_near = peer.0 < self.node_links
            && (always || self.policy.direct_windows && !self.policy.check_windows);
        let areas = self.reach.as_ref().filter(|_| is_near)?;
        place.reach(areas, peer.0, &mut self.tx.node)
    }

    /// The offset of the `len` bytes at this address in the area of a rank of the node.
    pub(crate) fn area_offset(&self, rank: u32, (start, len): (*const u8, u64)) -> Option<u64> {
        self.reach.as_ref()?.offset(rank, start, len)
    }

    /// The reverse of [`Endpoint::area_offset`].
    pub(crate) fn area_place(&self, rank: u32, (offset, len): (u64, u64)) -> Option<*mut u8> {
        self.reach.as_ref()?.place(rank, offset, len)
    }

    /// The locks of this rank's own memory at this place, where other ranks of the node reach them.
    pub(crate) fn own_locks(&self, place: &WindowPlace) -> Option<WindowWords> {
        place.reach_locks(self.reach.as_ref()?, self.own_link)
    }

    /// Whether targets look for accesses that conflict.
    pub(crate) const fn checks_windows(&self) -> bool {
        self.policy.check_windows
    }

    /// Sends a message of a window, with the `len` bytes of `bytes` from `at` on.
    ///
    /// # Errors
    /// [`Busy`] when the peer has no room now.
    pub(crate) fn send_to_window(
        &mut self,
        to: Peer,
        context: u32,
        message: WindowMessage,
        bytes: (&RawBytes, u64, usize),
    ) -> Result<(), Busy> {
        message.send(&mut self.tx, to, context, bytes)
    }

    /// Asks a peer for the lock that goes with the next message to it, if there is one.
    pub(crate) fn ask_lock(&mut self, to: Peer, context: u32) -> Result<(), Busy> {
        let Self { windows, tx, .. } = self;
        let Some(state) = windows.get(context) else {
            return Ok(());
        };
        if let Some(kind) = state.locks_to_ask.get(&to.0) {
            let exclusive = *kind == LockKind::Exclusive;
            let none = (&RawBytes::empty(), 0, 0);
            WindowMessage::Lock { exclusive }.send(tx, to, context, none)?;
            state.locks_to_ask.remove(&to.0);
        }
        Ok(())
    }

    /// Most bytes that a message of a window carries to a peer.
    pub(crate) fn window_piece(&self, to: Peer) -> usize {
        frame_room(&self.tx, to)
    }

    /// Wakes a rank of the node that waits for a lock of a window.
    pub(crate) fn wake_for_window(&mut self, context: u32, rank: u32) {
        wake(&mut self.tx, context, rank, self.own_link);
    }

    /// Why the peer is lost, if it is.
    pub(crate) fn loss(&self, peer: Peer) -> Option<Fault> {
        self.engine.fault(peer)
    }
}
