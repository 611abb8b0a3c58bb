//! The command line of `oxmpi run`.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use oxmpi_pin::openmpi::{MapBy, Mapping};
use oxmpi_settings::seconds;
use oxmpi_text::{Error, whole};

use super::hosts::{self, Host, RANKS_MAX};
use super::input::InputRanks;
use super::output::{FilePattern, LabelStyle, OutputOptions};
use super::program_list;
use crate::options::*;

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
    pub(crate) hosts: Vec<Host>,
    /// Ranks per host.
    pub(crate) ranks_per_host: Option<u32>,
    /// The command of `--wrap`, which moves a rank to its virtual host.
    pub(crate) wrap: Option<String>,
    /// How ranks are mapped and bound, as Open MPI's options say; `None` without any.
    pub(crate) mapping: Option<Mapping>,
    /// Whether several ranks on one processor are intended; `None` if nothing is said.
    pub(crate) oversubscribe: Option<bool>,
    /// Labels and files of the output.
    pub(crate) output: OutputOptions,
    /// Whether the map of the job is printed.
    pub(crate) display_map: bool,
    /// Whether each rank's binding is printed.
    pub(crate) report_bindings: bool,
    /// The ranks that read standard input.
    pub(crate) stdin: InputRanks,
    /// How long the job may run by `--timeout`; zero: for ever.
    pub(crate) time_limit: Option<Duration>,
    /// Whether to print the help.
    pub(crate) help: bool,
    /// Whether to print the version.
    pub(crate) version: bool,
}

/// One program of a job with its share of the ranks.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    /// Number of ranks; `None`: see [`counts`](super::counts).
    pub(crate) ranks: Option<u32>,
    /// The program, searched in `PATH` when it has no slash.
    pub(crate) command: OsString,
    /// Its arguments.
    pub(crate) arguments: Vec<OsString>,
    /// Variables for its ranks.
    pub(crate) env: Vec<(OsString, OsString)>,
    /// Working directory, an absolute path; `None`: that of this process.
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
            value(&["n", "np", "c"], &["N"], "ranks of this program; default: as many as -N or the slots of the hosts say, else one for each processor",
                |o, v| v.set(&mut o.program.ranks, ranks)),
            value(&["wdir", "wd"], &["DIR"], "directory in which this program starts, and its PWD",
                |o, v| { o.program.directory = Some(directory(v.0)?); Ok(()) }),
            value(&["configfile", "app"], &["FILE"], "programs from a file, each with its options on a line; options before this one are for all of them",
                |o, v| o.set_list(v.path())),
        ] },
        OptionGroup { title: "Hosts", rows: &[
            value(&["H", "host", "hosts"], &["LIST"], "hosts to run on, also with slots: node1:4,[::1]:2; the ranks of other hosts need a process manager",
                |o, v| { o.options.hosts.extend(hosts::in_list(v.text()?)?); Ok(()) }),
            value(&["hostfile", "machinefile", "f"], &["FILE"], "hosts from a file, one a line: node1 slots=4, or node1:4",
                |o, v| { o.options.hosts.extend(hosts::in_file(v.0)?); Ok(()) }),
            value(&["N", "ppn", "perhost", "npernode"], &["N"], "ranks per host; with -n and without --wrap this machine gets all ranks",
                |o, v| v.set(&mut o.options.ranks_per_host, ranks)),
            flag(&["oversubscribe"], "accept more ranks than slots, and several ranks on one processor without a warning",
                |o| o.options.oversubscribe = Some(true)),
            flag(&["nooversubscribe"], "refuse more ranks than slots or, if no host states slots, than processors",
                |o| o.options.oversubscribe = Some(false)),
            value(&["wrap"], &["COMMAND"], "start each rank by COMMAND, which moves it to its virtual host; {node}, {host} and {rank} are replaced, \
                and each host has -ppn ranks",
                |o, v| { o.options.wrap = Some(v.text()?.into()); Ok(()) }),
        ] },
        OptionGroup { title: "Environment (ranks inherit the environment of this command)", rows: &[
            assignment(&["env"], "set a variable for the ranks of this program; also NAME=VALUE",
                |o, name, value| { o.program.env.push(variable(name.0, value.0)?); Ok(()) }),
            assignment(&["genv"], "set a variable for all ranks; also NAME=VALUE",
                |o, name, value| { o.options.env.push(variable(name.0, value.0)?); Ok(()) }),
            value(&["x"], &["NAME[=VALUE]"], "set a variable for all ranks; without a value, that of this environment",
                |o, v| { o.options.env.extend(exported(v.0)?); Ok(()) }),
            pair(&["mca", "gmca"], &["NAME", "VALUE"], "set a setting by its Open MPI name",
                |o, name, value| { o.options.settings.push((variable_name(name.0)?, value.text()?.into())); Ok(()) }),
            flag(&["genvall", "envall"], "accepted without effect: the environment is always passed on", |_| {}),
        ] },
        OptionGroup { title: "Processors", rows: &[
            value(&["cpu-set", "cpu-list"], &["LIST"], "processors of the job, by logical numbers: 0-3,8",
                |o, v| { o.mapping().cpu_set = Some(read(v, str::parse)?); Ok(()) }),
            value(&["map-by"], &["OBJECT"], "place ranks on these objects in turn: slot, core, socket, numa ...; with :PE=4 each rank gets four cores, \
                whatever the object is; :OVERSUBSCRIBE is --oversubscribe", |o, v| {
                let map_by = read(v, str::parse::<MapBy>)?;
                o.options.oversubscribe = map_by.oversubscribe.or(o.options.oversubscribe);
                if map_by.places_ranks() {
                    o.mapping().map_by = Some(map_by);
                }
                Ok(())
            }),
            value(&["bind-to"], &["OBJECT"], "bind each rank to a core, socket, numa, l3cache, hwthread ..., to none, or to cpu-list:ordered: \
                to the processors of --cpu-set one by one",
                |o, v| { o.mapping().bind_to = Some(read(v, str::parse)?); Ok(()) }),
            flag(&["use-hwthread-cpus"], "let PE count hardware threads, and bind ranks to these where nothing else is said",
                |o| o.mapping().hwthread_cpus = true),
            flag(&["display-map"], "print which rank runs where before the job starts", |o| o.options.display_map = true),
            flag(&["report-bindings"], "print the processors of each rank, as Open MPI does", |o| o.options.report_bindings = true),
        ] },
        OptionGroup { title: "Input and time", rows: &[
            value(&["stdin"], &["none|RANK|all"], "standard input of this rank alone, read at once; all: a copy for each rank; default: rank 0, and a terminal \
                is read only while rank 0 waits for input", |o, v| { o.options.stdin = v.parse(str::parse)?; Ok(()) }),
            value(&["timeout"], &["SECONDS"], "end the job after this time with exit code 124, and print the state of each rank; 0: no limit; default: the setting job_timeout (MPIEXEC_TIMEOUT)", |o, v| {
                o.options.time_limit = Some(read(v, seconds)?);
                Ok(())
            }),
        ] },
        OptionGroup { title: "Output and others", rows: &[
            flag(&["l", "prepend-rank"], "begin each line of output with its rank: `[3] ...`",
                |o| o.options.output.labels.style = Some(LabelStyle::Rank)),
            flag(&["tag-output"], "begin each line of output with its rank and stream, as Open MPI does: `[1,3]<stdout>:...`",
                |o| o.options.output.labels.style = Some(LabelStyle::Tag)),
            flag(&["timestamp-output"], "begin each line of output with the time (UTC)", |o| o.options.output.labels.timestamp = true),
            value(&["output-filename"], &["PATTERN"], "write the output of each rank to a file of its own, not to this terminal; %r is the rank, %h the host; without %r, `.RANK` is appended",
                |o, v| { o.options.output.files = Some(FilePattern::parse(v.0)?); Ok(()) }),
            flag(&["allow-run-as-root"], "accepted without effect: root may always start jobs", |_| {}),
            help(), version(),
        ] },
    ],
    outro: "\
One dash and two dashes are the same, and so are `-n 4` and `-n=4`.
Output is forwarded in whole lines, a line without its end within 50 ms. If output cannot be written, the job
is ended and the reason is reported. Signals are forwarded to the ranks. SIGINT, SIGTERM, SIGHUP and SIGQUIT
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
    /// The file with programs.
    list: Option<PathBuf>,
    /// Whether the words come from that file.
    is_listed: bool,
}

impl Typed {
    fn mapping(&mut self) -> &mut Mapping {
        self.options.mapping.get_or_insert_default()
    }

    fn set_list(&mut self, list: PathBuf) -> Result<(), String> {
        if self.is_listed {
            return Err("a file of programs cannot name another one".into());
        }
        self.list = Some(list);
        Ok(())
    }
}

/// Reads the command line: programs with their options, separated by `:`.
///
/// # Errors
/// A sentence that says what is wrong and what was expected.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Options, String> {
    let mut typed = Typed::default();
    typed.programs(arguments)?;
    Ok(typed.options)
}

impl Typed {
    /// Reads programs up to the end, or to an option that asks for the help or the version.
    fn programs(&mut self, arguments: &[OsString]) -> Result<(), String> {
        for part in arguments.split(|argument| argument == ":") {
            let words = match OPTIONS.read(part, self)? {
                Parsed::Run(words) => words,
                end => {
                    self.options.help = end == Parsed::Help;
                    self.options.version = end == Parsed::Version;
                    return Ok(());
                }
            };
            let program = std::mem::take(&mut self.program);
            match (self.list.take(), words) {
                (Some(list), []) => self.listed(&list, &program)?,
                (Some(list), [word, ..]) => {
                    let list = list.display();
                    let why = format!(
                        "`{}`: the programs are in {list}: expected none here",
                        word.display()
                    );
                    return Err(OPTIONS.with_help(why));
                }
                (None, []) => {
                    return Err(OPTIONS.with_help("no program given: `oxmpi run -n 2 PROGRAM`"));
                }
                (None, [command, rest @ ..]) => self.options.programs.push(Program {
                    command: command.clone(),
                    arguments: rest.to_vec(),
                    ..program
                }),
            }
        }
        Ok(())
    }

    /// Reads the programs of a file; each begins with the options of `shared`.
    fn listed(&mut self, list: &Path, shared: &Program) -> Result<(), String> {
        for line in program_list::lines(list).map_err(|why| OPTIONS.with_help(why))? {
            let here = |why| format!("{}:{}: {why}", list.display(), line.number);
            self.program = shared.clone();
            self.is_listed = true;
            self.programs(&line.words).map_err(here)?;
        }
        self.is_listed = false;
        Ok(())
    }
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

/// The absolute path of a directory. Symbolic links stay in it, as in a shell; with `..` they are followed, since a shell
/// takes no `PWD` with that.
fn directory(value: &OsStr) -> Result<PathBuf, String> {
    let path = Path::new(value);
    if !path.is_dir() {
        return Err(format!("{} is not a directory", path.display()));
    }
    let has_parents = path.components().any(|part| part == Component::ParentDir);
    let absolute = match has_parents {
        true => path.canonicalize(),
        false => std::path::absolute(path),
    };
    absolute.map_err(|why| format!("{}: {why}", path.display()))
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
    match split_assignment(value) {
        Some([name, value]) => variable(name, value).map(Some),
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
