//! The numbers that identify objects and devices in a document.

use super::document::Element;
use crate::device::Device;
use oxmpi_text::Error;

/// The number of an object or a device in matrices of distances: `gp_index`, or `id` since version 3.
pub(super) fn mark(element: Element<'_>) -> Result<Option<u64>, Error> {
    let id = || element.get("id")?.text.strip_prefix("obj")?.parse().ok();
    let index = element.number("gp_index", "a number that no other object has")?;
    Ok(index.or_else(id))
}

/// The `gp_index` of the object with this number; devices are numbered after the objects.
pub(super) fn object_index(id: u32) -> u64 {
    u64::from(id) + 1
}

/// The `gp_index` of a device.
pub(super) fn device_index(device: Device<'_>) -> u64 {
    device.machine.entries.len() as u64 + u64::from(device.id.0) + 1
}
