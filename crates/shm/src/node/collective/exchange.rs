//! Which ranks write in each step of a collective, as all ranks count them; and exchanges, in which every
//! rank writes for every other.

use oxmpi_os::RawBytes;
use oxmpi_resumable::resumable;

use super::driver::CollectiveDriver;
use super::pieces::{PayloadPath, Pieces, vector_index};
use super::run::CollectiveRun;
use crate::segment::arena::SLOTS;

#[resumable]
impl<D: CollectiveDriver> CollectiveRun<'_, D> {
    /// Enters `step`, in which only `writer` writes.
    #[inline(always)]
    pub(super) fn one_writes(&mut self, step: u64, writer: usize) {
        let number = self.number(step);
        if let Some(slots) = &mut self.group.pair_slots {
            slots.one_writes(number, writer);
        }
        if self.path == PayloadPath::PingPong {
            self.group.pair_buffers.one_writes(number, writer);
        }
    }

    /// Enters `step`, in which all ranks write.
    #[inline(always)]
    pub(super) fn all_write(&mut self, step: u64) {
        let number = self.number(step);
        if let Some(slots) = &mut self.group.pair_slots {
            slots.exchange_once(number);
        }
        if self.path == PayloadPath::PingPong {
            self.group.pair_buffers.exchange_once(number);
        }
    }

    /// Enters `step`, in which all ranks but `reader` write.
    #[inline(always)]
    pub(super) fn others_write(&mut self, step: u64, reader: usize) {
        let number = self.number(step);
        if let Some(slots) = &mut self.group.pair_slots {
            slots.one_writes(number, usize::from(reader == 0));
        }
        if self.path == PayloadPath::PingPong {
            self.group.pair_buffers.others_write(number, reader);
        }
    }

    /// Writes each other rank the part of its block in `step`; `input` has a block of `block` bytes for each rank.
    #[inline(always)]
    pub(super) fn write_blocks(
        &mut self,
        pieces: Pieces,
        step: u64,
        (input, block): (&RawBytes, u64),
    ) {
        let (me, (at, len)) = (self.group.me, pieces.part(step));
        for reader in (0..self.group.size()).filter(|&reader| reader != me) {
            let place = pieces.place(vector_index(me, reader));
            let part = (reader as u64 * block + at, len);
            self.write_to((reader, place), step, input, part);
        }
    }

    /// Runs an exchange: every rank writes in every step, by `write`, as far ahead as there is room but less
    /// than a ring of slots; runs `meanwhile`; and reads what all have written, by `read`.
    ///
    /// # Errors
    /// When a rank that is waited for never arrives, or as `meanwhile`.
    #[inline(always)]
    pub(super) async fn exchange(
        &mut self,
        pieces: Pieces,
        mut write: impl FnMut(&mut Self, u64),
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
        read: impl FnMut(&mut Self, u64),
    ) -> Result<(), D::Error> {
        match pieces.steps() {
            0 => meanwhile(self.driver),
            1 => {
                self.all_write(0);
                self.wait_until_free(0).await?;
                write(self, 0);
                self.publish(0);
                meanwhile(self.driver)?;
                self.read_all(0, read).await
            }
            steps => self.exchange_pieces(steps, write, meanwhile, read).await,
        }
    }

    #[inline(never)]
    async fn exchange_pieces(
        &mut self,
        steps: u64,
        mut write: impl FnMut(&mut Self, u64),
        meanwhile: impl FnOnce(&mut D) -> Result<(), D::Error>,
        mut read: impl FnMut(&mut Self, u64),
    ) -> Result<(), D::Error> {
        let mut meanwhile = Some(meanwhile);
        let ahead = match self.path {
            PayloadPath::PingPong => SLOTS.min(self.group.pair_buffers.count),
            _ => SLOTS,
        } as u64;
        let mut written = 0;
        self.begin_exchange(steps);
        for step in 0..steps {
            let ahead = steps.min(step + ahead);
            while written < ahead && (written == step || self.is_free(written)) {
                self.wait_until_free(written).await?;
                self.all_write_in_exchange(written);
                write(self, written);
                self.publish(written);
                written += 1;
            }
            if let Some(meanwhile) = meanwhile.take() {
                meanwhile(self.driver)?;
            }
            self.read_all(step, &mut read).await?;
        }
        self.end_exchange();
        Ok(())
    }

    /// Begins an exchange of so many steps, in which all ranks write.
    pub(super) fn begin_exchange(&mut self, steps: u64) {
        if let Some(slots) = &mut self.group.pair_slots {
            slots.begin_exchange(steps);
        }
        if self.path == PayloadPath::PingPong {
            self.group.pair_buffers.begin_exchange(steps);
        }
    }

    /// Enters `step` of the exchange, in which all ranks write.
    pub(super) fn all_write_in_exchange(&mut self, step: u64) {
        let number = self.number(step);
        if let Some(slots) = &mut self.group.pair_slots {
            slots.both_write_in_exchange(number);
        }
        if self.path == PayloadPath::PingPong {
            self.group.pair_buffers.all_write_in_exchange(number);
        }
    }

    /// Enters `step` of the exchange with `other`, in which both write.
    pub(super) fn both_write_in_exchange(&mut self, step: u64, other: usize) {
        debug_assert!(self.group.pair_slots.is_none() && self.path == PayloadPath::PingPong);
        let number = self.number(step);
        self.group
            .pair_buffers
            .both_write_in_exchange(number, other);
    }

    /// Enters `step` of the exchange, in which all ranks but `reader` write to it.
    pub(super) fn others_write_in_exchange(&mut self, step: u64, reader: usize) {
        debug_assert!(self.group.pair_slots.is_none() && self.path == PayloadPath::PingPong);
        let number = self.number(step);
        self.group
            .pair_buffers
            .others_write_in_exchange(number, reader);
    }

    /// Ends the exchange.
    pub(super) fn end_exchange(&mut self) {
        if let Some(slots) = &mut self.group.pair_slots {
            slots.end_exchange();
        }
        if self.path == PayloadPath::PingPong {
            self.group.pair_buffers.end_exchange();
        }
    }

    /// Reads what all have written in `step`, by `read`.
    #[inline(always)]
    async fn read_all(
        &mut self,
        step: u64,
        read: impl FnOnce(&mut Self, u64),
    ) -> Result<(), D::Error> {
        self.wait_for_all(step).await?;
        // A sleeping rank waits for the last one, which finds all others there.
        self.wake_all();
        read(self, step);
        self.finish(step);
        Ok(())
    }
}
