//! Attributes of communicators, datatypes and windows, and their keys (MPI 5.0, section 7.7).

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::constants::{
    MPI_COMM_DUP_FN, MPI_COMM_NULL_COPY_FN, MPI_ERR_KEYVAL, MPI_KEYVAL_INVALID, MPI_SUCCESS,
};
use crate::error::{Error, Result};
use crate::shared::Shared;
use crate::types::{Callback, c_int, c_void};

/// The kind of object that a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Comm,
    Datatype,
    Window,
}

/// A function that copies an attribute: the object's handle, key, state, value, the place of the copy and a flag.
type CopyFunction = unsafe extern "C" fn(
    *mut c_void,
    c_int,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_int,
) -> c_int;
/// A function that deletes an attribute: the object's handle, key, value and state.
type DeleteFunction = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, *mut c_void) -> c_int;

/// What a key says about the attributes that have it.
struct Key {
    kind: Kind,
    number: c_int,
    copy: Copying,
    delete: Option<DeleteFunction>,
    state: *mut c_void,
}

// SAFETY: the state is the program's, which the library only hands to the program's functions.
unsafe impl Send for Key {}

// SAFETY: as above; a key never changes.
unsafe impl Sync for Key {}

enum Copying {
    Never,
    Always,
    By(CopyFunction),
}

/// The first key that the program makes, above all predefined ones.
const FIRST: c_int = 0x1000;

/// The keys of the program. Numbers are not used again, so that an attribute never has another key's.
static KEYS: Shared<Vec<KeyPlace>> = Shared::new(Vec::new());

/// A key, which lives until the program has freed it and no attribute has it (MPI 5.0, section 7.7.2).
struct KeyPlace {
    /// `None` once the program has freed it.
    of_program: Option<Arc<Key>>,
    of_attributes: Weak<Key>,
}

/// Makes a key.
///
/// # Safety
/// The functions have the types that the standard says for this kind of object.
pub(crate) unsafe fn create_key(
    kind: Kind,
    copy: Callback,
    delete: Callback,
    state: *mut c_void,
) -> c_int {
    let copy = match copy.addr() {
        MPI_COMM_NULL_COPY_FN => Copying::Never,
        MPI_COMM_DUP_FN => Copying::Always,
        // SAFETY: the caller's promise.
        _ => Copying::By(unsafe { std::mem::transmute::<Callback, CopyFunction>(copy) }),
    };
    // SAFETY: the caller's promise; null is `MPI_COMM_NULL_DELETE_FN`.
    let delete: Option<DeleteFunction> = unsafe { std::mem::transmute(delete) };
    KEYS.with(|keys| {
        let number = FIRST + keys.len() as c_int;
        let key = Arc::new(Key {
            kind,
            number,
            copy,
            delete,
            state,
        });
        keys.push(KeyPlace {
            of_attributes: Arc::downgrade(&key),
            of_program: Some(key),
        });
        number
    })
}

/// Frees a key. It stays valid as long as attributes have it.
///
/// # Safety
/// The key may be read and written to.
pub(crate) unsafe fn free_key(kind: Kind, key: *mut c_int) -> Result<()> {
    // SAFETY: the caller's promise.
    let number = unsafe { *key };
    find(kind, number)?;
    KEYS.with(|keys| keys[(number - FIRST) as usize].of_program = None);
    // SAFETY: as above.
    unsafe { key.write(MPI_KEYVAL_INVALID) };
    Ok(())
}

fn find(kind: Kind, number: c_int) -> Result<Arc<Key>> {
    let key = KEYS.with(|keys| {
        let index = usize::try_from(number.checked_sub(FIRST)?).ok()?;
        keys.get(index)?.of_attributes.upgrade()
    });
    key.filter(|key| key.kind == kind).ok_or_else(|| {
        let why = format!("{number} is no key of this kind of object that the program may use");
        Error::new(MPI_ERR_KEYVAL, why)
    })
}

#[derive(Clone)]
struct Attribute {
    key: Arc<Key>,
    value: *mut c_void,
}

/// The attributes of one object, in the order in which they were set. No function of the program is called while the
/// list is locked.
pub(crate) struct Attributes(Mutex<Vec<Attribute>>);

impl fmt::Debug for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attributes").finish_non_exhaustive()
    }
}

impl Attributes {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    fn with<R>(&self, work: impl FnOnce(&mut Vec<Attribute>) -> R) -> R {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The value of an attribute.
    pub(crate) fn get(&self, kind: Kind, key: c_int) -> Result<Option<*mut c_void>> {
        find(kind, key)?;
        Ok(self.with(|all| {
            let attribute = all.iter().find(|attribute| attribute.key.number == key);
            attribute.map(|attribute| attribute.value)
        }))
    }

    /// Sets an attribute of the object with this handle; the value that it had is deleted first.
    pub(crate) fn set(
        &self,
        kind: Kind,
        object: usize,
        key: c_int,
        value: *mut c_void,
    ) -> Result<()> {
        let key = find(kind, key)?;
        self.delete_if_set(object, key.number)?;
        self.with(|all| all.push(Attribute { key, value }));
        Ok(())
    }

    /// Deletes an attribute.
    pub(crate) fn delete(&self, kind: Kind, object: usize, key: c_int) -> Result<()> {
        find(kind, key)?;
        match self.delete_if_set(object, key)? {
            true => Ok(()),
            false => Err(Error::new(
                MPI_ERR_KEYVAL,
                format!("no attribute has the key {key}"),
            )),
        }
    }

    fn delete_if_set(&self, object: usize, key: c_int) -> Result<bool> {
        let found = self.with(|all| {
            let mut all = all.iter();
            all.find(|attribute| attribute.key.number == key).cloned()
        });
        let Some(attribute) = found else {
            return Ok(false);
        };
        attribute.call_delete(object)?;
        self.with(|all| all.retain(|attribute| attribute.key.number != key));
        Ok(true)
    }

    /// Deletes all attributes, the last that was set first.
    pub(crate) fn delete_all(&self, object: usize) -> Result<()> {
        while let Some(attribute) = self.with(|all| all.last().cloned()) {
            attribute.call_delete(object)?;
            let key = attribute.key.number;
            self.with(|all| all.retain(|attribute| attribute.key.number != key));
        }
        Ok(())
    }

    /// The attributes of a copy of the object with this handle.
    pub(crate) fn copies(&self, object: usize) -> Result<Self> {
        let copies = Self::new();
        for attribute in self.with(|all| all.clone()) {
            if let Some(value) = attribute.call_copy(object)? {
                let key = attribute.key;
                copies.with(|all| all.push(Attribute { key, value }));
            }
        }
        Ok(copies)
    }
}

// SAFETY: the value is the program's, which the library only hands to the program's functions.
unsafe impl Send for Attribute {}

impl Attribute {
    fn call_delete(&self, object: usize) -> Result<()> {
        let Key {
            number,
            delete,
            state,
            ..
        } = *self.key;
        let Some(delete) = delete else {
            return Ok(());
        };
        let object = std::ptr::without_provenance_mut(object);
        // SAFETY: the program gave a function of this type, and its state.
        returned("deletes", number, unsafe {
            delete(object, number, self.value, state)
        })
    }

    /// The value of the copy; `None`: it is not copied.
    fn call_copy(&self, object: usize) -> Result<Option<*mut c_void>> {
        let Key {
            number,
            ref copy,
            state,
            ..
        } = *self.key;
        match copy {
            Copying::Never => Ok(None),
            Copying::Always => Ok(Some(self.value)),
            Copying::By(copy) => {
                let (mut value, mut flag) = (std::ptr::null_mut::<c_void>(), 0);
                let object = std::ptr::without_provenance_mut(object);
                let place = (&raw mut value).cast();
                // SAFETY: the program gave a function of this type, and its state.
                let code = unsafe { copy(object, number, state, self.value, place, &raw mut flag) };
                returned("copies", number, code)?;
                Ok((flag != 0).then_some(value))
            }
        }
    }
}

fn returned(does: &str, key: c_int, code: c_int) -> Result<()> {
    match code {
        MPI_SUCCESS => Ok(()),
        code => Err(Error::new(
            code,
            format!("the program's function that {does} attributes of key {key} returned {code}"),
        )),
    }
}
