//! `cargo xtask VERB`: all maintenance of this repository, one file or folder for each verb.
//!
//! A verb is a [`Verb`] value: its file holds its help beside its code, and `VERBS` below is the only list.
//! Add no dependency lightly: this crate is compiled before anything else runs.
#![forbid(unsafe_code)]

mod asm;
mod bench;
mod build;
mod ci;
mod commands;
mod compare;
mod fuzz;
mod guest;
mod long;
mod loom;
mod mpi1;
mod packages;
mod repo;
mod steps;
mod tally;
mod test;
mod tidy;

use repo::Repo;
use std::process::ExitCode;

/// The result of a verb: nothing, or why it failed.
type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// One verb of `cargo xtask`.
struct Verb {
    name: &'static str,
    usage: &'static str,
    summary: &'static str,
    help: &'static str,
    run: fn(&Repo, &[String]) -> Result,
}

const VERBS: &[Verb] = &[
    bench::VERB,
    test::VERB,
    build::VERB,
    tidy::VERB,
    asm::VERB,
    loom::VERB,
    fuzz::VERB,
    ci::VERB,
    compare::VERB,
    mpi1::VERB,
    guest::VERB,
    long::VERB,
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result {
    let (name, rest) = match arguments.split_first() {
        None => ("help", arguments),
        Some((name, rest)) => (name.as_str(), rest),
    };
    if ["help", "-h", "--help"].contains(&name) {
        return help(rest.first().map(String::as_str));
    }
    let verb = find(name)?;
    if rest
        .first()
        .is_some_and(|first| first == "--help" || first == "-h")
    {
        return help(Some(name));
    }
    (verb.run)(&Repo::open()?, rest)
}

fn find(name: &str) -> Result<&'static Verb> {
    VERBS.iter().find(|verb| verb.name == name).ok_or_else(|| {
        let names: Vec<_> = VERBS.iter().map(|verb| verb.name).collect();
        format!("no verb '{name}'; there are: {}, help", names.join(", ")).into()
    })
}

fn help(name: Option<&str>) -> Result {
    if let Some(name) = name {
        let verb = find(name)?;
        println!(
            "cargo xtask {} {}\n\n{}.\n\n{}",
            verb.name,
            verb.usage,
            verb.summary,
            verb.help.trim()
        );
        return Ok(());
    }
    println!("cargo xtask VERB: maintenance of this repository\n");
    for verb in VERBS {
        println!("  {:<8} {}", verb.name, verb.summary);
    }
    println!("  {:<8} This page, or the longer page of one verb", "help");
    println!(
        "\nNew here: `cargo xtask bench` shows two processes talk, `cargo xtask test` runs every test."
    );
    Ok(())
}

/// Refuses arguments of a verb that takes none, and names the first one.
fn no_more(verb: &str, arguments: &[String]) -> Result {
    match arguments.first() {
        None => Ok(()),
        Some(first) => Err(format!(
            "'{first}' is no argument of '{verb}'; see `cargo xtask help {verb}`"
        )
        .into()),
    }
}
