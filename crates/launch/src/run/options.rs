//! The command line of `oxmpi run`, read by the table in [`flags`].

pub(crate) mod flags;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use oxmpi_pin::openmpi::{self, MapBy, Mapping};
use oxmpi_text::{Error, whole};

use super::hosts;
use flags::Effect;

/// The most ranks that a command line may ask for.
const RANKS_MAX: u64 = 1 << 20;

/// What the user asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// The programs of the job in order; at least one unless `help` or `version`.
    pub(crate) programs: Vec<Program>,
    /// Variables for all ranks.
    pub(crate) env: Vec<(OsString, OsString)>,
    /// Settings by their Open MPI names.
    pub(crate) settings: Vec<(String, String)>,
    /// Hosts named, on the command line and in host files.
    pub(crate) hosts: Vec<String>,
    /// Ranks of one host side by side.
    pub(crate) ranks_per_host: Option<u32>,
    /// A command around each rank, which puts it on its host.
    pub(crate) wrap: Option<String>,
    /// How ranks are mapped and bound, as Open MPI's options say; `None` without any.
    pub(crate) mapping: Option<Mapping>,
    /// Whether two ranks on one processor are what the user wants.
    pub(crate) oversubscribe: bool,
    /// Whether every line of output says which rank wrote it.
    pub(crate) label: bool,
    /// Whether the map of the job is printed.
    pub(crate) display_map: bool,
    /// Whether each rank's binding is printed.
    pub(crate) report_bindings: bool,
    /// Whether only the help is wanted.
    pub(crate) help: bool,
    /// Whether only the version is wanted.
    pub(crate) version: bool,
}

/// One program of a job with its share of the ranks.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    /// How many ranks run it; `None`: one for each processor.
    pub(crate) ranks: Option<u32>,
    /// The program, searched in `PATH` when it has no slash.
    pub(crate) command: OsString,
    /// Its arguments.
    pub(crate) arguments: Vec<OsString>,
    /// Variables for its ranks.
    pub(crate) env: Vec<(OsString, OsString)>,
    /// Where it starts; `None`: here.
    pub(crate) directory: Option<PathBuf>,
}

/// Reads the command line.
///
/// # Errors
/// A sentence that says what is wrong and what would have been right.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Options, String> {
    let mut options = Options::default();
    for part in arguments.split(|argument| argument == ":") {
        let program = parse_program(&mut options, part)?;
        if options.help || options.version {
            return Ok(options);
        }
        if program.command.is_empty() {
            return Err(
                "no program given: `oxmpi run -n 2 PROGRAM`. See `oxmpi run --help`.".into(),
            );
        }
        options.programs.push(program);
    }
    Ok(options)
}

/// Reads flags until a word that is none: the program.
fn parse_program(options: &mut Options, part: &[OsString]) -> Result<Program, String> {
    let mut program = Program::default();
    let mut rest = part.iter();
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy();
        let Some(name) = text.strip_prefix('-').filter(|_| text != "--") else {
            let command = if text == "--" {
                rest.next()
            } else {
                Some(word)
            };
            program.command = command.cloned().unwrap_or_default();
            program.arguments = rest.cloned().collect();
            break;
        };
        let name = name.strip_prefix('-').unwrap_or(name);
        let (name, joined) = match name.split_once('=') {
            Some((name, value)) => (name, Some(OsString::from(value))),
            None => (name, None),
        };
        let flag = flags::find(name).ok_or_else(|| flags::unknown(name))?;
        let mut values: Vec<&OsStr> = joined.iter().map(OsString::as_os_str).collect();
        while values.len() < flag.values.len() {
            let missing = || {
                format!(
                    "{text} needs {}. See `oxmpi run --help`.",
                    flag.values.join(" and ")
                )
            };
            values.push(rest.next().ok_or_else(missing)?);
        }
        if values.len() > flag.values.len() {
            return Err(format!("-{name} takes no value. See `oxmpi run --help`."));
        }
        apply(options, &mut program, flag.effect, &values)
            .map_err(|why| format!("{}: {why}", text.split('=').next().unwrap_or(name)))?;
    }
    Ok(program)
}

/// Does what one flag with its values says.
fn apply(
    options: &mut Options,
    program: &mut Program,
    effect: Effect,
    values: &[&OsStr],
) -> Result<(), String> {
    match effect {
        Effect::Ranks => program.ranks = Some(ranks(values[0])?),
        Effect::RanksPerHost => options.ranks_per_host = Some(ranks(values[0])?),
        Effect::Wrap => options.wrap = Some(values[0].to_string_lossy().into_owned()),
        Effect::Directory => program.directory = Some(directory(values[0])?),
        Effect::Hosts => options
            .hosts
            .extend(hosts::in_list(&values[0].to_string_lossy())),
        Effect::HostFile => options.hosts.extend(hosts::in_file(values[0])?),
        Effect::Variable => program.env.push(variable(values)?),
        Effect::VariableForAll => options.env.push(variable(values)?),
        Effect::Export => options.env.extend(exported(values[0])?),
        Effect::Setting => {
            let (name, value) = variable(values)?;
            let text = |part: OsString| part.to_string_lossy().into_owned();
            options.settings.push((text(name), text(value)));
        }
        Effect::CpuSet => mapping(options).cpu_set = Some(read(values[0], openmpi::cpu_set)?),
        Effect::MapBy => {
            let map_by = read(values[0], str::parse::<MapBy>)?;
            options.oversubscribe |= map_by.oversubscribe;
            mapping(options).map_by = Some(map_by);
        }
        Effect::BindTo => mapping(options).bind_to = Some(read(values[0], str::parse)?),
        Effect::Oversubscribe => options.oversubscribe = true,
        Effect::DisplayMap => options.display_map = true,
        Effect::ReportBindings => options.report_bindings = true,
        Effect::Label => options.label = true,
        Effect::Help => options.help = true,
        Effect::Version => options.version = true,
        Effect::Nothing => {}
    }
    Ok(())
}

fn mapping(options: &mut Options) -> &mut Mapping {
    options.mapping.get_or_insert_default()
}

/// The value of an option; what is wrong is shown with a caret.
fn read<T>(value: &OsStr, parse: impl Fn(&str) -> Result<T, Error>) -> Result<T, String> {
    let text = value.to_string_lossy();
    parse(&text).map_err(|error| error.show(&text).to_string())
}

fn ranks(value: &OsStr) -> Result<u32, String> {
    let text = value.to_string_lossy();
    let count = whole(&text, 1..=RANKS_MAX, "a number of ranks from 1 to 1048576");
    count
        .map_err(|error| error.show(&text).to_string())
        .map(|count| u32::try_from(count).unwrap_or(u32::MAX))
}

fn directory(value: &OsStr) -> Result<PathBuf, String> {
    let path = PathBuf::from(value);
    if path.is_dir() {
        Ok(path)
    } else {
        Err(format!("{} is no directory", path.display()))
    }
}

fn variable(values: &[&OsStr]) -> Result<(OsString, OsString), String> {
    let name = values[0].to_string_lossy();
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(format!("`{name}` cannot be the name of a variable"));
    }
    Ok((values[0].to_owned(), values[1].to_owned()))
}

/// The variable that `-x` names, if it has a value of its own there: others are passed on anyway.
fn exported(value: &OsStr) -> Result<Option<(OsString, OsString)>, String> {
    let text = value.to_string_lossy();
    match text.split_once('=') {
        Some((name, value)) => variable(&[OsStr::new(name), OsStr::new(value)]).map(Some),
        None if std::env::var_os(value).is_some() => Ok(None),
        None => Err(format!("`{text}` is not set here; give `{text}=VALUE`")),
    }
}

#[cfg(test)]
mod tests;
