//! Joining the job and leaving it: [`World`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use oxmpi_os::fork::ForkGuard;

use crate::boot::{self, ProcessManager};
use crate::comm::Comm;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::job_policy::JobPolicy;
use crate::memory::Memory;
use crate::raw::{self, Communicator, Endpoint, EndpointCell, Single};
use crate::settings::JOB_VARIABLE;

/// Whether this process has called `World::init`. Never reset: a process joins its job once.
static JOINED: AtomicBool = AtomicBool::new(false);

/// This process's membership in its job, from [`World::init`] until it is dropped.
///
/// Dropping it leaves the job in order: it waits until what was sent has gone out, but not for other ranks. A
/// rank that waits for a message from a rank that has left gets an error. Dropped by a panic, it aborts the
/// job.
#[derive(Debug)]
pub struct World {
    comm: Comm,
    manager: ProcessManager,
    host: String,
    left: bool,
}

impl World {
    /// Joins the job of this process (`MPI_Init`).
    ///
    /// Without a process manager the process is rank 0 of 1.
    ///
    /// # Errors
    /// [`Error::SecondInit`] when this process has joined before; [`Error::Setting`] for a wrong
    /// setting; [`Error::Start`] says which step failed and why.
    pub fn init() -> Result<Self> {
        if JOINED.swap(true, Ordering::Relaxed) {
            return Err(Error::SecondInit);
        }
        let (mut policy, warnings) = JobPolicy::of_process()?;
        let began = Instant::now();
        let mut manager = ProcessManager::find()?;
        if manager.rank() == 0 {
            // `oxmpi run` has read the same settings, and has printed the warnings about them. It may run on
            // another host than the ranks, with other devices.
            let printed_by_launcher = std::env::var_os(JOB_VARIABLE).is_some();
            let of_settings = warnings.iter().filter(|_| !printed_by_launcher);
            for warning in of_settings.chain(&policy.endpoint.start.network.selection.warnings) {
                eprintln!("oxmpi: {warning}");
            }
        }
        let failure = (manager.size() > 1)
            .then(|| policy.open_transports())
            .flatten();
        let ranks = boot::wire_up(&mut manager, &policy.endpoint.start, &policy.agreed)?;
        if let Some(warning) = failure.filter(|_| ranks.speaks_for_host()) {
            eprintln!("oxmpi: {warning}");
        }
        if policy.start_report {
            let report = ranks.report(&manager);
            eprintln!(
                "oxmpi: {report}, {:.1} ms",
                began.elapsed().as_secs_f64() * 1e3
            );
        }
        let fork = ForkGuard::new().map_err(|why| Error::start("guarding against forks", why))?;
        let endpoint = Endpoint::new(ranks, policy.endpoint, fork)?;
        let group = endpoint.all_ranks(manager.rank());
        let endpoint = Single::new(EndpointCell::new(endpoint)?);
        let comm = Communicator::new(endpoint, Endpoint::FIRST_CONTEXT, group);
        if policy.connect_at_start {
            comm.connect()?;
        }
        Ok(Self {
            comm: Comm::new(comm),
            manager,
            host: oxmpi_os::host::name(),
            left: false,
        })
    }

    /// The communicator of all ranks of the job (`MPI_COMM_WORLD`).
    #[inline]
    #[must_use]
    pub const fn comm(&self) -> &Comm {
        &self.comm
    }

    /// `count` elements of zero bytes, which the other ranks of this host can reach (`MPI_Alloc_mem`): see
    /// [`Memory`].
    ///
    /// # Errors
    /// [`Error::Alloc`], with numbers, when too little memory is left, or too little of this rank's share of
    /// shared memory (the setting `shm_heap`).
    ///
    /// # Cost
    /// Some system calls; whole pages, each with a page fault at its first access. Meant for buffers that are
    /// used repeatedly.
    pub fn alloc<T: Data>(&self, count: usize) -> Result<Memory<T>> {
        let heap = self.comm.raw.heap()?;
        Memory::zeroed(self.comm.rank(), heap.as_ref(), count)
    }

    /// The name of the host this rank runs on (`MPI_Get_processor_name`).
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Ends the whole job with exit code `code`, this process included (`MPI_Abort`).
    pub fn abort(mut self, code: i32) -> ! {
        self.end_the_job(code);
        std::process::exit(code)
    }

    fn end_the_job(&mut self, code: i32) {
        if !self.comm.raw.forked() {
            self.manager.abort(code);
        }
    }

    /// Leaves the job in order, as dropping does, and gives the error (`MPI_Finalize`).
    ///
    /// # Errors
    /// When the process manager does not answer.
    pub fn finalize(mut self) -> Result<()> {
        self.leave()
    }

    fn leave(&mut self) -> Result<()> {
        // A forked child must not leave the job, which its parent is part of.
        if std::mem::replace(&mut self.left, true) || self.comm.raw.forked() {
            return Ok(());
        }
        self.comm.raw.leave();
        raw::leave_shared();
        self.manager.finalize()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        /// The exit code of a Rust process whose main thread panics.
        const PANICKED: i32 = 101;
        if std::thread::panicking() {
            self.end_the_job(PANICKED);
        } else if let Err(error) = self.leave() {
            eprintln!("oxmpi: rank {}: {error}", self.manager.rank());
        }
    }
}
