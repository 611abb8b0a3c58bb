//! Scatter: the root writes a part for each other rank, which reads its own.

use oxmpi_os::RawBytes;

use super::pieces::{Pieces, vector};
use super::run::{Kind, Run};
use super::team::{Driver, Team};

impl Team {
    /// Gives every rank its block of `input`, which the root has, in rank order. Of the root's own
    /// nothing is moved.
    ///
    /// # Errors
    /// When a rank that this one waits for never comes.
    ///
    /// # Panics
    /// If the root's input is shorter than a block for each.
    pub fn scatter<D: Driver>(
        &mut self,
        driver: &mut D,
        root: usize,
        (input, block): (&RawBytes, u64),
        output: &RawBytes,
    ) -> Result<(), D::Error> {
        if self.scatters_directly(block) {
            return self.scatter_directly(driver, root, (input, block), output);
        }
        let (me, size) = (self.me, self.size());
        let pieces = Pieces::new(block, size - 1, self.cell, 1);
        let mut run = Run::new(self, driver, (Kind::Scatter, root, block), pieces.inline);
        for step in 0..pieces.steps() {
            run.one_writes(step, root);
            let (at, len) = pieces.part(step);
            if me == root {
                run.room(step)?;
                for reader in (0..size).filter(|&reader| reader != root) {
                    let place = pieces.place(vector(root, reader));
                    run.write(step, place, input, (reader as u64 * block + at, len));
                }
                run.publish(step);
                run.wake_all();
            } else {
                run.wait_for(root, step)?;
                let place = pieces.place(vector(root, me));
                run.read((root, step, place), output, (at, len));
            }
            run.finish(step);
        }
        Ok(())
    }
}
