//! The part of a machine that is wanted.

use oxmpi_topo::{CpuSet, Machine};

use super::options::{CpuRestriction, MachineInput, Options};
use super::source;

/// The machine as the options want it.
///
/// # Errors
/// A sentence if none of the wanted processors is in the machine.
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

/// The processors that this process may run on, or the one that recorded another machine.
fn binding(machine: &Machine, input: &MachineInput) -> Result<CpuSet, String> {
    match input {
        MachineInput::This(_) => source::processors(),
        MachineInput::Input(input) => {
            let unknown =
                || format!("--restrict binding: {input} does not say who was bound where");
            machine.bound().cloned().ok_or_else(unknown)
        }
    }
}
