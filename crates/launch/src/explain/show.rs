//! Prints the explanation of message paths as text and as JSON.

use oxmpi_wire::paths::PathEnd;
use oxmpi_wire::paths::network::{ConnectTime, MailboxSharing};
use serde_json::json;

use super::PathsExplained;
use super::mailbox_memory::{MailboxMemory, RankMemory};
use super::peers::{PathRange, PeerPaths};
use crate::columns::aligned;

/// The text.
pub(super) fn text(explained: &PathsExplained) -> String {
    let peers = explained.peers.iter().map(of_peers);
    let mut text = peers.collect::<Vec<_>>().join("\n");
    if let Some(mailboxes) = &explained.mailboxes {
        text.push('\n');
        text += &of_mailboxes(mailboxes);
    }
    text
}

fn of_peers(peers: &PeerPaths) -> String {
    let mut text = format!("{}: {}\n", peers.kind, peers.about);
    let mut rows = vec![
        ["bytes", "path", "how", "one way", "ends because"]
            .map(String::from)
            .to_vec(),
    ];
    rows.extend(peers.rows.iter().map(of_row));
    text += &indented(&aligned(&rows));
    for (name, what) in &peers.notes {
        text += &format!("  {name}: {what}\n");
    }
    text
}

fn of_row(explanation: &PathRange) -> Vec<String> {
    let row = &explanation.row;
    let (first, last) = explanation.ns;
    let (bytes, ns) = match (row.last, last) {
        (Some(end), Some(last)) => (
            format!("{}..{end}", row.first),
            format!("{first}..{last} ns"),
        ),
        _ => (format!("{}..", row.first), format!("{first}.. ns")),
    };
    vec![
        bytes,
        row.path.to_string(),
        row.path.about().into(),
        ns,
        explanation.why.clone(),
    ]
}

fn of_mailboxes(mailboxes: &MailboxMemory) -> String {
    let MailboxMemory {
        ranks,
        slot,
        slots,
        block,
        block_bytes,
        rows,
    } = mailboxes;
    let mut text = format!(
        "network mailboxes of a job of {ranks}: {slots} slots of {slot} B a peer, allocated in blocks of \
         {block} mailboxes ({})\n",
        rounded(*block_bytes)
    );
    let heading = [
        "mailboxes",
        "connect",
        "peers that send",
        "mailbox memory",
        "buffers",
        "tables",
        "a rank",
        "the job",
        "",
    ];
    let mut lines = vec![heading.map(String::from).to_vec()];
    lines.extend(rows.iter().map(|row| {
        let memory = &row.memory;
        vec![
            sharing(row).into(),
            connect(row).into(),
            row.used.to_string(),
            rounded(memory.mailboxes),
            rounded(memory.buffers),
            rounded(memory.tables),
            rounded(memory.total()),
            rounded(memory.total().saturating_mul(*ranks)),
            if row.chosen { "as set" } else { "" }.into(),
        ]
    }));
    text += &indented(&aligned(&lines));
    text
}

fn sharing(row: &RankMemory) -> &'static str {
    match row.sharing {
        MailboxSharing::Peer => "peer",
        MailboxSharing::Shared => "shared",
    }
}

fn connect(row: &RankMemory) -> &'static str {
    match row.connect {
        ConnectTime::FirstUse => "first-use",
        ConnectTime::Start => "start",
    }
}

/// Bytes with one decimal, in the largest unit that leaves a whole number before the point.
fn rounded(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    while unit + 1 < UNITS.len() && bytes >> (10 * (unit + 1)) > 0 {
        unit += 1;
    }
    if unit == 0 {
        return format!("{bytes} B");
    }
    let figure = bytes as f64 / (1u64 << (10 * unit)) as f64;
    format!("{figure:.1} {}", UNITS[unit])
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// The format `oxmpi-explain` of docs/formats.md.
pub(super) fn json(explained: &PathsExplained) -> String {
    let row = |explanation: &PathRange| {
        let row = &explanation.row;
        json!({
            "path": row.path.to_string(),
            "first": row.first,
            "last": row.last,
            "first_ns": explanation.ns.0,
            "last_ns": explanation.ns.1,
            "until": row.until.map(|until| match until {
                PathEnd::Reach => "reach",
                PathEnd::Cost => "cost",
                PathEnd::Setting => "setting",
            }),
            "why": explanation.why,
        })
    };
    let peers = explained.peers.iter().map(|peers| {
        let note = |(name, what): &(&str, String)| json!({"name": name, "text": what});
        json!({
            "kind": peers.kind,
            "about": peers.about,
            "paths": peers.rows.iter().map(row).collect::<Vec<_>>(),
            "notes": peers.notes.iter().map(note).collect::<Vec<_>>(),
        })
    });
    let mailboxes = explained.mailboxes.as_ref().map(|mailboxes| {
        let row = |row: &RankMemory| {
            json!({
                "mailboxes": sharing(row),
                "connect": connect(row),
                "peers": row.used,
                "mailbox_bytes": row.memory.mailboxes,
                "buffer_bytes": row.memory.buffers,
                "table_bytes": row.memory.tables,
                "rank_bytes": row.memory.total(),
                "set": row.chosen,
            })
        };
        json!({
            "ranks": mailboxes.ranks,
            "slot": mailboxes.slot,
            "slots": mailboxes.slots,
            "block": mailboxes.block,
            "block_bytes": mailboxes.block_bytes,
            "memory": mailboxes.rows.iter().map(row).collect::<Vec<_>>(),
        })
    });
    let whole = json!({
        "format": "oxmpi-explain",
        "version": 1,
        "peers": peers.collect::<Vec<_>>(),
        "mailboxes": mailboxes,
    });
    format!("{whole:#}\n")
}
