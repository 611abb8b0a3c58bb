//! Collectives in stages. Each stage is a collective of some of the ranks; a rank starts a stage when it has
//! completed the one before.
//!
//! All stages have the collective's number. Every rank goes through its stages in one order, so of the
//! messages from one rank to another those of the earlier stage come first, and match first.

use oxmpi_coll::catalog::Call;
use oxmpi_os::RawBytes;

use super::super::collective_scratch::{RunMemory, Scratch};
use super::super::group::Group;
use super::buffers::Buffers;
use super::call_signatures::CallSignatures;
use super::plan_run::PlanRun;
use super::widened::WidenedBuffers;

/// One stage: a collective of some ranks.
#[derive(Debug)]
pub struct Stage {
    /// Its ranks and root are those of `ranks`.
    pub call: Call,
    pub(crate) buffers: Buffers,
    /// The ranks that take part.
    pub ranks: Group,
}

/// The stages of one collective, and the memory between them.
#[derive(Debug, Default)]
pub struct Stages {
    /// The stages in which this rank takes part.
    pub(crate) all: Vec<Stage>,
    /// The memory of intermediate results.
    pub(crate) memory: Vec<Scratch>,
}

impl Stages {
    /// These stages, without memory between them.
    pub fn of(stages: impl IntoIterator<Item = Stage>) -> Self {
        Self {
            all: stages.into_iter().collect(),
            memory: Vec::new(),
        }
    }

    /// Adds a stage.
    pub fn add(&mut self, stage: Stage) {
        self.all.push(stage);
    }

    /// Makes the stages work on wide elements, those of the first stage and of the last one.
    pub fn widen(&mut self, wide: Option<Box<WidenedBuffers>>) {
        if let Some(first) = self.all.first_mut() {
            first.buffers.wide = wide;
        }
    }

    /// Memory of `bytes` bytes that lives as long as the stages; `None`: there is none.
    pub fn make_room(&mut self, bytes: u64) -> Option<RawBytes> {
        let mut room = Scratch::default();
        let place = room.grow(bytes).then(|| room.bytes().part(0, bytes, 0, 1));
        self.memory.push(room);
        place.flatten()
    }
}

/// A stage with its plan.
#[derive(Debug)]
pub(crate) struct PreparedStage {
    pub(crate) run: PlanRun,
    pub(crate) buffers: Buffers,
    /// The ranks that take part; `None`: all.
    pub(crate) ranks: Option<Group>,
}

/// The stages of a collective under way; most collectives have one.
#[derive(Debug)]
pub(crate) struct StageSequence {
    pub(crate) first: PreparedStage,
    pub(crate) more: Vec<PreparedStage>,
    /// Stages that are done.
    pub(crate) done: usize,
    /// The signatures that the first stage exchanges, if it does.
    pub(crate) agreement: Option<CallSignatures>,
    _rooms: Vec<Scratch>,
}

impl StageSequence {
    /// A collective of one stage, before which the ranks may have to compare their calls.
    pub(crate) fn of(
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

    pub(crate) fn new(
        first: PreparedStage,
        more: Vec<PreparedStage>,
        memory: Vec<Scratch>,
    ) -> Self {
        Self {
            first,
            more,
            done: 0,
            agreement: None,
            _rooms: memory,
        }
    }

    /// The current stage.
    pub(crate) fn stage(&mut self) -> &mut PreparedStage {
        match self.done {
            0 => &mut self.first,
            done => &mut self.more[done - 1],
        }
    }

    pub(crate) fn stages_mut(&mut self) -> impl Iterator<Item = &mut PreparedStage> {
        std::iter::once(&mut self.first).chain(&mut self.more)
    }

    pub(crate) fn stages(&self) -> impl Iterator<Item = &PreparedStage> {
        std::iter::once(&self.first).chain(&self.more)
    }

    /// Prepares the buffers of all stages.
    pub(crate) fn begin(&self) {
        self.stages().for_each(|stage| stage.buffers.begin());
    }

    /// Makes all stages start over. No message is under way.
    pub(crate) fn restart(&mut self) {
        if self.done > 0 {
            let memory = self.take_memory_back();
            self.done = 0;
            self.first.run.take_memory(memory);
        }
        self.first.run.restart();
        for stage in &mut self.more {
            stage.run.restart();
        }
    }

    /// Takes the memory back, for the next collective. No message is under way.
    pub(crate) fn take_memory_back(&mut self) -> RunMemory {
        self.stage().run.take_memory_back()
    }
}
