//! Collectives in stages: each stage is a collective of some of the ranks, which start one when they
//! are done with the one before.
//!
//! All stages have the collective's number. That keeps their messages apart, since every rank goes
//! through its stages in one order: of the messages from one rank to another those of the earlier
//! stage come first.

use oxmpi_coll::catalog::Call;
use oxmpi_os::RawBytes;

use super::super::access::Threading;
use super::super::communicator::{Communicator, RawRequest};
use super::super::group::Group;
use super::super::scratch::{RunMemory, Scratch};
use super::buffers::{Buffers, Operation};
use super::call_check::CallSignatures;
use super::members::Members;
use super::plan_run::PlanRun;
use super::start::PreparedCollective;
use super::started::{self, OwnedOperation};
use super::widened::WidenedBuffers;
use crate::error::Result;

/// A collective of some ranks.
#[derive(Debug)]
pub(crate) struct Stage {
    /// Ranks and root are those of `ranks`.
    pub(crate) call: Call,
    pub(crate) buffers: Buffers,
    /// Who takes part.
    pub(crate) ranks: Group,
}

/// The stages of one collective, and the memory between them.
#[derive(Debug, Default)]
pub(crate) struct Stages {
    /// Those in which this rank takes part.
    all: Vec<Stage>,
    /// What one stage brings and another one takes.
    memory: Vec<Scratch>,
}

impl Stages {
    /// These, with nothing between them.
    pub(crate) fn of(stages: impl IntoIterator<Item = Stage>) -> Self {
        Self {
            all: stages.into_iter().collect(),
            memory: Vec::new(),
        }
    }

    /// Adds one.
    pub(crate) fn add(&mut self, stage: Stage) {
        self.all.push(stage);
    }

    /// Does all on wide elements, those of the first stage and of the last one.
    pub(crate) fn widen(&mut self, wide: Option<Box<WidenedBuffers>>) {
        if let Some(first) = self.all.first_mut() {
            first.buffers.wide = wide;
        }
    }

    /// So many bytes that live as long as the stages; `None`: there is no memory.
    pub(crate) fn make_room(&mut self, bytes: u64) -> Option<RawBytes> {
        let mut room = Scratch::default();
        let place = room.grow(bytes).then(|| room.bytes().part(0, bytes, 0, 1));
        self.memory.push(room);
        place.flatten()
    }
}

/// A stage with its plan.
#[derive(Debug)]
pub(super) struct PreparedStage {
    pub(super) run: PlanRun,
    pub(super) buffers: Buffers,
    /// Who takes part; `None`: all.
    pub(super) ranks: Option<Group>,
}

impl PreparedStage {
    /// Goes on as far as it can. Whether it is done.
    ///
    /// # Errors
    /// As [`PlanRun::advance`].
    pub(super) fn advance<A: Threading>(
        &mut self,
        members: Members<'_, A>,
        operation: Option<Operation<'_>>,
    ) -> Result<bool> {
        let ranks = self.ranks.as_ref().unwrap_or(members.group);
        self.run.advance(members, ranks, &self.buffers, operation)
    }
}

/// A collective's stages on their way, of which most collectives have one.
#[derive(Debug)]
pub(super) struct StageSequence {
    first: PreparedStage,
    more: Vec<PreparedStage>,
    /// How many are done.
    done: usize,
    /// What the first stage is for, if it is for that.
    agreement: Option<CallSignatures>,
    _rooms: Vec<Scratch>,
}

impl StageSequence {
    /// Of one stage, before which the ranks may have to agree.
    pub(super) fn of(
        only: PreparedStage,
        agreement: Option<(CallSignatures, PreparedStage)>,
    ) -> Self {
        match agreement {
            None => Self::new(only, Vec::new(), Vec::new()),
            Some((agreement, first)) => Self {
                agreement: Some(agreement),
                ..Self::new(first, vec![only], Vec::new())
            },
        }
    }

    fn new(first: PreparedStage, more: Vec<PreparedStage>, memory: Vec<Scratch>) -> Self {
        Self {
            first,
            more,
            done: 0,
            agreement: None,
            _rooms: memory,
        }
    }

    /// The stage that is under way.
    pub(super) fn stage(&mut self) -> &mut PreparedStage {
        match self.done {
            0 => &mut self.first,
            done => &mut self.more[done - 1],
        }
    }

    /// Gives the first stage memory.
    ///
    /// # Errors
    /// When there is not enough.
    pub(super) fn give_memory<A: Threading>(
        &mut self,
        members: Members<'_, A>,
        memory: RunMemory,
    ) -> Result<()> {
        let PreparedStage { run, buffers, .. } = self.stage();
        run.give_memory(members, buffers, memory)
    }

    fn stages(&self) -> impl Iterator<Item = &PreparedStage> {
        std::iter::once(&self.first).chain(&self.more)
    }

    /// The first stage begins.
    pub(super) fn begin(&self) {
        self.stages().for_each(|stage| stage.buffers.begin());
    }

    /// Goes on to the next stage, which takes over the memory. False: there is none.
    ///
    /// # Errors
    /// When there is not enough memory, or the ranks do not agree.
    pub(super) fn next<A: Threading>(&mut self, members: Members<'_, A>) -> Result<bool> {
        if self.done == self.more.len() {
            self.stages().for_each(|stage| stage.buffers.end());
            return Ok(false);
        }
        if let Some(agreement) = self.agreement.as_ref().filter(|_| self.done == 0) {
            agreement.compare(members)?;
        }
        let memory = self.return_memory_of_run();
        self.done += 1;
        self.give_memory(members, memory).map(|()| true)
    }

    /// Prepares all stages to run once more. Nothing is under way.
    pub(super) fn restart(&mut self) {
        if self.done > 0 {
            let memory = self.return_memory_of_run();
            self.done = 0;
            self.first.run.take_memory(memory);
        }
        self.first.run.restart();
        for stage in &mut self.more {
            stage.run.restart();
        }
    }

    /// The memory, for the next collective. Nothing is under way.
    pub(super) fn return_memory_of_run(&mut self) -> RunMemory {
        self.stage().run.return_memory_of_run()
    }
}

impl<A: Threading> Communicator<A> {
    /// Runs a collective of several stages to its end, as [`Communicator::collective`].
    ///
    /// # Errors
    /// As there.
    pub(crate) fn collective_in_stages(
        &self,
        stages: &Stages,
        operation: Option<Operation<'_>>,
    ) -> Result<()> {
        let number = self.numbers().once();
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
    pub(crate) fn start_stages(
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
    pub(crate) fn prepare_stages(
        &self,
        stages: Stages,
        operation: Option<OwnedOperation>,
    ) -> Result<PreparedCollective<'_, A>> {
        let number = self.persistent_number()?;
        let sequence = self.sequence(stages, number)?;
        self.keep(sequence, number, operation)
    }

    /// The stages with their plans. A rank that takes no part has one without steps.
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
