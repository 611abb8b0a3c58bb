//! Variables that make the OpenMP runtime of a rank place threads as `oxmpi pin -t` shows.
//!
//! The runtimes of LLVM and Intel read every thread setting themselves. libgomp reads neither `KMP_AFFINITY` nor
//! `KMP_HW_SUBSET`, and chooses its own places if only `OMP_PROC_BIND` is set: it gets the places as a list. Variables of
//! the user are never changed. Without thread settings nothing is exported: a runtime starts as many threads as the rank
//! has processors. No runtime reads `omp_num_threads` of the settings files of oxmpi: every rank gets that as a variable.

use std::ffi::OsString;
use std::path::Path;

use object::elf::{DT_NEEDED, FileHeader64};
use object::read::elf::{Dyn, FileHeader};
use object::{Endianness, ReadCache};
use oxmpi_pin::openmp::{Dialect, Levels, Request, Rules, Team, bind};
use oxmpi_pin::{Warning, WarningCode, omp_threads};
use oxmpi_topo::{CpuSet, Machine};

use super::options::{Options, Program};
use super::program_file;

/// The rules of the runtimes, so that libgomp places threads as LLVM's runtime does.
const DIALECT: Dialect = Dialect {
    levels: Levels::Current,
    rules: Rules::Runtime,
};

/// The longest list of places in bytes. Linux refuses variables of 128 KiB.
const PLACES_MAX: usize = 64 << 10;

/// The environment of the ranks of one program.
pub(super) struct RankEnvironment<'a> {
    options: &'a Options,
    program: &'a Program,
    /// The value for `OMP_NUM_THREADS` if that is not set.
    threads: Option<&'a str>,
}

/// Variables for one rank, and warnings about the settings behind them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct OpenmpExports {
    pub(super) variables: Vec<(&'static str, String)>,
    pub(super) warnings: Vec<String>,
}

/// Whether any rank has a thread setting.
pub(super) fn is_any_set(options: &Options) -> bool {
    let mut environments = environments(options, &[]);
    environments.any(|environment| environment.sets_threads())
}

/// The variables for each of `ranks`, which are pairs of a program number and processors. `threads` has for each
/// program the value for `OMP_NUM_THREADS` if that is not set.
pub(super) fn exports<'a>(
    machine: &Machine,
    options: &Options,
    threads: &[Option<String>],
    ranks: impl Iterator<Item = (usize, &'a CpuSet)>,
) -> Vec<OpenmpExports> {
    let environments: Vec<(RankEnvironment<'_>, bool)> = environments(options, threads)
        .map(|it| {
            let is_helped = it.sets_threads() && !it.has_llvm_runtime();
            (it, is_helped)
        })
        .collect();
    ranks
        .map(|(program, cpus)| {
            let (environment, is_helped) = &environments[program];
            let mut exports = match is_helped {
                true => of_rank(machine, cpus, |name| environment.text(name)),
                false => OpenmpExports::default(),
            };
            exports.variables.extend(environment.missing());
            exports
        })
        .collect()
}

/// The environment of each program.
fn environments<'a>(
    options: &'a Options,
    threads: &'a [Option<String>],
) -> impl Iterator<Item = RankEnvironment<'a>> {
    let programs = options.programs.iter().enumerate();
    programs.map(move |(number, program)| RankEnvironment {
        options,
        program,
        threads: threads.get(number).and_then(Option::as_deref),
    })
}

/// The variables for a rank on `cpus` whose runtime does not read all settings.
fn of_rank(
    machine: &Machine,
    cpus: &CpuSet,
    variable: impl Fn(&str) -> Option<String>,
) -> OpenmpExports {
    let is_set = |name| variable(name).is_some();
    let values = Request::VARIABLES.map(|name| (name, variable(name)));
    let value = |name: &str| {
        values
            .iter()
            .find(|(known, _)| *known == name)?
            .1
            .as_deref()
    };
    let threads = variable("OMP_NUM_THREADS").and_then(|text| omp_threads(&text));
    let request = Request {
        mask: Some(cpus),
        threads: threads.unwrap_or(0),
        ..Request::of(value)
    };
    let mut team = bind(machine, &request, DIALECT);
    // libgomp cannot bind threads outside the mask of its process.
    for place in &mut team.threads {
        let inside = &*place & cpus;
        *place = if inside.is_empty() {
            cpus.clone()
        } else {
            inside
        };
    }
    let mut exports = OpenmpExports::default();
    let mut export = |name, value: String| exports.variables.push((name, value));
    match (is_set("OMP_PLACES"), is_set("GOMP_CPU_AFFINITY")) {
        (true, false) if !is_set("OMP_PROC_BIND") => export("OMP_PROC_BIND", "spread".into()),
        (false, false) if is_bound(&team, cpus) => {
            let places = team.omp_places();
            if places.len() > PLACES_MAX {
                let why = "the places of so many threads are too long for OMP_PLACES: libgomp will not bind them";
                exports.warnings.push(why.into());
                return exports;
            }
            export("OMP_PLACES", places);
            if !is_set("OMP_PROC_BIND") {
                export("OMP_PROC_BIND", "close".into());
            }
        }
        _ => {}
    }
    let is_cut = is_set("KMP_HW_SUBSET") || is_set("KMP_PLACE_THREADS");
    let count = team.threads.len();
    if is_cut && count != cpus.len() && !is_set("OMP_NUM_THREADS") {
        export("OMP_NUM_THREADS", count.to_string());
    }
    // libgomp warns of the settings that it reads itself.
    let is_ours = !exports.variables.is_empty() || is_set("KMP_AFFINITY");
    if is_ours || !team.hints.is_empty() {
        let is_kept = |warning: &Warning| warning.code != WarningCode::SettingOverridden;
        team.warnings.retain(is_kept);
        let texts = team.warnings.into_iter().map(|warning| warning.text);
        exports.warnings.extend(texts.chain(team.hints));
    }
    exports
}

/// Whether a thread has fewer processors than its rank.
fn is_bound(team: &Team, cpus: &CpuSet) -> bool {
    team.threads.iter().any(|place| place != cpus)
}

impl RankEnvironment<'_> {
    /// The value of a variable; bytes that are not UTF-8 are replaced.
    fn text(&self, name: &str) -> Option<String> {
        let value = self.value(name);
        let text = value.map(|value| value.to_string_lossy().into_owned());
        let missing = self.missing().filter(|(known, _)| *known == name);
        text.or_else(|| missing.map(|(_, value)| value))
    }

    /// `OMP_NUM_THREADS` with the value of the settings files, if the variable is not set.
    fn missing(&self) -> Option<(&'static str, String)> {
        let name = "OMP_NUM_THREADS";
        let threads = self.threads.filter(|_| self.value(name).is_none())?;
        Some((name, threads.into()))
    }

    fn value(&self, name: &str) -> Option<OsString> {
        program_file::variable(&self.options.env, self.program, name)
    }

    /// Whether a setting of threads is given.
    fn sets_threads(&self) -> bool {
        let mut names = Request::VARIABLES.iter();
        names.any(|name| self.value(name).is_some())
    }

    /// Whether the program is linked with the OpenMP runtime of LLVM or Intel, according to its file.
    fn has_llvm_runtime(&self) -> bool {
        let mut libraries = self.preloaded();
        libraries.extend(
            program_file::find(&self.options.env, self.program)
                .and_then(|file| needed(&file))
                .unwrap_or_default(),
        );
        let has = |name: &str| libraries.iter().any(|library| library.starts_with(name));
        (has("libomp") || has("libiomp")) && !has("libgomp")
    }

    fn preloaded(&self) -> Vec<String> {
        let listed = self.text("LD_PRELOAD").unwrap_or_default();
        let paths = listed.split([' ', ':']).map(Path::new);
        let names = paths.filter_map(|path| path.file_name()?.to_str());
        names.map(String::from).collect()
    }
}

/// The shared libraries that a program needs; `None` if the file is no ELF program.
fn needed(file: &Path) -> Option<Vec<String>> {
    // Opening a FIFO would block.
    if !file.is_file() {
        return None;
    }
    let file = ReadCache::new(std::fs::File::open(file).ok()?);
    let header = FileHeader64::<Endianness>::parse(&file).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, &file).ok()?;
    let (entries, names) = sections.dynamic(endian, &file).ok()??;
    let names = sections.strings(endian, &file, names).ok()?;
    let libraries = entries
        .iter()
        .filter(|entry| entry.tag(endian) == DT_NEEDED);
    let name = |entry: &object::elf::Dyn64<Endianness>| {
        let name = entry.string(endian, names).ok()?;
        Some(String::from_utf8_lossy(name).into_owned())
    };
    libraries.map(name).collect()
}

#[cfg(test)]
mod tests;
