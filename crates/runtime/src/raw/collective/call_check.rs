//! That all ranks call the same: compared before a collective where the setting `coll_check` asks
//! for it. Without it ranks that do not agree may wait for messages that nobody sends.

use std::fmt;

use oxmpi_coll::catalog::{Call, Collective};

use super::super::access::Threading;
use super::super::communicator::Communicator;
use super::buffers::{Area, Buffers};
use super::members::Members;
use super::plan_run::PlanRun;
use super::stages::PreparedStage;
use crate::data::target;
use crate::error::Result;

/// What is the same in all ranks' calls: the collective, the root, the bytes of the vector or block
/// where all ranks know them, and whether the operation commutes.
type Signature = [u64; 4];

/// All ranks' signatures.
#[derive(Debug)]
pub(super) struct CallSignatures(Vec<Signature>);

impl CallSignatures {
    pub(super) fn on(call: &Call) -> Self {
        let length = match call.collective.has_known_length() {
            true => call.bytes(),
            false => 0,
        };
        let collective = call.collective as u64;
        let mut all = vec![[0; 4]; call.size as usize];
        all[call.rank as usize] = [
            collective,
            call.root.into(),
            length,
            call.commutative.into(),
        ];
        Self(all)
    }

    /// The collective by which the ranks tell each other their signatures.
    fn exchange(&mut self, rank: u32) -> (Call, Buffers) {
        let (size, bytes) = (self.0.len() as u32, size_of::<Signature>() as u64);
        let call = Call::allgather(rank, size, bytes).with_in_place(true);
        let output = Area::Whole(target(&mut self.0));
        (call, Buffers::new(Area::empty(), output))
    }

    /// Compares them, when all are there.
    ///
    /// # Errors
    /// When two differ: then the communicator's collectives have ended, and every rank finds the
    /// same two.
    pub(super) fn compare<A: Threading>(&self, members: Members<'_, A>) -> Result<()> {
        let first = &self.0[0];
        let Some(rank) = self.0.iter().position(|other| other != first) else {
            return Ok(());
        };
        members.end_here();
        Err(members.refused(&format_args!(
            "the ranks do not agree on the call: rank 0 calls {}, and rank {rank} calls {}",
            SignatureText(first),
            SignatureText(&self.0[rank])
        )))
    }
}

/// A signature in words.
struct SignatureText<'a>(&'a Signature);

impl fmt::Display for SignatureText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &[collective, root, bytes, commutative] = self.0;
        let named = |one: &Collective| *one as u64 == collective;
        let Some(collective) = Collective::ALL.into_iter().find(named) else {
            return f.write_str("no collective");
        };
        write!(f, "{collective}")?;
        if collective.has_root() {
            write!(f, " with root {root}")?;
        }
        if collective.has_known_length() && collective != Collective::Barrier {
            write!(f, " of {bytes} B")?;
        }
        match commutative {
            0 => f.write_str(" by an operation that does not commute"),
            _ => Ok(()),
        }
    }
}

impl<A: Threading> Communicator<A> {
    /// Compares the call with those of the other ranks, where the user wants that.
    ///
    /// # Errors
    /// As [`CallSignatures::compare`]; then no collective is begun any more.
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

    /// The stage of a collective with this number in which the ranks tell each other what they call,
    /// where the user wants that.
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
