//! The RDMA devices of this machine.

use super::handle::Handle;
use crate::error::{ENOSYS, Unavailable, VerbsError};
use crate::ffi::{IBV_TRANSPORT_IWARP, ibv_device};
use crate::library::Library;
use std::ffi::CStr;
use std::fmt;
use std::sync::Arc;

/// The RDMA devices of this machine, in the kernel's order; none if the kernel has no RDMA.
///
/// The first call loads libibverbs; each one looks at the machine anew.
///
/// # Errors
/// Why this process cannot use RDMA.
pub fn devices() -> Result<Vec<Device>, Unavailable> {
    Ok(devices_of(Library::load()?)?)
}

/// The devices that a library lists.
pub(crate) fn devices_of(library: &'static Library) -> Result<Vec<Device>, VerbsError> {
    List::read(library)
}

/// An RDMA device. [`Device::open`] makes it usable.
#[derive(Clone)]
pub struct Device {
    list: Arc<List>,
    index: usize,
}

/// The library's array of devices, which live as long as it does.
struct List {
    library: &'static Library,
    array: Handle<*mut ibv_device>,
}

impl List {
    fn read(library: &'static Library) -> Result<Vec<Device>, VerbsError> {
        let mut count = 0;
        // SAFETY: the call writes the number of devices to `count`.
        let array = unsafe { (library.get_device_list)(&raw mut count) };
        let array = match Handle::new(array) {
            Ok(array) => array,
            Err(why) if why.raw_os_error() == Some(ENOSYS) => return Ok(Vec::new()),
            Err(why) => {
                let call = "ibv_get_device_list";
                return Err(VerbsError::io(call, "this machine", "", &why));
            }
        };
        let list = Arc::new(List { library, array });
        let of = |index| Device {
            list: Arc::clone(&list),
            index,
        };
        Ok((0..usize::try_from(count).unwrap_or(0)).map(of).collect())
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: nobody has the array or a device of it any more; an open context keeps its device alive itself.
        unsafe { (self.library.free_device_list)(self.array.as_ptr()) };
    }
}

impl Device {
    /// Its name, such as `mlx5_0`.
    #[must_use]
    pub fn name(&self) -> String {
        // SAFETY: the list, and with it the device, is alive.
        let name = unsafe { &raw const (*self.as_ptr()).name };
        // SAFETY: the library ends the name with a zero, and never changes it.
        let name = unsafe { CStr::from_ptr(name.cast()) };
        name.to_string_lossy().into_owned()
    }

    /// As [`Context::is_iwarp`](super::Context::is_iwarp).
    pub(super) fn is_iwarp(&self) -> bool {
        // SAFETY: the list, and with it the device, is alive.
        unsafe { (*self.as_ptr()).transport_type == IBV_TRANSPORT_IWARP }
    }

    pub(super) fn library(&self) -> &'static Library {
        self.list.library
    }

    pub(super) fn as_ptr(&self) -> *mut ibv_device {
        // SAFETY: the array has more entries than `index`, which `List::read` took from its length.
        unsafe { *self.list.array.as_ptr().wrapping_add(self.index) }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}
