//! The message of the leader to all ranks of its node, of any length: sealed memory, passed as a descriptor.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::vec;
use std::vec::Vec;

use oxmpi_os::memory::Memfd;

/// Seals `message` into memory; none for an empty message.
pub(super) fn seal(message: &[u8]) -> io::Result<Option<Memfd>> {
    if message.is_empty() {
        return Ok(None);
    }
    let memory = Memfd::create("oxmpi-word", message.len())?;
    let file = File::from(memory.as_fd().try_clone_to_owned()?);
    file.write_all_at(message, 0)?;
    Ok(Some(memory))
}

/// The message in the memory that came, if any did.
pub(super) fn open(memory: Option<OwnedFd>) -> io::Result<Vec<u8>> {
    let Some(memory) = memory else {
        return Ok(Vec::new());
    };
    let memory = Memfd::adopt(memory)?;
    let mut message = vec![0; memory.len()];
    File::from(memory.as_fd().try_clone_to_owned()?).read_exact_at(&mut message, 0)?;
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_decoded_as_encoded() {
        for len in [0, 1, 4096, 300_000] {
            let message: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
            let memory = seal(&message).expect("memory");
            let sent =
                memory.map(|memory| memory.as_fd().try_clone_to_owned().expect("a descriptor"));
            assert_eq!(open(sent).expect("the message"), message);
        }
    }
}
