//! Joining the job and leaving it: [`World`].

mod builder;

use std::fmt;

use oxmpi_core::{Job, Result, Single, Threading};

pub use builder::WorldBuilder;

use crate::comm::Comm;
use crate::data::Data;
use crate::memory::Memory;

/// This process's membership in its job, from [`World::init`] until it is dropped.
///
/// Dropping it leaves the job in order: it waits until what was sent has gone out, but not for other ranks. A
/// rank that waits for a message from a rank that has left gets an error. Dropped by a panic, it aborts the
/// job.
///
/// Several threads may use the communicator of a `World<Multi>`, which [`World::builder`] makes.
pub struct World<A: Threading = Single> {
    comm: Comm<A>,
    job: Job,
    host: String,
}

impl World {
    /// Joins the job of this process (`MPI_Init`).
    ///
    /// Without a process manager the process is rank 0 of 1.
    ///
    /// # Errors
    /// [`Error::SecondInit`](crate::Error::SecondInit) when this process has joined before;
    /// [`Error::Setting`](crate::Error::Setting) for a wrong setting; [`Error::Start`](crate::Error::Start) says
    /// which step failed and why.
    pub fn init() -> Result<Self> {
        Self::builder().init()
    }

    /// A builder, to join the job with settings of the program's own, for several threads
    /// (`MPI_Init_thread`), or with warnings that go elsewhere than to stderr.
    ///
    /// ```
    /// use oxmpi::World;
    ///
    /// let mut warnings = Vec::new();
    /// let world = World::builder()
    ///     .setting("wait", "passive")
    ///     .warnings(|warning| warnings.push(warning.to_owned()))
    ///     .shared()
    ///     .init()?;
    /// let comm = world.comm();
    /// std::thread::scope(|threads| {
    ///     threads.spawn(|| println!("rank {}", comm.rank()));
    /// });
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    pub fn builder() -> WorldBuilder<'static> {
        WorldBuilder::new()
    }
}

impl<A: Threading> World<A> {
    /// The communicator of all ranks of the job (`MPI_COMM_WORLD`).
    #[inline]
    #[must_use]
    pub const fn comm(&self) -> &Comm<A> {
        &self.comm
    }

    /// `count` elements of zero bytes, which the other ranks of this host can reach (`MPI_Alloc_mem`): see
    /// [`Memory`].
    ///
    /// # Errors
    /// [`Error::Alloc`](crate::Error::Alloc), with numbers, when too little memory is left, or too little of this rank's share of
    /// shared memory (the setting `shm_heap`).
    ///
    /// # Cost
    /// Some system calls; whole pages, each with a page fault at its first access. Meant for buffers that are
    /// used repeatedly.
    pub fn alloc<T: Data>(&self, count: usize) -> Result<Memory<T>> {
        self.comm.alloc(count)
    }

    /// Starts the helper thread that carries on communication while the program computes, or ends it. The setting
    /// `async_progress` says whether there is one at first.
    ///
    /// # Errors
    /// When the system gives no thread, or not the processor that `async_progress_cpus` names; then the helper runs where
    /// this thread may.
    ///
    /// # Cost
    /// A thread started or joined. Calls that leave something under way cost more while there is a helper.
    pub fn async_progress(&self, on: bool) -> Result<()> {
        self.job.set_async_progress(on)
    }

    /// The name of the host this rank runs on (`MPI_Get_processor_name`).
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Ends the whole job with exit code `code`, this process included (`MPI_Abort`).
    pub fn abort(mut self, code: i32) -> ! {
        self.job.abort(code);
        std::process::exit(code)
    }

    /// Leaves the job in order, as dropping does, and gives the error (`MPI_Finalize`).
    ///
    /// # Errors
    /// When the process manager does not answer.
    pub fn finalize(mut self) -> Result<()> {
        self.job.leave(&self.comm.raw)
    }
}

impl<A: Threading> Drop for World<A> {
    fn drop(&mut self) {
        /// The exit code of a Rust process whose main thread panics.
        const PANICKED: i32 = 101;
        if std::thread::panicking() {
            self.job.abort(PANICKED);
        } else if let Err(error) = self.job.leave(&self.comm.raw) {
            eprintln!("oxmpi: rank {}: {error}", self.job.rank());
        }
    }
}

impl<A: Threading> fmt::Debug for World<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("comm", &self.comm)
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}
