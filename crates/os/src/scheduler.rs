//! What a thread asks of the kernel's scheduler: [`ask_for_slices`].
//!
//! Source: sched_setattr(2); slices of normal threads since Linux 6.12.

use std::io;
use std::time::Duration;

/// The kernel's `struct sched_attr`, version 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

const SIZE: u32 = size_of::<Attributes>() as u32;

/// Asks for slices of this length for the calling thread, of a normal policy: one that runs shortly and often waits less
/// for the processor after a wake. Kernels before 6.12 take the request and ignore it.
///
/// # Errors
/// The error of sched_getattr(2) or sched_setattr(2), which sandboxes may refuse.
pub fn ask_for_slices(slice: Duration) -> io::Result<()> {
    let mut attributes = Attributes::default();
    // SAFETY: the kernel writes at most `SIZE` bytes to the structure, all of whose values are valid.
    let got = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, SIZE, 0) };
    if got != 0 {
        return Err(io::Error::last_os_error());
    }
    attributes.size = SIZE;
    attributes.runtime = slice.as_nanos() as u64;
    // SAFETY: the kernel reads `SIZE` bytes of the structure.
    match unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_may_ask_for_short_slices() {
        std::thread::spawn(|| ask_for_slices(Duration::from_micros(100)))
            .join()
            .expect("no panic")
            .expect("the kernel knows the call");
    }
}
