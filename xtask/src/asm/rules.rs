//! What the code of a message's path never has, whatever the compiler.

use super::listing::{Line, Listing};

/// Functions that may be called, since they are off the path: by the end of their names.
const COLD: &[&str] = &[
    // A message that is not short, or has no room; every so many sends without a poll.
    "Communicator<A>>::send",
    "::poll_first",
    // Once every quarter of a ring: credits are read, and given back.
    "SendLink::look",
    "ReceiverCredits::report",
    "ShmTx<B>::credits_written",
    // A communicator whose ranks are not its endpoint's in their order: they are looked up.
    "Group::link_of",
    // Nothing has come yet: looking for it.
    "EndpointAccess>::recv_short",
    // Nothing has come, or not what is waited for: posting and waiting.
    "Communicator<A>>::recv",
    // A body that is no word, or a message that has not come.
    "ShmTx<B>::put_other",
    "::take_other",
    // The transport has something else to do.
    "Single::progress",
    // The peer sleeps: a system call wakes it.
    "::wake",
];

/// What a mistake ends in: by the beginning of names.
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

/// The rules that the code breaks, a sentence each.
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
    // A jump by a table of the function's own stays inside.
    let leaves = name == "call" || (name.starts_with('j') && !operands.contains(".L"));
    let name = operands
        .strip_prefix('<')
        .and_then(|name| name.strip_suffix('>'));
    let name = name.unwrap_or(operands);
    if leaves && !is_cold(name) {
        return Some(format!(
            "`{instruction}` is no cold function: see COLD in xtask/src/asm/rules.rs"
        ));
    }
    None
}

/// Whether a function is off the path. Where a call goes by a register or by memory, nobody can tell.
fn is_cold(function: &str) -> bool {
    COLD.iter().any(|cold| function.ends_with(cold))
        || PANICS.iter().any(|panic| function.starts_with(panic))
}
