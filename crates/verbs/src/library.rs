//! libibverbs, loaded at run time: a program runs where it is not installed, and no binary needs it.

use crate::error::Unavailable;
use crate::ffi::{
    ibv_ah, ibv_ah_attr, ibv_async_event, ibv_comp_channel, ibv_context, ibv_cq, ibv_device,
    ibv_device_attr, ibv_gid_entry, ibv_mr, ibv_pd, ibv_port_attr, ibv_qp, ibv_qp_attr,
    ibv_qp_init_attr, ibv_srq, ibv_srq_attr, ibv_srq_init_attr,
};
use libloading::os::unix::{Library as Handle, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{c_int, c_uint, c_void};
use std::sync::OnceLock;

/// The name by which rdma-core installs the library since 2005.
const NAME: &str = "libibverbs.so.1";

/// Defines [`Library`] with a field for each function, and how it is loaded. One that is newer may be missing.
macro_rules! functions {
    (newer { $($newer:ident: $newer_name:ident = fn() -> $newer_result:ty;)* }
     $($field:ident: $name:ident = fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of the library. `layouts.c` asserts that the header declares them so.
        ///
        /// All may be called by several threads at once: the library and its providers lock what they change
        /// (which a user can forbid to some, such as mlx5 by `MLX5_SINGLE_THREADED`, at the program's risk).
        pub(crate) struct Library {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            $(pub(crate) $newer: Option<unsafe extern "C" fn() -> $newer_result>,)*
        }

        impl Library {
            /// Finds the functions in a loaded library.
            fn of(handle: &Handle) -> Result<Library, Unavailable> {
                Ok(Library {$(
                    $field: {
                        let name = concat!(stringify!($name), "\0");
                        // SAFETY: the type of the field is the one of the header, for every library by this file
                        // name; the handle is never closed.
                        let symbol = unsafe { handle.get(name.as_bytes()) };
                        *symbol.map_err(|why| Unavailable::Function(why.to_string()))?
                    },
                )* $(
                    $newer: {
                        let name = concat!(stringify!($newer_name), "\0");
                        // SAFETY: as above.
                        unsafe { handle.get(name.as_bytes()) }.ok().map(|symbol| *symbol)
                    },
                )*})
            }
        }
    };
}

functions! {
    // Of rdma-core 35 (2021).
    newer {
        is_fork_initialized: ibv_is_fork_initialized = fn() -> c_uint;
    }
    get_device_list: ibv_get_device_list = fn(*mut c_int) -> *mut *mut ibv_device;
    free_device_list: ibv_free_device_list = fn(*mut *mut ibv_device);
    open_device: ibv_open_device = fn(*mut ibv_device) -> *mut ibv_context;
    close_device: ibv_close_device = fn(*mut ibv_context) -> c_int;
    query_device: ibv_query_device = fn(*mut ibv_context, *mut ibv_device_attr) -> c_int;
    // It writes the part of the attributes that all versions have, up to `flags`.
    query_port: ibv_query_port = fn(*mut ibv_context, u8, *mut ibv_port_attr) -> c_int;
    query_gid_table: _ibv_query_gid_table = fn(*mut ibv_context, *mut ibv_gid_entry, usize, u32, usize) -> isize;
    alloc_pd: ibv_alloc_pd = fn(*mut ibv_context) -> *mut ibv_pd;
    dealloc_pd: ibv_dealloc_pd = fn(*mut ibv_pd) -> c_int;
    reg_mr: ibv_reg_mr = fn(*mut ibv_pd, *mut c_void, usize, c_int) -> *mut ibv_mr;
    dereg_mr: ibv_dereg_mr = fn(*mut ibv_mr) -> c_int;
    create_comp_channel: ibv_create_comp_channel = fn(*mut ibv_context) -> *mut ibv_comp_channel;
    destroy_comp_channel: ibv_destroy_comp_channel = fn(*mut ibv_comp_channel) -> c_int;
    create_cq: ibv_create_cq = fn(*mut ibv_context, c_int, *mut c_void, *mut ibv_comp_channel, c_int) -> *mut ibv_cq;
    resize_cq: ibv_resize_cq = fn(*mut ibv_cq, c_int) -> c_int;
    destroy_cq: ibv_destroy_cq = fn(*mut ibv_cq) -> c_int;
    get_cq_event: ibv_get_cq_event = fn(*mut ibv_comp_channel, *mut *mut ibv_cq, *mut *mut c_void) -> c_int;
    ack_cq_events: ibv_ack_cq_events = fn(*mut ibv_cq, c_uint);
    create_qp: ibv_create_qp = fn(*mut ibv_pd, *mut ibv_qp_init_attr) -> *mut ibv_qp;
    modify_qp: ibv_modify_qp = fn(*mut ibv_qp, *mut ibv_qp_attr, c_int) -> c_int;
    destroy_qp: ibv_destroy_qp = fn(*mut ibv_qp) -> c_int;
    create_ah: ibv_create_ah = fn(*mut ibv_pd, *mut ibv_ah_attr) -> *mut ibv_ah;
    destroy_ah: ibv_destroy_ah = fn(*mut ibv_ah) -> c_int;
    create_srq: ibv_create_srq = fn(*mut ibv_pd, *mut ibv_srq_init_attr) -> *mut ibv_srq;
    modify_srq: ibv_modify_srq = fn(*mut ibv_srq, *mut ibv_srq_attr, c_int) -> c_int;
    destroy_srq: ibv_destroy_srq = fn(*mut ibv_srq) -> c_int;
    get_async_event: ibv_get_async_event = fn(*mut ibv_context, *mut ibv_async_event) -> c_int;
    ack_async_event: ibv_ack_async_event = fn(*mut ibv_async_event);
    fork_init: ibv_fork_init = fn() -> c_int;
}

impl Library {
    /// The library of this process, which stays loaded until the process ends: providers keep state in it.
    pub(crate) fn load() -> Result<&'static Library, Unavailable> {
        static LOADED: OnceLock<Result<Library, Unavailable>> = OnceLock::new();
        LOADED
            .get_or_init(|| Library::open(NAME))
            .as_ref()
            .map_err(Unavailable::clone)
    }

    fn open(name: &str) -> Result<Library, Unavailable> {
        if cfg!(target_feature = "crt-static") {
            return Err(Unavailable::Static);
        }
        // SAFETY: the initialisers are those of the system's library by this name, which any program that is
        // linked with it runs, too.
        let handle = unsafe { Handle::open(Some(name), RTLD_NOW | RTLD_LOCAL) };
        let handle = handle.map_err(|why| Unavailable::Library(why.to_string()))?;
        let library = Library::of(&handle)?;
        std::mem::forget(handle);
        Ok(library)
    }
}

#[cfg(test)]
mod tests {
    use super::Library;
    use crate::error::Unavailable;

    #[test]
    fn a_library_that_is_missing_is_named_with_its_packages() {
        let why = Library::open("libibverbs-of-another-planet.so.1")
            .err()
            .unwrap();
        assert!(matches!(why, Unavailable::Library(_)), "{why:?}");
        let text = why.to_string();
        assert!(text.contains("libibverbs-of-another-planet.so.1"), "{text}");
        assert!(text.contains("libibverbs1"), "{text}");
    }

    #[test]
    fn a_library_without_the_functions_is_called_too_old() {
        let why = Library::open("libc.so.6").err().unwrap();
        assert!(matches!(why, Unavailable::Function(_)), "{why:?}");
        let text = why.to_string();
        assert!(text.contains("ibv_get_device_list"), "{text}");
        assert!(text.contains("rdma-core 32"), "{text}");
    }
}
