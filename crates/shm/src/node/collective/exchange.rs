//! Who writes in which step of a collective, which all ranks count alike; and calls in which all write for all.

use super::driver::CollectiveDriver;
use super::pieces::{PayloadPath, Pieces};
use super::run::CollectiveRun;
use crate::segment::arena::SLOTS;

impl<D: CollectiveDriver> CollectiveRun<'_, D> {
    /// In `step` only `writer` writes.
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

    /// In `step` all write.
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

    /// In `step` all but `reader` write.
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

    /// Every rank writes in every step, by `write`, as far ahead as there is room, but less than a
    /// ring of slots before it reads; does something else `meanwhile`; and reads what all have written, by
    /// `read`.
    ///
    /// # Errors
    /// When a rank that is waited for never comes, or as `meanwhile`.
    #[inline(always)]
    pub(super) fn exchange(
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
                self.room(0)?;
                write(self, 0);
                self.publish(0);
                meanwhile(self.driver)?;
                self.read_all(0, read)
            }
            steps => self.exchange_pieces(steps, write, meanwhile, read),
        }
    }

    #[inline(never)]
    fn exchange_pieces(
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
                self.room(written)?;
                self.all_write_in_exchange(written);
                write(self, written);
                self.publish(written);
                written += 1;
            }
            if let Some(meanwhile) = meanwhile.take() {
                meanwhile(self.driver)?;
            }
            self.read_all(step, &mut read)?;
        }
        self.end_exchange();
        Ok(())
    }

    /// From now on all write, in so many steps.
    pub(super) fn begin_exchange(&mut self, steps: u64) {
        if let Some(slots) = &mut self.group.pair_slots {
            slots.begin_exchange(steps);
        }
        if self.path == PayloadPath::PingPong {
            self.group.pair_buffers.begin_exchange(steps);
        }
    }

    /// In `step` of the exchange all write.
    pub(super) fn all_write_in_exchange(&mut self, step: u64) {
        let number = self.number(step);
        if let Some(slots) = &mut self.group.pair_slots {
            slots.both_write_in_exchange(number);
        }
        if self.path == PayloadPath::PingPong {
            self.group.pair_buffers.all_write_in_exchange(number);
        }
    }

    /// In `step` of the exchange with `other` both write.
    pub(super) fn both_write_in_exchange(&mut self, step: u64, other: usize) {
        debug_assert!(self.group.pair_slots.is_none() && self.path == PayloadPath::PingPong);
        let number = self.number(step);
        self.group
            .pair_buffers
            .both_write_in_exchange(number, other);
    }

    /// In `step` of the exchange all but `reader` write through their dialogues with it.
    pub(super) fn others_write_in_exchange(&mut self, step: u64, reader: usize) {
        debug_assert!(self.group.pair_slots.is_none() && self.path == PayloadPath::PingPong);
        let number = self.number(step);
        self.group
            .pair_buffers
            .others_write_in_exchange(number, reader);
    }

    /// The exchange is over.
    pub(super) fn end_exchange(&mut self) {
        if let Some(slots) = &mut self.group.pair_slots {
            slots.end_exchange();
        }
        if self.path == PayloadPath::PingPong {
            self.group.pair_buffers.end_exchange();
        }
    }

    /// Reads in `step` what all have written, by `read`.
    #[inline(always)]
    fn read_all(&mut self, step: u64, read: impl FnOnce(&mut Self, u64)) -> Result<(), D::Error> {
        self.wait_for_all(step)?;
        // Whoever sleeps waits for the last one, which finds all others there.
        self.wake_all();
        read(self, step);
        self.finish(step);
        Ok(())
    }
}
