//! Prints the lines of devices.

use super::{Writer, new_line};
use crate::device::Device;
use crate::facts::devices::{DeviceKind, Pci};
use crate::machine::Machine;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Formatter};
use oxmpi_text::Printable;

/// Runs of consecutive PCI functions that differ only in their addresses, mostly virtual functions.
pub(super) struct Runs {
    /// For each device, the length of the run that it begins: 1 if it is alone, 0 inside a run.
    lengths: Vec<usize>,
    /// Whether a function is in a PCI domain other than 0, so that addresses are printed with their domains.
    several_domains: bool,
}

impl Runs {
    pub(super) fn of(machine: &Machine, collapse: bool) -> Self {
        let mut lengths = vec![1; machine.devices().len()];
        let functions = || machine.devices().filter(is_function);
        let mut first: Option<Device<'_>> = None;
        for function in functions().filter(|_| collapse) {
            let begun = first.filter(|first| may_share_a_line(*first, function));
            match begun {
                Some(first) => {
                    lengths[first.id().0 as usize] += 1;
                    lengths[function.id().0 as usize] = 0;
                }
                None => first = Some(function),
            }
        }
        let mut domains = functions().filter_map(|function| Some(function.pci()?.address.domain));
        Self {
            lengths,
            several_domains: domains.any(|domain| domain != 0),
        }
    }
}

fn is_function(device: &Device<'_>) -> bool {
    device.kind() == DeviceKind::Pci
}

fn may_share_a_line(one: Device<'_>, next: Device<'_>) -> bool {
    let ids = |pci: Pci| (pci.vendor, pci.device, pci.subvendor, pci.subdevice);
    one.children().len() == 0
        && next.children().len() == 0
        && one.parent() == next.parent()
        && one.near() == next.near()
        && one.pci().map(ids) == next.pci().map(ids)
}

impl<'m> Writer<'m> {
    pub(super) fn device(
        &self,
        f: &mut Formatter<'_>,
        device: Device<'m>,
        indent: usize,
    ) -> fmt::Result {
        match self.runs.lengths[device.id().0 as usize] {
            0 => return Ok(()),
            1 => {
                new_line(f, indent)?;
                self.device_label(f, device, 1)?;
            }
            length => {
                new_line(f, indent)?;
                write!(f, "{length} x {{ ")?;
                self.device_label(f, device, length)?;
                f.write_str(" }")?;
            }
        }
        device
            .children()
            .try_for_each(|child| self.device(f, child, indent + 1))
    }

    /// The kind and subtype, then the address and class of a function, or the system's name.
    fn device_label(
        &self,
        f: &mut Formatter<'_>,
        device: Device<'m>,
        length: usize,
    ) -> fmt::Result {
        // hwloc 2.9 has no word for memory behind a bus and calls it a block device.
        let kind = match device.kind() {
            DeviceKind::Memory => DeviceKind::Storage,
            kind => kind,
        };
        write!(f, "{kind}")?;
        if let Some(subtype) = device.subtype() {
            write!(f, "({})", Printable(subtype))?;
        }
        if let Some(pci) = device.pci().filter(|_| is_function(&device)) {
            f.write_str(" ")?;
            self.address(f, pci, self.last(device, length))?;
            write!(f, " ({})", pci.class_name())?;
        }
        match device.name().filter(|_| device.kind().is_of_system()) {
            Some(name) => write!(f, " \"{}\"", Printable(name)),
            None => Ok(()),
        }
    }

    /// The last function of a run that begins at `first`.
    fn last(&self, first: Device<'m>, length: usize) -> Option<Pci> {
        let rest = self.text.machine.devices().skip(first.id().0 as usize);
        rest.filter(is_function).nth(length - 1)?.pci()
    }

    /// One address, or the first with the parts that differ in the last.
    fn address(&self, f: &mut Formatter<'_>, first: Pci, last: Option<Pci>) -> fmt::Result {
        let (from, to) = (first.address, last.unwrap_or(first).address);
        if self.runs.several_domains {
            write!(f, "{:04x}:", from.domain)?;
        }
        write!(
            f,
            "{:02x}:{:02x}.{:01x}",
            from.bus, from.device, from.function
        )?;
        match (from.device == to.device, from == to) {
            (_, true) => Ok(()),
            (true, _) => write!(f, "-{:01x}", to.function),
            (false, _) => write!(f, "-{:02x}.{:01x}", to.device, to.function),
        }
    }
}
