//! Reads what this process may use: the cpuset of its control group, and its affinity mask.

use super::Files;
use super::read::Reader;
use crate::cpuset::CpuSet;
use crate::error::SyntaxError;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The processors and NUMA nodes that this process may use; `None` where there is no limit or no information.
pub(super) struct Allowed {
    pub(super) cpus: Option<CpuSet>,
    /// Numbers of NUMA nodes.
    pub(super) memory: Option<CpuSet>,
    pub(super) bound: Option<CpuSet>,
}

/// A type of cpuset hierarchy, and the names of its two files.
struct Flavour {
    cpus: &'static str,
    memory: &'static str,
    /// The line of /proc/self/cgroup with this list of controllers has the group's path.
    controllers: &'static str,
}

/// The unified hierarchy.
const V2: Flavour = Flavour {
    cpus: "cpuset.cpus.effective",
    memory: "cpuset.mems.effective",
    controllers: "",
};

/// The cpuset controller of version 1.
const V1: Flavour = Flavour {
    cpus: "cpuset.cpus",
    memory: "cpuset.mems",
    controllers: "cpuset",
};

/// Version 1 mounted without prefix, and the older separate file system.
const NOPREFIX: Flavour = Flavour {
    cpus: "cpus",
    memory: "mems",
    controllers: "cpuset",
};

pub(super) fn read(files: &Reader<'_, impl Files>) -> Result<Allowed, SyntaxError> {
    let mut allowed = Allowed {
        cpus: None,
        memory: None,
        bound: bound(files)?,
    };
    for (directory, flavour) in mounts(&files.text("/proc/mounts").unwrap_or_default()) {
        for group in groups(files, &flavour) {
            // A container may see only the lower part of the hierarchy, under its root; and the unified
            // hierarchy has these files only in groups where the controller is enabled.
            for above in upwards(&group) {
                let path = format!("{directory}{above}");
                if let Some(cpus) = files.list(&format!("{path}/{}", flavour.cpus))? {
                    allowed.cpus = Some(cpus);
                    allowed.memory = files.list(&format!("{path}/{}", flavour.memory))?;
                    return Ok(allowed);
                }
            }
        }
    }
    Ok(allowed)
}

/// The mount points of cpusets, version 1 first: a controller is in one hierarchy only.
fn mounts(text: &str) -> Vec<(String, Flavour)> {
    let mut mounts = Vec::new();
    for line in text.lines() {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (Some(directory), Some(kind), Some(options)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let has = |option| options.split(',').any(|word| word == option);
        let flavour = match kind {
            "cgroup2" => V2,
            "cpuset" => NOPREFIX,
            "cgroup" if has("cpuset") && has("noprefix") => NOPREFIX,
            "cgroup" if has("cpuset") => V1,
            _ => continue,
        };
        mounts.push((String::from(directory.trim_end_matches('/')), flavour));
    }
    mounts.sort_by_key(|(_, flavour)| flavour.controllers.is_empty());
    mounts
}

/// The paths inside the mount that this process's group may have.
fn groups(files: &Reader<'_, impl Files>, flavour: &Flavour) -> Vec<String> {
    let text = files.text("/proc/self/cgroup").unwrap_or_default();
    let of_line = text.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let found = controllers
            .split(',')
            .any(|word| word == flavour.controllers);
        found.then(|| String::from(path))
    });
    files
        .text("/proc/self/cpuset")
        .into_iter()
        .chain(of_line)
        .collect()
}

/// A path and its parents up to the root, which is empty.
fn upwards(path: &str) -> impl Iterator<Item = &str> {
    let path = path.trim_end_matches('/');
    core::iter::successors(Some(path), |path| {
        path.rfind('/').map(|slash| &path[..slash])
    })
}

/// The affinity mask of this process.
fn bound(files: &Reader<'_, impl Files>) -> Result<Option<CpuSet>, SyntaxError> {
    const STATUS: &str = "/proc/self/status";
    let text = files.text(STATUS).unwrap_or_default();
    let list = text
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let set = |list| CpuSet::parse_list(list).map_err(|error| error.in_file(STATUS));
    list.map(set).transpose()
}
