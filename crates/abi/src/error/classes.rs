//! The error classes of the standard (MPI 5.0, sections 9.4 and 15.3.10), and what they mean.

use oxmpi_core::ErrorClass;

use crate::constants::*;
use crate::types::c_int;

macro_rules! classes {
    ($($name:ident $text:literal)*) => {
        /// Class, name and meaning.
        const CLASSES: &[(c_int, &str, &str)] = &[$(($name, stringify!($name), $text)),*];
    };
}

classes! {
    MPI_SUCCESS "no error"
    MPI_ERR_BUFFER "invalid buffer pointer"
    MPI_ERR_COUNT "invalid count"
    MPI_ERR_TYPE "invalid datatype"
    MPI_ERR_TAG "invalid tag"
    MPI_ERR_COMM "invalid communicator"
    MPI_ERR_RANK "invalid rank"
    MPI_ERR_REQUEST "invalid request"
    MPI_ERR_ROOT "invalid root"
    MPI_ERR_GROUP "invalid group"
    MPI_ERR_OP "invalid operation"
    MPI_ERR_TOPOLOGY "invalid topology"
    MPI_ERR_DIMS "invalid dimensions"
    MPI_ERR_ARG "invalid argument"
    MPI_ERR_UNKNOWN "unknown error"
    MPI_ERR_TRUNCATE "message truncated on receive"
    MPI_ERR_OTHER "error that no other class describes"
    MPI_ERR_INTERN "internal error or limit of the library"
    MPI_ERR_PENDING "request not completed"
    MPI_ERR_IN_STATUS "error code is in the statuses"
    MPI_ERR_ACCESS "permission denied"
    MPI_ERR_AMODE "invalid access mode"
    MPI_ERR_ASSERT "invalid assertion"
    MPI_ERR_BAD_FILE "invalid file name"
    MPI_ERR_BASE "invalid base address"
    MPI_ERR_CONVERSION "data conversion failed"
    MPI_ERR_DISP "invalid displacement"
    MPI_ERR_DUP_DATAREP "data representation already defined"
    MPI_ERR_FILE_EXISTS "file exists"
    MPI_ERR_FILE_IN_USE "file in use"
    MPI_ERR_FILE "invalid file"
    MPI_ERR_INFO_KEY "info key too long or empty"
    MPI_ERR_INFO_NOKEY "info key not defined"
    MPI_ERR_INFO_VALUE "info value too long"
    MPI_ERR_INFO "invalid info object"
    MPI_ERR_IO "input or output error"
    MPI_ERR_KEYVAL "invalid key value"
    MPI_ERR_LOCKTYPE "invalid lock type"
    MPI_ERR_NAME "service name not published"
    MPI_ERR_NO_MEM "out of memory"
    MPI_ERR_NOT_SAME "arguments differ between ranks"
    MPI_ERR_NO_SPACE "no space left"
    MPI_ERR_NO_SUCH_FILE "no such file"
    MPI_ERR_PORT "invalid port"
    MPI_ERR_QUOTA "quota exceeded"
    MPI_ERR_READ_ONLY "read-only file or file system"
    MPI_ERR_RMA_ATTACH "memory cannot be attached"
    MPI_ERR_RMA_CONFLICT "conflicting accesses to a window"
    MPI_ERR_RMA_RANGE "memory is not part of the window"
    MPI_ERR_RMA_SHARED "memory cannot be shared"
    MPI_ERR_RMA_SYNC "wrong synchronization of a window"
    MPI_ERR_SERVICE "invalid service name"
    MPI_ERR_SIZE "invalid size"
    MPI_ERR_SPAWN "processes could not be started"
    MPI_ERR_UNSUPPORTED_DATAREP "unsupported data representation"
    MPI_ERR_UNSUPPORTED_OPERATION "unsupported operation"
    MPI_ERR_WIN "invalid window"
    MPI_ERR_RMA_FLAVOR "wrong flavor of window"
    MPI_ERR_PROC_ABORTED "a process has ended"
    MPI_ERR_VALUE_TOO_LARGE "value too large for its type"
    MPI_ERR_SESSION "invalid session"
    MPI_ERR_ERRHANDLER "invalid error handler"
    MPI_ERR_ABI "error of the ABI"
    MPI_T_ERR_CANNOT_INIT "tools interface cannot be initialized"
    MPI_T_ERR_NOT_ACCESSIBLE "not accessible"
    MPI_T_ERR_NOT_INITIALIZED "tools interface not initialized"
    MPI_T_ERR_NOT_SUPPORTED "not supported"
    MPI_T_ERR_MEMORY "out of memory"
    MPI_T_ERR_INVALID "invalid argument"
    MPI_T_ERR_INVALID_INDEX "invalid index"
    MPI_T_ERR_INVALID_ITEM "invalid item"
    MPI_T_ERR_INVALID_SESSION "invalid session of the tools interface"
    MPI_T_ERR_INVALID_HANDLE "invalid handle"
    MPI_T_ERR_INVALID_NAME "invalid name"
    MPI_T_ERR_OUT_OF_HANDLES "out of handles"
    MPI_T_ERR_OUT_OF_SESSIONS "out of sessions"
    MPI_T_ERR_CVAR_SET_NOT_NOW "variable cannot be set now"
    MPI_T_ERR_CVAR_SET_NEVER "variable cannot be set"
    MPI_T_ERR_PVAR_NO_WRITE "variable cannot be written"
    MPI_T_ERR_PVAR_NO_STARTSTOP "variable cannot be started or stopped"
    MPI_T_ERR_PVAR_NO_ATOMIC "variable cannot be read and reset at once"
}

/// The name of a class of the standard.
pub(crate) fn name(class: c_int) -> Option<&'static str> {
    CLASSES.iter().find(|row| row.0 == class).map(|row| row.1)
}

/// The text of a class of the standard: its name, and what it means.
pub(crate) fn text(class: c_int) -> String {
    let row = CLASSES.iter().find(|row| row.0 == class);
    row.map_or(String::new(), |(_, name, text)| format!("{name}: {text}"))
}

/// The class of an error of the core.
pub(crate) const fn class_of_core(class: ErrorClass) -> c_int {
    match class {
        ErrorClass::Count => MPI_ERR_COUNT,
        ErrorClass::Type => MPI_ERR_TYPE,
        ErrorClass::Tag => MPI_ERR_TAG,
        ErrorClass::Rank => MPI_ERR_RANK,
        ErrorClass::Op => MPI_ERR_OP,
        ErrorClass::Argument => MPI_ERR_ARG,
        ErrorClass::Truncate => MPI_ERR_TRUNCATE,
        ErrorClass::Request => MPI_ERR_REQUEST,
        ErrorClass::NoMemory => MPI_ERR_NO_MEM,
        ErrorClass::ProcessAborted => MPI_ERR_PROC_ABORTED,
        ErrorClass::RmaRange => MPI_ERR_RMA_RANGE,
        ErrorClass::RmaSync => MPI_ERR_RMA_SYNC,
        ErrorClass::RmaAttach => MPI_ERR_RMA_ATTACH,
        ErrorClass::RmaShared => MPI_ERR_RMA_SHARED,
        ErrorClass::RmaFlavor => MPI_ERR_RMA_FLAVOR,
        ErrorClass::RmaConflict => MPI_ERR_RMA_CONFLICT,
        ErrorClass::Window => MPI_ERR_WIN,
        ErrorClass::Internal => MPI_ERR_INTERN,
        _ => MPI_ERR_OTHER,
    }
}
