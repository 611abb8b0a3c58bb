//! Prints the information about this system as text and as JSON.

use serde_json::json;

use super::{SystemInfo, TransportInfo};

/// The text.
pub(super) fn text(info: &SystemInfo) -> String {
    let machine = match &info.machine {
        Ok(counts) => {
            let each = counts.iter().map(|(kind, n)| format!("{n} {kind}"));
            each.collect::<Vec<_>>().join(", ")
        }
        Err(why) => format!("cannot be read: {why}"),
    };
    let mut text = format!(
        "oxmpi {}\n\nhost        {}\nmachine     {machine}\ntopology    {}\nprocessors  {} allowed ({}), {} at once\n",
        info.version,
        info.host,
        info.topology.join("; "),
        info.allowed.len(),
        info.allowed,
        info.granted,
    );
    if let Some(memory) = &info.memory {
        text += &format!("memory      {} MiB {}\n", memory.bytes >> 20, memory.source);
    }
    text += &format!("manager     {}\n", info.manager);
    for transport in &info.transports {
        text.push('\n');
        text += &of_transport(transport);
    }
    text
}

fn of_transport(transport: &TransportInfo) -> String {
    let used = if transport.used { "used" } else { "not used" };
    let mut text = format!("{:10}  {used}: {}\n", transport.name, transport.why);
    for part in &transport.parts {
        let found = if part.found { "found" } else { "missing" };
        text += &format!(
            "  {:16}  {found:7}  {}; {}\n",
            part.name, part.purpose, part.note
        );
    }
    text
}

/// The format `oxmpi-info` of docs/formats.md.
pub(super) fn json(info: &SystemInfo) -> String {
    let (counts, error) = match &info.machine {
        Ok(counts) => (counts.as_slice(), None),
        Err(why) => (&[][..], Some(why)),
    };
    let counts: serde_json::Map<_, _> = counts
        .iter()
        .map(|(kind, n)| (kind.to_string(), (*n).into()))
        .collect();
    let transports = info.transports.iter().map(|transport| {
        let part = |part: &super::Facility| {
            json!({"name": part.name, "purpose": part.purpose, "found": part.found, "note": part.note})
        };
        json!({
            "name": transport.name,
            "used": transport.used,
            "why": transport.why,
            "parts": transport.parts.iter().map(part).collect::<Vec<_>>(),
        })
    });
    let whole = json!({
        "format": "oxmpi-info",
        "version": 1,
        "oxmpi": info.version,
        "host": info.host,
        "machine": counts,
        "machine_error": error,
        "topology": info.topology,
        "allowed": info.allowed.to_string(),
        "granted": info.granted,
        "memory_left": info.memory.as_ref().map(|memory| memory.bytes),
        "manager": info.manager,
        "transports": transports.collect::<Vec<_>>(),
    });
    format!("{whole:#}\n")
}
