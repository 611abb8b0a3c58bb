//! Reads the details of each class of devices, under hwloc's names.

use super::super::Files;
use super::super::read::Reader;
use super::super::tiers::{dax_infos, dax_sort};
use crate::error::SyntaxError;
use crate::facts::Info;
use crate::facts::devices::DeviceFacts;
use alloc::format;
use alloc::string::{String, ToString};

/// Adds the content of each of these files as an info.
fn tell(
    files: &Reader<'_, impl Files>,
    path: &str,
    facts: &mut DeviceFacts,
    known: &[(&str, &str)],
) {
    for (file, name) in known {
        let value = files.text(&format!("{path}/{file}"));
        facts
            .infos
            .extend(value.map(|value| Info::new(*name, value)));
    }
}

/// The last part of a path.
fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A size in kibibytes, from a file in units of `1 / per_kib` kibibytes.
fn kibibytes(
    files: &Reader<'_, impl Files>,
    path: &str,
    per_kib: u64,
) -> Result<Option<Info>, SyntaxError> {
    let size = files.size(path)?;
    Ok(size.map(|size| Info::new("Size", (size / per_kib).to_string())))
}

pub(super) fn block<F: Files>(
    files: &Reader<'_, F>,
    path: &str,
    facts: &mut DeviceFacts,
) -> Result<(), SyntaxError> {
    const UDEV: [(&str, &str); 4] = [
        ("ID_VENDOR", "Vendor"),
        ("ID_MODEL", "Model"),
        ("ID_REVISION", "Revision"),
        ("ID_SERIAL_SHORT", "SerialNumber"),
    ];
    // The kernel counts sectors of 512 bytes, whatever the disk's sectors are.
    facts
        .infos
        .extend(kibibytes(files, &format!("{path}/size"), 2)?);
    let known = [
        ("queue/hw_sector_size", "SectorSize"),
        ("dev", "LinuxDeviceID"),
    ];
    tell(files, path, facts, &known);
    let number = facts
        .infos
        .last()
        .filter(|info| info.name == "LinuxDeviceID");
    let udev = number.and_then(|number| files.text(&format!("/run/udev/data/b{}", number.value)));
    let udev = udev.unwrap_or_default();
    let value = |key: &str| {
        let mut lines = udev.lines().filter_map(|line| line.strip_prefix("E:"));
        lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
    };
    for (key, name) in UDEV {
        // All disks behind libata have this vendor.
        let value = value(key).filter(|value| !value.eq_ignore_ascii_case("ATA"));
        facts
            .infos
            .extend(value.map(|value| Info::new(name, value)));
    }
    let sort = files
        .text(&format!("{path}/device/devtype"))
        .unwrap_or_default();
    let subtype = match value("ID_TYPE") {
        _ if sort.starts_with("nd_") => Some("NVM"),
        Some("disk") => Some("Disk"),
        _ if name(path).starts_with("nvme") => Some("Disk"),
        Some("tape") => Some("Tape"),
        Some("cd" | "floppy" | "optical") => Some("Removable Media Device"),
        _ => None,
    };
    facts.subtype = subtype.map(String::from);
    Ok(())
}

pub(super) fn dax<F: Files>(
    files: &Reader<'_, F>,
    path: &str,
    facts: &mut DeviceFacts,
) -> Result<(), SyntaxError> {
    facts.subtype = dax_sort(files, name(path)).map(String::from);
    facts.infos = dax_infos(files, name(path));
    facts
        .infos
        .extend(kibibytes(files, &format!("{path}/size"), 1024)?);
    tell(files, path, facts, &[("dev", "LinuxDeviceID")]);
    Ok(())
}

pub(super) fn cxl<F: Files>(
    files: &Reader<'_, F>,
    path: &str,
    facts: &mut DeviceFacts,
) -> Result<(), SyntaxError> {
    facts.subtype = Some(String::from("CXLMem"));
    for (file, name) in [("ram/size", "CXLRAMSize"), ("pmem/size", "CXLPMEMSize")] {
        let bytes: Option<u64> = files.hexadecimal(&format!("{path}/{file}"))?;
        let some = bytes.filter(|bytes| *bytes > 0);
        let some = some.map(|bytes| Info::new(name, (bytes >> 10).to_string()));
        facts.infos.extend(some);
    }
    tell(files, path, facts, &[("serial", "SerialNumber")]);
    Ok(())
}

pub(super) fn network<F: Files>(
    files: &Reader<'_, F>,
    path: &str,
    facts: &mut DeviceFacts,
) -> Result<(), SyntaxError> {
    tell(files, path, facts, &[("address", "Address")]);
    // The port number, for interfaces on a port of an RDMA device.
    if !files.names(&format!("{path}/device/infiniband")).is_empty() {
        let port = match files.number(&format!("{path}/dev_port"))? {
            Some(port) => Some(port),
            None => files.hexadecimal(&format!("{path}/dev_id"))?,
        };
        let port = u64::from(port.unwrap_or(0));
        facts.infos.push(Info::new("Port", (port + 1).to_string()));
    }
    let is_cassini = || !files.names(&format!("{path}/device/cxi")).is_empty();
    if name(path).starts_with("hs") && is_cassini() {
        facts.subtype = Some(String::from("Slingshot"));
    }
    Ok(())
}

pub(super) fn rdma<F: Files>(
    files: &Reader<'_, F>,
    path: &str,
    facts: &mut DeviceFacts,
) -> Result<(), SyntaxError> {
    let known = [
        ("node_guid", "NodeGUID"),
        ("sys_image_guid", "SysImageGUID"),
    ];
    tell(files, path, facts, &known);
    for port in files.numbered(&format!("{path}/ports"), "") {
        let directory = format!("{path}/ports/{port}");
        // `4: ACTIVE`: the number is what the InfiniBand Architecture Specification defines.
        let state = files.text(&format!("{directory}/state"));
        let state = state.and_then(|text| Some(text.split(':').next()?.to_string()));
        let info = |name: &str, value: Option<String>| {
            value.map(|value| Info::new(format!("Port{port}{name}"), value))
        };
        facts.infos.extend(info("State", state));
        facts
            .infos
            .extend(info("LID", files.text(&format!("{directory}/lid"))));
        let mask = files.text(&format!("{directory}/lid_mask_count"));
        facts.infos.extend(info("LMC", mask));
        // Tables have hundreds of entries, the first few of which are filled.
        for place in 0..256 {
            let gid = files.text(&format!("{directory}/gids/{place}"));
            match gid.filter(|gid| !gid.ends_with("0000:0000:0000:0000")) {
                Some(gid) => facts.infos.extend(info(&format!("GID{place}"), Some(gid))),
                None => break,
            }
        }
    }
    Ok(())
}

pub(super) fn bxi<F: Files>(
    files: &Reader<'_, F>,
    path: &str,
    facts: &mut DeviceFacts,
) -> Result<(), SyntaxError> {
    facts.subtype = Some(String::from("BXI"));
    tell(files, path, facts, &[("uuid", "BXIUUID")]);
    Ok(())
}

pub(super) fn cxi<F: Files>(
    files: &Reader<'_, F>,
    path: &str,
    facts: &mut DeviceFacts,
) -> Result<(), SyntaxError> {
    facts.subtype = Some(String::from("Slingshot"));
    let known = [
        ("device/properties/cassini_version", "CassiniVersion"),
        ("device/properties/nid", "NID"),
    ];
    tell(files, path, facts, &known);
    Ok(())
}

pub(super) fn vector_engine<F: Files>(
    files: &Reader<'_, F>,
    path: &str,
    facts: &mut DeviceFacts,
) -> Result<(), SyntaxError> {
    facts.subtype = Some(String::from("VectorEngine"));
    let known = [
        ("model", "VectorEngineModel"),
        ("serial", "VectorEngineSerialNumber"),
    ];
    tell(files, path, facts, &known);
    if files.number(&format!("{path}/partitioning_mode"))? > Some(0) {
        facts
            .infos
            .push(Info::new("VectorEngineNUMAPartitioned", "1"));
    }
    tell(files, path, facts, &[("num_of_core", "VectorEngineCores")]);
    // Gibibytes.
    let memory = files.number(&format!("{path}/memory_size"))?;
    let memory = memory.map(|size| (u64::from(size) << 20).to_string());
    let memory = memory.map(|size| Info::new("VectorEngineMemorySize", size));
    facts.infos.extend(memory);
    let known = [
        ("cache_llc", "VectorEngineLLCSize"),
        ("cache_l2", "VectorEngineL2Size"),
        ("cache_l1d", "VectorEngineL1dSize"),
        ("cache_l1i", "VectorEngineL1iSize"),
    ];
    for (file, name) in known {
        let size = files.text(&format!("{path}/{file}"));
        let digits = size.map(|size| {
            size.trim_end_matches(|c: char| !c.is_ascii_digit())
                .to_string()
        });
        facts
            .infos
            .extend(digits.map(|digits| Info::new(name, digits)));
    }
    Ok(())
}
