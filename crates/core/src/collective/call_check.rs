//! Compares the calls of all ranks before a collective, where the setting `coll_check` asks for it. Without
//! it ranks whose calls differ may wait for messages that no rank sends.

use oxmpi_coll::catalog::Call;

use super::super::collective_members::Members;
use super::super::collective_state::{CallSignatures, PlanRun, PreparedStage};
use super::super::communicator::Communicator;
use super::super::threading::Threading;
use crate::error::Result;

impl CallSignatures {
    /// Compares the signatures of all ranks, once all have been received.
    ///
    /// # Errors
    /// When two differ: the communicator's collectives have ended then, and every rank names the same two.
    pub(super) fn compare<A: Threading>(&self, members: Members<'_, A>) -> Result<()> {
        let Some((rank, [first, second])) = self.difference() else {
            return Ok(());
        };
        members.end_collectives_here();
        Err(members.refused(&format_args!(
            "the ranks do not agree on the call: rank 0 calls {first}, and rank {rank} calls {second}"
        )))
    }
}

impl<A: Threading> Communicator<A> {
    /// Compares the call with those of the other ranks, where the setting asks for it.
    ///
    /// # Errors
    /// As [`CallSignatures::compare`]; then this rank starts no collective of the communicator any more.
    #[inline]
    pub(super) fn agree(&self, call: &Call) -> Result<()> {
        if self.checks() && call.size > 1 {
            self.agree_now(call)?;
        }
        Ok(())
    }

    #[cold]
    fn agree_now(&self, call: &Call) -> Result<()> {
        let mut agreement = CallSignatures::on(call);
        let (exchange, buffers) = agreement.exchange(call.rank);
        let plan = self.plan(&exchange, self.group())?;
        let run = PlanRun::new(plan, &exchange, self.numbers().once(), true);
        self.carry_out(run, self.group(), &buffers, None)?;
        agreement.compare(self.members())
    }

    /// The stage of a collective with this number in which the ranks exchange the signatures of their calls,
    /// where the setting asks for it.
    pub(super) fn agreement(
        &self,
        call: &Call,
        number: u32,
    ) -> Result<Option<(CallSignatures, PreparedStage)>> {
        if !self.checks() || call.size < 2 {
            return Ok(None);
        }
        let mut agreement = CallSignatures::on(call);
        let (exchange, buffers) = agreement.exchange(call.rank);
        let stage = PreparedStage {
            run: PlanRun::new(
                self.plan(&exchange, self.group())?,
                &exchange,
                number,
                false,
            ),
            buffers,
            ranks: None,
        };
        Ok(Some((agreement, stage)))
    }
}
