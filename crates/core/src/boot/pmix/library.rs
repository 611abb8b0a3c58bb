//! The eight functions of libpmix that are called, with their C types.
//!
//! This is the only place outside `os` and `shm` that calls foreign code: `os` holds system calls. The types
//! are those of `pmix_common.h` of PMIx 4 and 5, which agree; `cargo xtask ci managers` checks them against
//! the header.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;
use std::ptr;

use libloading::os::unix::{Library as Handle, RTLD_GLOBAL, RTLD_NOW};

/// `PMIX_RANK_WILDCARD`: asks for values of the whole job.
pub(super) const ANY_RANK: u32 = u32::MAX - 1;

/// The name by which versions 2 to 5 of the library are installed.
const NAME: &str = "libpmix.so.2";

const SUCCESS: c_int = 0;
const NOT_FOUND: c_int = -46;

/// `PMIX_GLOBAL`: a value for the ranks of all nodes.
const GLOBAL: u8 = 3;

/// `PMIX_COLLECT_DATA`: a fence after which every node has all values that were put before it.
const COLLECT: &[u8] = b"pmix.collect";

/// `PMIX_BOOL`.
const BOOL: u16 = 1;
/// `PMIX_STRING`.
const STRING: u16 = 3;
/// `PMIX_UINT32`.
const UINT32: u16 = 14;

/// `PMIX_MAX_NSLEN`, with the final zero.
const NAMESPACE_MAX: usize = 256;

/// `PMIX_MAX_KEYLEN`, with the final zero.
const KEY_MAX: usize = 512;

/// `pmix_proc_t`: names a process.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Proc {
    namespace: [c_char; NAMESPACE_MAX],
    rank: u32,
}

/// `pmix_value_t`.
#[repr(C)]
struct Value {
    kind: u16,
    data: Data,
}

/// Its union. Its largest member is `pmix_envar_t`: two pointers and a letter.
#[repr(C)]
union Data {
    flag: bool,
    string: *mut c_char,
    uint32: u32,
    room: [u64; 3],
}

/// `pmix_info_t`: how a call is to be done.
#[repr(C)]
struct Info {
    key: [u8; KEY_MAX],
    flags: u32,
    value: Value,
}

impl Info {
    /// A directive that is requested by its name.
    fn of(name: &[u8]) -> Self {
        let mut key = [0; KEY_MAX];
        key[..name.len()].copy_from_slice(name);
        let mut data = Data { room: [0; 3] };
        data.flag = true;
        let value = Value { kind: BOOL, data };
        Self {
            key,
            flags: 0,
            value,
        }
    }
}

type Infos = *const Info;

/// Defines [`Library`] with a field for each function, and how it is loaded.
macro_rules! functions {
    ($($field:ident: $name:literal = fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The library, for the rest of this process's life: it has started a thread of its own.
        pub(super) struct Library {
            $($field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Library {
            fn of(handle: &Handle) -> Result<Self, PmixError> {
                Ok(Self {$(
                    $field: {
                        // SAFETY: the type of the field is that of the header, for every version by this file
                        // name; the handle is never closed.
                        let symbol = unsafe { handle.get($name) };
                        *symbol.map_err(PmixError::Load)?
                    },
                )*})
            }
        }
    };
}

functions! {
    init: b"PMIx_Init\0" = fn(*mut Proc, Infos, usize) -> c_int;
    get: b"PMIx_Get\0" = fn(*const Proc, *const c_char, Infos, usize, *mut *mut Value) -> c_int;
    put: b"PMIx_Put\0" = fn(u8, *const c_char, *mut Value) -> c_int;
    commit: b"PMIx_Commit\0" = fn() -> c_int;
    fence: b"PMIx_Fence\0" = fn(*const Proc, usize, Infos, usize) -> c_int;
    finalize: b"PMIx_Finalize\0" = fn(Infos, usize) -> c_int;
    abort: b"PMIx_Abort\0" = fn(c_int, *const c_char, *const Proc, usize) -> c_int;
    error_string: b"PMIx_Error_string\0" = fn(c_int) -> *const c_char;
    // The library allocates with the C library's `malloc`, on which it depends.
    free: b"free\0" = fn(*mut c_void);
}

/// An error of libpmix.
#[derive(Debug)]
pub(super) enum PmixError {
    /// The library is missing, or lacks a function.
    Load(libloading::Error),
    /// A function returned an error code.
    Call {
        name: &'static str,
        code: c_int,
        means: String,
    },
    /// A value has an unexpected type.
    Kind { key: String, kind: u16 },
    /// A text contains a zero byte.
    Zero,
}

impl Proc {
    const PROC_NULL: Self = Self {
        namespace: [0; NAMESPACE_MAX],
        rank: u32::MAX,
    };

    pub(super) fn rank(&self) -> u32 {
        self.rank
    }

    /// Another process of the same job.
    pub(super) fn with_rank(&self, rank: u32) -> Self {
        Self { rank, ..*self }
    }
}

impl Library {
    pub(super) fn load() -> Result<Self, PmixError> {
        // SAFETY: the library's initialisers are those of the system's PMIx, the one that the
        // manager which started this process told it to use.
        let handle = unsafe { Handle::open(Some(NAME), RTLD_NOW | RTLD_GLOBAL) };
        let handle = handle.map_err(PmixError::Load)?;
        let library = Self::of(&handle)?;
        std::mem::forget(handle);
        Ok(library)
    }

    pub(super) fn init(&self) -> Result<Proc, PmixError> {
        let mut me = Proc::PROC_NULL;
        // SAFETY: `me` is a process name that the call fills; no infos.
        let code = unsafe { (self.init)(&raw mut me, ptr::null(), 0) };
        self.check("PMIx_Init", code).map(|()| me)
    }

    /// The number that `of` or the manager has published as `key`.
    pub(super) fn get_number(&self, of: &Proc, key: &str) -> Result<u32, PmixError> {
        let number = |kind, data: &Data| match kind {
            // SAFETY: `kind` says that this is the member that was written.
            UINT32 => Some(unsafe { data.uint32 }),
            _ => None,
        };
        self.get(of, key, number)?
            .ok_or_else(|| self.error("PMIx_Get", NOT_FOUND))
    }

    /// The text that `of` has published as `key`.
    pub(super) fn get_text(&self, of: &Proc, key: &str) -> Result<Option<String>, PmixError> {
        self.get(of, key, |kind, data| match kind {
            STRING => {
                // SAFETY: `kind` says that this is the member that was written.
                let text = unsafe { data.string };
                if text.is_null() {
                    return None;
                }
                // SAFETY: a text of the library ends with a zero, and is ours until it is freed.
                let text = unsafe { CStr::from_ptr(text) };
                Some(text.to_string_lossy().into_owned())
            }
            _ => None,
        })
    }

    /// Gets a value and reads it by `read`, which gives `None` for an unexpected type.
    fn get<R>(
        &self,
        of: &Proc,
        key: &str,
        read: impl FnOnce(u16, &Data) -> Option<R>,
    ) -> Result<Option<R>, PmixError> {
        let name = CString::new(key).map_err(|_| PmixError::Zero)?;
        let mut value = ptr::null_mut();
        // SAFETY: a process name, a text with its zero, no infos, and room for the answer's address.
        let code = unsafe { (self.get)(of, name.as_ptr(), ptr::null(), 0, &raw mut value) };
        if code == NOT_FOUND || (code == SUCCESS && value.is_null()) {
            return Ok(None);
        }
        self.check("PMIx_Get", code)?;
        // SAFETY: on success the answer is a complete value, which this process owns.
        let Value { kind, data } = unsafe { &*value };
        let (kind, found) = (*kind, read(*kind, data));
        if kind == STRING {
            // SAFETY: `kind` says that this is the member that was written.
            let text = unsafe { data.string };
            // SAFETY: the text belongs to the value, and is not used any more.
            unsafe { (self.free)(text.cast()) };
        }
        // SAFETY: this process owns the value, and does not use it any more.
        unsafe { (self.free)(value.cast()) };
        let key = key.to_owned();
        found.map(Some).ok_or(PmixError::Kind { key, kind })
    }

    pub(super) fn put(&self, key: &str, text: &str) -> Result<(), PmixError> {
        let name = CString::new(key).map_err(|_| PmixError::Zero)?;
        let text = CString::new(text).map_err(|_| PmixError::Zero)?;
        let mut data = Data { room: [0; 3] };
        // The call copies the text and does not write to it.
        data.string = text.as_ptr().cast_mut();
        let mut value = Value { kind: STRING, data };
        // SAFETY: a text with its zero and a whole value, both of which the call only reads.
        let code = unsafe { (self.put)(GLOBAL, name.as_ptr(), &raw mut value) };
        self.check("PMIx_Put", code)
    }

    pub(super) fn commit(&self) -> Result<(), PmixError> {
        // SAFETY: takes nothing; `init` has succeeded, or there was nothing to put.
        let code = unsafe { (self.commit)() };
        self.check("PMIx_Commit", code)
    }

    /// Waits until all ranks of the job have called it and their values are on all nodes. Without that a node
    /// asks for a rank's values once, and never sees later ones.
    pub(super) fn fence(&self) -> Result<(), PmixError> {
        let how = Info::of(COLLECT);
        // SAFETY: no processes means those of this job; one whole info, which the call only reads.
        let code = unsafe { (self.fence)(ptr::null(), 0, &raw const how, 1) };
        self.check("PMIx_Fence", code)
    }

    pub(super) fn finalize(&self) -> Result<(), PmixError> {
        // SAFETY: no infos.
        let code = unsafe { (self.finalize)(ptr::null(), 0) };
        self.check("PMIx_Finalize", code)
    }

    pub(super) fn abort(&self, code: i32) -> Result<(), PmixError> {
        // SAFETY: a text with its zero; no processes means those of this job.
        let code = unsafe { (self.abort)(code, c"aborted by a rank".as_ptr(), ptr::null(), 0) };
        self.check("PMIx_Abort", code)
    }

    fn check(&self, name: &'static str, code: c_int) -> Result<(), PmixError> {
        match code {
            SUCCESS => Ok(()),
            code => Err(self.error(name, code)),
        }
    }

    /// The error of function `name` that returned `code`.
    fn error(&self, name: &'static str, code: c_int) -> PmixError {
        // SAFETY: takes any number.
        let text = unsafe { (self.error_string)(code) };
        let means = if text.is_null() {
            "unknown error".to_owned()
        } else {
            // SAFETY: the text is a constant of the library's, with its zero.
            let text = unsafe { CStr::from_ptr(text) };
            text.to_string_lossy().into_owned()
        };
        PmixError::Call { name, code, means }
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAME)
    }
}

impl fmt::Debug for Proc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {}", self.rank)
    }
}

impl fmt::Display for PmixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load(why) => write!(
                f,
                "{why}; the manager that started this process (PMIX_NAMESPACE is set) needs PMIx's \
                 library: install it (Debian: libpmix2, others: pmix), or name its directory in \
                 LD_LIBRARY_PATH; or start the job by oxmpi run, mpiexec.hydra or srun --mpi=pmi2"
            ),
            Self::Call { name, code, means } => write!(f, "{name}: {means} ({code})"),
            Self::Kind { key, kind } => {
                write!(
                    f,
                    "the value of {key} has type {kind}, not the expected one"
                )
            }
            Self::Zero => f.write_str("a key or value contains a zero byte"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::{align_of, offset_of, size_of};

    use super::{Proc, Value};

    /// What `pmix_common.h` of versions 4.2 and 5.0 says on 64-bit machines.
    #[test]
    fn types_are_laid_out_as_in_the_header() {
        assert_eq!((size_of::<Proc>(), align_of::<Proc>()), (260, 4));
        assert_eq!(offset_of!(Proc, rank), 256);
        assert_eq!((size_of::<Value>(), align_of::<Value>()), (32, 8));
        assert_eq!(offset_of!(Value, data), 8);
    }
}
