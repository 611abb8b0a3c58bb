//! The content of messages, from which the receiver can tell the sender.

/// The byte at index `at` of a message of length `bytes` from `rank`.
fn byte_of(rank: usize, bytes: usize, at: usize) -> u8 {
    (at * 31 + rank * 101 + bytes) as u8
}

/// Fills `to` with the content of a message from `rank`.
pub(crate) fn write(to: &mut [u8], rank: usize) {
    let bytes = to.len();
    for (at, byte) in to.iter_mut().enumerate() {
        *byte = byte_of(rank, bytes, at);
    }
}

/// Fills `to` with bytes that all differ from a message of `rank`.
pub(crate) fn write_wrong(to: &mut [u8], rank: usize) {
    let bytes = to.len();
    for (at, byte) in to.iter_mut().enumerate() {
        *byte = !byte_of(rank, bytes, at);
    }
}

/// Whether `from` is the content of a message from `rank`.
pub(crate) fn are_right(from: &[u8], rank: usize) -> bool {
    let mut bytes = from.iter().enumerate();
    bytes.all(|(at, &byte)| byte == byte_of(rank, from.len(), at))
}
