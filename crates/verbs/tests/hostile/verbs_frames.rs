//! The fuzz body of what a peer writes: heads, frames of the transport, keys, words of rings.

/// Reads any bytes as each of them.
pub(crate) fn verbs_frames(data: &[u8]) {
    oxmpi_verbs::read_bytes_of_peer(data);
}
