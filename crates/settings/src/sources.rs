//! The sources of settings: files, environment, command line.

use std::path::PathBuf;
use std::{env, io};

use oxmpi_os::file::{HANDWRITTEN_MAX, read_text};
use oxmpi_text::Product;

use super::{BadSetting, Origin};

/// A settings file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// The path of the file.
    pub path: PathBuf,
    /// The text of the file.
    pub content: String,
}

/// A setting made on the command line.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The option as typed, such as `--mca` or `--set`.
    pub option: String,
    /// The product whose name it is, if not ours.
    pub product: Option<Product>,
    /// The name, without the prefix of an environment variable.
    pub name: String,
    /// The value.
    pub value: String,
}

/// All sources from which settings are resolved.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Files, the weakest first.
    pub files: Vec<File>,
    /// Variables of the environment.
    pub environment: Vec<(String, String)>,
    /// The command line in its order; the last of several assignments wins.
    pub command_line: Vec<Assignment>,
}

/// The variable that names a settings file.
pub(super) const FILE_VARIABLE: &str = "OXMPI_SETTINGS_FILE";

/// The settings file of all users of this machine.
const SITE_FILE: &str = "/etc/oxmpi/settings.toml";

impl Sources {
    /// The path of this user's settings file, whether or not it exists. `None`: the user has no home.
    #[must_use]
    pub fn users_file() -> Option<PathBuf> {
        let config = match env::var_os("XDG_CONFIG_HOME").filter(|dir| !dir.is_empty()) {
            Some(dir) => PathBuf::from(dir),
            None => env::home_dir()?.join(".config"),
        };
        Some(config.join("oxmpi/settings.toml"))
    }

    /// The sources of this process: its environment, and the settings files of the site and of the user.
    /// Reads up to three files.
    ///
    /// # Errors
    /// When the file that `OXMPI_SETTINGS_FILE` names cannot be read or is longer than 1 MiB.
    pub fn of_process() -> Result<Self, BadSetting> {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let environment = env::vars_os().filter_map(text).collect();
        let usual = [Some(PathBuf::from(SITE_FILE)), Self::users_file()];
        let named = env::var_os(FILE_VARIABLE)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from);

        let mut files = Vec::new();
        for path in usual.into_iter().flatten() {
            if let Ok(content) = read_text(&path, HANDWRITTEN_MAX) {
                files.push(File { path, content });
            }
        }
        if let Some(path) = named {
            let content =
                read_text(&path, HANDWRITTEN_MAX).map_err(|error| unreadable(&path, &error))?;
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
