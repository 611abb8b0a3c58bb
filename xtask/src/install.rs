//! `cargo xtask install`: the command, the C library, its header and the compiler wrappers under one prefix.

use crate::{Repo, Result};
use std::path::{Path, PathBuf};
use xshell::cmd;

/// The library's name as cargo builds it, which is also the one that linkers look for.
pub(crate) const LIBRARY: &str = "libmpi_abi.so";

/// Install the command, and for C and C++ the library, header and compiler wrappers
///
/// Builds them in release, the library with link-time optimisation over all crates, and writes
///
///     PREFIX/bin      oxmpi, oxmpicc, oxmpicxx
///     PREFIX/include  mpi.h
///     PREFIX/lib      libmpi_abi.so.1, libmpi_abi.so
///     PREFIX/lib/pkgconfig  oxmpi.pc, and the same as mpi-c.pc and mpi-cxx.pc
///
/// The wrappers and the pkg-config files find the rest beside them, so PREFIX may be moved; programs that were built before keep
/// the old place in their RUNPATH.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct InstallOptions {
    /// The folder to install to; it is made where it is missing
    #[arg(long, value_name = "DIR")]
    prefix: PathBuf,
}

pub(crate) fn run(repo: &Repo, options: &InstallOptions) -> Result {
    let prefix = std::path::absolute(&options.prefix)?;
    lay(repo, &prefix)?;
    println!("installed; try: {}/bin/oxmpicc -show", prefix.display());
    Ok(())
}

/// Builds what is installed, and writes it to `prefix`.
///
/// # Errors
/// When something cannot be built or written.
pub(crate) fn lay(repo: &Repo, prefix: &Path) -> Result {
    let sh = &repo.shell;
    let oxmpi = repo.oxmpi()?;
    cmd!(sh, "cargo build --profile abi --package oxmpi-abi").run()?;
    let library = repo.root.join("target/abi").join(LIBRARY);
    write(repo, prefix, &oxmpi, &library)
}

/// Writes the command and the library, which are built, and what belongs to them to `prefix`.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write(repo: &Repo, prefix: &Path, oxmpi: &Path, library: &Path) -> Result {
    let sh = &repo.shell;
    let abi = repo.package("oxmpi-abi")?;
    let wrapper = abi.folder().join("wrappers/oxmpicc");
    for (from, to) in [
        (oxmpi, "bin/oxmpi"),
        (&wrapper, "bin/oxmpicc"),
        // One file under two names: it takes its language from its name.
        (&wrapper, "bin/oxmpicxx"),
        (library, "lib/libmpi_abi.so.1"),
        (&abi.folder().join("include/mpi.h"), "include/mpi.h"),
    ] {
        let to = prefix.join(to);
        sh.create_dir(to.parent().ok_or("a file lies in a folder")?)?;
        // A library that is in use may be replaced, but not written to.
        sh.remove_path(&to)?;
        sh.copy_file(from, &to)?;
    }
    let link = prefix.join("lib").join(LIBRARY);
    sh.remove_path(&link)?;
    std::os::unix::fs::symlink("libmpi_abi.so.1", link)?;
    let description = sh.read_file(abi.folder().join("wrappers/oxmpi.pc"))?;
    let description = description.replace("@VERSION@", &abi.version);
    // CMake's FindMPI asks for the latter two.
    for name in ["oxmpi", "mpi-c", "mpi-cxx"] {
        let path = prefix.join(format!("lib/pkgconfig/{name}.pc"));
        sh.write_file(path, &description)?;
    }
    Ok(())
}
