//! `oxmpi settings`: every setting, its value, and where the value came from; and `--tune`, which
//! measures what some of them should be.

mod show;
mod tune;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::prelude::*;
use oxmpi::settings::{Sources, TABLE, Value, Values, resolve};
use oxmpi_coll::machine::Machine;
use oxmpi_coll::settings::machine;
use oxmpi_text::{Level, nearest, size, whole};

use crate::complain::{self, Failure};
use tune::{Measure, Timed, Tune};

const HELP: &str = "\
Usage: oxmpi settings [OPTIONS] [PATTERN]
       oxmpi settings --tune [--output FILE] [--force] [--rounds N] [--json]

Prints every setting: its name, value, where the value came from, its default and its type.
A PATTERN shows settings with that text in their name (also the name in another product), of every
level; the whole name of one setting shows all there is to know about it.

A value comes from the first of: the command line of a job, the environment variable OXMPI_NAME, the
variable of another product that means the same, the file named by OXMPI_SETTINGS_FILE, the file
oxmpi/settings.toml in $XDG_CONFIG_HOME or ~/.config (lines NAME = \"VALUE\"), the same of the whole
site, /etc/oxmpi/settings.toml, the default.

Options:
  --level N      settings up to level N: 1 basic, 2 tuning (usual), 3 expert
  --parsable     one line a setting, fields separated by tabs
  --json         JSON, described in docs/formats.md

Tuning: --tune starts jobs of two ranks for some seconds, on the two cores that are nearest to each
other and on two that are farthest apart, and times messages one way: on which path short ones go
(short_limit, eager_limit), by which road and in which pieces long ones do (shm_road, shm_chunk). A
setting gets another value than its default only if that is faster by more than one part in twenty;
the table says of each what was seen and why. What a message costs inside a node (coll_node_latency,
coll_node_overhead, coll_node_bandwidth: L, o and 1/G of LogGP) is fitted, for the choice of
collectives' algorithms and for `oxmpi sim --machine this`; between nodes nothing is measured. Run it
while the machine does nothing else. All ranks of a job must choose the same algorithms: of several hosts
tune one, and copy its file to the others.

  oxmpi settings --tune                                      for this user's jobs
  oxmpi settings --tune --output /etc/oxmpi/settings.toml    for everybody's
  oxmpi settings --tune --output here.toml                   for jobs with OXMPI_SETTINGS_FILE=here.toml

  --output FILE  where the settings go; without it, this user's settings.toml
  --force        replace a file that is there
  --rounds N     measure everything N times and take medians: 1 to 99, usually 5
  --measure LENGTHS [--on PROCESSORS] [--in-a-row]
                 one measurement alone, in a job of two: nanoseconds one way for each length, or what
                 one more message takes in a row of many
                 (oxmpi run -n 2 oxmpi settings --measure 8,64K,1M)
";

/// What the user typed.
struct Options {
    level: Option<Level>,
    form: Form,
    pattern: Option<String>,
    task: Task,
    output: Option<PathBuf>,
    force: bool,
    rounds: u32,
    processors: Vec<usize>,
    timed: Timed,
}

/// What is asked for.
#[derive(Default, PartialEq, Eq)]
enum Task {
    #[default]
    Show,
    Tune,
    /// To take part in a measurement, of messages of these lengths.
    Measure(Vec<u64>),
}

/// Rounds of a measurement when nobody says how many.
const ROUNDS: u32 = 5;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Table,
    Parsable,
    Json,
    Help,
}

/// Runs `oxmpi settings` with these arguments.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    match run(arguments) {
        Ok(text) => complain::answer(text),
        Err(failure) => complain::finish(Err(failure)),
    }
}

/// What to print.
fn run(arguments: Vec<OsString>) -> Result<String, Failure> {
    let options = parse(arguments)
        .map_err(|why| Failure::Usage(format!("{why}. See `oxmpi settings --help`.")))?;
    if options.form == Form::Help {
        return Ok(HELP.into());
    }
    match options.task {
        Task::Show => shown(&options).map_err(Failure::Usage),
        Task::Tune => tune::run(&Tune {
            output: options.output,
            force: options.force,
            rounds: options.rounds,
            json: options.form == Form::Json,
            machine: usual_machine().map_err(Failure::Usage)?,
        }),
        Task::Measure(lengths) => tune::measure(&Measure {
            lengths,
            timed: options.timed,
            processors: options.processors,
        })
        .map_err(Failure::Data),
    }
}

/// The machine that the settings name, without what they say of single costs.
fn usual_machine() -> Result<Machine, String> {
    let sources = Sources::of_process().map_err(|bad| bad.to_string())?;
    let values = resolve(TABLE, &sources).map_err(|bad| bad.to_string())?;
    let named = &values.get("coll_machine").text;
    machine(named).map_err(|bad| bad.to_string())
}

/// The values that the user has, in the form that the options ask for.
fn shown(options: &Options) -> Result<String, String> {
    let sources = Sources::of_process().map_err(|bad| bad.to_string())?;
    let values = resolve(TABLE, &sources).map_err(|bad| bad.to_string())?;
    values.warnings.iter().for_each(complain::error);
    let shown = select(&values, options)?;
    Ok(match options.form {
        Form::Json => show::json(&shown, &values.warnings),
        Form::Parsable => show::parsable(&shown),
        _ => match (shown.as_slice(), &options.pattern) {
            ([one], Some(pattern)) if one.setting.name == pattern => show::page(one),
            _ => show::table(&shown, values.all.len()),
        },
    })
}

fn parse(arguments: Vec<OsString>) -> Result<Options, lexopt::Error> {
    let mut options = Options {
        level: None,
        form: Form::Table,
        pattern: None,
        task: Task::Show,
        output: None,
        force: false,
        rounds: ROUNDS,
        processors: Vec::new(),
        timed: Timed::OneWay,
    };
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("level") => options.level = Some(parser.value()?.parse_with(level)?),
            Long("parsable") => options.form = Form::Parsable,
            Long("json") => options.form = Form::Json,
            Long("tune") => options.task = Task::Tune,
            Long("output") => options.output = Some(parser.value()?.into()),
            Long("force") => options.force = true,
            Long("rounds") => options.rounds = parser.value()?.parse_with(rounds)?,
            Long("measure") => options.task = Task::Measure(parser.value()?.parse_with(lengths)?),
            Long("on") => options.processors = parser.value()?.parse_with(processors)?,
            Long("in-a-row") => options.timed = Timed::InARow,
            Long("help") | Short('h') => {
                options.form = Form::Help;
                return Ok(options);
            }
            Value(pattern) if options.pattern.is_none() => {
                options.pattern = Some(pattern.string()?);
            }
            other => return Err(other.unexpected()),
        }
    }
    check(&options)?;
    Ok(options)
}

/// Whether the options go with each other.
fn check(options: &Options) -> Result<(), &'static str> {
    let writes = options.output.is_some() || options.force || options.rounds != ROUNDS;
    let shows =
        options.level.is_some() || options.pattern.is_some() || options.form == Form::Parsable;
    if writes && options.task != Task::Tune {
        Err("--output, --force and --rounds go with --tune")
    } else if (!options.processors.is_empty() || options.timed != Timed::OneWay)
        && !matches!(options.task, Task::Measure(_))
    {
        Err("--on and --in-a-row go with --measure")
    } else if shows && options.task != Task::Show {
        Err("--tune and --measure print no settings: leave out --level, --parsable and the pattern")
    } else {
        Ok(())
    }
}

fn level(text: &str) -> Result<Level, &'static str> {
    match text {
        "1" => Ok(Level::Basic),
        "2" => Ok(Level::Tuning),
        "3" => Ok(Level::Expert),
        _ => Err("a level is 1, 2 or 3"),
    }
}

fn rounds(text: &str) -> Result<u32, &'static str> {
    const EXPECTED: &str = "--rounds takes a whole number from 1 to 99";
    let rounds = whole(text, 1..=99, EXPECTED).map_err(|_| EXPECTED)?;
    u32::try_from(rounds).map_err(|_| EXPECTED)
}

/// The longest message of a measurement.
const LONGEST: u64 = 1 << 30;

fn lengths(text: &str) -> Result<Vec<u64>, &'static str> {
    let length = |text| size(text).ok().filter(|bytes| *bytes <= LONGEST);
    let lengths: Option<Vec<u64>> = text.split(',').map(length).collect();
    lengths.ok_or("--measure takes lengths up to 1G, such as 8,64K,1M")
}

fn processors(text: &str) -> Result<Vec<usize>, &'static str> {
    let numbers: Result<Vec<usize>, _> = text.split(',').map(str::parse).collect();
    numbers.map_err(|_| "--on takes the numbers of processors, one a rank, such as 0,1")
}

/// The values that the options ask for.
fn select<'a>(values: &'a Values, options: &Options) -> Result<Vec<&'a Value>, String> {
    let usual = match options.pattern {
        Some(_) => Level::Expert,
        None => Level::Tuning,
    };
    let level = options.level.unwrap_or(usual);
    let within = values.all.iter().filter(|v| v.setting.level <= level);
    let Some(pattern) = &options.pattern else {
        return Ok(within.collect());
    };
    let exact = values.all.iter().find(|v| v.setting.name == pattern);
    let shown = match exact {
        Some(one) => vec![one],
        None => within.filter(|v| matches(v, pattern)).collect(),
    };
    if shown.is_empty() {
        let names = values.all.iter().map(|v| v.setting.name);
        let hint =
            nearest(pattern, names).map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
        return Err(format!("no setting matches `{pattern}`{hint}"));
    }
    Ok(shown)
}

fn matches(value: &Value, pattern: &str) -> bool {
    let aliases = value.setting.aliases.iter().map(|alias| alias.name);
    let variable = value.setting.env().to_string();
    value.setting.name.contains(pattern)
        || variable.contains(pattern)
        || aliases.into_iter().any(|name| name.contains(pattern))
}

#[cfg(test)]
mod tests;
