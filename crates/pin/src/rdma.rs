//! Where a machine's way to others is.

use oxmpi_topo::{CpuSet, Device, DeviceKind, Machine};

/// The state of a port that carries messages, as the kernel numbers them (`4: ACTIVE`).
const ACTIVE: &str = "4";

/// The processors near the RDMA devices with an active port; empty where no place is nearer than another: without such a device, and when
/// all processors are near.
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

/// Whether one of its ports is active, or its source tells nothing of ports.
fn is_active(device: Device<'_>) -> bool {
    let states = device
        .infos()
        .iter()
        .filter(|info| info.name.starts_with("Port") && info.name.ends_with("State"));
    let mut states = states.map(|info| &*info.value == ACTIVE).peekable();
    states.peek().is_none() || states.any(|active| active)
}
