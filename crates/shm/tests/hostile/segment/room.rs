//! Memory of messages between two fences, which show writes beside it: [`FencedRoom`].

use oxmpi_os::RawBytes;

/// Bytes of a fence, which nothing may touch.
const FENCE: usize = 64;
const FENCED: u8 = 0xa5;

/// The memory of one message between two fences. It lives until the ranks are gone.
pub(super) struct FencedRoom {
    bytes: Box<[u8]>,
}

impl FencedRoom {
    pub(super) fn new(inner: &[u8]) -> Self {
        let fence = [FENCED; FENCE];
        Self {
            bytes: [&fence, inner, &fence].concat().into(),
        }
    }

    pub(super) fn inner(&self) -> &[u8] {
        &self.bytes[FENCE..self.bytes.len() - FENCE]
    }

    /// The inner bytes for a transport.
    pub(super) fn raw(&mut self) -> RawBytes {
        let len = self.inner().len();
        let inner = self.bytes.as_mut_ptr().wrapping_add(FENCE);
        // SAFETY: the run drops its rooms after its ranks, and reads them after everything ended.
        unsafe { RawBytes::new(inner, len) }
    }

    pub(super) fn check(&self) {
        let (before, after) = (
            &self.bytes[..FENCE],
            &self.bytes[self.bytes.len() - FENCE..],
        );
        let whole = before.iter().chain(after).all(|&byte| byte == FENCED);
        assert!(whole, "bytes beside a user's memory were written");
    }
}
