//! Foreign programs on the C ABI: fetches and builds real MPI programs with `oxmpicc`, runs them on oxmpi, and on
//! request on the other libraries of the ABI.

mod fftw;
mod found;
mod harness;
mod header;
mod instructions;
mod lammps;
mod mpi4py;
mod netpipe;
mod report;
mod rsmpi;
mod sanitizers;
mod suite;
mod swap;
mod symbols;
mod tool;
mod wheel;

use crate::steps::StepOutcome;
use crate::{Repo, Result};
use harness::Harness;
use report::Report;
use std::path::PathBuf;

/// Run foreign programs on the C ABI
///
/// What to run; all by default:
///
///     symbols       the names that the library exports, and how programs are linked with it
///     header        mpi.h under gcc and clang in four languages, and its prototypes against pympistandard's
///     found         CMake's FindMPI and meson's dependency('mpi')
///     swap          one program built with MPICH's compiler and with ours, on all libraries
///     tool          a PMPI tool that counts the calls of a program
///     sanitizers    the C tests of crates/abi under AddressSanitizer and valgrind
///     instructions  callgrind's counts of the calls of a short message
///     netpipe       NetPIPE 3.7.2, 1 B to 8 MiB
///     fftw          FFTW 3.3.10: random transforms on 1 to 4 ranks
///     lammps        LAMMPS 20220106: lj, eam and chain on 1, 2 and 4 ranks
///     rsmpi         the examples of the crate `mpi` 0.8.2
///     suite         the tests of MPICH 4.0.2
///     mpi4py        mpi4py 4.1.2 and its tests
///     wheel         the lines of the README that install the wheel without Rust, build mpi4py on it and run its ring
///
/// Their sources come from Debian, crates.io and PyPI. All that is built stays under target/foreign; the output of
/// what fails is kept in target/foreign/logs.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct AbiOptions {
    /// What to run
    #[arg(value_name = "WHAT", value_parser = clap::builder::PossibleValuesParser::new(CHECKS.iter().map(|check| check.0)), hide_possible_values = true)]
    what: Vec<String>,
    /// The libraries to run on, besides oxmpi: mpich, intel
    #[arg(long, value_name = "LIBRARY", value_delimiter = ',')]
    on: Vec<String>,
    /// Run as little as `cargo xtask ci abi` does
    #[arg(long)]
    short: bool,
    /// Use oxmpi as it is installed there, instead of building it
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
}

/// A check: its name, whether it is part of `ci`, and what it does.
type Check = (&'static str, bool, fn(&Harness, &mut Report) -> Result);

const CHECKS: &[Check] = &[
    ("symbols", true, symbols::check),
    ("header", true, header::check),
    ("found", true, found::check),
    ("swap", true, swap::check),
    ("tool", true, tool::check),
    ("sanitizers", true, sanitizers::check),
    ("netpipe", true, netpipe::check),
    ("fftw", true, fftw::check),
    ("suite", true, suite::check),
    ("lammps", false, lammps::check),
    ("rsmpi", false, rsmpi::check),
    ("mpi4py", true, mpi4py::check),
    ("wheel", false, wheel::check),
    ("instructions", false, instructions::check),
];

/// The step of `cargo xtask ci`: what takes minutes.
///
/// # Errors
/// When oxmpi cannot be built.
pub(crate) fn ci(repo: &Repo) -> Result<StepOutcome> {
    let harness = Harness::prepare(repo, None, &[], false)?;
    Ok(report(&harness, |check| check.1).into())
}

/// The step of `cargo xtask long`: everything, on all libraries.
///
/// # Errors
/// When oxmpi cannot be built.
pub(crate) fn long(repo: &Repo) -> Result<StepOutcome> {
    let others = ["mpich".to_owned(), "intel".to_owned()];
    let harness = Harness::prepare(repo, None, &others, true)?;
    Ok(report(&harness, |_| true).into())
}

pub(crate) fn run(repo: &Repo, options: &AbiOptions) -> Result {
    let harness = Harness::prepare(repo, options.prefix.as_deref(), &options.on, !options.short)?;
    let what = &options.what;
    let tally = report(&harness, |check| {
        what.is_empty() || what.iter().any(|name| name == check.0)
    });
    tally.tell();
    println!("{tally}");
    tally.verdict()
}

/// Runs the chosen checks, and prints their table.
fn report(harness: &Harness, chosen: impl Fn(&Check) -> bool) -> crate::tally::Tally {
    let mut report = Report::new(harness);
    for check in CHECKS.iter().filter(|check| chosen(check)) {
        println!("---- {}", check.0);
        if let Err(error) = check.2(harness, &mut report) {
            report.failure(check.0, &error.to_string());
        }
    }
    println!("\n{report}");
    report.tally()
}
