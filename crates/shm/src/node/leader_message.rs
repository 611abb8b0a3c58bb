//! What the leader of a node tells all its ranks, of any length: sealed memory, which travels as a
//! descriptor.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::vec;
use std::vec::Vec;

use oxmpi_os::memory::Memfd;

/// Memory that holds `word`; none for an empty one.
pub(super) fn seal(word: &[u8]) -> io::Result<Option<Memfd>> {
    if word.is_empty() {
        return Ok(None);
    }
    let memory = Memfd::create("oxmpi-word", word.len())?;
    let file = File::from(memory.as_fd().try_clone_to_owned()?);
    file.write_all_at(word, 0)?;
    Ok(Some(memory))
}

/// The word in the memory that came, if any did.
pub(super) fn open(memory: Option<OwnedFd>) -> io::Result<Vec<u8>> {
    let Some(memory) = memory else {
        return Ok(Vec::new());
    };
    let memory = Memfd::adopt(memory)?;
    let mut word = vec![0; memory.len()];
    File::from(memory.as_fd().try_clone_to_owned()?).read_exact_at(&mut word, 0)?;
    Ok(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for len in [0, 1, 4096, 300_000] {
            let word: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
            let memory = seal(&word).expect("memory");
            let sent =
                memory.map(|memory| memory.as_fd().try_clone_to_owned().expect("a descriptor"));
            assert_eq!(open(sent).expect("the word"), word);
        }
    }
}
