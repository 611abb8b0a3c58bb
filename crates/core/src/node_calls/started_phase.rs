//! A call of a node group that its rank does not wait for: [`StartedPhase`].

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use oxmpi_coll::catalog::Call;
use oxmpi_coll::plan::Side;
use oxmpi_os::RawBytes;
use oxmpi_shm::node::collective::{AwaitedSteps, CollectiveDriver, NodeGroup};

use super::call::{CallDriver, run_call_resumable};
use crate::failure::WaitFailure;
use crate::operation::OwnedOperation;

/// A call of the ranks of a node, which reads `input` and writes `output`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhaseCall {
    pub(crate) call: Call,
    pub(crate) input: RawBytes,
    pub(crate) output: RawBytes,
}

/// Why a phase ended early.
pub(crate) enum PhaseStop {
    /// A wait failed.
    Wait(WaitFailure),
    /// The memory of this rank of the node can no longer be read.
    Unreadable(u32),
    /// A buffer is shorter than the call says.
    ShortBuffer,
    /// Its collective was given up.
    GivenUp,
}

/// What a phase gives back at its end.
pub(crate) struct PhaseEnd {
    pub(crate) node_group: Box<NodeGroup>,
    pub(crate) operation: Option<OwnedOperation>,
    /// False: node groups do not serve the call.
    pub(crate) served: Result<bool, PhaseStop>,
}

/// A phase of a started collective: it goes on when it is [resumed](StartedPhase::resume), as far as it can.
pub(crate) struct StartedPhase {
    /// `None` after its end, or a panic of its operation.
    running: Option<Pin<Box<dyn Future<Output = PhaseEnd> + Send>>>,
    wait: Arc<Mutex<Wait>>,
}

/// What a phase that is pending waits for, and then how that ended.
#[derive(Default)]
struct Wait {
    awaited: Option<AwaitedSteps>,
    outcome: Option<Result<(), PhaseStop>>,
}

impl StartedPhase {
    /// A phase of this node group; nothing is done before it is resumed.
    ///
    /// # Cost
    /// Allocates its state.
    pub(crate) fn new(
        phase: PhaseCall,
        node_group: Box<NodeGroup>,
        operation: Option<OwnedOperation>,
    ) -> Self {
        let wait = Arc::new(Mutex::new(Wait::default()));
        let mut driver = PhaseDriver {
            wait: Arc::clone(&wait),
            operation,
        };
        let running = async move {
            let PhaseCall {
                call,
                input,
                output,
            } = phase;
            let mut node_group = node_group;
            let served =
                run_call_resumable(&mut node_group, &mut driver, &call, (&input, &output)).await;
            PhaseEnd {
                node_group,
                operation: driver.operation,
                served,
            }
        };
        Self {
            running: Some(Box::pin(running)),
            wait,
        }
    }

    /// The steps that it waits for, which the caller polls. `None` before it is resumed first.
    pub(crate) fn awaited(&self) -> Option<AwaitedSteps> {
        lock(&self.wait).awaited
    }

    /// Begins, or goes on after the [awaited](StartedPhase::awaited) steps, whose wait ended with `outcome`, until it waits
    /// again or ends. After its end it is not resumed.
    pub(crate) fn resume(&mut self, outcome: Option<Result<(), PhaseStop>>) -> Option<PhaseEnd> {
        *lock(&self.wait) = Wait {
            awaited: None,
            outcome,
        };
        // Taken, so that none is left to resume after a panic.
        let mut running = self.running.take()?;
        match (running.as_mut()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(end) => Some(end),
            Poll::Pending => {
                self.running = Some(running);
                None
            }
        }
    }

    /// Gives it up: afterwards no other rank reads or writes memory of this one for it. `None`: its operation panicked.
    pub(crate) fn give_up(mut self) -> Option<PhaseEnd> {
        while self.running.is_some() {
            if let Some(end) = self.resume(Some(Err(PhaseStop::GivenUp))) {
                return Some(end);
            }
        }
        None
    }
}

impl fmt::Debug for StartedPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartedPhase")
            .field("awaited", &self.awaited())
            .finish_non_exhaustive()
    }
}

/// The phase is resumed by one thread at a time, so it never waits for the lock.
fn lock(wait: &Mutex<Wait>) -> MutexGuard<'_, Wait> {
    wait.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the node group's collective needs, where it is pending in each wait.
struct PhaseDriver {
    wait: Arc<Mutex<Wait>>,
    operation: Option<OwnedOperation>,
}

impl PhaseDriver {
    fn combine(&self, from: RawBytes, into: RawBytes, side: Side) {
        if let Some(operation) = &self.operation {
            operation.combine(from, into, side);
        }
    }
}

impl CallDriver for PhaseDriver {
    fn short_buffer(&self) -> PhaseStop {
        PhaseStop::ShortBuffer
    }

    fn has_operation(&self) -> bool {
        self.operation.is_some()
    }
}

impl CollectiveDriver for PhaseDriver {
    type Error = PhaseStop;

    fn polls(&self) -> u32 {
        0
    }

    fn wait(&mut self, awaited: &mut AwaitedSteps) -> Poll<Result<(), PhaseStop>> {
        let mut wait = lock(&self.wait);
        match wait.outcome.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                wait.awaited = Some(*awaited);
                Poll::Pending
            }
        }
    }

    // The rank does something else meanwhile.
    fn yield_to_co_located(&mut self) {}

    fn unreadable(&mut self, rank: u32) -> PhaseStop {
        PhaseStop::Unreadable(rank)
    }

    fn fold(&mut self, from: RawBytes, into: RawBytes) {
        self.combine(from, into, Side::Right);
    }

    fn fold_left(&mut self, from: RawBytes, into: RawBytes) {
        self.combine(from, into, Side::Left);
    }
}
