//! Resolved settings: the value of each, and its origin.

use std::fmt;
use std::path::PathBuf;

use oxmpi_text::{Product, Setting};

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The default in the table.
    Default,
    /// A line of a settings file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// A variable of the environment.
    Environment {
        /// Its name.
        variable: String,
        /// The other product whose variable it is, if not ours.
        product: Option<Product>,
    },
    /// An option, such as `--mca btl_sm_eager_limit`.
    CommandLine {
        /// The option with the name of the setting.
        option: String,
    },
}

impl Origin {
    /// One word: `default`, `file`, `environment` or `command-line`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File { .. } => "file",
            Self::Environment { .. } => "environment",
            Self::CommandLine { .. } => "command-line",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment { variable, .. } => f.write_str(variable),
            Self::CommandLine { option } => f.write_str(option),
        }
    }
}

/// One setting with its value.
#[derive(Clone, Debug)]
pub struct SettingValue {
    /// The row of the table.
    pub setting: &'static Setting,
    /// The value in our spelling; the row's grammar has accepted it.
    pub text: String,
    /// The origin of the value.
    pub origin: Origin,
}

/// A variable of another product whose value its setting has refused.
#[derive(Clone, Debug)]
pub(super) struct RefusedValue {
    /// The variable, without its prefix.
    pub(super) name: &'static str,
    /// Its value.
    pub(super) text: String,
    /// What is wrong with it.
    pub(super) why: BadSetting,
}

/// All settings with their values, in the order of the table.
#[derive(Clone, Debug)]
pub struct Values {
    /// One for each row of the table.
    pub all: Vec<SettingValue>,
    /// Values of other products' variables that their settings have refused.
    pub(super) refused: Vec<RefusedValue>,
    /// What was ignored and why, a sentence each, printed once in a job.
    pub warnings: Vec<String>,
}

impl Values {
    /// The value of the setting called `name`.
    ///
    /// # Panics
    /// When the table has no such row, which is a bug.
    pub fn get(&self, name: &str) -> &SettingValue {
        let found = self.all.iter().find(|value| value.setting.name == name);
        found.unwrap_or_else(|| panic!("no setting is called {name}"))
    }

    /// Environment variables that pass values of the command line to another process, such as a launcher's
    /// ranks. Ranks read all other sources themselves.
    pub fn exports(&self) -> impl Iterator<Item = (String, &str)> {
        let typed = |value: &&SettingValue| matches!(value.origin, Origin::CommandLine { .. });
        let variable = |value: &SettingValue| value.setting.env().to_string();
        let all = self.all.iter().filter(typed);
        all.map(move |value| (variable(value), value.text.as_str()))
    }

    /// The value of the setting called `name`, as `parse` reads it.
    ///
    /// # Panics
    /// When the table has no such row, or its `check` accepts what `parse` refuses, which are bugs.
    pub fn parse<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, oxmpi_text::Error>,
    ) -> T {
        let text = &self.get(name).text;
        parse(text).unwrap_or_else(|error| {
            panic!(
                "{name} was accepted and is not understood: {}",
                error.show(text)
            )
        })
    }
}

/// A setting that is not understood, or a settings file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSetting {
    /// The origin of the value.
    pub origin: Origin,
    /// What is wrong and what was expected, with a caret where there is a text.
    pub why: String,
}

impl fmt::Display for BadSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.why)
    }
}

impl std::error::Error for BadSetting {}
