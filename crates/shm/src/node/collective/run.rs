//! One collective under way: its steps, and the payload of each: [`CollectiveRun`].

use oxmpi_os::RawBytes;
use oxmpi_resumable::resumable;
use oxmpi_wire::{Bytes, Put, Take};

use super::call_kind::{CallKind, mark};
use super::catalog::BUFFERS_NT;
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
use super::non_temporal::BufferStore;
use super::pieces::PayloadPath;
use crate::ring::MappedWords;
use crate::segment::arena::{CollectiveSlots, SLOTS};
use crate::transport::shared_bytes::SharedBytes;

/// One collective under way. Its steps are counted from 0.
pub(super) struct CollectiveRun<'a, D> {
    pub(super) group: &'a mut NodeGroup,
    pub(super) driver: &'a mut D,
    /// The mark of the call, but for the [writer](CollectiveRun::mark_of) where there are two ranks.
    pub(super) mark: u16,
    /// The number of step 0.
    pub(super) first: u64,
    /// Whether this rank waits for the root only, as all others do.
    pub(super) waits_for_root: bool,
    /// Where payload goes.
    pub(super) path: PayloadPath,
}

#[resumable]
impl<'a, D: CollectiveDriver> CollectiveRun<'a, D> {
    /// Begins a call on vectors of `len` bytes, with `root` where it has one.
    #[inline]
    pub(super) fn new(
        group: &'a mut NodeGroup,
        driver: &'a mut D,
        (kind, root, len): (CallKind, usize, u64),
        path: PayloadPath,
    ) -> Self {
        Self {
            first: group.step + 1,
            group,
            driver,
            mark: mark(kind, root, len),
            waits_for_root: false,
            path,
        }
    }

    /// Notes that in this call of so many steps all others wait for `root`. In a long call the root waits for
    /// them as well, for room: there no rank keeps a processor for a later call.
    #[inline(always)]
    pub(super) fn follow_root(&mut self, root: usize, steps: u64) {
        self.waits_for_root = self.group.me != root && steps <= SLOTS as u64 / 4;
        self.group
            .root_predictor
            .record(self.group.members[root].rank);
    }

    /// Sets where payload goes from now on.
    pub(super) const fn set_path(&mut self, path: PayloadPath) {
        self.path = path;
    }

    /// The mark of what `rank` publishes.
    #[inline(always)]
    pub(super) fn mark_of(&self, rank: usize) -> u16 {
        match &self.group.pair_slots {
            None => self.mark,
            Some(_) => CollectiveSlots::<()>::ping_pong_mark(self.mark, rank),
        }
    }

    /// The number of a step among all steps of the group.
    #[inline(always)]
    pub(super) const fn number(&self, step: u64) -> u64 {
        self.first + step
    }

    /// The payload that `writer` writes in `step` for `reader`, from byte `at` on. One of the two is this
    /// rank.
    #[inline(always)]
    fn payload(
        &self,
        (writer, reader): (usize, usize),
        step: u64,
        at: usize,
        len: usize,
    ) -> SharedBytes<'_> {
        let (first, room) = match self.path {
            PayloadPath::Slots => return self.in_slot(writer, step, at, len),
            PayloadPath::Bounce => {
                let offset = CollectiveSlots::<()>::slot(self.number(step)) * self.group.buffer_len;
                let first = self.group.members[writer].bounce.wrapping_add(offset);
                (first, self.group.buffer_len)
            }
            PayloadPath::PingPong => {
                let pair_buffers = &self.group.pair_buffers;
                let place = pair_buffers.place(self.number(step), (writer, reader));
                let first = self.group.members[place.owner].pair_buffers;
                (first.wrapping_add(place.at), pair_buffers.buffer_len)
            }
        };
        assert!(at + len <= room);
        // SAFETY: within a buffer of a rank, which is mapped as long as the group lives.
        unsafe { SharedBytes::new(first.wrapping_add(at), len) }
    }

    /// The payload of the slot that `writer` writes in `step`, from byte `at` on.
    #[inline(always)]
    pub(super) fn in_slot(
        &self,
        writer: usize,
        step: u64,
        at: usize,
        len: usize,
    ) -> SharedBytes<'_> {
        assert!(at + len <= CollectiveSlots::<()>::PAYLOAD * 8);
        let (slots, slot) = self.slot(writer, step);
        let first = slots
            .words()
            .address(CollectiveSlots::<MappedWords<'_>>::payload(slot));
        // SAFETY: within a slot's payload, which is mapped as long as the group lives.
        unsafe { SharedBytes::new(first.cast::<u8>().wrapping_add(at), len) }
    }

    /// The owner and the index of the slot that `rank` writes in `step`.
    #[inline(always)]
    pub(super) fn locate_slot(&self, rank: usize, step: u64) -> (usize, usize) {
        let number = self.number(step);
        match &self.group.pair_slots {
            None => (rank, CollectiveSlots::<()>::slot(number)),
            Some(slots) => slots.locate(slots.buffer(number, rank)),
        }
    }

    /// The slots of the owner, and the index, of the slot that `rank` writes in `step`.
    #[inline(always)]
    pub(super) fn slot(
        &self,
        rank: usize,
        step: u64,
    ) -> (&CollectiveSlots<MappedWords<'static>>, usize) {
        let (owner, slot) = self.locate_slot(rank, step);
        (&self.group.members[owner].slots, slot)
    }

    /// How this rank stores `len` bytes in `step` for `reader`.
    #[inline(always)]
    fn store(&mut self, step: u64, reader: usize, len: usize) -> BufferStore {
        if len < BUFFERS_NT.from {
            return BufferStore::CACHED;
        }
        // A buffer that stays in the cache of this rank's processor is written through it.
        let pair = (self.group.me, reader);
        let number = self.number(step);
        let stays = self.path == PayloadPath::PingPong
            && (self.group.co_located >> reader & 1 > 0
                || self.group.pair_buffers.place(number, pair).is_own);
        match stays {
            true => BufferStore::CACHED,
            false => self.group.non_temporal.next(len),
        }
    }

    /// Writes a part of `bytes`, an offset and a length, for all others.
    #[inline(always)]
    pub(super) fn write(&mut self, step: u64, bytes: &RawBytes, part: (u64, usize)) {
        // With several readers this is none in particular.
        let reader = usize::from(self.group.me == 0);
        self.write_to((reader, 0), step, bytes, part);
    }

    /// Writes `len` bytes of `bytes`, from byte `from` on, to byte `at` of this rank's payload for `reader`.
    #[inline(always)]
    pub(super) fn write_to(
        &mut self,
        (reader, at): (usize, usize),
        step: u64,
        bytes: &RawBytes,
        (from, len): (u64, usize),
    ) {
        let store = self.store(step, reader, len);
        let mut payload = self.payload((self.group.me, reader), step, at, len);
        if store.non_temporal {
            bytes.drain(from, len, &mut payload.non_temporal());
        } else {
            bytes.drain(from, len, &mut payload);
        }
        self.group.non_temporal.done(store, len);
    }

    /// Reads `len` bytes from byte `at` of the payload of `writer`, to byte `to` of `bytes`.
    #[inline(always)]
    pub(super) fn read(
        &mut self,
        (writer, step, at): (usize, u64, usize),
        bytes: &RawBytes,
        (to, len): (u64, usize),
    ) {
        let mut payload = self.payload((writer, self.group.me), step, at, len);
        bytes.fill(to, &mut payload);
        debug_assert_eq!(payload.left(), 0, "room for what was sent");
    }

    /// Reads as [`CollectiveRun::read`] to an output, past the caches if [it exceeds
    /// them](NodeGroup::exceeds_caches) and has no gaps, which bytes reach by way of a buffer in the cache.
    #[inline(always)]
    pub(super) fn read_out(
        &mut self,
        non_temporal: bool,
        from: (usize, u64, usize),
        output: &RawBytes,
        part: (u64, usize),
    ) {
        match non_temporal && part.1 >= BUFFERS_NT.from && !output.has_gaps() {
            false => self.read(from, output, part),
            true => self.read_non_temporal(from, output, part),
        }
    }

    // Not inlined, so that short calls have the registers.
    #[inline(never)]
    fn read_non_temporal(
        &mut self,
        (writer, step, at): (usize, u64, usize),
        output: &RawBytes,
        (to, len): (u64, usize),
    ) {
        let mut payload = self
            .payload((writer, self.group.me), step, at, len)
            .non_temporal();
        output.fill(to, &mut payload);
        debug_assert_eq!(payload.left(), 0, "room for what was sent");
    }

    /// Publishes the address of `bytes` in `step`.
    pub(super) fn show(&mut self, step: u64, bytes: &RawBytes) {
        #[cfg(test)]
        super::record::note(super::catalog::NodeProtocol::Cma.name());
        let at = bytes.address().expect("what others read has no gaps");
        let mut payload = self.in_slot(self.group.me, step, 0, size_of::<u64>());
        payload.put_exact(at.to_ne_bytes());
        self.publish(step);
    }

    /// The address that `rank` has shown in `step`.
    pub(super) fn shown(&self, rank: usize, step: u64) -> u64 {
        let mut payload = self.in_slot(rank, step, 0, size_of::<u64>());
        u64::from_ne_bytes(payload.take_exact())
    }

    /// Shows `bytes` to all others in `step`, in which this rank does nothing else.
    pub(super) async fn show_to_all(
        &mut self,
        step: u64,
        bytes: &RawBytes,
    ) -> Result<(), D::Error> {
        self.wait_until_free(step).await?;
        self.show(step, bytes);
        self.wake_all();
        self.finish(step);
        Ok(())
    }

    /// Returns `result`; after a failure withdraws what was shown in `step`, which is the caller's again.
    pub(super) fn withdraw_if_failed(
        &mut self,
        step: u64,
        result: Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        if result.is_err() {
            let me = self.group.me;
            let (slots, slot) = self.slot(me, step);
            slots.withdraw(slot, self.number(step), self.mark_of(me));
        }
        result
    }

    /// Whether `rank` has kept until now what it showed in `step`.
    pub(super) fn is_kept(&self, rank: usize, step: u64) -> bool {
        let (slots, slot) = self.slot(rank, step);
        slots.is_kept(slot, self.number(step), self.mark_of(rank))
    }

    /// Publishes what this rank has written in `step`.
    #[inline(always)]
    pub(super) fn publish(&mut self, step: u64) {
        let me = self.group.me;
        let (slots, slot) = self.slot(me, step);
        slots.publish(slot, self.number(step), self.mark_of(me));
    }

    /// Reports in `step` that this rank writes from now on the memory that another one has shown in it.
    pub(super) fn enter(&mut self, step: u64) {
        let me = self.group.me;
        let (slots, slot) = self.slot(me, step);
        slots.enter(slot, self.number(step), self.mark_of(me));
    }

    /// Runs `work` on the root.
    pub(super) fn run_on_root(
        &mut self,
        root: usize,
        work: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        match self.group.me == root {
            true => work(self.driver),
            false => Ok(()),
        }
    }

    /// Wakes `rank`, if it sleeps.
    #[inline(always)]
    pub(super) fn wake(&mut self, rank: usize) {
        self.group.wake(rank);
    }

    /// Wakes all others that sleep.
    #[inline(always)]
    pub(super) fn wake_all(&mut self) {
        for rank in (0..self.group.size()).filter(|&rank| rank != self.group.me) {
            self.group.wake(rank);
        }
    }

    /// Finishes `step`, and all before it.
    #[inline(always)]
    pub(super) fn finish(&mut self, step: u64) {
        let (me, number) = (self.group.me, self.number(step));
        self.group.step = number;
        if self.group.members[me].slots.finish(number) {
            self.wake_all();
        }
    }
}
