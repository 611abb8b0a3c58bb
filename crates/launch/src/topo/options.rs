//! The command line of `oxmpi topo`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use oxmpi_os::host;
use oxmpi_topo::render::Numbers;
use oxmpi_topo::view::{Devices, Levels, View};
use oxmpi_topo::{CpuSet, Kind};

use super::format::TopoFormat;
use super::source::MachineSource;
use crate::destination::Destination;
use crate::diagnostics::did_you_mean;
use crate::options::*;

#[rustfmt::skip]
pub(super) const OPTIONS: OptionTable<Typed> = OptionTable {
    command: "oxmpi topo",
    intro: "\
Usage: oxmpi topo [OPTIONS] [FILE]

Shows a machine: packages, NUMA nodes, caches, cores, processors and devices; without options this machine, as
text. The ending of FILE selects the format (.txt, .svg, .xml, .json, .synthetic); `-` is standard output.

  oxmpi topo                                  this machine
  oxmpi topo machine.svg                      a picture of this machine
  oxmpi topo --only core                      the cores, one a line
  oxmpi topo -i other.xml --restrict 0-7      part of a machine that hwloc described
  oxmpi topo -i 'package:2 l3:1 core:4 pu:2'  a synthetic machine
  oxmpi topo --record DIR                     files for a bug report; `-i DIR` reads them back
",
    groups: &[
        OptionGroup { title: "Machine", rows: &[
            value(&["i", "input"], &["X"], "a directory with recorded /proc and /sys, or with cpuid dumps (pu0, pu1 ...); an hwloc XML file \
                (version 2 or 3); a /proc/cpuinfo file; a recording in one text; a synthetic string; or `-`: one of these texts on \
                standard input. The content tells which; a name of no file or directory is a synthetic string.",
                |o, v| { o.input = Some(v.text()?.into()); Ok(()) }),
            value(&["source"], &["S"], "the source that describes this machine: linux, /proc and /sys (default; where they lack processors, as probe); cpuid, the instruction on every \
                processor; cpuid-local, the instruction on one processor, all others taken to be alike; cpuinfo, /proc/cpuinfo; flat, \
                no source; hwloc, if built in; probe, the first of cpuid, cpuid-local, cpuinfo and flat that answers",
                |o, v| v.set(&mut o.source, MachineSource::named)),
            value(&["record"], &["DIR"], "write the files that describe this machine into DIR, which is new or empty",
                |o, v| { o.record = Some(v.path()); Ok(()) }),
        ] },
        OptionGroup { title: "Form", rows: &[
            value(&["format", "of", "output-format"], &["F"], "text, svg, xml (hwloc's, version 2), json (docs/formats.md) or synthetic",
                |o, v| v.set(&mut o.format, TopoFormat::named)),
            value(&["."], &["F"], "", |o, v| { // `-.xml` of lstopo: the format of standard output.
                o.file = Some("-".into());
                v.set(&mut o.format, TopoFormat::named)
            }),
            flag(&["f", "force"], "overwrite FILE if it exists", |o| o.overwrite = true),
            flag(&["l", "logical"], "logical numbers only, as L#0", |o| o.options.numbers = Numbers::Logical),
            flag(&["p", "physical"], "the operating system's numbers only, as P#0", |o| o.options.numbers = Numbers::Physical),
            flag(&["no-collapse"], "one line for each PCI function, also where several are alike", |o| o.options.each_function = true),
            value(&["only"], &["KIND"], "only objects of this kind, one a line: package, core, l3, numa, pu ...",
                |o, v| { o.parts.push(ShownPart::Only(v.parse(kind)?)); Ok(()) }),
            flag(&["distances"], "only the distance matrices", |o| o.parts.push(ShownPart::Distances)),
            flag(&["cpukinds"], "only the kinds of cores", |o| o.parts.push(ShownPart::CoreKinds)),
        ] },
        OptionGroup { title: "Part", rows: &[
            value(&["restrict"], &["SET"], "only these processors: a list `0-3,8`; a mask `0xff`; or `binding`, the processors that this \
                command, or the command that made a recording, may run on",
                |o, v| v.set(&mut o.options.restrict, restriction)),
            flag(&["no-io"], "no devices", |o| o.options.view.devices = Devices::None),
            flag(&["whole-io"], "all devices, also bridges and other devices of the board", |o| o.options.view.devices = Devices::All),
            flag(&["merge"], "only levels that add structure", |o| o.options.view.levels = Levels::Structure),
            flag(&["disallowed"], "also what control groups forbid this process", |o| o.options.view.disallowed = true),
            flag(&["all"], "every level, every device, and what is disallowed", |o| o.options.view = View::EVERYTHING),
        ] },
        OptionGroup { title: "Other", rows: &[help(), version()] },
    ],
    outro: "The exit code is 0; 1 when something cannot be read or written; 2 for a wrong command line.\n",
    operands: Operands::Each(|o, v| only_operand(&mut o.file, v.path())),    ..OptionTable::GNU
};

/// What the command line asks for.
#[derive(Debug, PartialEq)]
pub(super) enum TopoRequest {
    /// Show a machine.
    Show(Options),
    /// Record this machine in this directory, for a bug report.
    Record(PathBuf),
    /// Print the help.
    Help,
    /// Print the version.
    Version,
}

/// The machine, the part, and the form.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Options {
    pub(super) input: MachineInput,
    pub(super) format: TopoFormat,
    pub(super) target: Destination,
    pub(super) numbers: Numbers,
    pub(super) part: ShownPart,
    pub(super) restrict: Option<CpuRestriction>,
    pub(super) view: View,
    /// Whether each PCI function has a line.
    pub(super) each_function: bool,
}

/// What is shown of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ShownPart {
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
pub(super) enum MachineInput {
    /// This machine, by a source.
    This(MachineSource),
    /// Another machine, by `--input`.
    Input(String),
}

impl Default for MachineInput {
    fn default() -> Self {
        Self::This(MachineSource::default())
    }
}

impl MachineInput {
    /// The name of the machine: the host, the name of a file, or the synthetic string.
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

/// The processors of `--restrict`.
#[derive(Debug, PartialEq)]
pub(super) enum CpuRestriction {
    /// The processors in the mask of this command.
    Binding,
    /// These.
    To(CpuSet),
}

/// Reads the command line.
///
/// # Errors
/// A sentence that says what is wrong and what was expected.
pub(super) fn parse(arguments: &[OsString]) -> Result<TopoRequest, String> {
    let mut typed = Typed::default();
    match OPTIONS.read(arguments, &mut typed)? {
        Parsed::Help => Ok(TopoRequest::Help),
        Parsed::Version => Ok(TopoRequest::Version),
        Parsed::Run(_) => typed.request().map_err(|why| OPTIONS.with_help(why)),
    }
}

/// The options as typed, before they are checked against each other.
#[derive(Default)]
pub(super) struct Typed {
    options: Options,
    input: Option<String>,
    source: Option<MachineSource>,
    format: Option<TopoFormat>,
    file: Option<PathBuf>,
    record: Option<PathBuf>,
    overwrite: bool,
    /// `--only`, `--distances` and `--cpukinds` in the order typed.
    parts: Vec<ShownPart>,
}

impl Typed {
    /// The request, if the options fit together.
    fn request(self) -> Result<TopoRequest, String> {
        let mut options = self.options;
        if let Some(directory) = self.record {
            let is_alone = options == Options::default()
                && self.input.is_none()
                && self.source.is_none()
                && self.format.is_none()
                && self.file.is_none()
                && self.parts.is_empty();
            return match is_alone {
                true => Ok(TopoRequest::Record(directory)),
                false => {
                    Err("--record writes all of this machine: leave the other options out".into())
                }
            };
        }
        options.part = match self.parts.as_slice() {
            [] => ShownPart::Tree,
            [part] => *part,
            _ => return Err("--only, --distances and --cpukinds exclude each other".into()),
        };
        options.input = match (self.input, self.source) {
            (Some(_), Some(_)) => {
                return Err(
                    "--source describes this machine, --input another: leave one out".into(),
                );
            }
            (Some(input), None) => MachineInput::Input(input),
            (None, source) => MachineInput::This(source.unwrap_or_default()),
        };
        let file = self.file.filter(|file| file.as_os_str() != "-");
        options.format = match (self.format, &file) {
            (Some(format), _) => format,
            (None, Some(file)) => TopoFormat::of_file(file)?,
            (None, None) => TopoFormat::default(),
        };
        options.target = Destination::new(file, self.overwrite);
        options.check()?;
        Ok(TopoRequest::Show(options))
    }
}

impl Options {
    /// Checks that the format can show what the options select.
    fn check(&self) -> Result<(), String> {
        let is_text = self.format == TopoFormat::Text;
        let has_numbers = is_text || self.format == TopoFormat::Svg;
        let is_only = matches!(self.part, ShownPart::Only(_));
        let conflicts = [
            (is_only && !is_text, "--only needs the format text"),
            (
                self.part == ShownPart::Distances && !is_text,
                "--distances needs the format text",
            ),
            (
                self.part == ShownPart::CoreKinds && !is_text,
                "--cpukinds needs the format text",
            ),
            (
                self.each_function && !is_text,
                "--no-collapse needs the format text",
            ),
            (
                self.numbers != Numbers::Both && !has_numbers,
                "-l and -p need the format text or svg",
            ),
        ];
        let conflict = conflicts.iter().find(|(is_conflict, _)| *is_conflict);
        conflict.map_or(Ok(()), |(_, why)| Err((*why).into()))
    }
}

/// The kind of this name.
fn kind(name: &str) -> Result<Kind, String> {
    name.parse().map_err(|_| {
        let known: Vec<&str> = Kind::all().map(Kind::name).collect();
        let hint =
            did_you_mean(name, known.iter().copied()).map_or(String::new(), |hint| hint + " ");
        format!(
            "unknown kind of object; {hint}known are {}",
            known.join(", ")
        )
    })
}

/// Processors as a list, a mask, or `binding`.
fn restriction(text: &str) -> Result<CpuRestriction, String> {
    let set = match text {
        "binding" => return Ok(CpuRestriction::Binding),
        _ if text.starts_with("0x") => CpuSet::parse_mask(text),
        _ => CpuSet::parse_list(text),
    };
    match set {
        Ok(set) if set.is_empty() => Err("the set is empty".into()),
        Ok(set) => Ok(CpuRestriction::To(set)),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
