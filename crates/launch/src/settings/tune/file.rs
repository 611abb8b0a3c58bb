//! The settings file that `oxmpi settings --tune` writes.

use std::path::Path;

use oxmpi_os::host;

use super::TuningReport;
use super::choose::SettingChoice;
use super::pairs::CpuPair;

/// Checks before the measurement that `path` may be written.
///
/// # Errors
/// The file exists without `--force`, or its folder does not exist.
pub(super) fn check(path: &Path, force: bool) -> Result<(), String> {
    if path.symlink_metadata().is_ok() && !force {
        return Err(format!(
            "{}: exists, and may hold settings made by hand: --force replaces it whole, --output FILE \
             writes another one",
            path.display()
        ));
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => Err(format!(
            "{}: there is no folder {}; make it, or name another file: --output FILE",
            path.display(),
            folder.display()
        )),
        _ => Ok(()),
    }
}

/// The file: a line for each value that differs from its default, and a comment for each default.
pub(super) fn text(report: &TuningReport) -> String {
    let between = report
        .pairs
        .iter()
        .map(describe)
        .collect::<Vec<_>>()
        .join(", ");
    let mut text = format!(
        "# Written by `oxmpi settings --tune` on {}, from messages between {between}.\n\
         # Every job has these values that reads this file; without a line its setting has its \
         default.\n\
         # All hosts of a job need the same coll_ values, or it ends at its start: copy this file, and tune no second host.\n",
        host::name()
    );
    for SettingChoice {
        setting,
        value,
        why,
    } in &report.choices
    {
        text += &match value {
            Some(value) => format!("\n# {why}\n{setting} = \"{value}\"\n"),
            None => format!("\n# {setting} stays as it is: {why}\n"),
        };
    }
    text
}

/// A description of a processor pair.
pub(super) fn describe(pair: &CpuPair) -> String {
    let CpuPair {
        name,
        processors: [first, second],
        line_transfer_ns,
    } = pair;
    format!("processors {first} and {second} ({name}: a cache line takes {line_transfer_ns:.0} ns)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_settings::{File, Origin, Sources, TABLE, resolve};

    fn choice(setting: &'static str, value: Option<&str>) -> SettingChoice {
        SettingChoice {
            setting,
            value: value.map(String::from),
            why: "since it is so".into(),
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let report = TuningReport {
            pairs: vec![CpuPair {
                name: "near",
                processors: [0, 1],
                line_transfer_ns: 50.0,
            }],
            measurements: Vec::new(),
            choices: vec![
                choice("short_limit", None),
                choice("eager_limit", Some("2048")),
                choice("shm_protocol", Some("cma")),
                choice("shm_chunk", Some("32KiB")),
            ],
            file: "tuned.toml".into(),
        };
        let sources = Sources {
            files: vec![File {
                path: report.file.clone(),
                content: text(&report),
            }],
            ..Sources::default()
        };
        let values = resolve(TABLE, &sources).expect("a file that is understood");
        assert!(values.warnings.is_empty(), "{:?}", values.warnings);
        for SettingChoice { setting, value, .. } in &report.choices {
            let read = values.get(setting);
            assert_eq!(read.text, value.as_deref().unwrap_or("auto"), "{setting}");
            let is_set = matches!(read.origin, Origin::File { .. });
            assert_eq!(is_set, value.is_some(), "{setting}");
        }
    }

    #[test]
    fn a_file_that_is_there_is_kept_unless_it_may_go() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let why = check(&here, false).unwrap_err();
        assert!(why.contains("exists") && why.contains("--force"), "{why}");
        assert_eq!(check(&here, true), Ok(()));
        assert_eq!(check(Path::new("no-such-file.toml"), false), Ok(()));
        let why = check(Path::new("/no/such/folder/file.toml"), false).unwrap_err();
        assert!(why.contains("no folder /no/such/folder"), "{why}");
    }
}
