//! Guesses the kind of memory of each NUMA node: DRAM, high-bandwidth or non-volatile memory.
//!
//! The kernel does not report it. It reports which nodes are the memory of a DAX device and that device's
//! position, and the bandwidth from firmware. The rule is hwloc's (version 2.9, `memattrs.c`), so that both
//! use the same words.

use super::read::Reader;
use super::{Files, NODES};
use crate::error::SyntaxError;
use crate::facts::{Facts, Info};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub(super) const DAX: &str = "/sys/bus/dax/devices";

/// Nodes of one kind with similar bandwidths.
struct Tier {
    /// The kind from DAX: `NVM` or `SPM`.
    sort: Option<&'static str>,
    /// The bandwidth of the slowest and of the fastest node in MiB/s; 0 if unknown.
    bandwidth: (u64, u64),
    nodes: Vec<usize>,
}

/// Sets the subtype of each node, if it can be found out, and the infos of its DAX device.
pub(super) fn tell(files: &Reader<'_, impl Files>, nodes: &mut [Facts]) -> Result<(), SyntaxError> {
    let mut sorts = alloc::vec![None; nodes.len()];
    for device in dax_of_nodes(files) {
        let target = files.number(&format!("{DAX}/{device}/target_node"))?;
        let place = nodes.iter().position(|node| node.os == target);
        if let Some(place) = place.filter(|_| target.is_some()) {
            sorts[place] = dax_sort(files, &device);
            nodes[place].infos.push(Info::new("DAXDevice", &*device));
            nodes[place].infos.extend(dax_infos(files, &device));
        }
    }
    let mut tiers = tiers(files, nodes, &sorts)?;
    guess(&mut tiers);
    let names = tiers
        .iter()
        .flat_map(|tier| tier.nodes.iter().map(|node| (*node, tier.sort)));
    for (node, name) in names {
        nodes[node].subtype = name.map(String::from);
    }
    Ok(())
}

/// The DAX devices whose memory the kernel uses as its own.
fn dax_of_nodes(files: &Reader<'_, impl Files>) -> Vec<String> {
    let mut names = files.names("/sys/bus/dax/drivers/kmem");
    names.retain(|name| name.starts_with("dax"));
    names
}

/// The kind of memory of a DAX device: `NVM` behind a bus of non-volatile memory, else `SPM`,
/// specific-purpose memory.
pub(super) fn dax_sort(files: &Reader<'_, impl Files>, device: &str) -> Option<&'static str> {
    let link = files.link(&format!("{DAX}/{device}"))?;
    Some(if link.contains("ndbus") { "NVM" } else { "SPM" })
}

/// The infos of a DAX device: its kind of memory, and the hardware behind it.
pub(super) fn dax_infos(files: &Reader<'_, impl Files>, device: &str) -> Vec<Info> {
    let sort = dax_sort(files, device).map(|sort| Info::new("DAXType", sort));
    let link = files.link(&format!("{DAX}/{device}")).unwrap_or_default();
    let parent = link.trim_start_matches("../").trim_end_matches('/');
    let parent = parent.strip_prefix("devices/").unwrap_or(parent);
    let parent = parent.strip_prefix("platform/").unwrap_or(parent);
    let parent = parent.rsplit_once('/').map(|(parent, _)| parent);
    let parent = parent.map(|parent| Info::new("DAXParent", parent));
    sort.into_iter().chain(parent).collect()
}

/// Groups the nodes by kind, and by bandwidth where two neighbours differ by more than a tenth.
fn tiers(
    files: &Reader<'_, impl Files>,
    nodes: &[Facts],
    sorts: &[Option<&'static str>],
) -> Result<Vec<Tier>, SyntaxError> {
    let mut known = Vec::new();
    for (place, (node, sort)) in nodes.iter().zip(sorts).enumerate() {
        known.push((*sort, bandwidth(files, node)?, place));
    }
    known.sort_unstable();
    let mut tiers: Vec<Tier> = Vec::new();
    for (sort, bandwidth, place) in known {
        let alike = |tier: &&mut Tier| {
            let slower = tier.bandwidth.1;
            let is_near = slower == 0 || bandwidth * 10 <= slower * 11;
            tier.sort == sort && is_near
        };
        match tiers.last_mut().filter(alike) {
            Some(tier) => {
                tier.bandwidth.1 = bandwidth;
                tier.nodes.push(place);
            }
            None => tiers.push(Tier {
                sort,
                bandwidth: (bandwidth, bandwidth),
                nodes: alloc::vec![place],
            }),
        }
    }
    Ok(tiers)
}

/// The bandwidth in MiB/s between a node's memory and the nearest processors, the mean of both directions; 0
/// if unknown.
fn bandwidth(files: &Reader<'_, impl Files>, node: &Facts) -> Result<u64, SyntaxError> {
    let os = node.os.unwrap_or(0);
    // The first is for processors only, the second also for other initiators.
    for access in ["access1", "access0"] {
        let directory = format!("{NODES}/node{os}/{access}/initiators");
        let read = files.number(&format!("{directory}/read_bandwidth"))?;
        if let Some(read) = read.map(u64::from) {
            let write = files.number(&format!("{directory}/write_bandwidth"))?;
            let write = write.map_or(read, u64::from);
            return Ok(match (read, write) {
                (0, one) | (one, 0) => one,
                (read, write) => (read + write) / 2,
            });
        }
    }
    Ok(0)
}

/// Decides between DRAM and high-bandwidth memory: of two tiers, one with more than twice the bandwidth is
/// the latter.
fn guess(tiers: &mut [Tier]) {
    let is_open = |tier: &&mut Tier| matches!(tier.sort, None | Some("SPM"));
    let mut open: Vec<&mut Tier> = tiers.iter_mut().filter(is_open).collect();
    open.sort_by_key(|tier| tier.bandwidth);
    if let [slow, fast] = &mut open[..]
        && (slow.sort.is_none() || fast.sort.is_none())
        && slow.bandwidth.0 > 0
        && fast.bandwidth.0 > 2 * slow.bandwidth.1
    {
        slow.sort = Some("DRAM");
        fast.sort = Some("HBM");
    }
}
