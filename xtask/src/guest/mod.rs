//! `cargo xtask guest`: runs a job in an emulated machine with any number of processors.
//!
//! Data flows one way: [`Host`] is what guests are made of (`host`, from packages by `apt` and
//! `kernel`); a [`GuestMachine`] is what one looks like; a [`Job`] is what it runs, packed by `job` and
//! `cpio`; [`Host::boot`] makes a [`GuestRun`] of the three, [`Host::boot_joined`] several on one `network`.

mod apt;
mod cpio;
mod host;
mod job;
mod kernel;
mod machine;
mod network;
mod run;

pub(crate) use host::{Host, which};
pub(crate) use job::Job;
pub(crate) use machine::GuestMachine;
pub(crate) use run::{Ending, GuestRun};

use crate::{Repo, Result, Verb};
use std::time::Duration;

pub(crate) const VERB: Verb = Verb {
    name: "guest",
    usage: "[OPTION...] [--] COMMAND...",
    summary: "Run a job in an emulated machine with chosen sockets, cores, threads and NUMA nodes",
    help: "
Boots Debian's kernel in QEMU, which emulates every processor and so needs no hardware support,
runs COMMAND in it with busybox's shell as root, and copies the guest's /out to this machine. The
status is 0 when COMMAND's is; otherwise the last line says whether COMMAND failed, the time limit
passed, the guest died, or QEMU did not boot it.

  --with FILE    a file that COMMAND finds in its folder and, when it is a program, on its path;
                 with its shared libraries; may be repeated
  --sockets N    sockets; 2 by default
  --modules N    modules in a socket, whose cores share a level 2 cache (QEMU 10); 1 by default
  --cores N      cores in a module; 4 by default
  --threads N    hardware threads in a core; 2 by default
  --nodes N      NUMA nodes; 4 by default
  --memory N     MiB of the whole machine; 1024 by default
  --limit N      time limit of the guest in seconds; 120 by default

QEMU, hwloc's lstopo and xz are installed from Debian's packages when they are missing and this is
root; the kernel and busybox are kept under target/xtask/guest, and so are the console's log and the
files of the last guest, in its folder `last`. For example:

  cargo xtask guest --with target/release/oxmpi -- 'oxmpi info > /out/info.txt'",
    run,
};

/// The parsed arguments.
#[derive(Debug)]
struct Options {
    machine: GuestMachine,
    job: Job,
    limit: Duration,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options> {
        let mut machine = GuestMachine::USUAL;
        let mut files = Vec::new();
        let mut limit = 120;
        let mut words = arguments.iter();
        let mut command: Vec<&str> = Vec::new();
        while let Some(word) = words.next() {
            let number = match word.as_str() {
                "--sockets" => &mut machine.sockets,
                "--modules" => &mut machine.modules,
                "--cores" => &mut machine.cores,
                "--threads" => &mut machine.threads,
                "--nodes" => &mut machine.nodes,
                "--memory" => &mut machine.memory,
                "--limit" => &mut limit,
                "--with" => {
                    files.push(words.next().ok_or("--with needs a file")?.into());
                    continue;
                }
                "--" => break,
                other if other.starts_with('-') => {
                    return Err(
                        format!("'{other}' is no option; see `cargo xtask help guest`").into(),
                    );
                }
                first => {
                    command.push(first);
                    break;
                }
            };
            let text = words
                .next()
                .ok_or_else(|| format!("{word} needs a number"))?;
            *number = text
                .parse()
                .ok()
                .filter(|&number| number > 0)
                .ok_or_else(|| format!("{word} '{text}': a whole number above 0"))?;
        }
        command.extend(words.map(String::as_str));
        if command.is_empty() {
            return Err("no command; see `cargo xtask help guest`".into());
        }
        Ok(Options {
            machine,
            job: Job {
                script: command.join(" "),
                files,
                placed: Vec::new(),
            },
            limit: Duration::from_secs(limit.into()),
        })
    }
}

fn run(repo: &Repo, arguments: &[String]) -> Result {
    let Options {
        machine,
        job,
        limit,
    } = Options::parse(arguments)?;
    let host = Host::equip(repo).map_err(|lacking| lacking.to_string())?;
    let GuestRun {
        ending,
        console,
        out,
    } = host.boot(repo, "last", machine, &job, limit)?;
    print!("{console}");
    for file in repo.shell.read_dir(&out).unwrap_or_default() {
        println!("{}", file.display());
    }
    match ending {
        Ending::Job(0) => Ok(()),
        other => Err(other.to_string().into()),
    }
}

#[cfg(test)]
mod tests {
    //! Tests of the parser of arguments.

    use super::{GuestMachine, Options};

    fn parse(line: &str) -> crate::Result<Options> {
        let words: Vec<_> = line.split_whitespace().map(String::from).collect();
        Options::parse(&words)
    }

    #[test]
    fn options_come_first_and_the_rest_is_the_command() {
        let asked = parse("--cores 3 --limit 9 --with a/b -- ls --all | cat").unwrap();
        let machine = GuestMachine {
            cores: 3,
            ..GuestMachine::USUAL
        };
        assert_eq!(asked.machine, machine);
        assert_eq!(asked.limit.as_secs(), 9);
        assert_eq!(asked.job.files, [std::path::Path::new("a/b")]);
        assert_eq!(asked.job.script, "ls --all | cat");
        assert_eq!(parse("nproc --all").unwrap().job.script, "nproc --all");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (line, why) in [
            ("", "no command"),
            ("--cores 2 --", "no command"),
            ("--cores", "--cores needs a number"),
            ("--cores 0 true", "above 0"),
            ("--cores two true", "above 0"),
            ("--core 2 true", "'--core' is no option"),
            ("--with", "needs a file"),
        ] {
            let refusal = parse(line).unwrap_err().to_string();
            assert!(refusal.contains(why), "{line}: {refusal}");
        }
    }
}
