//! The settings of this process, from its environment and settings files.

use oxmpi_settings::{Sources, TABLE, Values, resolve};

/// The values of all settings.
///
/// # Errors
/// A sentence about a wrong value, or a settings file that cannot be read.
pub(crate) fn values() -> Result<Values, String> {
    let values = Sources::of_process().and_then(|sources| resolve(TABLE, &sources));
    values.map_err(|why| why.to_string())
}
