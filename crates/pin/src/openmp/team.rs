//! The input of placing one team of OpenMP threads ([`Request`]), and the result ([`Team`]).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use oxmpi_topo::CpuSet;

use crate::openmp::variables::{
    GOMP_CPU_AFFINITY, KMP_AFFINITY, KMP_HW_SUBSET, KMP_PLACE_THREADS, OMP_PLACES, OMP_PROC_BIND,
};
use crate::placement::Warning;

/// The variables that place one team, as the user wrote them; `None` for a variable that is not set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// `KMP_AFFINITY`.
    pub kmp_affinity: Option<&'a str>,
    /// `GOMP_CPU_AFFINITY`: a list of processors, as libgomp takes it.
    pub gomp_cpu_affinity: Option<&'a str>,
    /// `OMP_PLACES`.
    pub omp_places: Option<&'a str>,
    /// `OMP_PROC_BIND`.
    pub omp_proc_bind: Option<&'a str>,
    /// `KMP_HW_SUBSET`.
    pub kmp_hw_subset: Option<&'a str>,
    /// `KMP_PLACE_THREADS`, the old name of `KMP_HW_SUBSET`, which has precedence.
    pub kmp_place_threads: Option<&'a str>,
    /// The processors of the process; `None` means all.
    pub mask: Option<&'a CpuSet>,
    /// The number of threads; 0 means the runtime's default.
    pub threads: u32,
}

impl<'a> Request<'a> {
    /// The names of the variables.
    pub const VARIABLES: [&'static str; 6] = [
        KMP_AFFINITY,
        GOMP_CPU_AFFINITY,
        OMP_PLACES,
        OMP_PROC_BIND,
        KMP_HW_SUBSET,
        KMP_PLACE_THREADS,
    ];

    /// The request of an environment: `variable` returns a variable's text. No mask, and the default number
    /// of threads.
    pub fn of(variable: impl Fn(&str) -> Option<&'a str>) -> Self {
        Self {
            kmp_affinity: variable(KMP_AFFINITY),
            gomp_cpu_affinity: variable(GOMP_CPU_AFFINITY),
            omp_places: variable(OMP_PLACES),
            omp_proc_bind: variable(OMP_PROC_BIND),
            kmp_hw_subset: variable(KMP_HW_SUBSET),
            kmp_place_threads: variable(KMP_PLACE_THREADS),
            mask: None,
            threads: 0,
        }
    }
}

/// Where the threads of one team run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Team {
    /// The processors of each thread, in the order of OpenMP's thread numbers; never empty after
    /// [`bind`](crate::openmp::bind).
    pub threads: Vec<CpuSet>,
    /// What a runtime would warn of, in its words.
    pub warnings: Vec<Warning>,
    /// Syntax errors: the setting's name and three lines, the last with a caret and what is expected. In the
    /// order of the warnings about them.
    pub hints: Vec<String>,
    /// The lines that a runtime would print under `verbose`, without the prefix `OMP: Info #N: `; empty
    /// without `verbose`. In Intel's documented wording, the set of processors of the process is on a line of
    /// its own.
    pub report: Vec<String>,
}

impl Team {
    /// The most threads that are placed; a larger team is cut to this number, with a warning.
    pub const LARGEST: u32 = 1 << 16;

    /// A value of `OMP_PLACES` with one place for each thread: with `OMP_PROC_BIND=close`, any runtime then
    /// places a team of this size in the same way, even one that ignores the settings of this placement.
    ///
    /// ```
    /// use oxmpi_pin::openmp::{Dialect, Request, bind};
    /// use oxmpi_pin::topo::Machine;
    ///
    /// let machine = Machine::from_synthetic("package:2 core:2 pu:2")?;
    /// let request = Request { kmp_affinity: Some("scatter"), threads: 3, ..Request::default() };
    /// let team = bind(&machine, &request, Dialect::default());
    /// assert_eq!(team.omp_places(), "{0:2},{4:2},{2:2}");
    /// # Ok::<(), oxmpi_pin::topo::SyntaxError>(())
    /// ```
    pub fn omp_places(&self) -> String {
        let places: Vec<String> = self.threads.iter().map(listed).collect();
        places.join(",")
    }
}

/// One place of `OMP_PLACES`: its processors as intervals.
fn listed(cpus: &CpuSet) -> String {
    let cpus: Vec<usize> = cpus.iter().collect();
    let run = |run: &[usize]| match run {
        [cpu] => cpu.to_string(),
        _ => format!("{}:{}", run[0], run.len()),
    };
    let runs = cpus.chunk_by(|one, next| one + 1 == *next).map(run);
    format!("{{{}}}", runs.collect::<Vec<_>>().join(","))
}
