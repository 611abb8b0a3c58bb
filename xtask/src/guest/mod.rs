//! `cargo xtask guest`: runs a job in an emulated machine with any number of processors.
//!
//! Data flows one way: [`Host`] is what guests are made of (`host`, from packages by `apt` and
//! `kernel`; [`Host::equip_rdma`] adds what RDMA needs); a [`GuestMachine`] is what one looks like; a [`Job`] is
//! what it runs, packed by `job` and `cpio`, with [`BuiltPrograms`]; [`Host::boot`] makes a [`GuestRun`] of the
//! three, [`Host::boot_joined`] several on one `network`.

pub(crate) mod apt;
mod cpio;
mod host;
mod job;
mod kernel;
mod machine;
mod network;
mod open_mpi;
mod programs;
mod rdma;
mod run;
mod siw;

pub(crate) use host::{Host, which};
pub(crate) use job::Job;
pub(crate) use machine::GuestMachine;
pub(crate) use open_mpi::OpenMpi;
pub(crate) use programs::BuiltPrograms;
pub(crate) use run::{Ending, GuestRun};

use crate::{Repo, Result};
use std::path::PathBuf;
use std::time::Duration;

/// Run a job in an emulated machine with chosen sockets, cores, threads and NUMA nodes
///
/// Boots Debian's kernel in QEMU, which emulates every processor and so needs no hardware support,
/// runs COMMAND in it with busybox's shell as root, and copies the guest's /out to this machine. The
/// status is 0 when COMMAND's is; otherwise the last line says whether COMMAND failed, the time limit
/// passed, the guest died, or QEMU did not boot it.
///
/// QEMU, hwloc's lstopo and xz are installed from Debian's packages when they are missing and this is
/// root; the kernel and busybox are kept under target/xtask/guest, and so are the console's log and the
/// files of the last guest, in its folder `last`. For example:
///
///   cargo xtask guest --with target/release/oxmpi -- 'oxmpi info > /out/info.txt'
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct GuestOptions {
    /// A file that COMMAND finds in its folder and, when it is a program, on its path; with its shared libraries; may
    /// be repeated
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    #[command(flatten)]
    machine: GuestMachine,
    /// Time limit of the guest in seconds
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true)]
    command: Vec<String>,
}

pub(crate) fn run(repo: &Repo, options: GuestOptions) -> Result {
    let job = Job {
        script: options.command.join(" "),
        files: options.with,
        placed: Vec::new(),
        tree: None,
    };
    let limit = Duration::from_secs(options.limit.into());
    let host = Host::equip(repo)?;
    let GuestRun {
        ending,
        console,
        out,
    } = host.boot(repo, "last", options.machine, &job, limit)?;
    print!("{console}");
    for file in repo.shell.read_dir(&out).unwrap_or_default() {
        println!("{}", file.display());
    }
    match ending {
        Ending::Job(0) => Ok(()),
        other => Err(other.into()),
    }
}

#[cfg(test)]
mod tests {
    //! Tests of the options.

    use super::{GuestMachine, GuestOptions};
    use crate::tests::parsed;

    #[test]
    fn options_come_first_and_the_rest_is_the_command() {
        let asked: GuestOptions =
            parsed("--cores 3 --limit 9 --with a/b -- ls --all | cat").unwrap();
        let machine = GuestMachine {
            cores: 3,
            ..GuestMachine::USUAL
        };
        assert_eq!((asked.machine, asked.limit), (machine, 9));
        assert_eq!(asked.with, [std::path::Path::new("a/b")]);
        assert_eq!(asked.command.join(" "), "ls --all | cat");
        let plain: GuestOptions = parsed("nproc --all").unwrap();
        assert_eq!(plain.command.join(" "), "nproc --all");
        assert_eq!(plain.machine, GuestMachine::USUAL);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (line, why) in [
            ("", "<COMMAND>..."),
            ("--cores 2 --", "<COMMAND>..."),
            ("--cores", "a value is required for '--cores"),
            ("--cores 0 true", "0 is not in 1.."),
            ("--cores two true", "invalid value 'two'"),
            ("--core 2 true", "unexpected argument '--core'"),
            ("--with", "a value is required for '--with"),
        ] {
            let refusal = parsed::<GuestOptions>(line).map(drop).unwrap_err();
            assert!(refusal.to_string().contains(why), "{line}: {refusal}");
        }
    }
}
