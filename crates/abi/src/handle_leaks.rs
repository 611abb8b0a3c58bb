//! What a program has made and not freed when it ends, which the setting `handle_leaks` asks to report.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::handles::Handle;
use crate::types::Comm;
use crate::{
    comm_table, datatype, errhandler_table, group, info, membership, message, operation, request,
    window_table,
};

/// Whether the setting asks for the report.
static IS_ASKED: AtomicBool = AtomicBool::new(false);

pub(crate) fn ask(report: bool) {
    IS_ASKED.store(report, Ordering::Relaxed);
}

/// The handles of one kind: how many, and what the first is.
fn kind<H: Handle>(
    name: &str,
    left: &[H],
    describe: impl FnOnce(H) -> Option<String>,
) -> Option<String> {
    let first = *left.first()?;
    let plural = if left.len() == 1 { "" } else { "s" };
    let what = describe(first).unwrap_or_else(|| format!("{:#x}", first.address()));
    let which = if left.len() == 1 { "" } else { "first " };
    Some(format!("{} {name}{plural} ({which}{what})", left.len()))
}

/// Reports all handles that are left, where the setting asks for it.
pub(crate) fn report() {
    if !IS_ASKED.load(Ordering::Relaxed) {
        return;
    }
    let kinds = [
        kind("communicator", &comm_table::left(), |comm: Comm| {
            comm_table::name_of(comm).map(|name| name.replacen("communicator ", "", 1))
        }),
        kind("datatype", &datatype::left(), datatype::name_of),
        kind("error handler", &errhandler_table::left(), |_| None),
        kind("group", &group::left(), |_| None),
        kind("info object", &info::left(), |_| None),
        kind("message", &message::left(), |_| None),
        kind("operation", &operation::left(), |_| None),
        kind("request", &request::left(), |_| None),
        kind("window", &window_table::left(), |win| {
            window_table::name_of(win).map(|name| name.replacen("window ", "", 1))
        }),
    ];
    let kinds: Vec<String> = kinds.into_iter().flatten().collect();
    if !kinds.is_empty() {
        let rank = membership::world_rank().unwrap_or_default();
        eprintln!(
            "oxmpi: rank {rank}: MPI_Finalize: the program has not freed {}",
            kinds.join(", ")
        );
    }
}
