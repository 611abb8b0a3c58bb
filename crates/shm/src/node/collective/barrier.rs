//! Barrier: all ranks write, and wait for all.

use oxmpi_resumable::resumable;

use super::call_kind::CallKind;
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
use super::pieces::PayloadPath;
use super::run::CollectiveRun;

#[resumable]
impl NodeGroup {
    /// Returns when all ranks have called it. Where each waits for it, the flags of
    /// [`NodeBarriers`](crate::NodeBarriers) take less.
    ///
    /// # Errors
    /// When a rank never comes.
    pub async fn barrier<D: CollectiveDriver>(&mut self, driver: &mut D) -> Result<(), D::Error> {
        let call = (CallKind::Barrier, 0, 0);
        let mut run = CollectiveRun::new(self, driver, call, PayloadPath::Slots);
        run.meet(0).await
    }
}
