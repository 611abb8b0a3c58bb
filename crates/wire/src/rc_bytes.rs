//! User memory that its owner still sees: for one thread, without unsafe code.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;

use crate::transport::{Bytes, Put, Take};

/// Bytes without gaps that the caller keeps a handle to: what examples and tests send from and
/// receive into, and what a transport between engines of one thread moves.
///
/// # Panics
/// Moving bytes panics while the owner has borrowed them.
impl Bytes for Rc<RefCell<Vec<u8>>> {
    fn len(&self) -> u64 {
        self.borrow().len() as u64
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
