//! [`PagePipe`]: sends memory to a connection by page (vmsplice and splice), without a copy by the sender.
//!
//! Source: vmsplice(2), splice(2), pipe(7).

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::retry_on_intr;
use rustix::pipe::{
    IoSliceRaw, PipeFlags, SpliceFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe_with, splice,
    vmsplice,
};

use crate::signal::{self, Signal};
use crate::tcp::Stream;

/// Least capacity: with less, the system calls take longer than copies. A pipe has it unless the user's limit
/// of pipe pages is exhausted.
const MIN_LEN: usize = 64 << 10;

/// A pipe of pages from memory into connections. One serves many connections in turn.
#[derive(Debug)]
pub struct PagePipe {
    from: OwnedFd,
    into: OwnedFd,
    held: usize,
}

impl PagePipe {
    /// A pipe for about `bytes`, or for fewer if this user has many pipes.
    ///
    /// # Errors
    /// The error of pipe. [`io::ErrorKind::Unsupported`] where SIGPIPE has its usual effect: a connection whose
    /// other end is gone answers pages with that signal, and no flag prevents it. The same where this user has
    /// so many pipes that this one would take less than 64 KiB at once.
    pub fn new(bytes: usize) -> io::Result<Self> {
        if !signal::is_ignored(Signal::PIPE) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let (from, into) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let _ = fcntl_setpipe_size(&into, bytes); // what it has may do as well, by more calls
        if fcntl_getpipe_size(&into)? < bytes.min(MIN_LEN) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(Self {
            from,
            into,
            held: 0,
        })
    }

    /// Bytes in the pipe.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.held
    }

    /// Puts the pages of `bytes` into the pipe, as many as there is room for.
    ///
    /// The kernel reads them later, until the other end of their connection has them. What they are then is
    /// what arrives; that their memory is given back meanwhile does no harm to this process.
    ///
    /// # Errors
    /// What vmsplice says, such as of memory that is a device's.
    ///
    /// # Cost
    /// A system call, and some 50 ns for each page.
    pub fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        let pieces = [IoSliceRaw::from_slice(bytes)];
        // SAFETY: the kernel only reads the pages, which it holds until it has: they are in no process's way
        // to be freed for another use before. A page that is written meanwhile is read as it then is, as by
        // any other process that shares it, and no code in this process relies on what is read.
        let taken =
            retry_on_intr(|| unsafe { vmsplice(&self.into, &pieces, SpliceFlags::NONBLOCK) });
        match taken {
            Ok(count) => self.held += count,
            Err(rustix::io::Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Moves the pages in the pipe to `to`. Returns the number of bytes.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if there is no room; else what splice says of the connection.
    pub fn give(&mut self, to: &Stream) -> io::Result<usize> {
        let flags = SpliceFlags::NONBLOCK;
        let count = retry_on_intr(|| splice(&self.from, None, to, None, self.held, flags))?;
        self.held -= count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::tests::{pair, wait};

    /// Bytes behind a head, in order, as often as there is room.
    #[test]
    fn pages_arrive_in_order() {
        let (one, two) = pair();
        let bytes: Vec<u8> = (0..3 << 20).map(|at: u32| (at / 7) as u8).collect();
        let mut pages = PagePipe::new(256 << 10).unwrap();
        assert_eq!(one.write_more(b"head").unwrap(), 4);
        let (mut gone, mut got) = (0, Vec::new());
        let mut space = vec![0; 100_000];
        while got.len() < 4 + bytes.len() {
            pages.take(&bytes[gone + pages.held()..]).unwrap();
            assert!(pages.held() <= bytes.len() - gone);
            if pages.held() > 0 {
                match pages.give(&one) {
                    Ok(count) => gone += count,
                    Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
                }
            }
            wait(&two);
            match two.read(&mut space, &mut []) {
                Ok(count) => got.extend_from_slice(&space[..count]),
                // The system may wake a reader without bytes for it.
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
        }
        assert_eq!(&got[..4], b"head");
        assert!(got[4..] == bytes);
    }

    /// A peer that closed is an error, not SIGPIPE, which would end this test.
    #[test]
    fn nobody_there_is_an_error() {
        let (one, two) = pair();
        drop(two);
        let mut pages = PagePipe::new(4096).unwrap();
        let error = loop {
            pages.take(&[1; 4096]).unwrap();
            match pages.give(&one) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => break error.kind(),
            }
        };
        assert!(
            matches!(
                error,
                io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
            ),
            "{error:?}"
        );
        assert!(pages.held() > 0, "what is not given is kept");
    }
}
