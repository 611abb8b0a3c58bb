//! One directed link: its sending side [`SendLink`] and its receiving side [`ReceiveLink`].

use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use oxmpi_wire::{Bytes, Header, Kind};

use super::shared_bytes::SharedBytes;
use super::{ONE_LINE, SHORT};
use crate::ring::{
    Corrupt, MappedWords, PING_PONG_BUFFERS, PingPongBuffers, PingPongSlot, Receiver,
    ReceiverCredits, RingSlot, STRIDE, Sender, SenderCredits, SleepFlag, words_for,
};
use crate::segment::Segment;

/// What a sender that met `Busy` waits for: a slot, a buffer, an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockedOn {
    pub(super) slot: bool,
    pub(super) buffer: bool,
    pub(super) operation: bool,
}

impl BlockedOn {
    pub(super) fn any(self) -> bool {
        self.slot || self.buffer || self.operation
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkState {
    /// Nothing was sent yet, and the receiver does not poll it.
    Closed,
    Open,
    /// The peer is lost.
    Lost,
}

/// The sending side of a link. A short message needs its first two lines only; a shift finds a link.
#[repr(C, align(256))]
pub(super) struct SendLink {
    pub(super) ring: Sender<MappedWords<'static>>,
    pub(super) sleep_flag: SleepFlag<MappedWords<'static>>,
    /// The fast path takes bodies shorter than this, in bytes.
    pub(super) below: u32,
    pub(super) buffers: SenderCredits,
    pub(super) state: LinkState,
    pub(super) blocked_on: BlockedOn,
    pub(super) shared: PingPongBuffers,
    ping_pong: [*mut u8; PING_PONG_BUFFERS],
    area: *mut u8,
    count: u32,
    size: u32,
}

// SAFETY: `area` is shared memory, reached by opaque copies only, and belongs to no thread.
unsafe impl Send for SendLink {}

impl SendLink {
    /// The link from `me` to `to`, closed.
    ///
    /// # Safety
    /// The caller keeps `segment` alive as long as the result.
    pub(super) unsafe fn new(segment: &Segment, me: u32, to: u32) -> Self {
        let layout = segment.layout();
        // SAFETY: alive by the caller's word.
        let words = unsafe { segment.ring(me, to).detach() };
        // SAFETY: as above.
        let sleep_flag = unsafe { segment.sleep_flag(to).detach() };
        let mut ring = Sender::new(words, layout.slots);
        // SAFETY: as above.
        if let Some(slot) = unsafe { ping_pong_slot(segment, me, to) } {
            ring = ring.with_ping_pong(slot);
        }
        ring.slots().freeze();
        Self {
            ring,
            sleep_flag,
            below: 0,
            buffers: SenderCredits::new(layout.buffers, credits(layout.slots)),
            state: LinkState::Closed,
            blocked_on: BlockedOn::default(),
            shared: if me == to {
                PingPongBuffers::none()
            } else {
                PingPongBuffers::new()
            },
            ping_pong: [std::ptr::null_mut(); PING_PONG_BUFFERS],
            area: std::ptr::null_mut(),
            count: layout.buffers,
            size: layout.buffer,
        }
    }

    /// Opens the link for messages. False: the larger buffers cannot be mapped, and the link stays closed.
    pub(super) fn open(&mut self, segment: &Segment, me: u32, to: u32) -> bool {
        let Some(area) = segment.buffers(me, to) else {
            return false;
        };
        self.ping_pong = segment.ping_pong_buffers(me, to);
        self.area = area;
        self.state = LinkState::Open;
        self.ring.slots().unfreeze();
        true
    }

    /// Reads the credits of slots. Whether there is a free slot; false, too, for a link that is not open or
    /// broken.
    #[cold]
    #[inline(never)]
    pub(super) fn poll_credits(&mut self) -> bool {
        self.state == LinkState::Open && self.ring.room() == Ok(true)
    }

    /// The bytes for the body in the slot under construction.
    #[inline(always)]
    pub(super) fn short(&mut self, slot: &RingSlot<MappedWords<'static>>) -> SharedBytes<'_> {
        let at = RingSlot::<MappedWords<'_>>::body(1);
        // SAFETY: a slot's bytes behind its first two words are mapped shared memory, and the ring's
        // words are aligned.
        unsafe { SharedBytes::aligned(slot.words().address(at), SHORT) }
    }

    /// Sends a short message. A slot must be free.
    #[inline(always)]
    pub(super) fn put<C: Bytes>(&mut self, head: &Header, body: &C) {
        debug_assert!(head.len as usize <= SHORT && u64::from(head.len) == body.len());
        let Some(word) = body.word() else {
            // By value: a reference would force the body into memory on the fast path, too.
            return self.put_other(head.compact(), head.envelope.packed(), body.clone());
        };
        self.put_word(head.compact(), head.envelope.packed(), word);
    }

    /// [`SendLink::put`] of a body of one word.
    #[inline(always)]
    pub(super) fn put_word(&mut self, compact: u32, envelope: u64, word: u64) {
        if self.ring.may_ping_pong() {
            let slot = self.ring.ping_pong_slot();
            self.ring.set(&slot, 1, word);
            self.publish(&slot, compact, envelope);
        } else {
            let slot = self.ring.slot();
            self.ring.set(&slot, 1, word);
            self.publish(&slot, compact, envelope);
        }
    }

    /// [`SendLink::put`] for bodies of other lengths than a word.
    #[inline(never)]
    fn put_other<C: Bytes>(&mut self, compact: u32, envelope: u64, body: C) {
        let len = body.len() as usize;
        let slot = if self.ring.may_ping_pong() && len <= ONE_LINE {
            self.ring.ping_pong_slot()
        } else {
            self.ring.slot()
        };
        body.drain(0, len, &mut self.short(&slot));
        self.publish(&slot, compact, envelope);
    }

    /// Publishes the short message in `slot`, whose body is complete.
    #[inline(always)]
    pub(super) fn publish(
        &mut self,
        slot: &RingSlot<MappedWords<'static>>,
        compact: u32,
        envelope: u64,
    ) {
        self.ring.set(slot, 0, envelope);
        self.ring.publish(slot, compact);
    }

    /// The number of the next buffer.
    pub(super) fn first(&self) -> u32 {
        self.buffers.used() & (self.count - 1)
    }

    /// The number of free adjacent buffers from the next one on, at most `most`. Reads the credits only if
    /// fewer are known to be free.
    pub(super) fn side_by_side(&mut self, most: u32) -> Result<u32, Corrupt> {
        let most = most.min(self.count - self.first());
        let mut left = self.buffers.left();
        if left < most {
            left = self.buffers.refresh(self.ring.words())?;
        }
        Ok(left.min(most))
    }

    /// `len` bytes from the next buffer on, which the caller has found free.
    pub(super) fn buffer(&mut self, len: usize) -> SharedBytes<'_> {
        let at = self.first() as usize * self.size as usize;
        assert!(at + len <= self.count as usize * self.size as usize);
        // SAFETY: within the link's buffers by the assertion; they are mapped since the link was opened, and
        // no credit of a buffer comes before that.
        unsafe { SharedBytes::new(self.area.wrapping_add(at), len) }
    }

    /// The buffer of the next frame of `len` bytes: its name and its bytes. A ping-pong buffer goes before
    /// those of this link.
    ///
    /// # Panics
    /// If `len` is longer than a buffer.
    pub(super) fn frame(&mut self, len: usize) -> (u32, SharedBytes<'_>) {
        assert!(len <= self.size as usize);
        match self.shared.next() {
            Some(index) => {
                // SAFETY: a buffer of the pair, which is mapped shared memory.
                let place = unsafe { SharedBytes::new(self.ping_pong[index], len) };
                (self.count + index as u32, place)
            }
            None => (self.first(), self.buffer(len)),
        }
    }

    /// Takes the buffer that [`SendLink::frame`] named for the message that is published next.
    pub(super) fn give(&mut self, buffer: u32) {
        match buffer.checked_sub(self.count) {
            Some(index) => self.shared.give(index as usize),
            None => self.buffers.take(1),
        }
    }

    /// Whether a buffer is free for a frame; reads the credits if necessary.
    pub(super) fn frame_room(&mut self) -> Result<bool, Corrupt> {
        Ok(self.shared.next().is_some() || self.side_by_side(1)? == 1)
    }

    /// Whether a buffer is known to be free for a frame.
    #[inline]
    pub(super) fn frame_ready(&self) -> bool {
        self.shared.next().is_some() || self.buffers.left() != 0
    }

    /// Bytes of one buffer.
    pub(super) fn size(&self) -> u32 {
        self.size
    }

    /// The credits that a sender without room waits for: index of the word, and value last read.
    pub(super) fn short_of(&mut self) -> (u32, u32) {
        if self.ring.ready() {
            self.buffers.last_read()
        } else {
            self.ring.slots().last_read()
        }
    }
}

/// The words of a link that is not open: no message ever comes there.
static NOTHING: [AtomicU64; words_for(1)] = [const { AtomicU64::new(0) }; words_for(1)];

/// The receiving side of a link. A short message needs its first line only.
#[repr(C, align(64))]
pub(super) struct ReceiveLink {
    pub(super) ring: Receiver<MappedWords<'static>>,
    pub(super) peer: u32,
    pub(super) state: LinkState,
    buffers: ReceiverCredits,
    ping_pong: [*mut u8; PING_PONG_BUFFERS],
    area: *mut u8,
    count: u32,
    size: u32,
}

// SAFETY: as for `SendLink`.
unsafe impl Send for ReceiveLink {}

impl ReceiveLink {
    /// A link from `from` that is closed or lost, by `state`.
    pub(super) fn shut(from: u32, state: LinkState) -> Self {
        let base = NonNull::from(&NOTHING).cast();
        // SAFETY: the words of a static, valid, aligned and atomic.
        let words = unsafe { MappedWords::new(base, NOTHING.len()) };
        Self {
            ring: Receiver::new(words, 1),
            peer: from,
            state,
            buffers: ReceiverCredits::new(1, credits(1)),
            ping_pong: [std::ptr::null_mut(); PING_PONG_BUFFERS],
            area: std::ptr::null_mut(),
            count: 1,
            size: 0,
        }
    }

    /// The link from `from` to `me`.
    ///
    /// # Safety
    /// The caller keeps `segment` alive as long as the result.
    pub(super) unsafe fn new(segment: &Segment, from: u32, me: u32) -> Self {
        let layout = segment.layout();
        // SAFETY: alive by the caller's word.
        let words = unsafe { segment.ring(from, me).detach() };
        let mut ring = Receiver::new(words, layout.slots);
        // SAFETY: as above.
        if let Some(slot) = unsafe { ping_pong_slot(segment, from, me) } {
            ring = ring.with_ping_pong(slot);
        }
        Self {
            ring,
            peer: from,
            state: LinkState::Open,
            buffers: ReceiverCredits::new(layout.buffers, credits(layout.slots)),
            ping_pong: segment.ping_pong_buffers(me, from),
            area: segment.buffers(from, me).unwrap_or(std::ptr::null_mut()),
            count: layout.buffers,
            size: layout.buffer,
        }
    }

    /// The body of a message in its slot.
    #[inline(always)]
    pub(super) fn short(
        &self,
        slot: &RingSlot<MappedWords<'static>>,
        len: usize,
    ) -> SharedBytes<'static> {
        debug_assert!(len <= SHORT);
        let at = RingSlot::<MappedWords<'_>>::body(1);
        // SAFETY: as in `SendLink::short`.
        unsafe { SharedBytes::aligned(slot.words().address(at), len) }
    }

    /// `len` bytes from buffer `first` on.
    ///
    /// # Errors
    /// It is not the next buffer, or the bytes do not fit.
    pub(super) fn buffer(&self, first: u64, len: usize) -> Result<SharedBytes<'static>, Corrupt> {
        let next = self.buffers.freed() & (self.count - 1);
        let room = (self.count - next) as usize * self.size as usize;
        if first != u64::from(next) {
            return Err(Corrupt("a buffer out of order"));
        }
        if len == 0 || len > room {
            return Err(Corrupt("a length beyond the buffers"));
        }
        if self.area.is_null() {
            return Err(Corrupt("no addresses are left for the peer's buffers"));
        }
        let at = next as usize * self.size as usize;
        // SAFETY: within the link's buffers by the check, which are mapped shared memory.
        Ok(unsafe { SharedBytes::new(self.area.wrapping_add(at), len) })
    }

    /// `len` bytes of the ping-pong buffer that the peer calls `buffer`, and its index here; `None` if
    /// `buffer` is one of this link. `buffers` knows which are the peer's.
    pub(super) fn ping_pong_buffer(
        &self,
        buffers: &PingPongBuffers,
        buffer: u64,
        len: usize,
    ) -> Result<Option<(usize, SharedBytes<'static>)>, Corrupt> {
        let Some(index) = buffer.checked_sub(self.count.into()) else {
            return Ok(None);
        };
        if index >= PING_PONG_BUFFERS as u64 || len > self.size as usize {
            return Err(Corrupt("an unknown buffer"));
        }
        let index = PingPongBuffers::peer_index(index as usize);
        buffers.check(index)?;
        let place = self.ping_pong[index];
        if place.is_null() {
            return Err(Corrupt("no addresses are left for the pair's buffers"));
        }
        // SAFETY: a buffer of the pair, which is mapped shared memory and has `len` bytes.
        Ok(Some((index, unsafe { SharedBytes::new(place, len) })))
    }

    /// Frees the buffers of `len` bytes. Whether the sender's credits were written.
    pub(super) fn free(&mut self, len: usize) -> bool {
        let n = len.div_ceil(self.size as usize) as u32;
        self.buffers.free(n, self.ring.words())
    }

    /// Bytes of one buffer.
    pub(super) fn size(&self) -> u32 {
        self.size
    }
}

/// The ping-pong slot of a pair of ranks, as the link from `from` to `to` sees it; the lower rank begins. A
/// rank has none with itself.
///
/// # Safety
/// The caller keeps `segment` alive as long as the result.
unsafe fn ping_pong_slot(
    segment: &Segment,
    from: u32,
    to: u32,
) -> Option<PingPongSlot<MappedWords<'static>>> {
    let words = segment.ping_pong_slot(from, to)?;
    // SAFETY: alive by the caller's word.
    Some(PingPongSlot::new(unsafe { words.detach() }, from < to))
}

/// The index of the word with the credits of buffers.
fn credits(slots: u32) -> u32 {
    slots * STRIDE as u32 + 1
}

/// The compact header of a slot that holds a control frame.
pub(super) fn control_head() -> u32 {
    Header {
        kind: Kind::Transport,
        flags: oxmpi_wire::Flags::empty(),
        len: 0,
        envelope: oxmpi_wire::Envelope { context: 0, tag: 0 },
    }
    .compact()
}
