//! [`Bytes`] for `Rc<RefCell<Vec<u8>>>`: user memory of a single thread, without unsafe code.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;

use crate::transport::atomic::{Atomic, Width};
use crate::transport::{Bytes, Put, Take};

/// Contiguous bytes with shared ownership: buffers of examples, of tests, and of transports within one
/// thread.
///
/// # Panics
/// Moving bytes panics while another owner has them borrowed.
impl Bytes for Rc<RefCell<Vec<u8>>> {
    fn len(&self) -> u64 {
        self.borrow().len() as u64
    }

    /// Alignment counts from the first byte.
    fn atomic(&self, at: u64, width: Width, atomic: Atomic) -> Option<u64> {
        let old = {
            let bytes = self.borrow();
            let word = bytes.get(usize::try_from(at).ok()?..)?;
            match width {
                Width::Bits32 => u32::from_ne_bytes(*word.first_chunk()?).into(),
                Width::Bits64 => u64::from_ne_bytes(*word.first_chunk()?),
            }
        };
        if !at.is_multiple_of(width.bytes()) {
            return None;
        }
        width.fill(self, at, atomic.apply(old, width));
        Some(old)
    }

    fn fill(&self, at: u64, from: &mut impl Take) {
        let mut bytes = self.borrow_mut();
        let room = &mut bytes[at as usize..];
        let len = room.len().min(from.left());
        from.take(&mut room[..len]);
    }

    fn drain(&self, at: u64, len: usize, to: &mut impl Put) {
        to.put(&self.borrow()[at as usize..][..len]);
    }
}
