//! libibverbs and librdmacm, loaded at run time: a program runs where they are not installed, and no binary needs them.

use crate::error::Unavailable;
use crate::ffi::{
    ibv_ah, ibv_ah_attr, ibv_async_event, ibv_comp_channel, ibv_context, ibv_cq, ibv_device,
    ibv_device_attr, ibv_gid_entry, ibv_mr, ibv_pd, ibv_port_attr, ibv_qp, ibv_qp_attr,
    ibv_qp_init_attr, ibv_srq, ibv_srq_attr, ibv_srq_init_attr, rdma_cm_event, rdma_cm_id,
    rdma_conn_param, rdma_event_channel,
};
use libloading::os::unix::{Library as Handle, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{c_int, c_uint, c_void};
use std::sync::OnceLock;

/// Defines a library with a field for each function, and how it is loaded. One that is newer may be missing.
macro_rules! functions {
    ($(#[$meta:meta])* $library:ident, $file:literal;
     newer { $($newer:ident: $newer_name:ident = fn() -> $newer_result:ty;)* }
     $($field:ident: $name:ident = fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        $(#[$meta])*
        pub(crate) struct $library {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            $(pub(crate) $newer: Option<unsafe extern "C" fn() -> $newer_result>,)*
        }

        impl $library {
            /// The library of this process, which stays loaded until the process ends: it keeps state.
            pub(crate) fn load() -> Result<&'static Self, Unavailable> {
                static LOADED: OnceLock<Result<$library, Unavailable>> = OnceLock::new();
                LOADED
                    .get_or_init(|| open($file, Self::of))
                    .as_ref()
                    .map_err(Unavailable::clone)
            }

            /// Finds the functions in a loaded library.
            fn of(handle: &Handle) -> Result<Self, Unavailable> {
                Ok(Self {$(
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
    /// The functions of libibverbs, by the name of its file since 2005. `layouts.c` asserts that the header declares them so.
    ///
    /// All may be called by several threads at once: the library and its providers lock what they change
    /// (which a user can forbid to some, such as mlx5 by `MLX5_SINGLE_THREADED`, at the program's risk).
    Library, "libibverbs.so.1";
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

functions! {
    /// The functions of librdmacm, with the guarantee of [`Library`], but that one identifier is for one thread at a time.
    CmLibrary, "librdmacm.so.1";
    newer {}
    create_event_channel: rdma_create_event_channel = fn() -> *mut rdma_event_channel;
    destroy_event_channel: rdma_destroy_event_channel = fn(*mut rdma_event_channel);
    create_id: rdma_create_id = fn(*mut rdma_event_channel, *mut *mut rdma_cm_id, *mut c_void, c_uint) -> c_int;
    destroy_id: rdma_destroy_id = fn(*mut rdma_cm_id) -> c_int;
    // Its addresses are `struct sockaddr`.
    bind_addr: rdma_bind_addr = fn(*mut rdma_cm_id, *mut c_void) -> c_int;
    listen: rdma_listen = fn(*mut rdma_cm_id, c_int) -> c_int;
    get_src_port: rdma_get_src_port = fn(*mut rdma_cm_id) -> u16;
    resolve_addr: rdma_resolve_addr = fn(*mut rdma_cm_id, *mut c_void, *mut c_void, c_int) -> c_int;
    resolve_route: rdma_resolve_route = fn(*mut rdma_cm_id, c_int) -> c_int;
    init_qp_attr: rdma_init_qp_attr = fn(*mut rdma_cm_id, *mut ibv_qp_attr, *mut c_int) -> c_int;
    connect: rdma_connect = fn(*mut rdma_cm_id, *mut rdma_conn_param) -> c_int;
    establish: rdma_establish = fn(*mut rdma_cm_id) -> c_int;
    accept: rdma_accept = fn(*mut rdma_cm_id, *mut rdma_conn_param) -> c_int;
    reject: rdma_reject = fn(*mut rdma_cm_id, *const c_void, u8) -> c_int;
    disconnect: rdma_disconnect = fn(*mut rdma_cm_id) -> c_int;
    get_cm_event: rdma_get_cm_event = fn(*mut rdma_event_channel, *mut *mut rdma_cm_event) -> c_int;
    ack_cm_event: rdma_ack_cm_event = fn(*mut rdma_cm_event) -> c_int;
}

fn open<T>(
    name: &str,
    functions: impl FnOnce(&Handle) -> Result<T, Unavailable>,
) -> Result<T, Unavailable> {
    if cfg!(target_feature = "crt-static") {
        return Err(Unavailable::Static);
    }
    // SAFETY: the initialisers are those of the system's library by this name, which any program that is
    // linked with it runs, too.
    let handle = unsafe { Handle::open(Some(name), RTLD_NOW | RTLD_LOCAL) };
    let handle = handle.map_err(|why| Unavailable::Library(why.to_string()))?;
    let library = functions(&handle)?;
    std::mem::forget(handle);
    Ok(library)
}

#[cfg(test)]
mod tests {
    use super::{CmLibrary, Library, open};
    use crate::error::Unavailable;

    #[test]
    fn a_library_that_is_missing_is_named_with_its_packages() {
        let name = "libibverbs-of-another-planet.so.1";
        let why = open(name, Library::of).err().unwrap();
        assert!(matches!(why, Unavailable::Library(_)), "{why:?}");
        let text = why.to_string();
        assert!(text.contains("libibverbs-of-another-planet.so.1"), "{text}");
        assert!(text.contains("libibverbs1"), "{text}");
    }

    #[test]
    fn a_library_without_the_functions_is_called_too_old() {
        let name = "libc.so.6";
        for (why, function) in [
            (open(name, Library::of).err(), "ibv_get_device_list"),
            (open(name, CmLibrary::of).err(), "rdma_create_event_channel"),
        ] {
            let why = why.unwrap();
            assert!(matches!(why, Unavailable::Function(_)), "{why:?}");
            let text = why.to_string();
            assert!(text.contains(function), "{text}");
            assert!(text.contains("rdma-core 32"), "{text}");
        }
    }
}
