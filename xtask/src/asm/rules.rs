//! Rules for the code that sends and receives a short message: no atomic read-modify-write, no fence, no
//! system call, and no call but to the cold functions listed here.

use super::listing::{Line, Listing};

/// Functions that this code may call because they are off the fast path, by the end of their names.
const COLD: &[&str] = &[
    // A message that is not short, or has no room; every so many sends without a poll.
    "Communicator<A>>::send",
    // Once every quarter of a ring: credits are read, and given back.
    "SendLink::poll_credits",
    "ReceiverCredits::report",
    "ShmTx<B>::credits_written",
    // A communicator whose ranks are not its endpoint's in their order: they are looked up.
    "Group::link_of",
    // Nothing has come, or not what is waited for: posting and waiting.
    "Communicator<A>>::recv_waiting",
    // A body that is no word, or a message that has not come.
    "ShmTx<B>::put_other",
    "::take_other",
    // The transport has something else to do.
    "unlocked::progress",
    // The peer sleeps: a system call wakes it.
    "::wake",
];

/// Functions that report a bug, by the beginning of their names.
const PANICS: &[&str] = &[
    "core::panicking::",
    "core::cell::panic_",
    "core::slice::index::",
    "_Unwind_Resume",
];

/// Instructions that wait for other processors or enter the system.
const SLOW: [&str; 8] = [
    "lock", "mfence", "sfence", "lfence", "syscall", "sysenter", "int", "cpuid",
];

/// Lists the broken rules, one sentence each.
pub(super) fn broken(listing: &Listing) -> Vec<String> {
    let instructions = listing.lines.iter().filter_map(|line| match line {
        Line::Instruction(text) => Some(text.as_str()),
        Line::Label(_) => None,
    });
    instructions.filter_map(complaint).collect()
}

fn complaint(instruction: &str) -> Option<String> {
    let (name, operands) = instruction.split_once(' ').unwrap_or((instruction, ""));
    let operands = operands.trim();
    if SLOW.contains(&name) {
        return Some(format!(
            "`{instruction}` waits for other processors, or enters the system"
        ));
    }
    if name == "xchg" && operands.contains('[') {
        return Some(format!("`{instruction}` locks its line"));
    }
    // A jump through the function's own table stays inside the function.
    let leaves = name == "call" || (name.starts_with('j') && !operands.contains(".L"));
    let name = operands
        .strip_prefix('<')
        .and_then(|name| name.strip_suffix('>'));
    let name = name.unwrap_or(operands);
    if leaves && !is_cold(name) {
        return Some(format!(
            "`{instruction}` leaves the fast path for a function that is not in COLD in xtask/src/asm/rules.rs"
        ));
    }
    None
}

/// Whether a function is off the fast path; unknown, so false, for calls through a register or memory.
fn is_cold(function: &str) -> bool {
    COLD.iter().any(|cold| function.ends_with(cold))
        || PANICS.iter().any(|panic| function.starts_with(panic))
}
