//! `cargo xtask VERB`: all maintenance of this repository, one file or folder for each verb.
//!
//! [`Verb`] is the only list of them; the file of a verb holds its options with their help beside its code.
//! Add no dependency lightly: this crate is compiled before anything else runs.
#![forbid(unsafe_code)]
// The doc comments of verbs are the text of their `--help`: indented lines are tables, not code.
#![allow(rustdoc::invalid_rust_codeblocks)]

mod asm;
mod bench;
mod build;
mod ci;
mod commands;
mod compare;
mod foreign;
mod fuzz;
mod generate;
mod guest;
mod imb;
mod install;
mod long;
mod loom;
mod mutants;
mod packages;
mod python;
mod repo;
mod semver;
mod steps;
mod tally;
mod test;
mod tidy;
mod tune_tables;
mod wheel;

use clap::{CommandFactory, Parser, Subcommand};
use repo::Repo;
use std::process::ExitCode;

/// The result of a verb: nothing, or why it failed.
type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Maintenance of this repository.
///
/// New here: `cargo xtask bench` shows two processes talk, `cargo xtask test` runs every test.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct CommandLine {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    Bench(bench::BenchOptions),
    /// Run every test: unit, integration, documentation and README examples, tidy rules
    ///
    /// Runs what `cargo test --workspace` runs, without building the examples that no test starts, and the rules of
    /// `cargo xtask tidy`. It needs Rust and a C linker, and takes about 12 minutes on two cores, compilation included.
    /// The slower proofs (model checking, fuzzing, packages alone) are in `cargo xtask ci`.
    ///
    /// The last line is `N passed, N failed, N skipped`.
    #[command(verbatim_doc_comment)]
    Test,
    /// Build the full runtime in release and list the parts it lacks, with reasons
    ///
    /// Builds every package that belongs to the runtime, and the examples `hello` and `manager_ending`, under
    /// `target/release`, then lists what it built and what it left out. A part that needs a tool this machine lacks is left out and named; the rest is built
    /// all the same.
    #[command(verbatim_doc_comment)]
    Build,
    /// The rules of the design: imports, documentation, licences, names, sizes
    ///
    /// Reads `cargo metadata` and the files under version control, and fails on what the design forbids: an import that
    /// goes up (the table is `xtask/src/tidy/floors.txt`), unsafe code where it is forbidden, a module without
    /// documentation, a crate without its README, licence or lints, an example in a README that is never compiled, two
    /// settings of one name, a file of more than 500 lines that does not argue why, a file of more than 1 MB, modules of
    /// a crate that import each other in a circle, a word that the field has another one for (the list is
    /// `xtask/src/tidy/vocabulary.txt`), a mark of unfinished work, a path of one machine, a fuzz target without a body.
    /// It is part of `cargo xtask test`.
    #[command(verbatim_doc_comment)]
    Tidy,
    Asm(asm::AsmOptions),
    Loom(loom::LoomOptions),
    Fuzz(fuzz::FuzzOptions),
    Gen(generate::GenOptions),
    TuneTables(tune_tables::TuneTablesOptions),
    Ci(ci::CiOptions),
    Compare(compare::CompareOptions),
    Imb(imb::ImbOptions),
    Guest(guest::GuestOptions),
    Long(long::LongOptions),
    Install(install::InstallOptions),
    Wheel(wheel::WheelOptions),
}

fn main() -> ExitCode {
    match run(CommandLine::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(CommandLine { verb }: CommandLine) -> Result {
    let Some(verb) = verb else {
        return Ok(CommandLine::command().print_long_help()?);
    };
    let repo = Repo::open()?;
    match verb {
        Verb::Bench(options) => bench::run(&repo, &options),
        Verb::Test => test::run(&repo),
        Verb::Build => build::run(&repo).map(drop),
        Verb::Tidy => tidy::run(&repo),
        Verb::Asm(options) => asm::run(&repo, &options),
        Verb::Loom(options) => loom::run(&repo, &options),
        Verb::Fuzz(options) => fuzz::run(&repo, options),
        Verb::Gen(options) => generate::run(&repo, &options),
        Verb::TuneTables(options) => tune_tables::run(&repo, &options),
        Verb::Ci(options) => ci::run(&repo, &options),
        Verb::Compare(options) => compare::run(&repo, &options),
        Verb::Imb(options) => imb::run(&repo, &options),
        Verb::Guest(options) => guest::run(&repo, options),
        Verb::Long(options) => long::run(&repo, &options),
        Verb::Install(options) => install::run(&repo, &options),
        Verb::Wheel(options) => wheel::run(&repo, &options),
    }
}

#[cfg(test)]
mod tests {
    //! Reads command lines without running their verbs.

    /// The options of a verb from the words of `line`.
    pub(crate) fn parsed<T: clap::Args>(line: &str) -> Result<T, clap::Error> {
        let command = T::augment_args(clap::Command::new("verb").no_binary_name(true));
        T::from_arg_matches(&command.try_get_matches_from(line.split_whitespace())?)
    }

    #[test]
    fn the_verbs_and_their_options_are_consistent() {
        <super::CommandLine as clap::CommandFactory>::command().debug_assert();
    }
}
