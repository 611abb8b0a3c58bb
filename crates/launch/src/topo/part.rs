//! The part of a machine that is wanted.

use oxmpi_topo::Machine;

use super::options::{Options, Restriction};
use super::source;

/// The machine as the options want it.
///
/// # Errors
/// A sentence if none of the wanted processors is in the machine.
pub(super) fn of(machine: &Machine, options: &Options) -> Result<Machine, String> {
    let seen = machine.view(&options.view);
    match &options.restrict {
        Some(restriction) => restricted(&seen, restriction),
        None => Ok(seen),
    }
}

fn restricted(machine: &Machine, restriction: &Restriction) -> Result<Machine, String> {
    let wanted = match restriction {
        Restriction::To(set) => set.clone(),
        Restriction::Binding => source::processors()?,
    };
    match wanted.intersects(machine.online()) {
        true => Ok(machine.restrict(&wanted)),
        false => Err(format!(
            "--restrict: the machine has none of the processors {wanted}; it has {}",
            machine.online()
        )),
    }
}
