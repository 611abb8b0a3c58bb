//! How a rank uses the networks that are selected, by its settings.

use oxmpi_core::NetworkPreference;
use oxmpi_wire::transports::Selection;

use crate::{BadSetting, Values};

/// How the transports of `selection` are used.
///
/// # Errors
/// A file of parameters of devices cannot be read, or a setting must not be in a file.
#[cfg(feature = "tcp")]
pub(crate) fn network_preference(
    values: &Values,
    selection: Selection,
) -> Result<NetworkPreference, BadSetting> {
    let filter = (values.tcp_filter()).restrict_to(selection.interfaces.clone());
    let preference = NetworkPreference::new(selection).with_tcp(filter, values.tcp_options());
    #[cfg(feature = "verbs")]
    let preference = preference.with_rdma(values.rdma()?);
    Ok(preference)
}

/// The transports of `selection`, which has no network.
///
/// # Errors
/// None.
#[cfg(not(feature = "tcp"))]
pub(crate) fn network_preference(
    _: &Values,
    selection: Selection,
) -> Result<NetworkPreference, BadSetting> {
    Ok(NetworkPreference::new(selection))
}
