//! `cargo xtask gen`: files that are made from data.

mod abi;

use crate::{Repo, Result};

/// Make the files that are made from data, or check that they are current
///
///     abi  crates/abi: mpi.h and the table of functions, from the standard's machine-readable description;
///          crates/launch: the list of functions that `oxmpi info --abi` reads
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct GenOptions {
    /// What to make
    #[arg(value_enum)]
    what: Product,
    /// Write nothing: fail when a file is not what the data say
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Product {
    Abi,
}

pub(crate) fn run(repo: &Repo, options: &GenOptions) -> Result {
    match options.what {
        Product::Abi => abi::make(repo, options.check),
    }
}
