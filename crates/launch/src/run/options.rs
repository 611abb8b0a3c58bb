//! The command line of `oxmpi run`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use oxmpi::settings::seconds;
use oxmpi_pin::openmpi::{self, MapBy, Mapping};
use oxmpi_text::{Error, whole};

use super::hosts;
use super::input::InputRanks;
use crate::options::*;

/// The largest number of ranks.
const RANKS_MAX: u64 = 1 << 20;

/// The command line of a job.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// The programs of the job in order; at least one unless `help` or `version`.
    pub(crate) programs: Vec<Program>,
    /// Variables for all ranks.
    pub(crate) env: Vec<(OsString, OsString)>,
    /// Settings by their Open MPI names.
    pub(crate) settings: Vec<(String, String)>,
    /// Hosts from the command line and from host files.
    pub(crate) hosts: Vec<String>,
    /// Ranks per host.
    pub(crate) ranks_per_host: Option<u32>,
    /// The command of `--wrap`, which moves a rank to its virtual host.
    pub(crate) wrap: Option<String>,
    /// How ranks are mapped and bound, as Open MPI's options say; `None` without any.
    pub(crate) mapping: Option<Mapping>,
    /// Whether several ranks on one processor are intended.
    pub(crate) oversubscribe: bool,
    /// Whether each line of output begins with its rank.
    pub(crate) label: bool,
    /// Whether the map of the job is printed.
    pub(crate) display_map: bool,
    /// Whether each rank's binding is printed.
    pub(crate) report_bindings: bool,
    /// The ranks that read standard input.
    pub(crate) stdin: InputRanks,
    /// How long the job may run.
    pub(crate) time_limit: Option<Duration>,
    /// Whether to print the help.
    pub(crate) help: bool,
    /// Whether to print the version.
    pub(crate) version: bool,
}

/// One program of a job with its share of the ranks.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    /// Number of ranks; `None`: one for each processor.
    pub(crate) ranks: Option<u32>,
    /// The program, searched in `PATH` when it has no slash.
    pub(crate) command: OsString,
    /// Its arguments.
    pub(crate) arguments: Vec<OsString>,
    /// Variables for its ranks.
    pub(crate) env: Vec<(OsString, OsString)>,
    /// Working directory; `None`: that of this process.
    pub(crate) directory: Option<PathBuf>,
}

/// The options of `oxmpi run`, with the spellings of Open MPI, MPICH and Intel MPI.
#[rustfmt::skip]
pub(crate) const OPTIONS: OptionTable<Typed> = OptionTable {
    command: "oxmpi run",
    intro: "\
Starts the ranks of a job on this machine, pinned to processors, and waits until all have ended.

Usage: oxmpi run [OPTIONS] PROGRAM [ARGUMENTS] [: [OPTIONS] PROGRAM [ARGUMENTS]]...
",
    groups: &[
        OptionGroup { title: "Ranks and programs", rows: &[
            value(&["n", "np", "c"], &["N"], "ranks of this program; default: one for each processor", |o, v| v.set(&mut o.program.ranks, ranks)),
            value(&["ppn", "perhost", "npernode"], &["N"], "ranks per host; without --wrap this machine is the only host and gets all ranks",
                |o, v| v.set(&mut o.options.ranks_per_host, ranks)),
            value(&["wdir", "wd"], &["DIR"], "directory in which this program starts",
                |o, v| { o.program.directory = Some(directory(v.0)?); Ok(()) }),
            value(&["H", "host", "hosts"], &["LIST"], "hosts to run on; the ranks of other hosts need a process manager",
                |o, v| { o.options.hosts.extend(hosts::in_list(v.text()?)); Ok(()) }),
            value(&["hostfile", "machinefile", "f"], &["FILE"], "hosts from a file, one host a line",
                |o, v| { o.options.hosts.extend(hosts::in_file(v.0)?); Ok(()) }),
            value(&["wrap"], &["COMMAND"], "start each rank by COMMAND, which moves it to its virtual host; {node}, {host} and {rank} are replaced, \
                and each host has -ppn ranks",
                |o, v| { o.options.wrap = Some(v.text()?.into()); Ok(()) }),
        ] },
        OptionGroup { title: "Environment (ranks inherit the environment of this command)", rows: &[
            pair(&["env"], &["NAME", "VALUE"], "set a variable for the ranks of this program",
                |o, name, value| { o.program.env.push(variable(name.0, value.0)?); Ok(()) }),
            pair(&["genv"], &["NAME", "VALUE"], "set a variable for all ranks",
                |o, name, value| { o.options.env.push(variable(name.0, value.0)?); Ok(()) }),
            value(&["x"], &["NAME[=VALUE]"], "set a variable for all ranks; without a value, that of this environment",
                |o, v| { o.options.env.extend(exported(v.0)?); Ok(()) }),
            pair(&["mca", "gmca"], &["NAME", "VALUE"], "set a setting by its Open MPI name",
                |o, name, value| { o.options.settings.push((variable_name(name.0)?, value.text()?.into())); Ok(()) }),
            flag(&["genvall", "envall"], "accepted without effect: the environment is always passed on", |_| {}),
        ] },
        OptionGroup { title: "Processors", rows: &[
            value(&["cpu-set"], &["LIST"], "processors of the job, by logical numbers: 0-3,8",
                |o, v| { o.mapping().cpu_set = Some(read(v, openmpi::cpu_set)?); Ok(()) }),
            value(&["map-by"], &["OBJECT"], "place ranks on these objects in turn: slot, core, socket, numa, socket:PE=4 ...", |o, v| {
                let map_by = read(v, str::parse::<MapBy>)?;
                o.options.oversubscribe |= map_by.oversubscribe;
                o.mapping().map_by = Some(map_by);
                Ok(())
            }),
            value(&["bind-to"], &["OBJECT"], "bind each rank to a core, socket, numa, l3cache, hwthread ..., or to none",
                |o, v| { o.mapping().bind_to = Some(read(v, str::parse)?); Ok(()) }),
            flag(&["oversubscribe"], "accept several ranks on one processor without a warning", |o| o.options.oversubscribe = true),
            flag(&["display-map"], "print which rank runs where before the job starts", |o| o.options.display_map = true),
            flag(&["report-bindings"], "print the processors of each rank, as Open MPI does", |o| o.options.report_bindings = true),
        ] },
        OptionGroup { title: "Input and time", rows: &[
            value(&["stdin"], &["none|RANK|all"], "standard input of this rank alone, read at once; all: a copy for each rank; default: rank 0, and a terminal \
                is read only while rank 0 waits for input", |o, v| { o.options.stdin = v.parse(str::parse)?; Ok(()) }),
            value(&["timeout"], &["SECONDS"], "end the job after this time with exit code 124, and print the state of each rank; 0: no limit", |o, v| {
                let limit = read(v, seconds)?;
                o.options.time_limit = (!limit.is_zero()).then_some(limit);
                Ok(())
            }),
        ] },
        OptionGroup { title: "Output and others", rows: &[
            flag(&["l", "tag-output", "prepend-rank"], "begin each line of output with its rank: `[3] ...`", |o| o.options.label = true),
            flag(&["allow-run-as-root"], "accepted without effect: root may always start jobs", |_| {}),
            help(), version(),
        ] },
    ],
    outro: "\
One dash and two dashes are the same, and so are `-n 4` and `-n=4`.
Output is forwarded in whole lines. Signals are forwarded to the ranks. SIGINT, SIGTERM, SIGHUP and SIGQUIT
end the job: ranks get the first one and have the time of the setting kill_timeout (10 s) before they are
killed. A second Ctrl-C kills them at once, and so does a second signal that is sent 1 s later or more.
What is typed while rank 0 does not wait for input stays for the shell. The kernel (/proc/PID/syscall) tells
whether rank 0 is blocked in a call such as read, poll or epoll_wait; where it does not tell, rank 0 gets all
that is typed. It never tells for a program that asks for input without waiting: give --stdin 0.
When a rank fails, the failure is reported and the other ranks are ended. The exit code is that of the first
rank that failed, 128 + N if signal N killed it.

Examples:
  oxmpi run -n 4 ./heat 1000
  oxmpi run -n 2 -l hostname
  oxmpi run -n 1 ./master : -n 3 ./worker
  oxmpi run -n 2 --bind-to core --report-bindings ./a.out
  oxmpi run -n 8 -ppn 2 --wrap 'ip netns exec ns{node}' ./a.out
",
    single_dash: SingleDash::Names,
    operands: Operands::Program,
};

/// The options that rows fill: those of the job, and those of the current program.
#[derive(Default)]
pub(crate) struct Typed {
    options: Options,
    program: Program,
}

impl Typed {
    fn mapping(&mut self) -> &mut Mapping {
        self.options.mapping.get_or_insert_default()
    }
}

/// Reads the command line: programs with their options, separated by `:`.
///
/// # Errors
/// A sentence that says what is wrong and what was expected.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Options, String> {
    let mut typed = Typed::default();
    for part in arguments.split(|argument| argument == ":") {
        let words = match OPTIONS.read(part, &mut typed)? {
            Parsed::Run(words) => words,
            end => {
                typed.options.help = end == Parsed::Help;
                typed.options.version = end == Parsed::Version;
                return Ok(typed.options);
            }
        };
        let [command, rest @ ..] = words else {
            return Err(OPTIONS.with_help("no program given: `oxmpi run -n 2 PROGRAM`"));
        };
        let program = std::mem::take(&mut typed.program);
        typed.options.programs.push(Program {
            command: command.clone(),
            arguments: rest.to_vec(),
            ..program
        });
    }
    Ok(typed.options)
}

/// The value as `parse` reads it; a caret points at what is wrong.
fn read<T>(value: OptionValue<'_>, parse: impl Fn(&str) -> Result<T, Error>) -> Result<T, String> {
    value.parse(|text| parse(text).map_err(|error| error.show(text).to_string()))
}

fn ranks(text: &str) -> Result<u32, String> {
    let count = whole(text, 1..=RANKS_MAX, "a number of ranks from 1 to 1048576");
    count
        .map_err(|error| error.show(text).to_string())
        .map(|count| u32::try_from(count).unwrap_or(u32::MAX))
}

fn directory(value: &OsStr) -> Result<PathBuf, String> {
    let path = PathBuf::from(value);
    if path.is_dir() {
        Ok(path)
    } else {
        Err(format!("{} is not a directory", path.display()))
    }
}

fn variable_name(name: &OsStr) -> Result<String, String> {
    let name = name.to_string_lossy();
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(format!("`{name}` cannot be the name of a variable"));
    }
    Ok(name.into_owned())
}

fn variable(name: &OsStr, value: &OsStr) -> Result<(OsString, OsString), String> {
    variable_name(name).map(|_| (name.to_owned(), value.to_owned()))
}

/// The variable of `-x NAME=VALUE`. `None` for `-x NAME`: ranks inherit the variable anyway.
fn exported(value: &OsStr) -> Result<Option<(OsString, OsString)>, String> {
    let bytes = value.as_bytes();
    match bytes.iter().position(|byte| *byte == b'=') {
        Some(end) => {
            let [name, value] = [&bytes[..end], &bytes[end + 1..]].map(OsStr::from_bytes);
            variable(name, value).map(Some)
        }
        None if std::env::var_os(value).is_some() => Ok(None),
        None => {
            let name = value.display();
            Err(format!(
                "`{name}` is not set in this environment; give `{name}=VALUE`"
            ))
        }
    }
}

#[cfg(test)]
mod tests;
