//! The settings of all crates, their values, and the origin of each value.
//!
//! Each crate exports rows ([`oxmpi_text::Setting`]); [`TABLE`] joins them. A value comes from the first of
//! these that gives one: the command line, the environment variable `OXMPI_` + name, the equivalent variable
//! of another product, the file named by `OXMPI_SETTINGS_FILE`, the file `oxmpi/settings.toml` in
//! `$XDG_CONFIG_HOME` (or `~/.config`), the site's file `/etc/oxmpi/settings.toml`, the default.
//!
//! A wrong value under a name of ours is an error with a caret. A value of another product that is not
//! understood, and an unknown name, are warnings: they may be meant for other programs.

#![forbid(unsafe_code)]

mod answered;
mod file;
mod job_policy;
mod network_preference;
#[cfg(feature = "verbs")]
mod rdma;
mod resolve;
mod rows;
mod sources;
#[cfg(test)]
mod tests;
pub mod transports;
mod typed;
mod value;

pub use answered::{AnsweredName, answered_names};
pub use file::{FileEntry, entries};
pub use job_policy::job_policy;
pub use resolve::{JOB_VARIABLE, resolve};
pub use rows::seconds;
pub use sources::{Assignment, File, Sources};
pub use value::{BadSetting, Origin, SettingValue, Values};

use oxmpi_text::SettingsTable;

/// All settings.
pub const TABLE: SettingsTable = SettingsTable(&[
    oxmpi_pin::SETTINGS,
    oxmpi_pin::PER_HOST,
    oxmpi_core::settings::SETTINGS,
    rows::ROWS,
    oxmpi_wire::transports::SETTINGS,
    oxmpi_wire::paths::SETTINGS,
    oxmpi_wire::paths::network::SETTINGS,
    oxmpi_shm::SETTINGS,
    #[cfg(feature = "tcp")]
    oxmpi_tcp::SETTINGS,
    #[cfg(feature = "verbs")]
    oxmpi_verbs::settings::MESSAGES,
    #[cfg(feature = "verbs")]
    oxmpi_verbs::settings::MEMORY,
    #[cfg(feature = "verbs")]
    oxmpi_verbs::settings::CONNECTIONS,
    oxmpi_coll::settings::SETTINGS,
]);

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
