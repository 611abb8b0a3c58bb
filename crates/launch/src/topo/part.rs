//! The part of a machine that the options select.

use oxmpi_topo::{CpuSet, Machine};

use super::options::{CpuRestriction, MachineInput, Options};
use super::source;

/// The selected part of the machine.
///
/// # Errors
/// If the machine has none of the selected processors.
pub(super) fn of(machine: &Machine, options: &Options) -> Result<Machine, String> {
    let seen = machine.view(&options.view);
    match &options.restrict {
        Some(CpuRestriction::To(set)) => restricted(&seen, set),
        Some(CpuRestriction::Binding) => restricted(&seen, &binding(machine, &options.input)?),
        None => Ok(seen),
    }
}

fn restricted(machine: &Machine, wanted: &CpuSet) -> Result<Machine, String> {
    match wanted.intersects(machine.online()) {
        true => Ok(machine.restrict(wanted)),
        false => Err(format!(
            "--restrict: the machine has none of the processors {wanted}; it has {}",
            machine.online()
        )),
    }
}

/// The mask of this process, or of the process that recorded the machine.
fn binding(machine: &Machine, input: &MachineInput) -> Result<CpuSet, String> {
    match input {
        MachineInput::This(_) => source::processors(),
        MachineInput::Input(input) => {
            let unknown =
                || format!("--restrict binding: {input} does not record the mask of a process");
            machine.bound().cloned().ok_or_else(unknown)
        }
    }
}
