//! Text between a C program and the library.

use std::ffi::CStr;

use crate::types::c_char;

/// Writes `text` and a null character, of `room` characters at most; how many were written before that.
///
/// # Safety
/// `to` has room for `room` characters, at least one.
pub(crate) unsafe fn write(text: &str, to: *mut c_char, room: usize) -> usize {
    let mut len = text.len().min(room - 1);
    while !text.is_char_boundary(len) {
        len -= 1;
    }
    // SAFETY: the caller's promise; the text is none of the program's memory.
    unsafe { to.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), len) };
    // SAFETY: the caller's promise, as `len` is below `room`.
    unsafe { to.wrapping_add(len).write(0) };
    len
}

/// The text of a C string; empty for a null pointer.
///
/// # Safety
/// `from` is null, or ends with a null character.
pub(crate) unsafe fn read(from: *const c_char) -> String {
    if from.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(from) };
    text.to_string_lossy().into_owned()
}
