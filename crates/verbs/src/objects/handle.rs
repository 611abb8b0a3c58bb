//! [`Handle`]: a pointer to an object of the library.

use std::ptr::NonNull;

/// A live object that the library returned. Whoever holds it destroys the object once.
pub(super) struct Handle<T>(NonNull<T>);

impl<T> Handle<T> {
    /// `None` for the null pointer of a creation that failed.
    pub(super) fn new(created: *mut T) -> Option<Handle<T>> {
        NonNull::new(created).map(Handle)
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
