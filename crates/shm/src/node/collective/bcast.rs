//! Broadcast: the root writes every piece once, all others read it.

use oxmpi_os::RawBytes;

use super::run::{Kind, Run};
use super::team::{Driver, Team};

impl Team {
    /// Gives every rank the first `len` of the bytes of `root`: its are only read, the others' only
    /// written.
    ///
    /// # Errors
    /// When a rank that this one waits for never comes.
    ///
    /// # Cost
    /// Of up to 56 B: one line written, and read by each. The root waits for nobody until some rank
    /// is a ring of steps behind.
    pub fn bcast<D: Driver>(
        &mut self,
        driver: &mut D,
        root: usize,
        (bytes, len): (&RawBytes, u64),
    ) -> Result<(), D::Error> {
        let me = self.me;
        let pieces = self.pieces_for_all(len, 1);
        let mut run = Run::new(self, driver, (Kind::Bcast, root, len), pieces.through);
        for step in 0..pieces.steps() {
            run.one_writes(step, root);
            if me == root {
                run.room(step)?;
                run.write(step, bytes, pieces.part(step));
                run.publish(step);
                run.wake_all();
            } else {
                run.wait_for(root, step)?;
                run.read((root, step, 0), bytes, pieces.part(step));
            }
            run.finish(step);
        }
        Ok(())
    }
}
