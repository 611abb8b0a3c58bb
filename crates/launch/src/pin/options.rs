//! The command line of `oxmpi pin`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use lexopt::prelude::*;
use oxmpi_os::host;
use oxmpi_pin::Compat;
use oxmpi_pin::openmpi::{Mapping, cpu_set};
use oxmpi_text::nearest;

use super::case::{self, Case, Variables};
use super::environment::{Environment, files, unknown};
use crate::complain;
use crate::target::Target;

/// Names of all long options.
const NAMES: &[&str] = &[
    "--batch",
    "--bind-to",
    "--compare",
    "--compat",
    "--cpu-set",
    "--domain",
    "--explain",
    "--force",
    "--format",
    "--help",
    "--input",
    "--levels",
    "--map-by",
    "--mask",
    "--on",
    "--order",
    "--ppn",
    "--processor-list",
    "--ranks",
    "--rules",
    "--set",
    "--threads",
    "--version",
];

/// What the user asked for.
#[derive(Debug, PartialEq)]
pub(super) enum Wish {
    /// Answer one case.
    Show(Box<Options>),
    /// Answer the cases of this file.
    Batch(PathBuf),
    /// Print the help.
    Help,
    /// Print the version.
    Version,
}

/// One case, and how its answer is shown.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Options {
    /// The machine as `--on` names it; `None`: this one.
    pub(super) machine: Option<String>,
    pub(super) case: Case,
    /// Two sets of settings to compare.
    pub(super) compare: Option<[Variables; 2]>,
    pub(super) explain: bool,
    pub(super) format: Format,
    pub(super) target: Target,
    /// What the user should know of the command line and the environment, a sentence each.
    pub(super) notes: Vec<String>,
}

/// How an answer is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Format {
    #[default]
    Text,
    Svg,
    Json,
}

const FORMATS: [(&str, Format); 4] = [
    ("text", Format::Text),
    ("txt", Format::Text),
    ("svg", Format::Svg),
    ("json", Format::Json),
];

impl Options {
    /// What the machine is called.
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
        let ranks = self.case.ranks;
        let s = if ranks == 1 { "" } else { "s" };
        format!("{ranks} rank{s} on {}", self.name())
    }
}

/// Reads the command line, and the variables of this process that count.
///
/// # Errors
/// A sentence that says what is wrong and what would have been right.
pub(super) fn parse(arguments: Vec<OsString>) -> Result<Wish, String> {
    read(arguments).map_err(|why| match &why {
        lexopt::Error::UnexpectedOption(option) => {
            complain::unknown_text("option", option, NAMES.iter().copied(), "oxmpi pin --help")
        }
        _ => complain::with_help(why, "oxmpi pin --help"),
    })
}

/// The command line as it is read, word by word.
#[derive(Default)]
struct Words {
    options: Options,
    ranks: Option<u32>,
    ppn: Option<u32>,
    compat: Option<Compat>,
    mapping: Mapping,
    set: Variables,
    format: Option<Format>,
    file: Option<PathBuf>,
    overwrite: bool,
    batch: Option<PathBuf>,
    count: usize,
}

fn read(arguments: Vec<OsString>) -> Result<Wish, lexopt::Error> {
    let mut words = Words::default();
    let case = &mut words.options.case;
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        words.count += 1;
        let mut set = |name: &str, value: String| words.set.insert(name.into(), value);
        match argument {
            Short('n') | Long("ranks") => words.ranks = Some(parser.value()?.parse_with(positive)?),
            Long("ppn") => words.ppn = Some(parser.value()?.parse_with(positive)?),
            Short('t') | Long("threads") => {
                case.threads = Some(parser.value()?.parse_with(number)?);
            }
            Short('i') | Long("on" | "input") => {
                words.options.machine = Some(parser.value()?.string()?);
            }
            Long("mask") => case.mask = Some(parser.value()?.parse_with(case::processors)?),
            Long("set") => {
                let (name, value) = parser.value()?.parse_with(assignment)?;
                set(&name, value);
            }
            Long("domain") => drop(set("I_MPI_PIN_DOMAIN", parser.value()?.string()?)),
            Long("order") => drop(set("I_MPI_PIN_ORDER", parser.value()?.string()?)),
            Long("processor-list") => {
                set("I_MPI_PIN_PROCESSOR_LIST", parser.value()?.string()?);
            }
            Long("bind-to") => words.mapping.bind_to = Some(parser.value()?.parse_with(typed)?),
            Long("cpu-set") => {
                let shown = |text: &str| cpu_set(text).map_err(|why| why.show(text).to_string());
                words.mapping.cpu_set = Some(parser.value()?.parse_with(shown)?);
            }
            Long("map-by") => words.mapping.map_by = Some(parser.value()?.parse_with(typed)?),
            Long("compat") => words.compat = Some(parser.value()?.parse_with(case::compat)?),
            Long("levels") => case.dialect.levels = parser.value()?.parse_with(case::levels)?,
            Long("rules") => case.dialect.rules = parser.value()?.parse_with(case::rules)?,
            Long("format") => words.format = Some(parser.value()?.parse_with(format)?),
            Long("explain") => words.options.explain = true,
            Long("compare") => {
                let a = parser.value()?.parse_with(assignments)?;
                let b = parser.value()?.parse_with(assignments)?;
                words.options.compare = Some([a, b]);
            }
            Long("batch") => words.batch = Some(parser.value()?.into()),
            Short('f') | Long("force") => words.overwrite = true,
            Short('h') | Long("help") => return Ok(Wish::Help),
            Short('V') | Long("version") => return Ok(Wish::Version),
            Value(file) if words.file.is_none() => words.file = Some(file.into()),
            other => return Err(other.unexpected()),
        }
    }
    Ok(words.wish()?)
}

impl Words {
    /// The words as a whole, if they fit together.
    fn wish(self) -> Result<Wish, String> {
        if let Some(path) = self.batch {
            return match self.count {
                1 => Ok(Wish::Batch(path)),
                _ => Err("--batch goes alone: its cases say everything themselves".into()),
            };
        }
        let mut options = self.options;
        let ranks = self
            .ranks
            .ok_or("how many ranks? Give -n, such as `oxmpi pin -n 4`")?;
        let here = self.ppn.map_or(ranks, |ppn| ppn.min(ranks));
        if here < ranks {
            options.notes.push(format!(
                "ranks 0 to {} of {ranks}, those of the first machine, are shown",
                here - 1
            ));
        }
        options.case.ranks = here;
        let environment = Environment::read(&files()?, std::env::vars_os())?;
        options.notes.extend(environment.notes);
        let case = &mut options.case;
        case.compat = self.compat.or(environment.compat).unwrap_or_default();
        case.mapping = (self.mapping != Mapping::default()).then_some(self.mapping);
        if case.mapping.is_some() && case.compat != Compat::Documented {
            let why =
                "--bind-to, --cpu-set and --map-by are Open MPI's, --compat is about Intel MPI";
            return Err(format!("{why}; give one"));
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
            (None, None) => Format::default(),
        };
        if options.compare.is_some() && (options.format != Format::Text || options.explain) {
            return Err("--compare is for text, without --explain".into());
        }
        if options.explain && options.format != Format::Text {
            return Err("--explain is for text".into());
        }
        options.target = Target::new(file, self.overwrite);
        Ok(Wish::Show(Box::new(options)))
    }
}

/// `NAME=VALUE` with a name that counts.
fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("expected NAME=VALUE, such as I_MPI_PIN_DOMAIN=core")?;
    match case::known().any(|known| known == name) {
        true => Ok((name.into(), value.into())),
        false => Err(unknown(name, case::known())),
    }
}

/// Assignments with blanks between them.
fn assignments(text: &str) -> Result<Variables, String> {
    text.split_whitespace().map(assignment).collect()
}

fn number(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| format!("expected a number from 0 to {}", u32::MAX))
}

fn positive(text: &str) -> Result<u32, String> {
    match number(text)? {
        0 => Err("expected a number from 1 on".into()),
        number => Ok(number),
    }
}

/// What has a grammar of its own.
fn typed<T: FromStr<Err = oxmpi_text::Error>>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|error: oxmpi_text::Error| error.show(text).to_string())
}

fn format(name: &str) -> Result<Format, String> {
    let found = FORMATS.iter().find(|(known, _)| *known == name);
    found.map(|(_, format)| *format).ok_or_else(|| {
        let near = nearest(name, FORMATS.iter().map(|(known, _)| *known));
        let hint = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        format!("unknown format; {hint}known are text, svg and json")
    })
}

/// The format that the ending of a file's name asks for.
fn format_of(file: &Path) -> Result<Format, String> {
    let ending = file.extension().unwrap_or_default().to_string_lossy();
    format(&ending).map_err(|_| {
        format!(
            "{}: the ending names no format; known are .txt, .svg and .json, or give --format",
            file.display()
        )
    })
}
