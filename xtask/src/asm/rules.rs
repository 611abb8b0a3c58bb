//! Rules for the code that sends and receives a short message: no atomic read-modify-write, no fence, no
//! system call, and no call but to the cold functions listed here.

use super::listing::{Line, Listing};

/// Functions that this code may call because they are off the fast path, by the end of their names.
const COLD: &[&str] = &[
    // A message that is long or finds no room; every n-th send without a poll.
    "Communicator<A>::send",
    "::poll_first",
    // Once per quarter of a ring: read credits and return them.
    "Out::look",
    "Freed::tell",
    "ShmTx<B>::told",
    // A communicator whose ranks are not numbered as on its endpoint: look the peer up.
    "Group::link_of",
    // No message has arrived: poll for one.
    "Reach>::recv_short",
    // No message has arrived, or another one than expected: post the receive and wait.
    "Communicator<A>::recv",
    // A payload that is not one word, or a message that has not arrived.
    "ShmTx<B>::put_other",
    "::take_other",
    // The transport has other work.
    "Own::progress",
    // The peer sleeps: wake it by a system call.
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
