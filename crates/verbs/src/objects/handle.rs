//! [`Handle`]: a pointer to an object of the library.

use std::io;
use std::ptr::NonNull;

/// A live object that the library returned. Whoever holds it destroys the object once.
pub(super) struct Handle<T>(NonNull<T>);

impl<T> Handle<T> {
    /// What a creation has returned just now: for the null pointer, the reason in `errno`.
    pub(super) fn new(created: *mut T) -> io::Result<Handle<T>> {
        NonNull::new(created)
            .map(Handle)
            .ok_or_else(io::Error::last_os_error)
    }

    pub(super) fn as_ptr(&self) -> *mut T {
        self.0.as_ptr()
    }
}

// SAFETY: the pointer is only passed to the library, whose functions any thread may call (`library.rs`), and to
// reads of fields that do not change while the object lives.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Handle<T> {}
