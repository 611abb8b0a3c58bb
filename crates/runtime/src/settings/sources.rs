//! Where settings come from, and reading those places.

use std::path::PathBuf;
use std::{env, fs, io};

use oxmpi_text::Product;

use super::{BadSetting, Origin};

/// A settings file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Where it lies.
    pub path: PathBuf,
    /// What it says.
    pub content: String,
}

/// A setting made on the command line.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The option as typed, such as `--mca` or `--set`.
    pub option: String,
    /// Whose name it is, if not ours.
    pub product: Option<Product>,
    /// The name, without a prefix of the environment.
    pub name: String,
    /// The value.
    pub value: String,
}

/// Everything that settings are resolved from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Files, the weakest first.
    pub files: Vec<File>,
    /// Variables of the environment.
    pub environment: Vec<(String, String)>,
    /// The command line in its order; the last of several wins.
    pub command_line: Vec<Assignment>,
}

/// The variable that names a settings file.
pub(super) const FILE_VARIABLE: &str = "OXMPI_SETTINGS_FILE";

impl Sources {
    /// What this process has: its environment and the user's settings files. Reads up to two files.
    ///
    /// # Errors
    /// A file that `OXMPI_SETTINGS_FILE` names and that cannot be read.
    pub fn of_process() -> Result<Self, BadSetting> {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let environment = env::vars_os().filter_map(text).collect();
        let config = match env::var_os("XDG_CONFIG_HOME").filter(|dir| !dir.is_empty()) {
            Some(dir) => Some(PathBuf::from(dir)),
            None => env::home_dir().map(|home| home.join(".config")),
        };
        let usual = config.map(|dir| dir.join("oxmpi/settings.toml"));
        let named = env::var_os(FILE_VARIABLE)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from);

        let mut files = Vec::new();
        if let Some(path) = usual
            && let Ok(content) = fs::read_to_string(&path)
        {
            files.push(File { path, content });
        }
        if let Some(path) = named {
            let content = fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
            files.push(File { path, content });
        }
        Ok(Self {
            files,
            environment,
            command_line: Vec::new(),
        })
    }
}

fn unreadable(path: &std::path::Path, error: &io::Error) -> BadSetting {
    let origin = Origin::Environment {
        variable: FILE_VARIABLE.into(),
        product: None,
    };
    BadSetting {
        origin,
        why: format!("cannot read {}: {error}", path.display()),
    }
}
