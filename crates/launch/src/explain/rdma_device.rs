//! The RDMA device that explanations are for.

use oxmpi_verbs::{DeviceParameters, RdmaPreference, devices};

/// The first device of this host and what is known of it.
pub(super) fn first_device(preference: &RdmaPreference) -> (String, DeviceParameters) {
    let contexts = devices().unwrap_or_default().into_iter();
    let limits = contexts.filter_map(|device| {
        let limits = device.open().ok()?.limits().ok()?;
        Some((device.name(), limits.vendor_id, limits.vendor_part_id))
    });
    let found = limits.map(|(name, vendor, part)| (name, preference.parameters(vendor, part)));
    found.into_iter().next().unwrap_or_else(|| {
        let none = "none here: one that nothing is known of".to_owned();
        (none, preference.parameters(0, 0))
    })
}
