//! Standard input of rank 0.
//!
//! A file or pipe is handed over as it is: rank 0 reads exactly what it wants, and the rest stays for
//! whoever comes next, as in a shell script. A terminal cannot be handed over, because ranks are
//! not the terminal's foreground group: what is typed is read here and passed on.

use std::io::{self, ErrorKind, IsTerminal, Stdin, Write};
use std::os::fd::AsFd;
use std::process::ChildStdin;

use oxmpi_os::pipe;

/// What is typed, on its way to rank 0.
pub(crate) struct TerminalInput {
    /// The terminal.
    pub(crate) from: Stdin,
    /// The pipe to rank 0.
    pub(crate) to: ChildStdin,
    waiting: Vec<u8>,
}

/// Whether standard input must be passed on here.
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

    /// Whether rank 0 must read before more is taken from the terminal.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes what was typed and passes on what there is room for. False: the end has come.
    pub(crate) fn forward(&mut self) -> bool {
        if self.waiting.is_empty() {
            let mut typed = [0; 4096];
            // In the background, reading a terminal is an error: then nothing more comes.
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
