//! Kinds of peers, and the table of paths to each.

use oxmpi::settings::{Value, Values};
use oxmpi::transports::opened;
use oxmpi_os::probe;
use oxmpi_shm::heap::{Facts, Pages, Plan};
use oxmpi_wire::Limits;
use oxmpi_wire::paths::{Path, Rendezvous, Row, Table, Until, network};

/// All peers of one kind.
pub(super) struct PeerPaths {
    /// `self`, `node`, `tcp` or `network`.
    pub(super) kind: &'static str,
    /// Who they are, and over what messages go.
    pub(super) about: String,
    pub(super) rows: Vec<PathRange>,
    /// What else is decided, and why: a name and a sentence.
    pub(super) notes: Vec<(&'static str, String)>,
}

/// One row of a table.
pub(super) struct PathRange {
    pub(super) row: Row,
    /// Nanoseconds for its shortest and its longest message.
    pub(super) ns: (u64, Option<u64>),
    /// Why the path ends there.
    pub(super) why: String,
}

/// Every kind of peers in a job of `ranks` ranks, two where nobody says how many.
pub(super) fn all(values: &Values, ranks: Option<u64>) -> Vec<PeerPaths> {
    let layout = values.layout(1);
    let node = oxmpi_shm::limits(&layout);
    let ranks = ranks.unwrap_or(2);
    let plan = network::Plan::new(ranks, values.network());
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
    let others = selection.tcp.then(|| {
        let whose = match selection.shared {
            true => "ranks of other nodes",
            false => "all other ranks, also of the same node",
        };
        PeerPaths {
            kind: "tcp",
            about: format!("{whose}, over {}", selection.interfaces.join(", ")),
            rows: rows(values, &values.tcp_options().limits(), ""),
            notes: tcp_notes(values),
        }
    });
    let model = PeerPaths {
        kind: "network",
        about: format!(
            "what a transport faster than TCP is to be made of, in a job of {}; this version has none",
            plan.ranks
        ),
        rows: rows(values, &plan.limits(), "network_"),
        notes: network_notes(values, &plan),
    };
    let real = [Some(own), neighbours, others];
    real.into_iter().flatten().chain([model]).collect()
}

/// How bytes go through connections.
fn tcp_notes(values: &Values) -> Vec<(&'static str, String)> {
    let name = |name: &str| setting_text(values.get(name));
    vec![
        ("frames", format!("copied twice; {}", name("tcp_frame"))),
        (
            "bulk",
            format!("from memory to memory, in pieces; {}", name("tcp_chunk")),
        ),
        ("a silent host is lost", name("tcp_silence")),
    ]
}

fn rows(values: &Values, limits: &Limits, prefix: &str) -> Vec<PathRange> {
    let table = Table::new(limits, &values.switches());
    let explain = |row: Row| {
        let cost = limits.costs.of(row.path);
        PathRange {
            row,
            ns: (cost.ns(row.first), row.last.map(|last| cost.ns(last))),
            why: why(values, limits, &table, row, prefix),
        }
    };
    table.rows().map(explain).collect()
}

/// Why `row` ends where it does. Settings of the transport's own begin with `prefix`.
fn why(values: &Values, limits: &Limits, table: &Table, row: Row, prefix: &str) -> String {
    let Some((last, until)) = row.last.zip(row.until) else {
        let forced = values.switches().rendezvous != Rendezvous::Auto;
        return if forced {
            setting_text(values.get("rendezvous"))
        } else {
            "takes all that is longer".into()
        };
    };
    match until {
        Until::Reach => match row.path {
            Path::E0 if !prefix.is_empty() => {
                format!(
                    "a mailbox slot: {}",
                    setting_text(values.get("network_short_limit"))
                )
            }
            Path::E0 => "a line holds no more".into(),
            Path::E1 => "a buffer holds no more".into(),
            Path::R0 | Path::R1 => "the transport's own limit".into(),
        },
        Until::Cost => {
            let next = table.path(last + 1);
            let ns = |path| limits.costs.of(path).ns(last + 1);
            format!(
                "from {} B on {next} costs less: {} ns against {}",
                last + 1,
                ns(next),
                ns(row.path)
            )
        }
        Until::Set => setting_text(setting(values, row.path, prefix)),
    }
}

/// The setting that makes `path` end.
fn setting<'a>(values: &'a Values, path: Path, prefix: &str) -> &'a Value {
    let is_set = |name: &str| values.get(name).text != "auto";
    let usual = match path {
        Path::E0 if is_set("short_limit") => "short_limit",
        Path::E0 | Path::E1 => "eager_limit",
        Path::R0 | Path::R1 => "get_limit",
    };
    if is_set(usual) {
        values.get(usual)
    } else {
        values.get(&format!("{prefix}{usual}"))
    }
}

/// A setting with its value and where that came from.
fn setting_text(value: &Value) -> String {
    format!("{} = {} ({})", value.setting.name, value.text, value.origin)
}

/// How long messages go between so many ranks of a node.
fn node_notes(values: &Values, ranks: u64) -> Vec<(&'static str, String)> {
    let (road, chunk) = (values.get("shm_road"), values.get("shm_chunk"));
    let chosen = match values.roads().road {
        None => "each peer and class of sizes takes the road that trials in the job find fastest",
        Some(_) => "the road that is set, where it is open",
    };
    let single = match probe::process_vm_readv() {
        Ok(()) => "open: the system lets processes of one user copy from each other".into(),
        Err(why) => format!("closed by the system ({why}): copies through shared memory instead"),
    };
    vec![
        ("buffers", setting_text(values.get("shm_buffer"))),
        (
            "bulk",
            format!("{chosen}; {}, {}", setting_text(road), setting_text(chunk)),
        ),
        ("single copy", single),
        ("allocated memory", allocated(values, ranks)),
    ]
}

/// The memory that ranks allocate where their peers reach it: how much, of which pages, and why.
fn allocated(values: &Values, ranks: u64) -> String {
    let ranks = u32::try_from(ranks).unwrap_or(u32::MAX);
    let plan = Plan::new(ranks, values.heap(), &Facts::of_process());
    if plan.area == 0 {
        return format!("private, no peer reaches it: {}", plan.why_area);
    }
    let pages = match plan.pages {
        Pages::Pool => "huge pages that are set aside",
        Pages::Asked => "huge pages, asked for",
        Pages::Small => "small pages",
    };
    format!(
        "{} MiB a rank ({}), of {pages} ({})",
        plan.area >> 20,
        plan.why_area,
        plan.why_pages
    )
}

/// How network roads are made.
fn network_notes(values: &Values, plan: &network::Plan) -> Vec<(&'static str, String)> {
    let name = |name: &str| setting_text(values.get(name));
    vec![
        (
            "mailboxes",
            format!(
                "{} slots of {} B and a header of {} a peer; {}, {}",
                network::SLOTS,
                plan.payload,
                network::HEADER,
                name("network_mailboxes"),
                name("network_connect")
            ),
        ),
        (
            "buffers",
            format!("of {} B; {}", network::BUFFER, name("network_buffers")),
        ),
        (
            "bulk",
            match plan.wanted.zero_copy {
                true => format!("without copies; {}", name("network_zero_copy")),
                false => format!("through the buffers; {}", name("network_zero_copy")),
            },
        ),
        (
            "engine",
            format!(
                "the network moves transfers of at least {} B, the processor shorter ones; {}",
                plan.wanted.engine_from,
                name("network_engine_from")
            ),
        ),
    ]
}
