//! A run as JSON, version 2; `docs/formats.md` describes each field.

use super::Run;
use alloc::string::String;

impl Run {
    /// The run as text, indented.
    ///
    /// # Errors
    /// None that a run's own fields could cause.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }
}
