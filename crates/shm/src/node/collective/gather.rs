//! Gather: all but the root write, and the root reads.

use oxmpi_os::RawBytes;

use super::pieces::Pieces;
use super::run::{Kind, Run};
use super::team::{Driver, Team};

impl Team {
    /// Gives `root` the first `block` bytes of every other rank's `input`, in rank order, in its
    /// `output`. The root's own block there stays as it is.
    ///
    /// # Errors
    /// When a rank that this one waits for never comes.
    ///
    /// # Panics
    /// If the input is shorter than a block.
    pub fn gather<D: Driver>(
        &mut self,
        driver: &mut D,
        root: usize,
        (input, block): (&RawBytes, u64),
        output: &RawBytes,
    ) -> Result<(), D::Error> {
        let (me, size) = (self.me, self.size());
        let pieces = Pieces::new(block, 1, self.cell, 1);
        let mut run = Run::new(self, driver, (Kind::Gather, root, block), pieces.inline);
        for step in 0..pieces.steps() {
            run.other_writes(step, root);
            let (at, len) = pieces.part(step);
            if me == root {
                let mut unread: u64 = (u64::MAX >> (u64::BITS as usize - size)) & !(1 << me);
                // While those who are there are read, the others come.
                for waits in [false, true] {
                    for writer in 0..size {
                        let is_unread = unread >> writer & 1 > 0;
                        if !is_unread || !waits && !run.has(writer, step) {
                            continue;
                        }
                        run.wait_for(writer, step)?;
                        let place = writer as u64 * block + at;
                        run.read((writer, step, 0), output, (place, len));
                        unread &= !(1 << writer);
                    }
                }
                run.wait_for_all(step)?;
            } else {
                run.room(step)?;
                run.write(step, 0, input, (at, len));
                run.publish(step);
                run.wake(root);
            }
            run.finish(step);
        }
        Ok(())
    }
}
