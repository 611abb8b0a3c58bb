//! Finds the processors near the RDMA devices that the machine sends messages through.

use oxmpi_topo::{CpuSet, Device, DeviceKind, Machine};

/// The kernel's number of the port state ACTIVE (`4: ACTIVE`).
const ACTIVE: &str = "4";

/// The processors near RDMA devices with an active port. Empty without such a device, and if all processors
/// are near.
pub(crate) fn near(machine: &Machine) -> CpuSet {
    let devices = machine
        .devices()
        .filter(|device| device.kind() == DeviceKind::Rdma && is_active(*device));
    let near = devices.fold(CpuSet::new(), |near, device| &near | device.near().cpus());
    match near == *machine.online() {
        true => CpuSet::new(),
        false => near,
    }
}

/// Whether a port of the device is active, or the machine's source has no information on ports.
fn is_active(device: Device<'_>) -> bool {
    let states = device
        .infos()
        .iter()
        .filter(|info| info.name.starts_with("Port") && info.name.ends_with("State"));
    let mut states = states.map(|info| &*info.value == ACTIVE).peekable();
    states.peek().is_none() || states.any(|active| active)
}
