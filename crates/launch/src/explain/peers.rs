//! The kinds of peers, and the paths of messages to each.

use super::rdma_device::first_device;
use oxmpi_os::probe;
use oxmpi_settings::transports::opened;
use oxmpi_settings::{SettingValue, Values};
use oxmpi_shm::heap::{HeapLimits, HeapPlan, PageKind};
use oxmpi_verbs::{EagerRings, LeavePinned, ReceiveQueue};
use oxmpi_wire::Limits;
use oxmpi_wire::paths::{Path, PathEnd, PathRow, PathTable, RendezvousScheme, network};

/// The paths to the peers of one kind.
pub(super) struct PeerPaths {
    /// `self`, `node`, `verbs`, `tcp` or `network`.
    pub(super) kind: &'static str,
    /// Which ranks they are, and the transport to them.
    pub(super) about: String,
    pub(super) rows: Vec<PathRange>,
    /// Other choices of the transport: a name and a sentence each.
    pub(super) notes: Vec<(&'static str, String)>,
}

/// A path, the range of sizes that takes it, and its cost.
pub(super) struct PathRange {
    pub(super) row: PathRow,
    /// Nanoseconds of the shortest and the longest message.
    pub(super) ns: (u64, Option<u64>),
    /// Why the path ends at the longest message.
    pub(super) why: String,
}

/// The paths to every kind of peer in a job of `ranks` ranks (default: 2).
pub(super) fn all(values: &Values, ranks: Option<u64>) -> Vec<PeerPaths> {
    let layout = values.layout(1);
    let node = oxmpi_shm::limits(&layout);
    let ranks = ranks.unwrap_or(2);
    let plan = network::NetworkPlan::new(ranks, values.network());
    let selection = opened(values);
    let own = PeerPaths {
        kind: "self",
        about: "this rank itself, through shared memory as any rank of the node".into(),
        rows: rows(values, &node, ""),
        notes: Vec::new(),
    };
    let neighbours = selection.shared.then(|| PeerPaths {
        kind: "node",
        about: "ranks of the same node, through shared memory".into(),
        rows: rows(values, &node, ""),
        notes: node_notes(values, ranks),
    });
    let by_rdma = selection
        .verbs
        .then(|| by_rdma(values, &selection.adapters));
    let others = selection.tcp.then(|| {
        let whose = match (selection.verbs, selection.shared) {
            (true, _) => "ranks with which this one has no RDMA network in common",
            (false, true) => "ranks of other nodes",
            (false, false) => "all other ranks, also of the same node",
        };
        PeerPaths {
            kind: "tcp",
            about: format!("{whose}, over {}", selection.interfaces.join(", ")),
            rows: rows(values, &values.tcp_options().limits(), ""),
            notes: tcp_notes(values),
        }
    });
    // The model stands where no device is.
    let model = (!selection.verbs).then(|| PeerPaths {
        kind: "network",
        about: format!(
            "the model of a network faster than TCP, in a job of {} ranks",
            plan.ranks
        ),
        rows: rows(values, &plan.limits(), "network_"),
        notes: network_notes(values, &plan),
    });
    let kinds = [Some(own), neighbours, by_rdma.flatten(), others, model];
    kinds.into_iter().flatten().collect()
}

/// The paths by RDMA, by these ports, with the options for the first device of this host. `None`: its settings are wrong, and
/// the list of transports says so.
pub(super) fn by_rdma(values: &Values, ports: &[String]) -> Option<PeerPaths> {
    let preference = values.rdma().ok()?;
    let (device, parameters) = first_device(&preference);
    let options = preference.options(&parameters, LeavePinned::On);
    let name = |name: &str| setting_text(values.get(name));
    let rings = match options.rings == EagerRings::OFF {
        true => "none: the device is not known to write bytes in order".to_owned(),
        false => format!(
            "{} slots for each of {} peers that have sent {} messages",
            options.rings.slots, options.rings.peers, options.rings.threshold
        ),
    };
    let notes = vec![
        ("device", device),
        ("queues", ReceiveQueue::join_all(&options.receive_queues)),
        ("eager rings", format!("{rings}; {}", name("verbs_rings"))),
        (
            "bulk",
            format!(
                "{}, {}, {}",
                name("verbs_transfers"),
                name("verbs_min_rdma"),
                name("verbs_leave_pinned")
            ),
        ),
    ];
    Some(PeerPaths {
        kind: "verbs",
        about: format!(
            "ranks of other nodes that RDMA reaches, by {}",
            ports.join(", ")
        ),
        rows: rows(
            values,
            &options.limits(options.inline, ports.len()),
            "verbs_",
        ),
        notes,
    })
}

/// The choices of tcp.
fn tcp_notes(values: &Values) -> Vec<(&'static str, String)> {
    let name = |name: &str| setting_text(values.get(name));
    vec![
        ("frames", format!("copied twice; {}", name("tcp_frame"))),
        (
            "bulk",
            format!("from memory to memory, in chunks; {}", name("tcp_chunk")),
        ),
        ("failed hosts", name("tcp_host_timeout")),
    ]
}

fn rows(values: &Values, limits: &Limits, prefix: &str) -> Vec<PathRange> {
    let table = PathTable::new(limits, &values.switch_points());
    let explain = |row: PathRow| {
        let cost = limits.costs.of(row.path);
        PathRange {
            row,
            ns: (cost.ns(row.first), row.last.map(|last| cost.ns(last))),
            why: why(values, limits, &table, row, prefix),
        }
    };
    table.rows().map(explain).collect()
}

/// Why `row` ends at its longest message. The transport's own settings begin with `prefix`.
fn why(values: &Values, limits: &Limits, table: &PathTable, row: PathRow, prefix: &str) -> String {
    let Some((last, until)) = row.last.zip(row.until) else {
        let forced = values.switch_points().rendezvous != RendezvousScheme::Auto;
        return if forced {
            setting_text(values.get("rendezvous"))
        } else {
            "takes all longer messages".into()
        };
    };
    match until {
        PathEnd::Reach => match row.path {
            Path::E0 if prefix == "verbs_" => {
                format!(
                    "what is sent inline: {}",
                    setting_text(values.get("verbs_inline"))
                )
            }
            Path::E1 if prefix == "verbs_" => {
                let queues = setting_text(values.get("verbs_receive_queues"));
                format!("the largest receive buffer: {queues}")
            }
            Path::E0 if !prefix.is_empty() => {
                format!(
                    "a mailbox slot: {}",
                    setting_text(values.get("network_short_limit"))
                )
            }
            Path::E0 => "a cache line holds no more".into(),
            Path::E1 => "a buffer holds no more".into(),
            Path::R0 | Path::R1 => "the transport's own limit".into(),
        },
        PathEnd::Cost => {
            let next = table.path(last + 1);
            let ns = |path| limits.costs.of(path).ns(last + 1);
            format!(
                "from {} B on {next} costs less: {} ns against {}",
                last + 1,
                ns(next),
                ns(row.path)
            )
        }
        PathEnd::Setting => setting_text(setting(values, row.path, prefix)),
    }
}

/// The setting that makes `path` end.
fn setting<'a>(values: &'a Values, path: Path, prefix: &str) -> &'a SettingValue {
    let is_set = |name: &str| values.get(name).text != "auto";
    let usual = match path {
        Path::E0 if is_set("short_limit") => "short_limit",
        Path::E0 | Path::E1 => "eager_limit",
        Path::R0 | Path::R1 => "get_limit",
    };
    // RDMA has a limit of its own for eager messages only.
    let is_shared = prefix == "verbs_" && usual != "eager_limit";
    if is_set(usual) || is_shared {
        values.get(usual)
    } else {
        values.get(&format!("{prefix}{usual}"))
    }
}

/// A setting with its value and the origin of the value.
fn setting_text(value: &SettingValue) -> String {
    format!("{} = {} ({})", value.setting.name, value.text, value.origin)
}

/// The choices of shared memory in a job of `ranks` ranks.
fn node_notes(values: &Values, ranks: u64) -> Vec<(&'static str, String)> {
    let (protocol, chunk) = (values.get("shm_protocol"), values.get("shm_chunk"));
    let chosen = match values.bulk_protocols().protocol {
        None => {
            "each peer and size class uses the protocol that is fastest in trials during the job"
        }
        Some(_) => "the protocol that is set, where it is available",
    };
    let single = match probe::process_vm_readv() {
        Ok(()) => "available: processes of one user may copy from each other".into(),
        Err(why) => format!("not available ({why}): copies through shared memory instead"),
    };
    vec![
        ("buffers", setting_text(values.get("shm_buffer"))),
        (
            "bulk",
            format!(
                "{chosen}; {}, {}",
                setting_text(protocol),
                setting_text(chunk)
            ),
        ),
        ("single copy", single),
        ("allocated memory", allocated(values, ranks)),
    ]
}

/// The memory of a rank that its peers can map: size, page size, and the reasons.
fn allocated(values: &Values, ranks: u64) -> String {
    let ranks = u32::try_from(ranks).unwrap_or(u32::MAX);
    let plan = HeapPlan::new(ranks, values.heap(), &HeapLimits::of_this_process());
    if plan.area == 0 {
        return format!("private, not shared with peers: {}", plan.why_area);
    }
    let pages = match plan.pages {
        PageKind::Pool => "huge pages from the reserved pool",
        PageKind::Asked => "transparent huge pages",
        PageKind::Small => "small pages",
    };
    format!(
        "{} MiB a rank ({}), of {pages} ({})",
        plan.area >> 20,
        plan.why_area,
        plan.why_pages
    )
}

/// The choices of a network.
fn network_notes(values: &Values, plan: &network::NetworkPlan) -> Vec<(&'static str, String)> {
    let name = |name: &str| setting_text(values.get(name));
    vec![
        (
            "mailboxes",
            format!(
                "{} slots for each peer, of {} B and a header of {} B; {}, {}",
                network::MAILBOX_SLOTS,
                plan.payload,
                network::HEADER,
                name("network_mailboxes"),
                name("network_connect")
            ),
        ),
        (
            "buffers",
            format!("of {} B; {}", network::BUFFER_LEN, name("network_buffers")),
        ),
        (
            "bulk",
            match plan.settings.zero_copy {
                true => format!("without copies; {}", name("network_zero_copy")),
                false => format!("through the buffers; {}", name("network_zero_copy")),
            },
        ),
        (
            "engine",
            format!(
                "the network moves transfers of at least {} B, the processor shorter ones; {}",
                plan.settings.engine_from,
                name("network_engine_from")
            ),
        ),
    ]
}
