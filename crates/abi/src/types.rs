//! The types of the ABI (MPI 5.0, section 20.3), by their names without `MPI_`.

pub(crate) use std::ffi::{c_char, c_double, c_int, c_void};

pub(crate) type Aint = isize;
pub(crate) type Count = i64;
pub(crate) type Offset = i64;

/// A function of the program. Its type depends on where it is given; null where the standard has no function.
pub(crate) type Callback = *mut c_void;

/// `MPI_Status`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    pub(crate) source: c_int,
    pub(crate) tag: c_int,
    pub(crate) error: c_int,
    pub(crate) internal: [c_int; 5],
}

/// Defines types of handles: pointers to types that nobody defines. The number tells the kinds of handles apart.
macro_rules! handles {
    ($($name:ident = $kind:literal)*) => {
        $(
            #[allow(non_camel_case_types, reason = "the names of the standard")]
            #[repr(transparent)]
            #[derive(Clone, Copy, PartialEq, Eq)]
            pub(crate) struct $name(pub(crate) *mut c_void);

            impl $crate::handles::Handle for $name {
                const KIND: u32 = $kind;

                #[inline(always)]
                fn from_address(address: usize) -> Self {
                    Self(std::ptr::without_provenance_mut(address))
                }

                #[inline(always)]
                fn address(self) -> usize {
                    self.0.addr()
                }
            }
        )*
    };
}

handles! { Comm = 0 Datatype = 1 Errhandler = 2 File = 3 Group = 4 Info = 5 Message = 6 Op = 7 Request = 8 Session = 9 Win = 10 }
handles! { T_cvar_handle = 11 T_enum = 11 T_event_instance = 11 T_event_registration = 11 T_pvar_handle = 11 T_pvar_session = 11 }
