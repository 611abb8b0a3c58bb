//! Reads the details of each class of devices, under hwloc's names.

use super::super::Files;
use super::super::read::Reader;
use super::super::tiers::{dax_infos, dax_sort};
use crate::error::SyntaxError;
use crate::facts::Info;
use crate::facts::devices::DeviceFacts;
use alloc::format;
use alloc::string::{String, ToString};

/// A device whose details are read.
pub(super) struct Details<'a, 'f, F> {
    pub(super) files: &'a Reader<'f, F>,
    /// The device's directory.
    pub(super) path: &'a str,
    pub(super) facts: &'a mut DeviceFacts,
}

impl<'a, F: Files> Details<'a, '_, F> {
    /// The last part of the path.
    fn name(&self) -> &'a str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// The path of a file of the device.
    fn at(&self, file: &str) -> String {
        format!("{}/{file}", self.path)
    }

    /// Adds an info if the value is known.
    fn add(&mut self, name: impl Into<String>, value: Option<String>) {
        let info = value.map(|value| Info::new(name, value));
        self.facts.infos.extend(info);
    }

    /// Adds the content of each of these files as an info.
    fn tell(&mut self, known: &[(&str, &str)]) {
        for (file, name) in known {
            self.add(*name, self.files.text(&self.at(file)));
        }
    }

    /// Adds the size in kibibytes, from a file in units of `1 / per_kib` kibibytes.
    fn kibibytes(&mut self, per_kib: u64) -> Result<(), SyntaxError> {
        let size = self.files.size(&self.at("size"))?;
        self.add("Size", size.map(|size| (size / per_kib).to_string()));
        Ok(())
    }

    pub(super) fn block(&mut self) -> Result<(), SyntaxError> {
        const UDEV: [(&str, &str); 4] = [
            ("ID_VENDOR", "Vendor"),
            ("ID_MODEL", "Model"),
            ("ID_REVISION", "Revision"),
            ("ID_SERIAL_SHORT", "SerialNumber"),
        ];
        // The kernel counts sectors of 512 bytes, whatever the disk's sectors are.
        self.kibibytes(2)?;
        self.tell(&[("queue/hw_sector_size", "SectorSize")]);
        let number = self.files.text(&self.at("dev"));
        let udev = |number: &String| self.files.text(&format!("/run/udev/data/b{number}"));
        let udev = number.as_ref().and_then(udev).unwrap_or_default();
        self.add("LinuxDeviceID", number);
        let value = |key: &str| {
            let mut lines = udev.lines().filter_map(|line| line.strip_prefix("E:"));
            lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
        };
        for (key, name) in UDEV {
            // All disks behind libata have this vendor.
            let value = value(key).filter(|value| !value.eq_ignore_ascii_case("ATA"));
            self.add(name, value.map(String::from));
        }
        let sort = self.files.text(&self.at("device/devtype"));
        let subtype = match value("ID_TYPE") {
            _ if sort.is_some_and(|sort| sort.starts_with("nd_")) => Some("NVM"),
            Some("disk") => Some("Disk"),
            _ if self.name().starts_with("nvme") => Some("Disk"),
            Some("tape") => Some("Tape"),
            Some("cd" | "floppy" | "optical") => Some("Removable Media Device"),
            _ => None,
        };
        self.facts.subtype = subtype.map(String::from);
        Ok(())
    }

    pub(super) fn dax(&mut self) -> Result<(), SyntaxError> {
        self.facts.subtype = dax_sort(self.files, self.name()).map(String::from);
        self.facts.infos = dax_infos(self.files, self.name());
        self.kibibytes(1024)?;
        self.tell(&[("dev", "LinuxDeviceID")]);
        Ok(())
    }

    pub(super) fn cxl(&mut self) -> Result<(), SyntaxError> {
        self.facts.subtype = Some(String::from("CXLMem"));
        for (file, name) in [("ram/size", "CXLRAMSize"), ("pmem/size", "CXLPMEMSize")] {
            let bytes: Option<u64> = self.files.hexadecimal(&self.at(file))?;
            let some = bytes.filter(|bytes| *bytes > 0);
            self.add(name, some.map(|bytes| (bytes >> 10).to_string()));
        }
        self.tell(&[("serial", "SerialNumber")]);
        Ok(())
    }

    pub(super) fn network(&mut self) -> Result<(), SyntaxError> {
        self.tell(&[("address", "Address")]);
        // The port number, for interfaces on a port of an RDMA device.
        if !self.files.names(&self.at("device/infiniband")).is_empty() {
            let port = match self.files.number(&self.at("dev_port"))? {
                Some(port) => Some(port),
                None => self.files.hexadecimal(&self.at("dev_id"))?,
            };
            let port = u64::from(port.unwrap_or(0));
            self.add("Port", Some((port + 1).to_string()));
        }
        let is_cassini = || !self.files.names(&self.at("device/cxi")).is_empty();
        if self.name().starts_with("hs") && is_cassini() {
            self.facts.subtype = Some(String::from("Slingshot"));
        }
        Ok(())
    }

    pub(super) fn rdma(&mut self) -> Result<(), SyntaxError> {
        self.tell(&[("node_guid", "NodeGUID")]);
        self.tell(&[("sys_image_guid", "SysImageGUID")]);
        for port in self.files.numbered(&self.at("ports"), "") {
            let directory = self.at(&format!("ports/{port}"));
            // `4: ACTIVE`: the number is what the InfiniBand Architecture Specification defines.
            let state = self.files.text(&format!("{directory}/state"));
            let state = state.and_then(|text| Some(text.split(':').next()?.to_string()));
            self.add(format!("Port{port}State"), state);
            for (file, name) in [("lid", "LID"), ("lid_mask_count", "LMC")] {
                let value = self.files.text(&format!("{directory}/{file}"));
                self.add(format!("Port{port}{name}"), value);
            }
            // Tables have hundreds of entries, the first few of which are filled.
            for place in 0..256 {
                let gid = self.files.text(&format!("{directory}/gids/{place}"));
                let gid = gid.filter(|gid| !gid.ends_with("0000:0000:0000:0000"));
                if gid.is_none() {
                    break;
                }
                self.add(format!("Port{port}GID{place}"), gid);
            }
        }
        Ok(())
    }

    pub(super) fn bxi(&mut self) -> Result<(), SyntaxError> {
        self.facts.subtype = Some(String::from("BXI"));
        self.tell(&[("uuid", "BXIUUID")]);
        Ok(())
    }

    pub(super) fn cxi(&mut self) -> Result<(), SyntaxError> {
        self.facts.subtype = Some(String::from("Slingshot"));
        self.tell(&[("device/properties/cassini_version", "CassiniVersion")]);
        self.tell(&[("device/properties/nid", "NID")]);
        Ok(())
    }

    pub(super) fn vector_engine(&mut self) -> Result<(), SyntaxError> {
        self.facts.subtype = Some(String::from("VectorEngine"));
        self.tell(&[("model", "VectorEngineModel")]);
        self.tell(&[("serial", "VectorEngineSerialNumber")]);
        if self.files.number(&self.at("partitioning_mode"))? > Some(0) {
            self.add("VectorEngineNUMAPartitioned", Some("1".into()));
        }
        self.tell(&[("num_of_core", "VectorEngineCores")]);
        // Gibibytes.
        let memory = self.files.number(&self.at("memory_size"))?;
        let memory = memory.map(|size| (u64::from(size) << 20).to_string());
        self.add("VectorEngineMemorySize", memory);
        let known = [
            ("cache_llc", "VectorEngineLLCSize"),
            ("cache_l2", "VectorEngineL2Size"),
            ("cache_l1d", "VectorEngineL1dSize"),
            ("cache_l1i", "VectorEngineL1iSize"),
        ];
        for (file, name) in known {
            let size = self.files.text(&self.at(file));
            let is_unit = |c: char| !c.is_ascii_digit();
            self.add(name, size.map(|size| size.trim_end_matches(is_unit).into()));
        }
        Ok(())
    }
}
