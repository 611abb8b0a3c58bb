//! Started collectives, as their endpoint keeps them.

use std::collections::VecDeque;
use std::fmt;
use std::thread::{self, ThreadId};

use oxmpi_shm::node::collective::NodeGroup;
use oxmpi_wire::engine::Failure;

use super::super::collective_scratch::RunMemory;
use super::super::group::Group;
use super::super::node_calls::{PhaseCall, PhaseEnd};
use super::super::operation::OwnedOperation;
use super::super::request::OpenRequest;
use super::buffers::Buffers;
use super::plan_run::{NodeGroups, PhaseStage, RunState};
use super::stages::StageSequence;
use crate::error::Error;

/// A collective under way, or a persistent one between two runs.
pub(crate) struct StartedCollective {
    pub(crate) request: Option<OpenRequest>,
    pub(crate) work: StartedWork,
    pub(crate) operation: Option<OwnedOperation>,
    /// Whether the operation is a function of the program.
    pub(crate) by_program: bool,
    pub(crate) group: Group,
    pub(crate) context: u32,
    /// The number of a persistent collective, which is kept when it has completed.
    pub(crate) kept: Option<u32>,
}

/// How a started collective is done.
#[expect(
    clippy::large_enum_variant,
    reason = "the collective is boxed itself, and short ones are calls in the node"
)]
#[derive(Debug)]
pub(crate) enum StartedWork {
    /// By plans.
    Stages(Box<StageSequence>),
    /// By one call of the ranks, which share a node: no plan, and a tenth of its memory.
    InNode(CallInNode),
}

/// A call of ranks that share a node.
#[derive(Debug)]
pub(crate) struct CallInNode {
    pub(crate) call: PhaseCall,
    pub(crate) stage: PhaseStage,
    pub(crate) groups: NodeGroups,
    pub(crate) buffers: Buffers,
}

impl CallInNode {
    pub(crate) const fn new(call: PhaseCall, groups: NodeGroups, buffers: Buffers) -> Self {
        Self {
            call,
            stage: PhaseStage::Queued(call),
            groups,
            buffers,
        }
    }
}

impl StartedWork {
    /// Prepares the buffers.
    pub(crate) fn begin(&self) {
        match self {
            Self::Stages(sequence) => sequence.begin(),
            Self::InNode(call) => call.buffers.begin(),
        }
    }

    /// Makes it start over. Nothing is under way.
    pub(crate) fn restart(&mut self) {
        match self {
            Self::Stages(sequence) => sequence.restart(),
            Self::InNode(call) => call.stage = PhaseStage::Queued(call.call),
        }
    }

    /// Takes its memory, for the next collective. Nothing is under way.
    pub(crate) fn take_memory_back(&mut self) -> Option<RunMemory> {
        match self {
            Self::Stages(sequence) => Some(sequence.take_memory_back()),
            Self::InNode(_) => None,
        }
    }

    /// The node groups of its intra-node phases.
    fn groups(&mut self) -> impl Iterator<Item = &mut NodeGroups> {
        let (stages, call) = match self {
            Self::Stages(sequence) => (Some(sequence.stages_mut()), None),
            Self::InNode(call) => (None, Some(&mut call.groups)),
        };
        let of_stages = stages.into_iter().flatten();
        (of_stages.map(|stage| &mut stage.run.state.groups)).chain(call)
    }

    /// The place in the queue for the communicator's node group, if it has one.
    pub(crate) fn place_in_queue(&mut self) -> Option<u32> {
        self.groups().find_map(|groups| match groups {
            NodeGroups::Queued(number) => Some(*number),
            NodeGroups::Waited | NodeGroups::Own { .. } => None,
        })
    }

    /// Takes the node group that only this collective uses, if it has one: its index and itself.
    pub(crate) fn take_own_group(&mut self) -> Option<(usize, Box<NodeGroup>)> {
        self.groups().find_map(|groups| match groups {
            NodeGroups::Own { index, group } => group.take().map(|group| (*index, group)),
            NodeGroups::Waited | NodeGroups::Queued(_) => None,
        })
    }

    /// Takes the intra-node phase under way, and gives it with the place of its node group.
    fn take_phase(&mut self) -> Option<(PhaseStage, &mut NodeGroups)> {
        match self {
            Self::Stages(sequence) => {
                let RunState { phase, groups, .. } = &mut sequence.stage().run.state;
                phase.take().map(|pending| (pending.stage, groups))
            }
            Self::InNode(call) => {
                let over = PhaseStage::Queued(call.call);
                Some((std::mem::replace(&mut call.stage, over), &mut call.groups))
            }
        }
    }
}

/// Which started collectives a thread advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhichCollectives {
    All,
    /// Those that call no function of the program.
    WithoutProgram,
    /// Those whose operation is a function of the program.
    ByProgram,
}

impl WhichCollectives {
    fn includes(self, open: &StartedCollective) -> bool {
        match self {
            Self::All => true,
            Self::WithoutProgram => !open.by_program,
            Self::ByProgram => open.by_program,
        }
    }
}

/// A collective that is taken out of its endpoint while a thread advances it.
#[derive(Debug)]
struct AdvancingCollective {
    request: OpenRequest,
    context: u32,
    kept: Option<u32>,
    /// The thread that advances it.
    by: ThreadId,
    /// Whether it was cancelled meanwhile.
    taken_back: bool,
}

/// The started and persistent collectives of an endpoint.
#[derive(Debug, Default)]
pub(crate) struct StartedCollectives {
    /// Collectives under way; the front is advanced next.
    pub(crate) open: VecDeque<Box<StartedCollective>>,
    /// Collectives that threads are advancing now.
    out: Vec<AdvancingCollective>,
    /// Persistent collectives between two runs.
    #[expect(
        clippy::vec_box,
        reason = "a run's start and end move no more than a pointer"
    )]
    kept: Vec<Box<StartedCollective>>,
    /// Errors of failed collectives that no caller has asked for yet, by number.
    errors: Vec<(u32, Error)>,
    next_error: u32,
    /// The endpoint is being left: no collective is advanced any more.
    pub(crate) closed: bool,
    /// Polls of an intra-node phase that is pending, beyond the first, before the rank does something else: some where it
    /// waits for a collective.
    pub(crate) patience: u32,
}

impl StartedCollectives {
    /// Whether a collective waits to be advanced.
    #[inline]
    pub(crate) fn are_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether a collective is under way, also one that a thread is advancing now.
    pub(crate) fn are_in_progress(&self) -> bool {
        !self.open.is_empty() || !self.out.is_empty()
    }

    /// Whether this thread is advancing a collective of this context.
    pub(crate) fn are_advanced_here(&self, context: u32) -> bool {
        let me = this_thread();
        let mut out = self.out.iter();
        out.any(|out| (out.context, out.by) == (context, me))
    }

    /// Whether another thread is advancing a collective.
    #[inline]
    pub(crate) fn are_advanced_elsewhere(&self) -> bool {
        !self.out.is_empty() && {
            let me = this_thread();
            self.out.iter().any(|out| out.by != me)
        }
    }

    /// Whether this is the request of a collective that waits to be advanced.
    pub(crate) fn has(&self, request: OpenRequest) -> bool {
        self.open.iter().any(|open| open.request == Some(request))
    }

    /// How many of these collectives wait to be advanced.
    pub(crate) fn count(&self, which: WhichCollectives) -> usize {
        self.open.iter().filter(|open| which.includes(open)).count()
    }

    /// Takes out the one of these collectives to advance next.
    pub(crate) fn next(&mut self, which: WhichCollectives) -> Option<Box<StartedCollective>> {
        let at = self.open.iter().position(|open| which.includes(open))?;
        let open = self.open.remove(at)?;
        self.note_advancing(&open);
        Some(open)
    }

    /// Notes that this thread advances a collective.
    pub(crate) fn note_advancing(&mut self, open: &StartedCollective) {
        self.out
            .extend(open.request.map(|request| AdvancingCollective {
                request,
                context: open.context,
                kept: open.kept,
                by: this_thread(),
                taken_back: false,
            }));
    }

    /// Puts a collective back that was advanced; gives it again if it was cancelled meanwhile.
    pub(crate) fn put_back(
        &mut self,
        open: Box<StartedCollective>,
    ) -> Option<Box<StartedCollective>> {
        let taken_back = open
            .request
            .is_some_and(|request| self.note_advanced(request));
        if taken_back {
            return Some(open);
        }
        self.open.push_back(open);
        None
    }

    /// Notes that a collective is not advanced any more. Whether it was cancelled meanwhile.
    pub(crate) fn note_advanced(&mut self, request: OpenRequest) -> bool {
        let at = self.out.iter().position(|out| out.request == request);
        at.is_some_and(|at| self.out.swap_remove(at).taken_back)
    }

    /// Takes out the collective with this request. One that a thread is advancing now is marked as cancelled.
    pub(crate) fn take(&mut self, request: OpenRequest) -> Option<Box<StartedCollective>> {
        if let Some(out) = self.out.iter_mut().find(|out| out.request == request) {
            out.taken_back = true;
        }
        let mut all = self.open.iter();
        let at = all.position(|open| open.request == Some(request))?;
        self.open.remove(at)
    }

    /// Takes out a persistent collective, if it is between two runs.
    pub(crate) fn take_kept(
        &mut self,
        context: u32,
        number: u32,
    ) -> Option<Box<StartedCollective>> {
        let mut all = self.kept.iter();
        let at = all.position(|open| open.is(context, number))?;
        Some(self.kept.swap_remove(at))
    }

    /// The request of a persistent collective, if it is under way.
    pub(crate) fn request(&self, context: u32, number: u32) -> Option<OpenRequest> {
        let mut out = self.out.iter();
        let out = out.find(|out| (out.context, out.kept) == (context, Some(number)));
        out.map(|out| out.request).or_else(|| {
            let mut all = self.open.iter();
            all.find(|open| open.is(context, number))?.request
        })
    }

    /// Keeps a collective until [`StartedCollectives::take_kept`] takes it, or as long as the endpoint lives.
    pub(crate) fn keep(&mut self, open: Box<StartedCollective>) {
        self.kept.push(open);
    }

    /// Stops advancing: the endpoint is being left. Collectives that threads are advancing are put back or
    /// complete.
    ///
    /// # Panics
    /// If this thread is advancing one: its operation cannot leave the job, as leaving waits for the
    /// collective.
    pub(crate) fn close(&mut self) {
        let me = this_thread();
        assert!(
            self.out.iter().all(|out| out.by != me),
            "an operation of a collective that was started cannot leave the job"
        );
        self.closed = true;
    }

    /// The requests of all collectives that no thread is advancing. They do not go on, as the endpoint is
    /// being left. Their buffers are free when all messages of the endpoint have completed.
    pub(crate) fn end(&mut self) -> impl Iterator<Item = OpenRequest> {
        let first = self.kept.len();
        for mut open in self.open.drain(..) {
            open.give_up_phase();
            self.kept.push(open);
        }
        self.kept[first..]
            .iter_mut()
            .filter_map(|open| open.request.take())
    }

    /// Keeps the error of a failed collective, and gives its number.
    pub(crate) fn note(&mut self, error: Error) -> Failure {
        self.next_error = self.next_error.wrapping_add(1);
        self.errors.push((self.next_error, error));
        Failure::Generalized(self.next_error)
    }

    /// The error with this number, once.
    pub(crate) fn error(&mut self, number: u32) -> Option<Error> {
        let at = self.errors.iter().position(|error| error.0 == number)?;
        Some(self.errors.swap_remove(at).1)
    }
}

impl StartedCollective {
    /// Gives up the intra-node phase under way, if there is one; gives its node group and the place of that.
    pub(crate) fn give_up_phase(&mut self) -> Option<(Box<NodeGroup>, &mut NodeGroups)> {
        let (stage, groups) = self.work.take_phase()?;
        let PhaseStage::Running(running) = stage else {
            return None;
        };
        let PhaseEnd {
            node_group,
            operation,
            ..
        } = running.give_up()?;
        self.operation = operation;
        Some((node_group, groups))
    }

    /// Whether it is the persistent collective of this number.
    pub(crate) fn is(&self, context: u32, number: u32) -> bool {
        (self.context, self.kept) == (context, Some(number))
    }
}

/// The thread that calls, without its name, which `thread::current` counts references to.
fn this_thread() -> ThreadId {
    thread_local! {
        static ID: ThreadId = thread::current().id();
    }
    ID.try_with(|&id| id)
        .unwrap_or_else(|_| thread::current().id())
}

impl fmt::Debug for StartedCollective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartedCollective")
            .field("request", &self.request)
            .field("work", &self.work)
            .finish_non_exhaustive()
    }
}
