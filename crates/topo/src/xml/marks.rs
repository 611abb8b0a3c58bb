//! The numbers by which a document names objects and devices.

use super::document::Element;
use crate::device::Device;
use oxmpi_text::Error;

/// The number that stands for an object or a device in matrices of distances: `gp_index`, or `id` since version 3.
pub(super) fn mark(element: Element<'_>) -> Result<Option<u64>, Error> {
    let id = || element.get("id")?.text.strip_prefix("obj")?.parse().ok();
    let index = element.number("gp_index", "a number that no other object has")?;
    Ok(index.or_else(id))
}

/// The `gp_index` of the object of this number; devices come behind the objects.
pub(super) fn object_index(id: u32) -> u64 {
    u64::from(id) + 1
}

/// The `gp_index` of a device.
pub(super) fn device_index(device: Device<'_>) -> u64 {
    device.machine.entries.len() as u64 + u64::from(device.id.0) + 1
}
