//! Info objects: keys with values, both text (MPI 5.0, chapter 10).

use std::sync::{Mutex, PoisonError};

use crate::constants::{
    MPI_ERR_ARG, MPI_ERR_INFO, MPI_ERR_INFO_KEY, MPI_ERR_INFO_NOKEY, MPI_ERR_INFO_VALUE,
    MPI_INFO_ENV, MPI_INFO_NULL, MPI_MAX_INFO_KEY, MPI_MAX_INFO_VAL,
};
use crate::error_handling::{Error, Result, catch};
use crate::handles::{Handle, Table};
pub(crate) use crate::info_pairs::Pairs;
use crate::strings;
use crate::types::{Info, c_char, c_int};

/// The info objects that the program has made.
static INFOS: Table<Info, Box<Mutex<Pairs>>> = Table::always_locked();

/// What the process knows of its start (`MPI_INFO_ENV`).
fn environment() -> Pairs {
    let mut arguments = std::env::args_os().map(|text| text.to_string_lossy().into_owned());
    let command = arguments.next().unwrap_or_default();
    let directory = std::env::current_dir().unwrap_or_default();
    let mut pairs = vec![("command".to_owned(), command)];
    let rest: Vec<String> = arguments.collect();
    if !rest.is_empty() {
        pairs.push(("argv".to_owned(), rest.join(" ")));
    }
    pairs.push(("host".to_owned(), oxmpi_os::host::name()));
    pairs.push(("arch".to_owned(), std::env::consts::ARCH.to_owned()));
    pairs.push(("wdir".to_owned(), directory.to_string_lossy().into_owned()));
    Pairs(pairs)
}

fn find<'a>(info: Info) -> Result<&'a Mutex<Pairs>> {
    (INFOS.find(info)).ok_or_else(|| Error::handle(MPI_ERR_INFO, "info object to be changed", info))
}

/// Runs `work` on the pairs of an info object.
fn with<R>(info: Info, work: impl FnOnce(&Pairs) -> Result<R>) -> Result<R> {
    match info.address() {
        MPI_INFO_ENV => work(&environment()),
        _ => work(&find(info)?.lock().unwrap_or_else(PoisonError::into_inner)),
    }
}

/// The pairs of an info object; none of `MPI_INFO_NULL`.
pub(crate) fn pairs(info: Info) -> Result<Pairs> {
    match info.address() {
        MPI_INFO_NULL => Ok(Pairs::default()),
        _ => with(info, |pairs| Ok(pairs.clone())),
    }
}

/// A handle of a new info object.
pub(crate) fn insert(pairs: Pairs) -> Info {
    INFOS.insert(Box::new(Mutex::new(pairs)))
}

/// Writes a handle of a new info object.
///
/// # Safety
/// The handle may be written to.
unsafe fn give(pairs: Pairs, info: *mut Info) {
    // SAFETY: the caller's promise.
    unsafe { info.write(insert(pairs)) };
}

/// A key of a program.
///
/// # Safety
/// The text ends with a null character.
unsafe fn key_of(key: *const c_char) -> Result<String> {
    // SAFETY: the caller's promise.
    let key = unsafe { strings::read(key) };
    match key.len() {
        0 => Err(Error::new(MPI_ERR_INFO_KEY, "the key is empty")),
        len if len < MPI_MAX_INFO_KEY as usize => Ok(key),
        len => Err(Error::new(
            MPI_ERR_INFO_KEY,
            format!("the key has {len} characters, and fewer than {MPI_MAX_INFO_KEY} are allowed"),
        )),
    }
}

/// `MPI_Info_create`.
///
/// # Safety
/// The handle may be written to.
pub(crate) unsafe fn create(info: *mut Info) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { give(Pairs::default(), info) };
    crate::constants::MPI_SUCCESS
}

/// `MPI_Info_create_env`.
///
/// # Safety
/// The handle may be written to.
pub(crate) unsafe fn create_env(_: c_int, _: *mut *mut c_char, info: *mut Info) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { give(environment(), info) };
    crate::constants::MPI_SUCCESS
}

/// `MPI_Info_dup`.
///
/// # Safety
/// The new handle may be written to.
pub(crate) unsafe fn dup(info: Info, new: *mut Info) -> c_int {
    catch("MPI_Info_dup", || {
        let copy = with(info, |pairs| Ok(pairs.clone()))?;
        // SAFETY: the caller's promise.
        unsafe { give(copy, new) };
        Ok(())
    })
}

/// `MPI_Info_free`.
///
/// # Safety
/// The handle may be read and written to.
pub(crate) unsafe fn free(info: *mut Info) -> c_int {
    catch("MPI_Info_free", || {
        // SAFETY: the caller's promise.
        let handle = unsafe { *info };
        let removed = INFOS.remove(handle);
        removed.ok_or_else(|| Error::handle(MPI_ERR_INFO, "info object to be freed", handle))?;
        // SAFETY: as above.
        unsafe { info.write(Info::from_address(MPI_INFO_NULL)) };
        Ok(())
    })
}

/// `MPI_Info_set`.
///
/// # Safety
/// The texts end with a null character.
pub(crate) unsafe fn set(info: Info, key: *const c_char, value: *const c_char) -> c_int {
    catch("MPI_Info_set", || {
        let place = find(info)?;
        // SAFETY: the caller's promise.
        let key = unsafe { key_of(key)? };
        // SAFETY: as above.
        let value = unsafe { strings::read(value) };
        if value.len() >= MPI_MAX_INFO_VAL as usize {
            let len = value.len();
            let why = format!(
                "the value has {len} characters, and fewer than {MPI_MAX_INFO_VAL} are allowed"
            );
            return Err(Error::new(MPI_ERR_INFO_VALUE, why));
        }
        let mut pairs = place.lock().unwrap_or_else(PoisonError::into_inner);
        pairs.set(key, value);
        Ok(())
    })
}

/// `MPI_Info_delete`.
///
/// # Safety
/// The text ends with a null character.
pub(crate) unsafe fn delete(info: Info, key: *const c_char) -> c_int {
    catch("MPI_Info_delete", || {
        let place = find(info)?;
        // SAFETY: the caller's promise.
        let key = unsafe { key_of(key)? };
        let mut pairs = place.lock().unwrap_or_else(PoisonError::into_inner);
        let at = pairs.0.iter().position(|pair| pair.0 == key);
        let at = at.ok_or_else(|| {
            Error::new(
                MPI_ERR_INFO_NOKEY,
                format!("the info object has no key `{key}`"),
            )
        })?;
        pairs.0.remove(at);
        Ok(())
    })
}

/// `MPI_Info_get_string`.
///
/// # Safety
/// The key ends with a null character; length and flag may be written to, and `length` characters of the value.
pub(crate) unsafe fn get_string(
    info: Info,
    key: *const c_char,
    length: *mut c_int,
    value: *mut c_char,
    flag: *mut c_int,
) -> c_int {
    catch("MPI_Info_get_string", || {
        // SAFETY: the caller's promise.
        let key = unsafe { key_of(key)? };
        let found = with(info, |pairs| Ok(pairs.get(&key).map(str::to_owned)))?;
        // SAFETY: as above.
        unsafe { flag.write(c_int::from(found.is_some())) };
        if let Some(found) = found {
            // SAFETY: as above.
            let room = unsafe { *length };
            if room > 0 {
                // SAFETY: as above.
                unsafe { strings::write(&found, value, room as usize) };
            }
            // SAFETY: as above.
            unsafe { length.write(found.len() as c_int + 1) };
        }
        Ok(())
    })
}

/// `MPI_Info_get`.
///
/// # Safety
/// The key ends with a null character; the flag may be written to, and `length + 1` characters of the value.
pub(crate) unsafe fn get(
    info: Info,
    key: *const c_char,
    length: c_int,
    value: *mut c_char,
    flag: *mut c_int,
) -> c_int {
    let mut room = length.saturating_add(1);
    // SAFETY: the caller's promise.
    unsafe { get_string(info, key, &raw mut room, value, flag) }
}

/// `MPI_Info_get_valuelen`.
///
/// # Safety
/// The key ends with a null character; length and flag may be written to.
pub(crate) unsafe fn get_valuelen(
    info: Info,
    key: *const c_char,
    length: *mut c_int,
    flag: *mut c_int,
) -> c_int {
    catch("MPI_Info_get_valuelen", || {
        // SAFETY: the caller's promise.
        let key = unsafe { key_of(key)? };
        let len = with(info, |pairs| Ok(pairs.get(&key).map(str::len)))?;
        // SAFETY: as above.
        unsafe { flag.write(c_int::from(len.is_some())) };
        if let Some(len) = len {
            // SAFETY: as above.
            unsafe { length.write(len as c_int) };
        }
        Ok(())
    })
}

/// `MPI_Info_get_nkeys`.
///
/// # Safety
/// The number may be written to.
pub(crate) unsafe fn get_nkeys(info: Info, number: *mut c_int) -> c_int {
    catch("MPI_Info_get_nkeys", || {
        let len = with(info, |pairs| Ok(pairs.0.len()))?;
        // SAFETY: the caller's promise.
        unsafe { number.write(len as c_int) };
        Ok(())
    })
}

/// `MPI_Info_get_nthkey`.
///
/// # Safety
/// There is room for `MPI_MAX_INFO_KEY` characters.
pub(crate) unsafe fn get_nthkey(info: Info, number: c_int, key: *mut c_char) -> c_int {
    catch("MPI_Info_get_nthkey", || {
        with(info, |pairs| {
            let pair = usize::try_from(number).ok().and_then(|at| pairs.0.get(at));
            let (name, _) = pair.ok_or_else(|| {
                let len = pairs.0.len();
                Error::new(
                    MPI_ERR_ARG,
                    format!("key {number} of {len} keys, counted from 0"),
                )
            })?;
            // SAFETY: the caller's promise.
            unsafe { strings::write(name, key, MPI_MAX_INFO_KEY as usize) };
            Ok(())
        })
    })
}

/// The info objects that the program has not freed.
pub(crate) fn left() -> Vec<Info> {
    INFOS.handles()
}

/// `MPI_Info_fromint`.
pub(crate) fn from_int(int: c_int) -> Info {
    INFOS.handle_of(int)
}
