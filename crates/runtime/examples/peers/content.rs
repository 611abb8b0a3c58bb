//! The content of messages, from which the receiver can tell the sender.

/// The byte at place `at` of what `rank` sends in messages of `bytes`.
fn byte_of(rank: usize, bytes: usize, at: usize) -> u8 {
    (at * 31 + rank * 101 + bytes) as u8
}

/// Writes what `rank` sends.
pub(crate) fn write(to: &mut [u8], rank: usize) {
    let bytes = to.len();
    for (at, byte) in to.iter_mut().enumerate() {
        *byte = byte_of(rank, bytes, at);
    }
}

/// Writes what `rank` does not send, at any place.
pub(crate) fn write_wrong(to: &mut [u8], rank: usize) {
    let bytes = to.len();
    for (at, byte) in to.iter_mut().enumerate() {
        *byte = !byte_of(rank, bytes, at);
    }
}

/// Whether this is what `rank` sends.
pub(crate) fn are_right(from: &[u8], rank: usize) -> bool {
    let mut bytes = from.iter().enumerate();
    bytes.all(|(at, &byte)| byte == byte_of(rank, from.len(), at))
}
