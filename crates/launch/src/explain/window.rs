//! `oxmpi explain window`: foretells how ranks access the memory of windows.

mod creation;

use std::ffi::OsString;

use oxmpi::window::WindowFootprint;
use oxmpi_coll::choice::Tuning;
use oxmpi_os::{cma, probe};
use oxmpi_settings::Values;
use oxmpi_settings::transports::opened;
use oxmpi_shm::heap::{HeapLimits, HeapPlan};
use oxmpi_shm::window::{MOST_WAITING, WindowWords};
use serde_json::{Value, json};

use self::creation::Creation;
use crate::columns::aligned;
use crate::options::*;

#[rustfmt::skip]
const OPTIONS: OptionTable<WindowOptions> = OptionTable {
    command: "oxmpi explain window",
    intro: "\
Usage: oxmpi explain window [-n RANKS] [--ranks RANKS] [--json]

Foretells how a rank accesses memory of a window, by where the memory is and whose it is: the path is decided
for each target when the window is made. No job is started.

  loads and stores  the memory is mapped here; the target does nothing
  system calls      process_vm_readv and process_vm_writev; the target does nothing
  messages          the target does what it is asked for in its own calls

Puts, gets, locks and accumulates of one window may take different paths to different targets. An accumulate
locks the block of 4 KiB that it changes, on every path, so that it is atomic to all others.
",
    groups: &[OptionGroup { title: "Options", rows: &[
        value(&["n", "np"], &["RANKS"], "ranks on a node; default 2",
            |o, v| v.set(&mut o.ranks, super::ranks)),
        value(&["ranks"], &["RANKS"], "ranks of a window on many such nodes: also prints what making it takes",
            |o, v| v.set(&mut o.of, |text| super::ranks(text).map(Some))),
        flag(&["json"], "print JSON (docs/formats.md)", |o| o.json = true),
        help(),
    ] }],    ..OptionTable::GNU
};

struct WindowOptions {
    ranks: u64,
    /// Ranks of a window to be made.
    of: Option<u64>,
    json: bool,
}

/// What decides the paths.
struct Facts {
    /// Why ranks of a node do not reach each other's windows at all, if they do not.
    apart: Option<String>,
    /// Why there is no memory of the heap, if there is none; else how much.
    heap: Result<u64, String>,
    /// Why system calls do not reach private memory, if they do not.
    calls: Result<(), String>,
}

/// A path.
struct PathOf {
    target: &'static str,
    memory: &'static str,
    path: &'static str,
    why: String,
}

/// Memory that the runtime has allocated. That of MPI_Win_allocate_shared is mapped whatever decides the others.
const HEAP: &str = "allocated";
const PRIVATE: &str = "other";

/// The text to print.
///
/// # Errors
/// A wrong argument, or what `values` says.
pub(super) fn run(
    arguments: &[OsString],
    values: impl FnOnce() -> Result<Values, String>,
) -> Result<String, String> {
    let mut options = WindowOptions {
        ranks: 2,
        of: None,
        json: false,
    };
    if OPTIONS.read(arguments, &mut options)? != Parsed::Run(&[]) {
        return Ok(OPTIONS.help());
    }
    let values = values()?;
    let paths = paths(&facts(&values, options.ranks));
    let on_node = options.ranks.min(options.of.unwrap_or(u64::MAX)) as u32;
    let creation = options.of.map(|ranks| {
        let ranks = ranks as u32;
        let tuning = Tuning {
            per_node: on_node,
            ..values.tuning()
        };
        Creation::foretell(WindowFootprint { ranks, on_node }, &tuning)
    });
    let creation = creation.transpose()?;
    Ok(match options.json {
        true => format!("{:#}\n", as_json(&paths, creation.as_ref())),
        false => {
            text(&paths) + &creation.map_or(String::new(), |made| format!("\n{}", made.text()))
        }
    })
}

fn facts(values: &Values, ranks: u64) -> Facts {
    let named = |name: &str, text: &str| {
        let set = values.get(name);
        (set.text == text).then(|| format!("{name} = {text} ({})", set.origin))
    };
    let set = named("window_direct", "off").or_else(|| named("rma_check", "on"));
    let apart = if !opened(values).shared {
        Some("the transport sm is not taken".to_owned())
    } else if set.is_some() {
        set
    } else if ranks > u64::from(MOST_WAITING) {
        Some(format!(
            "a node has {ranks} ranks; at most {MOST_WAITING} reach each other's windows"
        ))
    } else {
        None
    };
    let plan = HeapPlan::new(
        u32::try_from(ranks).unwrap_or(u32::MAX),
        values.heap(),
        &HeapLimits::of_this_process(),
    );
    let heap = match plan.area {
        0 => Err(plan.why_area.to_string()),
        area => Ok(area),
    };
    let calls = match (probe::process_vm_readv(), cma::may_write()) {
        (Err(why), _) => Err(format!("the system refuses process_vm_readv: {why}")),
        (_, false) => Err("the system refuses process_vm_writev".into()),
        (Ok(()), true) => Ok(()),
    };
    Facts { apart, heap, calls }
}

fn paths(facts: &Facts) -> [PathOf; 4] {
    let Facts { apart, heap, calls } = facts;
    let by_messages = |why: &String| ("messages", why.clone());
    let on_node = |memory| match (apart, heap, memory) {
        (Some(why), ..) | (None, Err(why), _) => by_messages(why),
        (None, Ok(area), HEAP) => (
            "loads and stores",
            format!(
                "each rank has {} MiB for it; what does not fit is as other memory",
                area >> 20
            ),
        ),
        _ => match calls {
            Ok(()) => (
                "system calls",
                "processes of one user may access each other".into(),
            ),
            Err(why) => by_messages(why),
        },
    };
    let row = |target, memory, (path, why): (&'static str, String)| PathOf {
        target,
        memory,
        path,
        why,
    };
    let far = "messages reach it, by the network that `oxmpi explain transports` names".into();
    [
        row(
            "this rank",
            "any",
            ("loads and stores", "it is its own".into()),
        ),
        row("node", HEAP, on_node(HEAP)),
        row("node", PRIVATE, on_node(PRIVATE)),
        row("other node", "any", ("messages", far)),
    ]
}

fn text(paths: &[PathOf]) -> String {
    let head = ["target", "memory", "path", "because"].map(String::from);
    let mut rows = vec![head.to_vec()];
    rows.extend(paths.iter().map(|path| {
        let texts = [path.target, path.memory, path.path, &path.why];
        texts.map(String::from).to_vec()
    }));
    let locks = WindowWords::bytes(1 << 20);
    format!(
        "{}\n{HEAP}: by MPI_Win_allocate, MPI_Alloc_mem, Comm::alloc; MPI_Win_allocate_shared always maps its memory\n{PRIVATE}: of the program \
         itself, under MPI_Win_create and MPI_Win_attach\nlocks: {locks} B of shared memory for a rank with 1 MiB; beyond, 16 B \
         for each rank of the window where their sizes or units differ, else nothing\n",
        aligned(&rows)
    )
}

fn as_json(paths: &[PathOf], creation: Option<&Creation>) -> Value {
    let row = |path: &PathOf| json!({"target": path.target, "memory": path.memory, "path": path.path, "why": path.why});
    json!({
        "format": "oxmpi-explain-window",
        "version": 1,
        "paths": paths.iter().map(row).collect::<Vec<_>>(),
        "creation": creation.map(Creation::json),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(facts: &Facts) -> String {
        paths(facts).map(|path| path.path).join(", ")
    }

    #[test]
    fn facts_decide_the_paths() {
        OPTIONS.assert_sound();
        let why = || "a reason".to_owned();
        let facts = |apart, heap, calls| Facts { apart, heap, calls };
        let best = facts(None, Ok(1 << 30), Ok(()));
        assert_eq!(
            named(&best),
            "loads and stores, loads and stores, system calls, messages"
        );
        let refused = facts(None, Ok(1 << 30), Err(why()));
        assert_eq!(
            named(&refused),
            "loads and stores, loads and stores, messages, messages"
        );
        let apart = "loads and stores, messages, messages, messages";
        assert_eq!(named(&facts(Some(why()), Ok(1), Ok(()))), apart);
        assert_eq!(named(&facts(None, Err(why()), Ok(()))), apart);
        let text = text(&paths(&facts(Some(why()), Ok(1), Ok(()))));
        assert!(
            text.contains("node        allocated  messages          a reason"),
            "{text}"
        );
        let json = as_json(&paths(&best), None);
        assert_eq!(json["paths"][2]["path"], "system calls");
    }
}
