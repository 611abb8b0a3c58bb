//! Standard input of rank 0: inherited, or forwarded from a terminal.
//!
//! Rank 0 inherits a file or pipe, so that the bytes it does not read stay for the next program of a shell script.
//! Rank 0 cannot inherit a terminal, because ranks are not in the foreground process group of the terminal: the
//! launcher reads the terminal and forwards the bytes.

use std::io::{self, ErrorKind, IsTerminal, Stdin, Write};
use std::os::fd::AsFd;
use std::process::ChildStdin;

use oxmpi_os::pipe;

/// The terminal, and the pipe to rank 0.
pub(crate) struct TerminalInput {
    /// The terminal.
    pub(crate) from: Stdin,
    /// The pipe to rank 0.
    pub(crate) to: ChildStdin,
    waiting: Vec<u8>,
}

/// Whether standard input is a terminal, so that the launcher must forward it.
pub(crate) fn is_terminal() -> bool {
    io::stdin().is_terminal()
}

impl TerminalInput {
    pub(crate) fn new(to: ChildStdin) -> io::Result<Self> {
        pipe::set_nonblocking(&to)?;
        Ok(Self {
            from: io::stdin(),
            to,
            waiting: Vec::new(),
        })
    }

    /// Whether rank 0 must read before the terminal is read again.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Reads the terminal and writes to the pipe without blocking. `false` at the end of the input.
    pub(crate) fn forward(&mut self) -> bool {
        if self.waiting.is_empty() {
            let mut typed = [0; 4096];
            // In the background, reading a terminal is an error: the input ends.
            match pipe::read(self.from.as_fd(), &mut typed) {
                Ok(0) | Err(_) => return false,
                Ok(read) => self.waiting.extend_from_slice(&typed[..read]),
            }
        }
        match self.to.write(&self.waiting) {
            Ok(written) => {
                self.waiting.drain(..written);
                true
            }
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        }
    }
}
