//! Error classes and codes, those of the standard and those that the program adds (MPI 5.0, sections 9.4 and 9.5).

use std::ffi::CStr;

use super::catch;
use crate::constants::{MPI_ERR_ARG, MPI_ERR_LASTCODE, MPI_MAX_ERROR_STRING};
use crate::error::{self, Error, Result};
use crate::shared::Shared;
use crate::strings;
use crate::types::{c_char, c_int};

/// A class or a code that the program has added, and its text.
struct Added {
    /// The class of a code; `None` of a class.
    class: Option<c_int>,
    text: String,
}

/// What the program has added, by number after [`MPI_ERR_LASTCODE`]; `None` where it was removed.
static ADDED: Shared<Vec<Option<Added>>> = Shared::always_locked(Vec::new());

fn index(code: c_int) -> Option<usize> {
    usize::try_from(code.checked_sub(MPI_ERR_LASTCODE + 1)?).ok()
}

/// The largest code that is used (`MPI_LASTUSEDCODE`).
pub(crate) fn last_used() -> c_int {
    MPI_ERR_LASTCODE + ADDED.with(|added| added.len() as c_int)
}

/// The class of a code.
pub(super) fn class(code: c_int) -> c_int {
    let class = ADDED.with(|added| added.get(index(code)?)?.as_ref()?.class);
    class.unwrap_or(code)
}

fn is_known(code: c_int) -> bool {
    error::class_name(code).is_some()
        || ADDED.with(|added| index(code).is_some_and(|at| matches!(added.get(at), Some(Some(_)))))
}

fn check(code: c_int) -> Result<()> {
    match is_known(code) {
        true => Ok(()),
        false => Err(Error::argument(format!("{code} is no error class or code"))),
    }
}

fn add(class: Option<c_int>) -> c_int {
    ADDED.with(|added| {
        added.push(Some(Added {
            class,
            text: String::new(),
        }));
        MPI_ERR_LASTCODE + added.len() as c_int
    })
}

/// `MPI_Error_class`.
///
/// # Safety
/// The class may be written to.
pub(crate) unsafe fn error_class(code: c_int, class_of: *mut c_int) -> c_int {
    catch("MPI_Error_class", || {
        check(code)?;
        // SAFETY: the caller's promise.
        unsafe { class_of.write(class(code)) };
        Ok(())
    })
}

/// `MPI_Error_string`.
///
/// # Safety
/// There is room for `MPI_MAX_ERROR_STRING` characters; the length may be written to.
pub(crate) unsafe fn error_string(code: c_int, text: *mut c_char, len: *mut c_int) -> c_int {
    catch("MPI_Error_string", || {
        check(code)?;
        let added = ADDED.with(|added| Some(added.get(index(code)?)?.as_ref()?.text.clone()));
        let words = added.unwrap_or_else(|| error::class_text(code));
        // SAFETY: the caller's promise.
        let written = unsafe { strings::write(&words, text, MPI_MAX_ERROR_STRING as usize) };
        // SAFETY: as above.
        unsafe { len.write(written as c_int) };
        Ok(())
    })
}

/// `MPI_Add_error_class`.
///
/// # Safety
/// The class may be written to.
pub(crate) unsafe fn add_class(class: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { class.write(add(None)) };
    crate::constants::MPI_SUCCESS
}

/// `MPI_Add_error_code`.
///
/// # Safety
/// The code may be written to.
pub(crate) unsafe fn add_code(class: c_int, code: *mut c_int) -> c_int {
    catch("MPI_Add_error_code", || {
        check(class)?;
        // SAFETY: the caller's promise.
        unsafe { code.write(add(Some(class))) };
        Ok(())
    })
}

/// `MPI_Add_error_string`.
///
/// # Safety
/// The text ends with a null character.
pub(crate) unsafe fn add_string(code: c_int, text: *const c_char) -> c_int {
    catch("MPI_Add_error_string", || {
        // SAFETY: the caller's promise.
        let text = unsafe { CStr::from_ptr(text) };
        set_text(code, text.to_string_lossy().into_owned())
    })
}

/// `MPI_Remove_error_string`.
pub(crate) fn remove_string(code: c_int) -> c_int {
    catch("MPI_Remove_error_string", || set_text(code, String::new()))
}

fn set_text(code: c_int, text: String) -> Result<()> {
    let set = ADDED.with(|added| {
        added.get_mut(index(code)?)?.as_mut()?.text = text;
        Some(())
    });
    set.ok_or_else(|| not_added(code))
}

/// `MPI_Remove_error_class`.
pub(crate) fn remove_class(class: c_int) -> c_int {
    catch("MPI_Remove_error_class", || {
        let used = ADDED.with(|added| {
            let mut codes = added.iter().flatten();
            codes.any(|one| one.class == Some(class))
        });
        match used {
            true => Err(Error::new(
                MPI_ERR_ARG,
                format!("error class {class} still has error codes; remove them first"),
            )),
            false => remove(class, |one| one.class.is_none()),
        }
    })
}

/// `MPI_Remove_error_code`.
pub(crate) fn remove_code(code: c_int) -> c_int {
    catch("MPI_Remove_error_code", || {
        remove(code, |one| one.class.is_some())
    })
}

fn remove(code: c_int, is_kind: impl Fn(&Added) -> bool) -> Result<()> {
    let removed = ADDED.with(|added| {
        let entry = added.get_mut(index(code)?)?;
        match entry {
            Some(one) if is_kind(one) && !one.text.is_empty() => Some(Err(Error::argument(
                format!("{code} still has an error string; remove it first"),
            ))),
            _ => entry.take_if(|one| is_kind(one)).map(|_| Ok(())),
        }
    });
    removed.unwrap_or_else(|| Err(not_added(code)))
}

fn not_added(code: c_int) -> Error {
    Error::argument(format!(
        "the program has not added {code}, or has removed it"
    ))
}
