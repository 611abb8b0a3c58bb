//! What the code of a message's path never has, whatever the compiler.

use super::listing::{Line, Listing};

/// Functions that may be called, since they are off the path: by the end of their names. Each says where it is and why it
/// is cold.
const COLD: &[&str] = &[
    // A message that does not fit, or has no room: runtime, wire, shm.
    "::send_later",
    "::try_frame",
    "::make_room",
    // What came is not what was waited for.
    "::usual_road",
    // Nothing has come: waiting.
    "::wait",
    "::wait_for_own",
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
    if leaves && !is_cold(operands) {
        return Some(format!(
            "`{instruction}` is no cold function: see COLD in xtask/src/asm/rules.rs"
        ));
    }
    None
}

/// Whether a function is off the path. Where a call goes by a register or by memory, nobody can tell.
fn is_cold(function: &str) -> bool {
    let name = function.trim_start_matches('<').trim_end_matches('>');
    COLD.iter().any(|cold| name.ends_with(cold))
        || PANICS.iter().any(|panic| name.starts_with(panic))
}
