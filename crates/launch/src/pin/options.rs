//! The command line of `oxmpi pin`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use oxmpi_os::host;
use oxmpi_pin::Compat;
use oxmpi_pin::openmpi::{MapBy, Mapping};

use super::environment::{PinEnvironment, files, unknown};
use super::query::{self, PinQuery, Variables};
use crate::destination::Destination;
use crate::diagnostics::choose;
use crate::options::*;

#[rustfmt::skip]
pub(super) const OPTIONS: OptionTable<Typed> = OptionTable {
    command: "oxmpi pin",
    intro: "\
Usage: oxmpi pin -n RANKS [-t THREADS] [OPTIONS] [FILE]
       oxmpi pin --batch FILE

Shows where the ranks of a job, and their threads, would run: on this machine or on any other that is
described. No job is started. The settings are the variables of Intel MPI and of OpenMP runtimes, from the
environment or from options. The ending of FILE selects the format (.txt, .svg, .json); `-` is standard
output.

  oxmpi pin -n 4                                    four ranks on this machine, with the current settings
  oxmpi pin -n 4 -t 2 --explain                     with two OpenMP threads each, and the reasons
  oxmpi pin -n 2 --on 'package:2 core:4 pu:2' --domain socket ranks.svg
                                                    a picture of a synthetic machine
  oxmpi pin -n 8 --on other.xml --mask 0-15         on part of a machine that hwloc described
  oxmpi pin -n 4 --compare I_MPI_PIN_ORDER=spread 'I_MPI_PIN_ORDER=compact I_MPI_PIN_DOMAIN=core'
                                                    two sets of settings side by side
",
    groups: &[
        OptionGroup { title: "Job", rows: &[
            value(&["n", "ranks"], &["N"], "ranks of the job", |o, v| v.set(&mut o.ranks, positive)),
            value(&["ppn"], &["N"], "ranks on one machine, if fewer; the ranks of the first machine are shown", |o, v| v.set(&mut o.ppn, positive)),
            value(&["t", "threads"], &["N"], "show N OpenMP threads in each rank, and set OMP_NUM_THREADS=N; 0: as many as the runtime starts by default",
                |o, v| v.set(&mut o.options.query.threads, number)),
            value(&["i", "on", "input"], &["X"], "the machine, as `oxmpi topo --input` reads it: a directory with recorded /proc and /sys or with \
                cpuid dumps, an hwloc XML file, a /proc/cpuinfo file, a synthetic string; default: this machine with the mask of this process",
                |o, v| { o.options.machine = Some(v.text()?.into()); Ok(()) }),
            value(&["mask"], &["LIST"], "the processors that the job inherits, such as 0-3,8", |o, v| v.set(&mut o.options.query.mask, query::processors)),
        ] },
        OptionGroup { title: "Settings (options, then the environment, then settings files; OXMPI_PIN_DOMAIN etc. count too)", rows: &[
            value(&["set"], &["NAME=VALUE"], "a variable: I_MPI_PIN, I_MPI_PIN_DOMAIN, I_MPI_PIN_ORDER, I_MPI_PIN_PROCESSOR_LIST, I_MPI_PIN_CELL, \
                I_MPI_PIN_PROCESSOR_EXCLUDE_LIST, I_MPI_PIN_RESPECT_CPUSET, I_MPI_PIN_RESPECT_HCA; OMP_NUM_THREADS, OMP_PLACES, \
                OMP_PROC_BIND, KMP_AFFINITY, KMP_HW_SUBSET, KMP_PLACE_THREADS, GOMP_CPU_AFFINITY",
                |o, v| { o.set.extend([v.parse(assignment)?]); Ok(()) }),
            value(&["domain"], &["V"], "I_MPI_PIN_DOMAIN: core, socket, numa, node, cache3, auto, omp, 4, [f0,f]", |o, v| o.set("I_MPI_PIN_DOMAIN", v)),
            value(&["order"], &["V"], "I_MPI_PIN_ORDER: bunch, spread, compact, scatter, range", |o, v| o.set("I_MPI_PIN_ORDER", v)),
            value(&["processor-list"], &["V"], "I_MPI_PIN_PROCESSOR_LIST: 0,2-3 or all:map=scatter", |o, v| o.set("I_MPI_PIN_PROCESSOR_LIST", v)),
            value(&["bind-to"], &["V"], "Open MPI's option, instead of Intel MPI's settings: none, hwthread, core, socket, cpu-list:ordered", |o, v| { o.mapping.bind_to = Some(v.parse(typed)?); Ok(()) }),
            value(&["map-by"], &["V"], "Open MPI's option: core, socket:PE=2 and others",
                |o, v| { o.mapping.map_by = Some(v.parse(typed::<MapBy>)?).filter(MapBy::places_ranks); Ok(()) }),
            value(&["cpu-set", "cpu-list"], &["LIST"], "Open MPI's option: the processors of the job, by logical numbers",
                |o, v| { o.mapping.cpu_set = Some(v.parse(typed)?); Ok(()) }),
            flag(&["use-hwthread-cpus"], "Open MPI's option: PE counts hardware threads", |o| o.mapping.hwthread_cpus = true),
            value(&["compat"], &["V"], "documented: the rules of Intel's reference; intel-2021: those of its launcher", |o, v| v.set(&mut o.compat, query::compat)),
            value(&["levels"], &["V"], "documented or current: the levels of the thread map", |o, v| v.set(&mut o.options.query.dialect.levels, query::levels)),
            value(&["rules"], &["V"], "documented or runtime: the rules of thread settings. LLVM's runtime, and libgomp under oxmpi run, follow \
                `--levels current --rules runtime`; with OMP_PLACES from the user, libgomp distributes more threads than places in its own way",
                |o, v| v.set(&mut o.options.query.dialect.rules, query::rules)),
        ] },
        OptionGroup { title: "Output", rows: &[
            value(&["format"], &["F"], "text, svg or json (docs/formats.md)", |o, v| v.set(&mut o.format, format)),
            flag(&["explain"], "also print the reasons; with KMP_AFFINITY=verbose, the report of the OpenMP runtime", |o| o.options.explain = true),
            pair(&["compare"], &["A", "B"], "two sets of settings side by side, each `NAME=VALUE NAME=VALUE ...`",
                |o, a, b| { o.options.compare = Some([a.parse(assignments)?, b.parse(assignments)?]); Ok(()) }),
            value(&["batch"], &["FILE"], "answer many cases, one JSON object a line (docs/formats.md); `-` is standard input",
                |o, v| { o.batch = Some(v.path()); Ok(()) }),
            flag(&["f", "force"], "overwrite FILE if it exists", |o| o.overwrite = true),
            help(), version(),
        ] },
    ],
    outro: "\
The columns `where` and `core` have logical numbers, as `oxmpi topo -l` shows them; processors and NUMA nodes
have the operating system's. The exit code is 0; 1 when something cannot be read or written; 2 for a wrong
command line or setting.
",
    operands: Operands::Each(|o, v| only_operand(&mut o.file, v.path())),    ..OptionTable::GNU
};

/// What the command line asks for.
#[derive(Debug, PartialEq)]
pub(super) enum PinRequest {
    /// Answer one query.
    Show(Box<Options>),
    /// Answer the queries of this file.
    Batch(PathBuf),
    /// Print the help.
    Help,
    /// Print the version.
    Version,
}

/// A query, and the form of its answer.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Options {
    /// The machine as `--on` names it; `None`: this one.
    pub(super) machine: Option<String>,
    pub(super) query: PinQuery,
    /// Two sets of settings to compare.
    pub(super) compare: Option<[Variables; 2]>,
    pub(super) explain: bool,
    pub(super) format: PinFormat,
    pub(super) target: Destination,
    /// Warnings about the command line and the environment, one sentence each.
    pub(super) notes: Vec<String>,
}

/// The format of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PinFormat {
    #[default]
    Text,
    Svg,
    Json,
}

const FORMATS: [(&str, PinFormat); 4] = [
    ("text", PinFormat::Text),
    ("txt", PinFormat::Text),
    ("svg", PinFormat::Svg),
    ("json", PinFormat::Json),
];

impl Options {
    /// The name of the machine.
    pub(super) fn name(&self) -> String {
        match &self.machine {
            None => host::name(),
            Some(input) if Path::new(input).exists() => {
                let name = Path::new(input).file_name().unwrap_or_default();
                name.to_string_lossy().into_owned()
            }
            Some(input) => input.clone(),
        }
    }

    /// The line above a picture.
    pub(super) fn title(&self) -> String {
        let ranks = self.query.ranks;
        let s = if ranks == 1 { "" } else { "s" };
        format!("{ranks} rank{s} on {}", self.name())
    }
}

/// Reads the command line, and the settings in the environment and in files.
///
/// # Errors
/// A sentence that says what is wrong and what was expected.
pub(super) fn parse(arguments: &[OsString]) -> Result<PinRequest, String> {
    let mut typed = Typed::default();
    match OPTIONS.read(arguments, &mut typed)? {
        Parsed::Help => Ok(PinRequest::Help),
        Parsed::Version => Ok(PinRequest::Version),
        Parsed::Run(_) => typed
            .request(arguments.len())
            .map_err(|why| OPTIONS.with_help(why)),
    }
}

/// The options as typed, before they are checked against each other.
#[derive(Default)]
pub(super) struct Typed {
    options: Options,
    ranks: Option<u32>,
    ppn: Option<u32>,
    compat: Option<Compat>,
    mapping: Mapping,
    set: Variables,
    format: Option<PinFormat>,
    file: Option<PathBuf>,
    overwrite: bool,
    batch: Option<PathBuf>,
}

impl Typed {
    /// Sets a variable to the value of an option.
    fn set(&mut self, name: &str, value: OptionValue<'_>) -> Result<(), String> {
        self.set.insert(name.into(), value.text()?.into());
        Ok(())
    }

    /// The request, if the options fit together; `words` is the length of the command line.
    fn request(self, words: usize) -> Result<PinRequest, String> {
        if let Some(path) = self.batch {
            return match words {
                1 | 2 => Ok(PinRequest::Batch(path)),
                _ => Err(
                    "--batch takes all settings from its file: leave the other options out".into(),
                ),
            };
        }
        let mut options = self.options;
        let ranks = self
            .ranks
            .ok_or("the number of ranks is missing, such as `oxmpi pin -n 4`")?;
        let here = self.ppn.map_or(ranks, |ppn| ppn.min(ranks));
        if here < ranks {
            options.notes.push(format!(
                "ranks 0 to {} of {ranks}, those of the first machine, are shown",
                here - 1
            ));
        }
        options.query.ranks = here;
        let environment = PinEnvironment::read(&files()?, std::env::vars_os())?;
        options.notes.extend(environment.notes);
        let case = &mut options.query;
        case.compat = self.compat.or(environment.compat).unwrap_or_default();
        case.mapping = (self.mapping != Mapping::default()).then_some(self.mapping);
        if case.mapping.is_some() && case.compat != Compat::Documented {
            let why = "--bind-to, --cpu-set and --map-by follow Open MPI, --compat Intel MPI: leave one out";
            return Err(why.into());
        }
        case.variables = environment.variables;
        if let Some(threads) = case.threads.filter(|threads| *threads > 0) {
            case.variables
                .insert("OMP_NUM_THREADS".into(), threads.to_string());
        }
        case.variables.extend(self.set);
        let file = self.file.filter(|file| file.as_os_str() != "-");
        options.format = match (self.format, &file) {
            (Some(format), _) => format,
            (None, Some(file)) => format_of(file)?,
            (None, None) => PinFormat::default(),
        };
        if options.compare.is_some() && (options.format != PinFormat::Text || options.explain) {
            return Err("--compare needs the format text, without --explain".into());
        }
        if options.explain && options.format != PinFormat::Text {
            return Err("--explain needs the format text".into());
        }
        options.target = Destination::new(file, self.overwrite);
        Ok(PinRequest::Show(Box::new(options)))
    }
}

/// `NAME=VALUE` with a known name.
fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("expected NAME=VALUE, such as I_MPI_PIN_DOMAIN=core")?;
    match query::known().any(|known| known == name) {
        true => Ok((name.into(), value.into())),
        false => Err(unknown(name, query::known())),
    }
}

/// Assignments separated by blanks.
fn assignments(text: &str) -> Result<Variables, String> {
    text.split_whitespace().map(assignment).collect()
}

fn number(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| format!("expected a number from 0 to {}", u32::MAX))
}

fn positive(text: &str) -> Result<u32, String> {
    match number(text)? {
        0 => Err("expected a number of at least 1".into()),
        number => Ok(number),
    }
}

/// A value with a grammar of its own; a caret shows what is wrong.
fn typed<T: FromStr<Err = oxmpi_text::Error>>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|error: oxmpi_text::Error| error.show(text).to_string())
}

fn format(name: &str) -> Result<PinFormat, String> {
    choose("format", name, &FORMATS)
}

/// The format that the ending of a file's name asks for.
fn format_of(file: &Path) -> Result<PinFormat, String> {
    let ending = file.extension().unwrap_or_default().to_string_lossy();
    format(&ending).map_err(|_| {
        format!(
            "{}: the ending names no format; known are .txt, .svg and .json, or give --format",
            file.display()
        )
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_option_has_one_row_and_a_short_help() {
        super::OPTIONS.assert_sound();
    }
}
