//! Places the threads of this process on processors as OpenMP runtimes do, for threads of any kind.
//!
//! The variables are those of OpenMP programs: `KMP_AFFINITY`, `OMP_PLACES` and `OMP_PROC_BIND`, `GOMP_CPU_AFFINITY`,
//! `KMP_HW_SUBSET`; the documentation of `oxmpi-pin` says what they mean. The threads may be those of a pool, each of which
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
use std::fmt;
use std::io;

use oxmpi_os::affinity;
use oxmpi_pin::openmp::{Dialect, Request, Team, bind};
use oxmpi_topo::Machine;

/// The processors of each thread of a pool. It displays as a line for each thread.
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
    /// variable is not an error but a [warning](Self::warnings).
    ///
    /// # Cost
    /// Reads /proc and /sys: milliseconds.
    pub fn from_env(count: u32) -> io::Result<Self> {
        let given: Vec<(&str, String)> = Request::VARIABLES
            .into_iter()
            .filter_map(|name| Some((name, env::var(name).ok()?)))
            .collect();
        Self::from_variables(count, |name| {
            let found = given.iter().find(|(given, _)| *given == name);
            found.map(|(_, text)| text.as_str())
        })
    }

    /// As [`from_env`](Self::from_env), with the texts that `variable` gives for the names of the variables in
    /// place of those of the environment.
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn from_variables<'a>(
        count: u32,
        variable: impl Fn(&str) -> Option<&'a str>,
    ) -> io::Result<Self> {
        let machine = Machine::this().map_err(io::Error::other)?;
        let mask = affinity::cpus(&affinity::current()?).collect();
        let request = Request {
            threads: count,
            mask: Some(&mask),
            ..Request::of(variable)
        };
        let team = bind(&machine, &request, Dialect::default());
        Ok(Self { team })
    }

    /// Number of threads.
    #[must_use]
    pub fn count(&self) -> usize {
        self.team.threads.len()
    }

    /// The numbers of the processors of thread `number`, modulo the number of threads, in ascending order.
    pub fn cpus(&self, number: usize) -> impl Iterator<Item = usize> {
        self.team.threads[number % self.count()].iter()
    }

    /// What a runtime would warn of, in its words.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.team.warnings.iter().map(|warning| &*warning.text)
    }

    /// The lines that a runtime would print under `verbose`; none without it.
    pub fn report(&self) -> impl Iterator<Item = &str> {
        self.team.report.iter().map(|line| &**line)
    }

    /// Binds the calling thread to the processors of thread `number`, modulo the team's size.
    ///
    /// # Errors
    /// The system's error, for example when the process may no longer use any of the processors.
    ///
    /// # Cost
    /// One system call, and one allocation.
    pub fn bind_current(&self, number: usize) -> io::Result<()> {
        affinity::set_current(&affinity::mask(self.cpus(number)))
    }

    /// The function that a pool calls in each of its threads, with the thread's number, before any work: for
    /// rayon's `ThreadPoolBuilder::start_handler`. A thread that cannot be bound is not bound.
    pub fn start_handler(self) -> impl Fn(usize) + Send + Sync + 'static {
        move |number| {
            self.bind_current(number).ok();
        }
    }
}

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, cpus) in self.team.threads.iter().enumerate() {
            let separator = if number == 0 { "" } else { "\n" };
            write!(f, "{separator}thread {number} runs on {cpus}")?;
        }
        Ok(())
    }
}
