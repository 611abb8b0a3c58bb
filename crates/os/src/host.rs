//! The name and identity of this machine, and random bytes.

use std::fs;
use std::io;

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

/// The host's name.
#[must_use]
pub fn name() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// An id of this boot of the kernel: equal for two processes if and only if they run on one machine, also in
/// containers.
///
/// # Errors
/// The error of reading `/proc/sys/kernel/random/boot_id`.
///
/// Source: random(4).
pub fn boot_id() -> io::Result<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(text.trim().to_owned())
}

/// 128 random bits that cannot be guessed.
///
/// # Errors
/// The error of getrandom.
///
/// Source: getrandom(2).
pub fn random() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    let mut have = 0;
    while have < bytes.len() {
        match getrandom(&mut bytes[have..], GetRandomFlags::empty()) {
            Ok(more) => have += more,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ids_and_random_bytes() {
        assert!(!name().is_empty());
        assert_eq!(boot_id().unwrap(), boot_id().unwrap());
        assert_ne!(random().unwrap(), random().unwrap());
    }
}
