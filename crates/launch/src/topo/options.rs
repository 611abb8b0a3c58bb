//! The command line of `oxmpi topo`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lexopt::prelude::*;
use oxmpi_os::host;
use oxmpi_text::nearest;
use oxmpi_topo::render::Numbers;
use oxmpi_topo::view::{Devices, Levels, View};
use oxmpi_topo::{CpuSet, Kind};

use super::format::Format;
use super::source::Choice;
use crate::complain;
use crate::target::Target;

/// Names of all long options.
const NAMES: &[&str] = &[
    "--all",
    "--cpukinds",
    "--distances",
    "--disallowed",
    "--force",
    "--format",
    "--help",
    "--input",
    "--logical",
    "--merge",
    "--no-collapse",
    "--no-io",
    "--of",
    "--only",
    "--output-format",
    "--physical",
    "--record",
    "--restrict",
    "--source",
    "--version",
    "--whole-io",
];

/// What the user asked for.
#[derive(Debug, PartialEq)]
pub(super) enum Wish {
    /// Show a machine.
    Show(Options),
    /// Write what a bug report needs into this directory.
    Record(PathBuf),
    /// Print the help.
    Help,
    /// Print the version.
    Version,
}

/// Which machine, what of it, and how.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Options {
    pub(super) subject: Subject,
    pub(super) format: Format,
    pub(super) target: Target,
    pub(super) numbers: Numbers,
    pub(super) what: What,
    pub(super) restrict: Option<Restriction>,
    pub(super) view: View,
    /// Whether PCI functions that are alike have a line each.
    pub(super) each_function: bool,
}

/// What is shown of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum What {
    /// All of it.
    #[default]
    Tree,
    /// The objects of one kind.
    Only(Kind),
    /// The matrices of distances.
    Distances,
    /// The kinds of cores.
    CoreKinds,
}

/// The machine that is shown.
#[derive(Debug, PartialEq)]
pub(super) enum Subject {
    /// This one, as a source tells of it.
    This(Choice),
    /// Another, as `--input` names it.
    Input(String),
}

impl Default for Subject {
    fn default() -> Self {
        Self::This(Choice::default())
    }
}

impl Subject {
    /// What the machine is called: this one as the host, a file by its name, a synthetic machine by its string.
    pub(super) fn name(&self) -> String {
        match self {
            Self::This(_) => host::name(),
            Self::Input(input) if input == "-" => "standard input".into(),
            Self::Input(input) => {
                let path = Path::new(input)
                    .file_name()
                    .filter(|_| Path::new(input).exists());
                path.map_or_else(|| input.clone(), |name| name.to_string_lossy().into_owned())
            }
        }
    }
}

/// Processors to which the machine is restricted.
#[derive(Debug, PartialEq)]
pub(super) enum Restriction {
    /// Those that the command itself may run on.
    Binding,
    /// These.
    To(CpuSet),
}

/// Reads the command line.
///
/// # Errors
/// A sentence that says what is wrong and what would have been right.
pub(super) fn parse(arguments: Vec<OsString>) -> Result<Wish, String> {
    read(arguments).map_err(|why| match &why {
        lexopt::Error::UnexpectedOption(option) => {
            complain::unknown_text("option", option, NAMES.iter().copied(), "oxmpi topo --help")
        }
        _ => complain::with_help(why, "oxmpi topo --help"),
    })
}

/// The command line as it is read, word by word.
#[derive(Default)]
struct Words {
    options: Options,
    input: Option<String>,
    source: Option<Choice>,
    format: Option<Format>,
    file: Option<PathBuf>,
    record: Option<PathBuf>,
    overwrite: bool,
}

fn read(arguments: Vec<OsString>) -> Result<Wish, lexopt::Error> {
    let mut words = Words::default();
    let options = &mut words.options;
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Short('i') | Long("input") => words.input = Some(parser.value()?.string()?),
            Long("source") => words.source = Some(parser.value()?.parse_with(Choice::named)?),
            Long("format" | "of" | "output-format") => {
                words.format = Some(parser.value()?.parse_with(Format::named)?);
            }
            Short('f') | Long("force") => words.overwrite = true,
            Short('l') | Long("logical") => options.numbers = Numbers::Logical,
            Short('p') | Long("physical") => options.numbers = Numbers::Physical,
            Long("only") => options.show(What::Only(parser.value()?.parse_with(kind)?))?,
            Long("restrict") => {
                options.restrict = Some(parser.value()?.parse_with(restriction)?);
            }
            Long("all") => options.view = View::EVERYTHING,
            Long("disallowed") => options.view.disallowed = true,
            Long("merge") => options.view.levels = Levels::Structure,
            Long("no-io") => options.view.devices = Devices::None,
            Long("no-collapse") => options.each_function = true,
            Long("whole-io") => options.view.devices = Devices::All,
            Long("distances") => options.show(What::Distances)?,
            Long("cpukinds") => options.show(What::CoreKinds)?,
            Long("record") => words.record = Some(parser.value()?.into()),
            Short('h') | Long("help") => return Ok(Wish::Help),
            Short('V') | Long("version") => return Ok(Wish::Version),
            // `-.xml`, as users of lstopo know it.
            Short('.') => {
                words.format = Some(parser.value()?.parse_with(Format::named)?);
                words.file = Some("-".into());
            }
            Value(file) if words.file.is_none() => words.file = Some(file.into()),
            other => return Err(other.unexpected()),
        }
    }
    Ok(words.wish()?)
}

impl Words {
    /// The words as a whole, if they fit together.
    fn wish(self) -> Result<Wish, String> {
        let Self {
            mut options,
            input,
            source,
            format,
            file,
            record,
            overwrite,
        } = self;
        if let Some(directory) = record {
            let alone = options == Options::default();
            let nothing_else =
                input.is_none() && source.is_none() && format.is_none() && file.is_none();
            return match alone && nothing_else {
                true => Ok(Wish::Record(directory)),
                false => {
                    Err("--record writes all of this machine and goes with no other option".into())
                }
            };
        }
        options.subject = match (input, source) {
            (Some(_), Some(_)) => {
                return Err("--source is for this machine, not for one of --input".into());
            }
            (Some(input), None) => Subject::Input(input),
            (None, source) => Subject::This(source.unwrap_or_default()),
        };
        let file = file.filter(|file| file.as_os_str() != "-");
        options.format = match (format, &file) {
            (Some(format), _) => format,
            (None, Some(file)) => Format::of_file(file)?,
            (None, None) => Format::default(),
        };
        options.target = Target::new(file, overwrite);
        options.check()?;
        Ok(Wish::Show(options))
    }
}

impl Options {
    fn show(&mut self, what: What) -> Result<(), String> {
        match self.what {
            What::Tree => self.what = what,
            _ => {
                return Err("--only, --distances and --cpukinds each show a part; give one".into());
            }
        }
        Ok(())
    }

    /// Checks that the format has what is wanted of it.
    fn check(&self) -> Result<(), String> {
        let numbered = matches!(self.format, Format::Text | Format::Svg);
        let text = self.format == Format::Text;
        let wanted = [
            (
                matches!(self.what, What::Only(_)),
                text,
                "--only is for text",
            ),
            (
                self.what == What::Distances,
                text,
                "--distances is for text",
            ),
            (self.what == What::CoreKinds, text, "--cpukinds is for text"),
            (self.each_function, text, "--no-collapse is for text"),
            (
                self.numbers != Numbers::Both,
                numbered,
                "-l and -p are for text and svg",
            ),
        ];
        let wrong = wanted.iter().find(|(is_wanted, has, _)| *is_wanted && !has);
        wrong.map_or(Ok(()), |(_, _, why)| Err((*why).into()))
    }
}

/// The kind of this name.
fn kind(name: &str) -> Result<Kind, String> {
    name.parse().map_err(|_| {
        let known: Vec<&str> = Kind::all().map(Kind::name).collect();
        let near = nearest(name, known.iter().copied());
        let hint = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        format!("no kind of object; {hint}known are {}", known.join(", "))
    })
}

/// Processors as a list, a mask, or a word.
fn restriction(text: &str) -> Result<Restriction, String> {
    let set = match text {
        "binding" => return Ok(Restriction::Binding),
        _ if text.starts_with("0x") => CpuSet::parse_mask(text),
        _ => CpuSet::parse_list(text),
    };
    match set {
        Ok(set) if set.is_empty() => Err("no processor is in this set".into()),
        Ok(set) => Ok(Restriction::To(set)),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
