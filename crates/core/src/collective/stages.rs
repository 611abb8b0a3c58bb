//! Carries out collectives that have several stages.

use oxmpi_coll::catalog::Call;

use super::super::collective_members::Members;
use super::super::collective_scratch::RunMemory;
use super::super::collective_state::{
    Buffers, PlanRun, PreparedStage, Stage, StageSequence, Stages,
};
use super::super::communicator::Communicator;
use super::super::operation::{Operation, OwnedOperation, UsedOperation};
use super::super::request::RawRequest;
use super::super::threading::Threading;
use super::start::PreparedCollective;
use super::started;
use crate::error::Result;

impl PreparedStage {
    /// Carries out all steps of the stage that are ready. Whether all are done.
    ///
    /// # Errors
    /// As [`PlanRun::advance`].
    pub(super) fn advance<A: Threading>(
        &mut self,
        members: Members<'_, A>,
        operation: UsedOperation<'_>,
    ) -> Result<bool> {
        let ranks = self.ranks.as_ref().unwrap_or(members.group);
        self.run.advance(members, ranks, &self.buffers, operation)
    }
}

impl StageSequence {
    /// Gives the first stage memory.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub(super) fn give_memory<A: Threading>(
        &mut self,
        members: Members<'_, A>,
        memory: RunMemory,
    ) -> Result<()> {
        let PreparedStage { run, buffers, .. } = self.stage();
        run.give_memory(members, buffers, memory)
    }

    /// Goes on to the next stage, which takes over the memory. False: there is none.
    ///
    /// # Errors
    /// When there is not enough memory, or the calls of the ranks differ.
    pub(super) fn next<A: Threading>(&mut self, members: Members<'_, A>) -> Result<bool> {
        if self.done == self.more.len() {
            self.stages().for_each(|stage| stage.buffers.end());
            return Ok(false);
        }
        if let Some(agreement) = self.agreement.as_ref().filter(|_| self.done == 0) {
            agreement.compare(members)?;
        }
        let memory = self.take_memory_back();
        self.done += 1;
        self.give_memory(members, memory).map(|()| true)
    }
}

impl<A: Threading> Communicator<A> {
    /// Runs a collective of several stages to its end, as [`Communicator::collective`].
    ///
    /// # Errors
    /// As there.
    pub fn collective_in_stages(
        &self,
        stages: &Stages,
        operation: Option<Operation<'_>>,
    ) -> Result<()> {
        self.run_stages(self.numbers().once(), stages, operation)
    }

    /// Runs a collective of several stages under a number on which the ranks of the stages agree.
    pub(super) fn run_stages(
        &self,
        number: u32,
        stages: &Stages,
        operation: Option<Operation<'_>>,
    ) -> Result<()> {
        let first = stages.all.first().map(|stage| &stage.buffers);
        first.into_iter().for_each(Buffers::begin);
        for Stage {
            call,
            buffers,
            ranks,
        } in &stages.all
        {
            let run = PlanRun::new(self.plan(call, ranks)?, call, number, true);
            self.carry_out(run, ranks, buffers, operation)?;
        }
        first.into_iter().for_each(Buffers::end);
        Ok(())
    }

    /// Starts a collective of several stages, as [`Communicator::start`].
    ///
    /// # Errors
    /// As there.
    pub fn start_stages(
        &self,
        stages: Stages,
        operation: Option<OwnedOperation>,
    ) -> Result<RawRequest> {
        let sequence = self.sequence(stages, self.numbers().once())?;
        let memory = self.access().with(|endpoint| endpoint.lend_memory());
        let open = self.open(sequence, memory, operation)?;
        Ok(RawRequest::of(started::begin(self.access(), open)))
    }

    /// Prepares a collective of several stages, as [`Communicator::prepare`].
    ///
    /// # Errors
    /// As there.
    pub fn prepare_stages(
        &self,
        stages: Stages,
        operation: Option<OwnedOperation>,
    ) -> Result<PreparedCollective<A>> {
        let number = self.persistent_number()?;
        let sequence = self.sequence(stages, number)?;
        let open = self.open(sequence, RunMemory::default(), operation)?;
        Ok(self.keep(open, number))
    }

    /// The stages with their plans. A rank that takes part in none has one without steps.
    fn sequence(&self, stages: Stages, number: u32) -> Result<StageSequence> {
        let prepare = |stage: Stage| {
            let plan = self.plan(&stage.call, &stage.ranks)?;
            Ok(PreparedStage {
                run: PlanRun::new(plan, &stage.call, number, false),
                buffers: stage.buffers,
                ranks: Some(stage.ranks),
            })
        };
        let Stages { all, memory } = stages;
        let mut all = all.into_iter();
        let first = all.next().unwrap_or_else(|| Stage {
            call: Call::barrier(0, 1),
            buffers: Buffers::NONE,
            ranks: self.group().section(None, 0..0, 0),
        });
        let first = prepare(first)?;
        let more = all.map(prepare).collect::<Result<_>>()?;
        Ok(StageSequence::new(first, more, memory))
    }
}
