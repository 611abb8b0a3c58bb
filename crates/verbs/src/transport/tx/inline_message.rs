//! [`InlineMessage`]: a message that is sent inline.

use crate::transport::frame_head::{HEAD, MAX_INLINE};
use oxmpi_wire::Put;

/// A message that is sent inline: room for its head, and what was put behind it.
pub(super) struct InlineMessage {
    bytes: [u8; MAX_INLINE],
    len: usize,
}

impl InlineMessage {
    pub(super) const fn new() -> Self {
        Self {
            bytes: [0; MAX_INLINE],
            len: HEAD,
        }
    }

    /// Begins another one in its place.
    #[inline]
    pub(super) const fn clear(&mut self) {
        self.len = HEAD;
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// All of it, with this head.
    #[inline]
    pub(super) fn with_head(&mut self, head: &[u8; HEAD]) -> &[u8] {
        self.bytes[..HEAD].copy_from_slice(head);
        &self.bytes[..self.len]
    }
}

impl Put for InlineMessage {
    #[inline]
    fn room(&self) -> usize {
        self.bytes.len() - self.len
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.len..][..bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }
}
