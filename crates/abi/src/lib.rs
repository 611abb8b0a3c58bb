//! The standard C ABI of MPI 5.0 (chapter 20): `libmpi_abi.so.1`.
//!
//! Every function of the ABI is exported under its names `MPI_` and `PMPI_`; both call one inner function, and nothing
//! inside calls either, so that a tool between a program and the library sees the program's calls only. `functions`
//! and `mpi.h` are made from the standard's description in `standard/`; `standard/implemented/` says where a
//! function is implemented. One that is not returns `MPI_ERR_UNSUPPORTED_OPERATION` and [names itself](missing).

mod addresses;
mod attached_memory;
mod attribute;
mod buffered;
mod clock;
mod collective;
mod comm_table;
mod comm_topology;
mod communicator;
#[rustfmt::skip]
pub mod constants;
mod counts;
mod datatype;
mod environment;
mod errhandler_table;
mod error;
mod error_handling;
mod group;
mod handle_leaks;
mod handles;
mod info;
mod info_pairs;
mod keyval_calls;
mod membership;
mod memory;
mod message;
mod message_envelope;
mod missing;
mod operation;
mod point_to_point;
mod process;
mod request;
mod session;
mod shared;
mod status;
mod strings;
mod topology;
mod types;
mod window;
mod window_table;

/// Exports functions under both of their names. A function without a path is missing.
macro_rules! functions {
    ($($mpi:ident $pmpi:ident($($name:ident: $type:ty),*) -> $returns:ty $(= $path:path)?;)*) => {
        $(functions!(@one $mpi $pmpi ($($name: $type),*) $returns $(= $path)?);)*
    };
    (@one $mpi:ident $pmpi:ident ($($name:ident: $type:ty),*) $returns:ty = $path:path) => {
        #[unsafe(no_mangle)]
        #[allow(unused_unsafe, reason = "some functions ask nothing of the program")]
        unsafe extern "C" fn $mpi($($name: $type),*) -> $returns {
            // SAFETY: the program keeps what the standard asks of its arguments.
            unsafe { $path($($name),*) }
        }
        #[unsafe(no_mangle)]
        #[allow(unused_unsafe, reason = "some functions ask nothing of the program")]
        unsafe extern "C" fn $pmpi($($name: $type),*) -> $returns {
            // SAFETY: as above.
            unsafe { $path($($name),*) }
        }
    };
    (@one $mpi:ident $pmpi:ident ($($name:ident: $type:ty),*) $returns:ty) => {
        #[unsafe(no_mangle)]
        extern "C" fn $mpi($(_: functions!(@type $name $type)),*) -> $returns {
            static NAMED: missing::Named = missing::Named::new(stringify!($mpi));
            NAMED.error()
        }
        #[unsafe(no_mangle)]
        extern "C" fn $pmpi($(_: functions!(@type $name $type)),*) -> $returns {
            static NAMED: missing::Named = missing::Named::new(stringify!($mpi));
            NAMED.error()
        }
    };
    (@type $name:ident $type:ty) => { $type };
}

#[rustfmt::skip]
#[allow(non_snake_case, reason = "the names of the standard")]
mod functions;
