//! Resolves settings: which source wins, what is an error, and what is a warning.

use oxmpi_text::{EnvName, Product, Setting, SettingsTable};

use super::answered;
use super::sources::FILE_VARIABLE;
use super::value::RefusedValue;
use super::{Assignment, BadSetting, File, Origin, SettingValue, Sources, Values, entries};

/// The variable that holds the key of a job in every rank that `oxmpi run` starts.
pub const JOB_VARIABLE: &str = "OXMPI_JOB";

/// Variables with our prefix that are not settings.
const NOT_SETTINGS: &[&str] = &[FILE_VARIABLE, JOB_VARIABLE];

/// Parameters that Open MPI's launcher gives to every rank, and that no user has set.
const MPIRUNS_OWN: &[&str] = &["PREFIXES", "num_procs", "initial_wdir", "cpu_type"];

/// Gives every row of `table` its value.
///
/// # Errors
/// The first malformed line of a file, and the first value that its row refuses: in a file, in a variable
/// with our prefix, or on the command line.
pub fn resolve(table: SettingsTable, sources: &Sources) -> Result<Values, BadSetting> {
    let defaults = table.iter().map(|setting| SettingValue {
        setting,
        text: setting.default.into(),
        origin: Origin::Default,
    });
    let mut values = Values {
        all: defaults.collect(),
        refused: Vec::new(),
        warnings: Vec::new(),
    };
    for file in &sources.files {
        values.read_file(table, file)?;
    }
    values.read_foreign_variables(table, &sources.environment);
    values.read_variables(table, &sources.environment)?;
    for assignment in &sources.command_line {
        values.read_assignment(table, assignment)?;
    }
    values.warn_of_refused();
    values.check_async_progress(&sources.environment);
    Ok(values)
}

impl Values {
    /// Applies what other products say of their helper threads beyond the names of settings.
    fn check_async_progress(&mut self, environment: &[(String, String)]) {
        const CRAY: &str = "MPICH_NEMESIS_ASYNC_PROGRESS";
        const THREADS: &str = "I_MPI_ASYNC_PROGRESS_THREADS";
        let is_multiple = variable_of(environment, "MPICH_MAX_THREAD_SAFETY")
            .is_some_and(|level| level.eq_ignore_ascii_case("multiple"));
        let row = (self.all.iter_mut()).find(|value| value.setting.name == "async_progress");
        if let Some(value) = row
            && matches!(&value.origin, Origin::Environment { variable, .. } if variable == CRAY)
            && value.text != value.setting.default
            && !is_multiple
        {
            (value.text, value.origin) = (value.setting.default.into(), Origin::Default);
            self.warnings.push(format!(
                "ignored: {CRAY} counts together with MPICH_MAX_THREAD_SAFETY=multiple only; async_progress = on needs \
                 no other setting"
            ));
        }
        if let Some(threads) = variable_of(environment, THREADS).filter(|&threads| threads != "1") {
            self.warnings.push(format!(
                "ignored: {THREADS} = {threads}: a rank has one helper thread for all its endpoints"
            ));
        }
    }

    fn read_file(&mut self, table: SettingsTable, file: &File) -> Result<(), BadSetting> {
        let at = |line| Origin::File {
            path: file.path.clone(),
            line,
        };
        let entries = entries(&file.content).map_err(|(line, text, error)| BadSetting {
            origin: at(line),
            why: error.show(text).to_string(),
        })?;
        for entry in entries {
            match table.find(entry.name) {
                Some(setting) => self.set(setting, entry.value, at(entry.line))?,
                None => self.unknown(
                    table,
                    &format!("{}: `{}`", at(entry.line), entry.name),
                    entry.name,
                    |s| s.into(),
                ),
            }
        }
        Ok(())
    }

    /// Reads variables of other products, which are weaker than ours. Values that are not understood may be
    /// meant for those products.
    fn read_foreign_variables(&mut self, table: SettingsTable, environment: &[(String, String)]) {
        for (setting, alias) in table
            .iter()
            .flat_map(|row| row.aliases.iter().rev().map(move |alias| (row, alias)))
        {
            let variable = format!("{}{}", alias.product.env_prefix(), alias.name);
            let Some(value) = variable_of(environment, &variable) else {
                continue;
            };
            let origin = Origin::Environment {
                variable,
                product: Some(alias.product),
            };
            if let Err(why) = self.set(setting, alias.translate(value), origin) {
                self.refused.push(RefusedValue {
                    name: alias.name,
                    text: value.into(),
                    why,
                });
            }
        }
        let prefix = Product::OpenMpi.env_prefix();
        for (variable, _) in environment {
            let name = variable.strip_prefix(prefix);
            if let Some(name) = name
                .filter(|name| !MPIRUNS_OWN.contains(name))
                .filter(|name| table.find_alias(Product::OpenMpi, name).is_none())
            {
                self.warnings.push(no_such_parameter(name, variable));
            }
        }
    }

    fn read_variables(
        &mut self,
        table: SettingsTable,
        environment: &[(String, String)],
    ) -> Result<(), BadSetting> {
        for (variable, value) in environment {
            let Some(name) = variable.strip_prefix(Setting::ENV_PREFIX) else {
                continue;
            };
            match table.find_env(variable) {
                Some(_) if value.is_empty() => {}
                Some(setting) => {
                    let origin = Origin::Environment {
                        variable: variable.clone(),
                        product: None,
                    };
                    self.set(setting, value, origin)?;
                }
                None if NOT_SETTINGS.contains(&variable.as_str()) => {}
                None => {
                    let spell = |ours: &'static str| EnvName(ours).to_string();
                    self.unknown(
                        table,
                        &format!("the variable {variable}"),
                        &name.to_ascii_lowercase(),
                        spell,
                    );
                }
            }
        }
        Ok(())
    }

    fn read_assignment(
        &mut self,
        table: SettingsTable,
        assignment: &Assignment,
    ) -> Result<(), BadSetting> {
        let Assignment {
            option,
            product,
            name,
            value,
        } = assignment;
        let origin = Origin::CommandLine {
            option: format!("{option} {name}"),
        };
        match product {
            None => match table.find(name) {
                Some(setting) => self.set(setting, value, origin),
                None => {
                    let hint = table
                        .suggest(name)
                        .map_or_else(String::new, |ours| format!("; did you mean `{ours}`?"));
                    Err(BadSetting {
                        origin,
                        why: format!("no setting is called `{name}`{hint}"),
                    })
                }
            },
            Some(product) => match table.find_alias(*product, name) {
                Some((setting, alias)) => self.set(setting, alias.translate(value), origin),
                None => {
                    self.warnings
                        .push(no_such_parameter(name, &origin.to_string()));
                    Ok(())
                }
            },
        }
    }

    fn set(
        &mut self,
        setting: &'static Setting,
        text: &str,
        origin: Origin,
    ) -> Result<(), BadSetting> {
        if let Err(error) = (setting.check)(text) {
            return Err(BadSetting {
                origin,
                why: error.show(text).to_string(),
            });
        }
        let value = self
            .all
            .iter_mut()
            .find(|value| value.setting.name == setting.name);
        if let Some(value) = value {
            value.text = text.into();
            value.origin = origin;
        }
        Ok(())
    }

    fn unknown(
        &mut self,
        table: SettingsTable,
        what: &str,
        name: &str,
        spell: impl Fn(&'static str) -> String,
    ) {
        let hint = table.suggest(name).map_or_else(String::new, |ours| {
            format!("; did you mean `{}`?", spell(ours))
        });
        self.warnings
            .push(format!("ignored: {what} names no setting{hint}"));
    }
}

/// The value of `variable`; an empty one counts as unset.
fn variable_of<'a>(environment: &'a [(String, String)], variable: &str) -> Option<&'a str> {
    let found = environment.iter().find(|(name, _)| name == variable);
    found
        .map(|(_, value)| value.as_str())
        .filter(|value| !value.is_empty())
}

fn no_such_parameter(name: &str, origin: &str) -> String {
    if let Some(why) = answered::why(name) {
        return format!("ignored: {origin}: {why}");
    }
    format!(
        "ignored: {origin}: the MCA parameter `{name}` of Open MPI has no meaning here (oxmpi settings lists what has)"
    )
}
