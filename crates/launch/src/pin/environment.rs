//! The pinning settings in the environment and in settings files, as `oxmpi run` reads them.

use std::ffi::OsString;

use oxmpi_pin::{Compat, SETTINGS};
use oxmpi_settings::{Origin, Sources, TABLE, Values, resolve};
use oxmpi_text::nearest;

use super::query::{self, Variables};

/// The settings of this process.
#[derive(Debug, Default, PartialEq)]
pub(super) struct PinEnvironment {
    /// Known variables that are set.
    pub(super) variables: Variables,
    /// The rules of placement, if set.
    pub(super) compat: Option<Compat>,
    /// Warnings of unknown pinning variables, one sentence each.
    pub(super) notes: Vec<String>,
}

/// The settings in the user's settings files.
///
/// # Errors
/// A file that cannot be read, or a wrong value.
pub(super) fn files() -> Result<Values, String> {
    let files = Sources::of_process().map(|sources| sources.files);
    let sources = files.map(|files| Sources {
        files,
        ..Sources::default()
    });
    sources
        .and_then(|sources| resolve(TABLE, &sources))
        .map_err(|bad| bad.to_string())
}

impl PinEnvironment {
    /// Reads variables, and what `files` say where no variable does. Names of ours, such as `OXMPI_PIN_DOMAIN`, stand for
    /// those of Intel MPI and go before them, as for `oxmpi run`.
    ///
    /// # Errors
    /// A value that is not text, or rules that are not known.
    pub(super) fn read(
        files: &Values,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, String> {
        let mut read = Self {
            notes: files.warnings.clone(),
            ..Self::default()
        };
        for row in SETTINGS {
            let value = files.get(row.name);
            match row.aliases.first() {
                _ if value.origin == Origin::Default => {}
                Some(alias) => drop(read.variables.insert(alias.name.into(), value.text.clone())),
                None => read.compat = Some(query::compat(&value.text)?),
            }
        }
        let mut ours = Variables::new();
        let names: Vec<String> = SETTINGS.iter().map(|row| row.env().to_string()).collect();
        for (name, value) in variables {
            let Some(name) = name.to_str() else { continue };
            let value = || {
                value
                    .into_string()
                    .map_err(|_| format!("{name}: the value is not UTF-8"))
            };
            let row = names.iter().position(|known| known == name);
            match row.map(|row| SETTINGS[row].aliases.first()) {
                Some(Some(alias)) => drop(ours.insert(alias.name.into(), value()?)),
                Some(None) => {
                    let compat = query::compat(&value()?);
                    read.compat = Some(compat.map_err(|why| format!("{name}: {why}"))?);
                }
                None if query::known().any(|known| known == name) => {
                    read.variables.insert(name.into(), value()?);
                }
                None if ["I_MPI_PIN", "OXMPI_PIN"]
                    .iter()
                    .any(|known| name.starts_with(known)) =>
                {
                    let mut known: Vec<&str> = query::known().collect();
                    known.extend(names.iter().map(String::as_str));
                    read.notes
                        .push(format!("ignored: {}", unknown(name, known)));
                }
                None => {}
            }
        }
        read.variables.extend(ours);
        Ok(read)
    }
}

/// An error for an unknown variable, with the nearest known one.
pub(super) fn unknown<'a>(variable: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near = nearest(variable, known);
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    format!("unknown variable `{variable}`{hint}")
}

#[cfg(test)]
mod tests;
