//! `oxmpi explain progress`: who must be in a call for a message, a collective or an access to end.

use std::ffi::OsString;

use oxmpi_os::probe;
use oxmpi_settings::Values;
use oxmpi_settings::transports::opened;
use oxmpi_text::switch;
use serde_json::{Value, json};

use crate::columns::aligned;
use crate::options::*;

#[rustfmt::skip]
const OPTIONS: OptionTable<bool> = OptionTable {
    command: "oxmpi explain progress",
    intro: "\
Usage: oxmpi explain progress [--json]

Says for each kind of communication which ranks must be in a call of this library for it to end, and what a
helper thread (async_progress = on) changes. A rank is in a call while it waits, tests or starts something;
`comm.progress()` is a call, too. No job is started.

  E0, E1, R0, R1  the paths of a message, by size: `oxmpi explain` prints where each begins
  helper          one thread of each rank; on a processor of its own it takes no time from the program:
                  `oxmpi settings async_progress_cpus`
",
    groups: &[OptionGroup { title: "Options", rows: &[
        flag(&["json"], "print JSON (docs/formats.md)", |json| *json = true),
        help(),
    ] }],    ..OptionTable::GNU
};

/// What decides who must be in a call.
struct Facts {
    /// Whether ranks of a node share memory.
    shared: bool,
    /// Whether they may read each other's memory.
    attach: bool,
    /// Whether the network is RDMA.
    rdma: bool,
    /// Whether there is a helper thread.
    helper: bool,
}

/// Who must be in a call for one kind of communication.
struct InCall {
    what: &'static str,
    between: &'static str,
    without: &'static str,
    with: &'static str,
}

/// Nobody needs to be in a call.
const NOBODY: &str = "nobody";
/// As without a helper.
const SAME: &str = "no change";

/// The text to print.
///
/// # Errors
/// A wrong argument, or what `values` says.
pub(super) fn run(
    arguments: &[OsString],
    values: impl FnOnce() -> Result<Values, String>,
) -> Result<String, String> {
    let mut as_json = false;
    if OPTIONS.read(arguments, &mut as_json)? != Parsed::Run(&[]) {
        return Ok(OPTIONS.help());
    }
    let values = values()?;
    let selection = opened(&values);
    let taken = |name| (selection.transports.iter()).any(|one| one.taken && one.name == name);
    let facts = Facts {
        shared: selection.shared,
        attach: probe::process_vm_readv().is_ok(),
        rdma: taken("verbs"),
        helper: values.parse("async_progress", switch),
    };
    let origin = values.get("async_progress").origin.to_string();
    Ok(match as_json {
        true => format!("{:#}\n", json(&facts, &origin)),
        false => text(&facts, &origin),
    })
}

/// Each kind of communication, and who must be in a call for it.
fn rows(facts: &Facts) -> Vec<InCall> {
    let row = |what, between, without, with| InCall {
        what,
        between,
        without,
        with,
    };
    let mut rows = Vec::new();
    if facts.shared {
        let reads = match facts.attach {
            true => "the receiver, where it copies alone (cma, mapped); else both",
            false => "both: the system refuses process_vm_readv",
        };
        rows.push(row("E0, E1", "node", "the receiver, to see it", SAME));
        rows.push(row("R0", "node", reads, NOBODY));
        rows.push(row("R1", "node", "both", NOBODY));
    }
    let (eager, get, put) = match facts.rdma {
        true => (
            "the receiver, to see it",
            "the receiver, to start the read, and the sender, to see its end",
            "both, for each chunk",
        ),
        false => (
            "the sender, until its socket has taken the bytes, and the receiver",
            "both, for all bytes",
            "both, for all bytes",
        ),
    };
    let eager_with = match facts.rdma {
        true => SAME,
        false => "the receiver, to see it",
    };
    rows.push(row("E0, E1", "nodes", eager, eager_with));
    rows.push(row("R0", "nodes", get, NOBODY));
    rows.push(row("R1", "nodes", put, NOBODY));
    rows.extend([
        row(
            "started collective",
            "any",
            "each rank, for each of its steps",
            "nobody; a C program's function, below MPI_THREAD_MULTIPLE, is called in calls only",
        ),
        row(
            "window by loads, stores and system calls",
            "node",
            "the origin",
            SAME,
        ),
        row(
            "window by messages",
            "any",
            "the origin and the target",
            "the origin",
        ),
    ]);
    rows
}

fn text(facts: &Facts, origin: &str) -> String {
    let head = ["what", "between", "must be in a call", "with a helper"].map(String::from);
    let mut lines = vec![head.to_vec()];
    lines.extend(rows(facts).iter().map(|row| {
        let cells = [row.what, row.between, row.without, row.with];
        cells.map(String::from).to_vec()
    }));
    let state = if facts.helper { "on" } else { "off" };
    format!(
        "async_progress = {state} ({origin})\n\n{}\nnode: ranks of one node; nodes: ranks of different ones. Receives of up to 4 KiB \
         and blocking calls need no helper:\nwho waits in a call makes progress.\n",
        aligned(&lines)
    )
}

fn json(facts: &Facts, origin: &str) -> Value {
    let row = |row: &InCall| json!({"what": row.what, "between": row.between, "in_call": row.without, "with_helper": row.with});
    json!({
        "format": "oxmpi-explain-progress",
        "version": 1,
        "async_progress": facts.helper,
        "from": origin,
        "rows": rows(facts).iter().map(row).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_decide_who_must_be_in_a_call() {
        OPTIONS.assert_sound();
        let facts = |shared, attach, rdma| Facts {
            shared,
            attach,
            rdma,
            helper: true,
        };
        let shown = text(&facts(true, true, false), "default");
        assert!(shown.starts_with("async_progress = on (default)\n\nwhat"));
        assert!(
            shown.contains("R0                                        node"),
            "{shown}"
        );
        assert!(shown.contains("both, for all bytes"));
        let refused = text(&facts(true, false, true), "default");
        assert!(refused.contains("the system refuses") && refused.contains("for each chunk"));
        assert_eq!(rows(&facts(false, true, false)).len(), 6);
        let all = json(&facts(true, true, true), "default");
        assert_eq!(all["rows"][1]["with_helper"], "nobody");
        assert_eq!(all["rows"].as_array().map(Vec::len), Some(9));
    }
}
