//! Writes a run as JSON, version 2; `docs/formats.md` describes each field.

use super::RunRecord;
use alloc::string::String;

impl RunRecord {
    /// The run as text, indented.
    ///
    /// # Errors
    /// None for any run.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }
}
