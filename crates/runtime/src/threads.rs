//! Places the threads of this process on processors as OpenMP runtimes do, for threads of any kind.
//!
//! The variables are those of OpenMP programs: `KMP_AFFINITY`, `OMP_PLACES` and `OMP_PROC_BIND`, `GOMP_CPU_AFFINITY`,
//! `KMP_HW_SUBSET`; [`oxmpi_pin::openmp`] says what they mean. The threads may be those of a pool, each of which
//! [binds](Threads::bind_current) itself first, or [`std::thread`]s.
//!
//! ```
//! use oxmpi::threads::Threads;
//!
//! let threads = Threads::from_env(2)?;
//! std::thread::scope(|scope| {
//!     for number in 0..2 {
//!         let threads = &threads;
//!         scope.spawn(move || threads.bind_current(number));
//!     }
//! });
//! # Ok::<(), std::io::Error>(())
//! ```

use std::env;
use std::io;

use oxmpi_os::affinity;
use oxmpi_pin::openmp::{Dialect, bind};
use oxmpi_topo::Machine;

/// The request and its result.
pub use oxmpi_pin::openmp::{Request, Team};

/// The processors of each thread of a pool.
#[derive(Clone, Debug)]
pub struct Threads {
    team: Team,
}

impl Threads {
    /// Places `count` threads on this machine as the environment says, by the documented rules; 0 stands for
    /// the number that an OpenMP runtime would start. Without variables the threads may run where the calling
    /// thread may.
    ///
    /// # Errors
    /// The system's error when it is asked for the machine or the calling thread's processors. A wrong
    /// variable is not an error but a warning of the [team](Self::team).
    ///
    /// # Cost
    /// Reads /proc and /sys: milliseconds.
    pub fn from_env(count: u32) -> io::Result<Self> {
        let given: Vec<(&str, String)> = Request::VARIABLES
            .into_iter()
            .filter_map(|name| Some((name, env::var(name).ok()?)))
            .collect();
        let variable = |name: &str| {
            let found = given.iter().find(|(given, _)| *given == name);
            found.map(|(_, text)| text.as_str())
        };
        Self::place(&Request {
            threads: count,
            ..Request::of(variable)
        })
    }

    /// As [`from_env`](Self::from_env), with the variables in the request. Without a mask in it the calling
    /// thread's processors are the mask.
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn place(request: &Request<'_>) -> io::Result<Self> {
        let machine = Machine::this().map_err(io::Error::other)?;
        let mask = affinity::cpus(&affinity::current()?).collect();
        let request = Request {
            mask: request.mask.or(Some(&mask)),
            ..*request
        };
        let team = bind(&machine, &request, Dialect::default());
        Ok(Self { team })
    }

    /// Where each thread runs, with warnings and, under `verbose`, the report.
    pub fn team(&self) -> &Team {
        &self.team
    }

    /// Binds the calling thread to the processors of thread `number`, modulo the team's size.
    ///
    /// # Errors
    /// The system's error, for example when the process may no longer use any of the processors.
    ///
    /// # Cost
    /// One system call, and one allocation.
    pub fn bind_current(&self, number: usize) -> io::Result<()> {
        let cpus = &self.team.threads[number % self.team.threads.len()];
        affinity::set_current(&affinity::mask(cpus.iter()))
    }

    /// The function that a pool calls in each of its threads, with the thread's number, before any work: for
    /// rayon's `ThreadPoolBuilder::start_handler`. A thread that cannot be bound is not bound.
    pub fn start_handler(self) -> impl Fn(usize) + Send + Sync + 'static {
        move |number| {
            self.bind_current(number).ok();
        }
    }
}
