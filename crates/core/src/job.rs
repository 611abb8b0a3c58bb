//! Joining the job of this process and leaving it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use oxmpi_os::fork::ForkGuard;

use crate::boot::{self, ProcessManager};
use crate::communicator::Communicator;
use crate::endpoint::Endpoint;
use crate::error::{Error, Result};
use crate::helper;
use crate::ownership::leave_shared;
use crate::policy::{AsyncProgress, JobPolicy};
use crate::threading::Threading;

/// Whether this process has joined its job. Never reset: a process joins once.
static JOINED: AtomicBool = AtomicBool::new(false);

/// This process's membership in its job.
#[derive(Debug)]
pub struct Job {
    manager: ProcessManager,
    fork: ForkGuard,
    left: bool,
    async_progress: AsyncProgress,
    /// This rank's number on its node.
    node_rank: u32,
}

impl Job {
    /// Joins the job of this process (`MPI_Init`), and gives the communicator of all ranks. Without a process
    /// manager the process is rank 0 of 1.
    ///
    /// `policy` is called once, before anything is looked for. `warn` gets each warning, and the report of the
    /// start, on the ranks that are to print it.
    ///
    /// # Errors
    /// [`Error::SecondInit`] when this process has joined before; that of `policy`; [`Error::Start`] says which
    /// step failed and why.
    pub fn join<A: Threading>(
        policy: impl FnOnce() -> Result<JobPolicy>,
        warn: &mut dyn FnMut(&str),
    ) -> Result<(Self, Communicator<A>)> {
        if JOINED.swap(true, Ordering::Relaxed) {
            return Err(Error::SecondInit);
        }
        let mut policy = policy()?;
        let began = Instant::now();
        let mut manager = ProcessManager::find()?;
        let selection = &policy.endpoint.start.network.selection;
        if manager.rank() == 0 {
            for warning in policy.warnings.iter().chain(&selection.warnings) {
                warn(warning);
            }
        }
        let deselected = (manager.size() > 1)
            .then(|| policy.endpoint.start.open_transports())
            .flatten();
        let ranks = boot::wire_up(&mut manager, &policy.endpoint.start, &policy.agreed)?;
        if let Some(warning) = deselected.filter(|_| ranks.speaks_for_host()) {
            warn(&warning);
        }
        if let Some(warning) = ranks.network_warning() {
            warn(warning);
        }
        if policy.start_report {
            let report = ranks.report(&manager);
            warn(&format!(
                "{report}, {:.1} ms",
                began.elapsed().as_secs_f64() * 1e3
            ));
        }
        let fork = ForkGuard::new().map_err(|why| Error::start("guarding against forks", why))?;
        let endpoint = Endpoint::new(ranks, policy.endpoint, fork)?;
        let group = endpoint.all_ranks(manager.rank());
        let [node_rank, _] = endpoint.on_node();
        let comm = Communicator::new(A::of(endpoint)?, Endpoint::FIRST_CONTEXT, group);
        if policy.connect_at_start {
            comm.connect()?;
        }
        let job = Self {
            manager,
            fork,
            left: false,
            async_progress: policy.async_progress,
            node_rank,
        };
        if job.async_progress.on
            && let Err(why) = job.set_async_progress(true)
        {
            warn(&format!("{why}; the job goes on without it"));
        }
        Ok((job, comm))
    }

    /// This process's rank among all ranks of the job.
    #[must_use]
    pub const fn rank(&self) -> u32 {
        self.manager.rank()
    }

    /// The number of this process's program among those that the job was started with (`MPI_APPNUM`), counted from 0.
    /// `None` without a process manager.
    ///
    /// # Errors
    /// When the process manager does not answer.
    ///
    /// # Cost
    /// A question to the process manager.
    pub fn program_number(&mut self) -> Result<Option<u32>> {
        self.manager.program_number()
    }

    /// Asks the process manager to end the whole job with exit code `code` (`MPI_Abort`); the caller exits. A
    /// forked child asks for nothing.
    pub fn abort(&mut self, code: i32) {
        if !self.fork.forked() {
            self.manager.abort(code);
        }
    }

    /// Starts the helper thread that carries on communication while the program computes, or ends it.
    ///
    /// # Errors
    /// When the system gives no thread. A processor that the helper may not have is an error, too; then it runs where the
    /// calling thread may.
    ///
    /// # Cost
    /// A thread started or joined. The end waits for a function of the program that the helper calls.
    pub fn set_async_progress(&self, on: bool) -> Result<()> {
        if self.left || self.fork.forked() {
            return Ok(());
        }
        match on {
            true => helper::start(&self.async_progress, self.node_rank),
            false => {
                helper::stop();
                Ok(())
            }
        }
    }

    /// Leaves the job in order (`MPI_Finalize`): waits until what was sent has gone out, but not for other
    /// ranks. `comm` is a communicator on the endpoint that [`Job::join`] made. A second call does nothing, nor
    /// does that of a forked child, whose parent is part of the job.
    ///
    /// # Errors
    /// When the process manager does not answer.
    pub fn leave<A: Threading>(&mut self, comm: &Communicator<A>) -> Result<()> {
        if std::mem::replace(&mut self.left, true) || self.fork.forked() {
            return Ok(());
        }
        helper::stop();
        comm.leave();
        leave_shared();
        self.manager.finalize()
    }
}
