//! Reads infos about the machine and its packages, under hwloc's names: processor models, the firmware's
//! names of the machine, the kernel's version.

use super::Files;
use super::read::Reader;
use crate::facts::{Facts, Info};
use crate::kind::Kind;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// World-readable files of `/sys/class/dmi/id`, and hwloc's names of them.
const DMI: [(&str, &str); 14] = [
    ("product_name", "DMIProductName"),
    ("product_version", "DMIProductVersion"),
    ("board_vendor", "DMIBoardVendor"),
    ("board_name", "DMIBoardName"),
    ("board_version", "DMIBoardVersion"),
    ("board_asset_tag", "DMIBoardAssetTag"),
    ("chassis_vendor", "DMIChassisVendor"),
    ("chassis_type", "DMIChassisType"),
    ("chassis_version", "DMIChassisVersion"),
    ("chassis_asset_tag", "DMIChassisAssetTag"),
    ("bios_vendor", "DMIBIOSVendor"),
    ("bios_version", "DMIBIOSVersion"),
    ("bios_date", "DMIBIOSDate"),
    ("sys_vendor", "DMISysVendor"),
];

/// Files of `/proc/sys/kernel`.
const KERNEL: [(&str, &str); 5] = [
    ("ostype", "OSName"),
    ("osrelease", "OSRelease"),
    ("version", "OSVersion"),
    ("hostname", "HostName"),
    ("arch", "Architecture"),
];

/// Keys of the records of /proc/cpuinfo, as x86, IA-64, ARM, POWER and LoongArch write them.
const CPU: [(&str, &str); 16] = [
    ("vendor_id", "CPUVendor"),
    ("vendor", "CPUVendor"),
    ("cpu family", "CPUFamilyNumber"),
    ("family", "CPUFamilyNumber"),
    ("CPU Family", "CPUFamily"),
    ("model", "CPUModelNumber"),
    ("model name", "CPUModel"),
    ("Model Name", "CPUModel"),
    ("cpu", "CPUModel"),
    ("stepping", "CPUStepping"),
    ("CPU implementer", "CPUImplementer"),
    ("CPU architecture", "CPUArchitecture"),
    ("CPU variant", "CPUVariant"),
    ("CPU part", "CPUPart"),
    ("CPU revision", "CPURevision"),
    ("CPU Revision", "CPURevision"),
];

/// Infos about the whole machine, from firmware and kernel.
pub(super) fn of_machine(files: &Reader<'_, impl Files>) -> Vec<Info> {
    let mut infos = Vec::new();
    // hwloc-gather-topology, which records machines, writes here what no file has.
    let recorded = files.text("/proc/hwloc-nofile-info").unwrap_or_default();
    let recorded: BTreeMap<&str, &str> = recorded.lines().filter_map(pair).collect();
    for (file, name) in DMI {
        let value = files.text(&format!("/sys/class/dmi/id/{file}"));
        infos.extend(value.map(|value| Info::new(name, value)));
    }
    for (file, name) in KERNEL {
        let value = match recorded.get(name) {
            Some(value) => Some(String::from(*value)),
            None => files.text(&format!("/proc/sys/kernel/{file}")),
        };
        infos.extend(value.map(|value| Info::new(name, value)));
    }
    infos
}

/// Adds to each package the infos that /proc/cpuinfo has on its first processor.
pub(super) fn tell_packages(files: &Reader<'_, impl Files>, facts: &mut [Facts]) {
    let text = files.text("/proc/cpuinfo").unwrap_or_default();
    let is_package = |object: &&mut Facts| object.kind == Kind::Package;
    let packages = facts.iter_mut().filter(is_package);
    let first = |package: &Facts| package.cpus.first();
    let mut packages: BTreeMap<_, _> = packages.map(|package| (first(package), package)).collect();
    let mut cpu = None;
    for (key, value) in text.lines().filter_map(pair) {
        if key == "processor" {
            cpu = value.parse().ok();
        } else if let Some(name) = CPU.iter().find(|(known, _)| *known == key)
            && let Some(package) = cpu.and_then(|cpu: usize| packages.get_mut(&Some(cpu)))
        {
            package.infos.push(Info::new(name.1, value));
        }
    }
}

/// Splits `key : value`; `None` if there is no value.
fn pair(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let (key, value) = (key.trim(), value.trim());
    (!value.is_empty()).then_some((key, value))
}
