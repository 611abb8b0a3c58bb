//! `oxmpi settings`: prints every setting, its value and the origin of the value; `--tune` measures this machine and
//! writes the settings that suit it.

mod show;
mod tune;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use oxmpi_coll::catalog::Collective;
use oxmpi_coll::machine::Machine;
use oxmpi_coll::settings::machine;
use oxmpi_settings::{SettingValue, Values, answered_names};
use oxmpi_text::{Level, size, whole};

use crate::diagnostics::{self, CommandError, did_you_mean};
use crate::options::*;
use crate::process_settings;
use tune::{MeasureOptions, Timing, TuneOptions};

#[rustfmt::skip]
const OPTIONS: OptionTable<Options> = OptionTable {
    command: "oxmpi settings",
    intro: "\
Usage: oxmpi settings [OPTIONS] [PATTERN]
       oxmpi settings --tune [--output FILE] [--force] [--rounds N] [--json]
       oxmpi settings --tune --collectives [--output FILE] [--force] [--rounds N]

Prints every setting: name, value, origin of the value, default, type and meaning. PATTERN selects the
settings whose name, or name in another product, contains that text, of every level. The whole name of a
setting prints all there is to know about it. Where PATTERN is in names of Open MPI's parameters, what each is
here is printed, too: a setting, or why none.

A value comes from the first of: the command line of the job; the environment variable OXMPI_NAME; the
variable of another product with the same meaning; the file named by OXMPI_SETTINGS_FILE; the user's file
oxmpi/settings.toml in $XDG_CONFIG_HOME or ~/.config (lines NAME = \"VALUE\"); the site's file
/etc/oxmpi/settings.toml; the default.
",
    groups: &[
        OptionGroup { title: "Options", rows: &[
            value(&["level"], &["N"], "settings up to level N: 1 basic, 2 tuning (default), 3 expert",
                |o, v| v.set(&mut o.level, level)),
            flag(&["parsable"], "one line a setting, fields separated by tabs", |o| o.form = Form::Parsable),
            flag(&["json"], "print JSON (docs/formats.md)", |o| o.form = Form::Json),
            help(),
        ] },
        OptionGroup { title: "Tuning", rows: &[
            flag(&["tune"], "measure this machine, and write the settings that suit it to a file", |o| o.task = Task::Tune),
            flag(&["collectives"], "with --tune: measure collectives by each algorithm, and write rules for coll_rules",
                |o| o.collectives = true),
            value(&["output"], &["FILE"], "file to write; default: this user's settings.toml, or coll_rules.json beside it",
                |o, v| { o.output = Some(v.path()); Ok(()) }),
            flag(&["force"], "replace the file if it exists", |o| o.force = true),
            value(&["rounds"], &["N"], "number of rounds, whose medians count: 1 to 99, default 5",
                |o, v| v.set(&mut o.rounds, rounds)),
            value(&["measure"], &["LENGTHS"], "take part in one measurement, in a job of two ranks: prints nanoseconds one way for each \
                length (oxmpi run -n 2 oxmpi settings --measure 8,64K,1M)",
                |o, v| { o.task = Task::Measure(v.parse(lengths)?); Ok(()) }),
            value(&["on"], &["PROCESSORS"], "with --measure: the processor of each rank, such as 0,1",
                |o, v| v.set(&mut o.processors, processors)),
            value(&["collective"], &["NAME"], "with --measure: time of a call of this collective, on any number of ranks",
                |o, v| { o.collective = Some(v.parse(collective)?); Ok(()) }),
            flag(&["back-to-back"], "with --measure: time of one more message in a series without pauses", |o| o.timing = Timing::BackToBack),
            flag(&["in-a-row"], "", |o| o.timing = Timing::BackToBack),
        ] },
    ],
    outro: "\
--tune starts jobs of two ranks for some seconds, on the two cores that are nearest to each other and on the
two that are farthest apart. It measures the time of a message one way: the path of short messages
(short_limit, eager_limit), and the protocol and chunk size of long messages (shm_protocol, shm_chunk). A
setting gets another value than its default only if that is faster by more than 5%; the table shows the times
and the reason. The costs of a message inside a node are fitted to the LogGP model (coll_node_latency,
coll_node_overhead, coll_node_bandwidth: L, o and 1/G), for the choice of collective algorithms and for `oxmpi
sim --machine this`. Between nodes nothing is measured. Run it while the machine is idle. All ranks of a job
must choose the same algorithms: tune one host, and copy its file to the others.

--tune --collectives starts jobs of 2 and of 4 ranks, one for each collective and algorithm
(NAME_algorithm), over a hundred in each round: some minutes with 5 rounds. For each length the median of
the fastest algorithm is compared with the least time of what is usual, and gets a rule if it is less by
more than 5%. Jobs have no rules; all other settings are those of the environment, so rules for TCP come from
a run with OXMPI_TRANSPORTS=tcp. A rule knows numbers of ranks and lengths, no hosts: those measured here also
count where as few ranks are on several hosts. The file has an effect once the setting coll_rules names it.

  oxmpi settings --tune                                      for this user's jobs
  oxmpi settings --tune --output /etc/oxmpi/settings.toml    for all users' jobs
  oxmpi settings --tune --output here.toml                   for jobs with OXMPI_SETTINGS_FILE=here.toml
  oxmpi settings --tune --collectives --output rules.json    for jobs with OXMPI_COLL_RULES=rules.json
",
    operands: Operands::Each(|o, v| only_operand(&mut o.pattern, v.text()?.into())),    ..OptionTable::GNU
};

/// The command line.
struct Options {
    level: Option<Level>,
    form: Form,
    pattern: Option<String>,
    task: Task,
    output: Option<PathBuf>,
    force: bool,
    rounds: u32,
    processors: Vec<usize>,
    timing: Timing,
    collectives: bool,
    collective: Option<Collective>,
}

/// What the command does.
#[derive(Default, PartialEq, Eq)]
enum Task {
    #[default]
    Show,
    Tune,
    /// Take part in a measurement with messages of these lengths, in bytes.
    Measure(Vec<u64>),
}

/// Default of `--rounds`.
const ROUNDS: u32 = 5;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Table,
    Parsable,
    Json,
}

/// Runs `oxmpi settings` with these arguments.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    match run(&arguments) {
        Ok(text) => diagnostics::print(text),
        Err(failure) => diagnostics::exit_code(Err(failure)),
    }
}

/// The text to print.
fn run(arguments: &[OsString]) -> Result<String, CommandError> {
    let Some(options) = parse(arguments).map_err(CommandError::Usage)? else {
        return Ok(OPTIONS.help());
    };
    match options.task {
        Task::Show => shown(&options).map_err(CommandError::Usage),
        Task::Tune if options.collectives => {
            tune::collectives::run(options.output, options.force, options.rounds)
        }
        Task::Tune => tune::run(&TuneOptions {
            output: options.output,
            force: options.force,
            rounds: options.rounds,
            json: options.form == Form::Json,
            machine: usual_machine().map_err(CommandError::Usage)?,
        }),
        Task::Measure(lengths) => match options.collective {
            Some(collective) => tune::collectives::measure(collective, &lengths),
            None => tune::measure(&MeasureOptions {
                lengths,
                timing: options.timing,
                processors: options.processors,
            }),
        }
        .map_err(CommandError::Io),
    }
}

/// The machine of the setting `coll_machine`, without the settings for single costs.
fn usual_machine() -> Result<Machine, String> {
    let values = process_settings::values()?;
    let named = &values.get("coll_machine").text;
    machine(named).map_err(|bad| bad.to_string())
}

/// The selected settings in the selected form.
fn shown(options: &Options) -> Result<String, String> {
    let values = process_settings::values()?;
    values.warnings.iter().for_each(diagnostics::error);
    let shown = select(&values, options)?;
    Ok(match options.form {
        Form::Json => show::json(&shown, &values.warnings),
        Form::Parsable => show::parsable(&shown),
        Form::Table => match (shown.as_slice(), &options.pattern) {
            ([one], Some(pattern)) if one.setting.name == pattern => show::page(one),
            ([], Some(pattern)) => show::names_of_open_mpi(&shown, pattern),
            (_, pattern) => {
                let names = (pattern.iter())
                    .map(|pattern| show::names_of_open_mpi(&shown, pattern))
                    .filter(|names| !names.is_empty())
                    .map(|names| format!("\n{names}"));
                show::table(&shown, values.all.len()) + &names.collect::<String>()
            }
        },
    })
}

/// Reads the command line. `None`: print the help.
fn parse(arguments: &[OsString]) -> Result<Option<Options>, String> {
    let mut options = Options {
        level: None,
        form: Form::Table,
        pattern: None,
        task: Task::Show,
        output: None,
        force: false,
        rounds: ROUNDS,
        processors: Vec::new(),
        timing: Timing::OneWay,
        collectives: false,
        collective: None,
    };
    if OPTIONS.read(arguments, &mut options)? != Parsed::Run(&[]) {
        return Ok(None);
    }
    check(&options).map_err(|why| OPTIONS.with_help(why))?;
    Ok(Some(options))
}

/// Checks that the options do not contradict each other.
fn check(options: &Options) -> Result<(), &'static str> {
    let writes = options.output.is_some() || options.force || options.rounds != ROUNDS;
    let shows =
        options.level.is_some() || options.pattern.is_some() || options.form == Form::Parsable;
    let of_messages = !options.processors.is_empty() || options.timing != Timing::OneWay;
    if (writes || options.collectives) && options.task != Task::Tune {
        Err("--collectives, --output, --force and --rounds go with --tune")
    } else if options.collective.is_some() && !matches!(options.task, Task::Measure(_)) {
        Err("--collective goes with --measure")
    } else if options.collective.is_some() && of_messages {
        Err("--on and --back-to-back are for messages: leave them out with --collective")
    } else if options.collectives && options.form == Form::Json {
        Err("--tune --collectives has no --json: the file that it writes is JSON")
    } else if of_messages && !matches!(options.task, Task::Measure(_)) {
        Err("--on and --back-to-back go with --measure")
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

/// The longest message of a measurement in bytes.
const LONGEST: u64 = 1 << 30;

fn lengths(text: &str) -> Result<Vec<u64>, &'static str> {
    let length = |text| size(text).ok().filter(|bytes| *bytes <= LONGEST);
    let lengths: Option<Vec<u64>> = text.split(',').map(length).collect();
    lengths.ok_or("--measure takes lengths up to 1G, such as 8,64K,1M")
}

fn collective(text: &str) -> Result<Collective, String> {
    let all = tune::collectives::COLLECTIVES;
    let found = all.into_iter().find(|one| one.name() == text);
    found.ok_or_else(|| {
        let names = all.map(Collective::name);
        format!("--collective takes one of {}", names.join(", "))
    })
}

fn processors(text: &str) -> Result<Vec<usize>, &'static str> {
    let numbers: Result<Vec<usize>, _> = text.split(',').map(str::parse).collect();
    numbers.map_err(|_| "--on takes the numbers of processors, one a rank, such as 0,1")
}

/// The settings that the options select.
fn select<'a>(values: &'a Values, options: &Options) -> Result<Vec<&'a SettingValue>, String> {
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
    if shown.is_empty() && answered_names(pattern).next().is_none() {
        let names = values.all.iter().map(|v| v.setting.name);
        let hint = did_you_mean(pattern, names).map_or(String::new(), |hint| format!("; {hint}"));
        return Err(format!("no setting matches `{pattern}`{hint}"));
    }
    Ok(shown)
}

fn matches(value: &SettingValue, pattern: &str) -> bool {
    let aliases = value.setting.aliases.iter().map(|alias| alias.name);
    let variable = value.setting.env().to_string();
    value.setting.name.contains(pattern)
        || variable.contains(pattern)
        || aliases.into_iter().any(|name| name.contains(pattern))
}

#[cfg(test)]
mod tests;
