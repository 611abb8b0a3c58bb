//! [`StreamWriter`]: writes to a stream of the launcher, or to a file, and never blocks while ranks run.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use oxmpi_os::pipe::{self, PollFd, PollFlags};

/// Bytes that wait for the reader; with more, ranks are not read.
pub(super) const FULL: usize = 256 << 10;
/// Shorter texts are collected and written together.
const COLLECTED: usize = 16 << 10;
/// A write of at most this many bytes does not block when poll reports room (`PIPE_BUF`).
const ATOMIC: usize = 4096;
/// The capacity that a pipe to a reader gets, in bytes, so that the launcher and the reader run at the same time.
const CAPACITY: usize = 1 << 20;

/// A file, pipe or terminal with the bytes that wait for it.
pub(super) struct StreamWriter {
    /// What error messages call it.
    name: String,
    to: OwnedFd,
    /// The most bytes of one write.
    write_max: usize,
    waiting: Vec<u8>,
    /// How many bytes of `waiting` are written.
    written: usize,
    /// Whether a write has failed. From then on all bytes are dropped.
    failed: bool,
    /// The error of that write until it is reported.
    error: Option<io::Error>,
}

/// A stream or file that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {name}: {error}; the output of ranks is lost, and the job ends")]
pub(crate) struct WriteFailure {
    name: String,
    error: io::Error,
}

impl WriteFailure {
    /// Whether the reader has gone, as after `| head`. Then programs end without a message.
    pub(super) fn is_closed_pipe(&self) -> bool {
        self.error.kind() == ErrorKind::BrokenPipe
    }

    /// The exit code of the launcher: 141 as of a program that SIGPIPE has killed, else 1.
    pub(super) fn code(&self) -> u8 {
        if self.is_closed_pipe() { 141 } else { 1 }
    }
}

impl StreamWriter {
    /// A writer to the file of `to`, whose mode stays as it is, because other processes may share the file.
    pub(super) fn new(name: String, to: BorrowedFd<'_>) -> io::Result<Self> {
        // Fails for files that are no pipe, and for users who may not have longer pipes.
        let _ = pipe::set_capacity(to, CAPACITY);
        let (to, write_max) = match pipe::reopen_nonblocking(to) {
            Ok(own) => (own, usize::MAX),
            Err(_) if pipe::may_block(to) => (to.try_clone_to_owned()?, ATOMIC),
            Err(_) => (to.try_clone_to_owned()?, usize::MAX),
        };
        Ok(Self {
            name,
            to,
            write_max,
            waiting: Vec::new(),
            written: 0,
            failed: false,
            error: None,
        })
    }

    /// Takes a text. A long one is written at once, if none waits; the others wait for [`StreamWriter::flush`].
    pub(super) fn put(&mut self, text: &[u8]) {
        let written = if self.is_waiting() || text.len() < COLLECTED {
            0
        } else {
            self.write(text, Some(Duration::ZERO))
        };
        if !self.failed {
            self.waiting.extend_from_slice(&text[written..]);
        }
    }

    /// Whether ranks must wait until the reader has read.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() - self.written > FULL
    }

    /// Whether bytes wait for the reader.
    pub(super) fn is_waiting(&self) -> bool {
        self.written < self.waiting.len()
    }

    /// Whether a write has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    /// The first failure of a write, once.
    pub(super) fn take_failure(&mut self) -> Option<WriteFailure> {
        let error = self.error.take()?;
        let name = self.name.clone();
        Some(WriteFailure { name, error })
    }

    /// Writes as much as there is room for, without blocking.
    pub(super) fn flush(&mut self) {
        self.write_waiting(Some(Duration::ZERO));
    }

    /// Writes all bytes, and blocks until the reader has room.
    pub(super) fn flush_all(&mut self) {
        self.write_waiting(None);
    }

    fn write_waiting(&mut self, timeout: Option<Duration>) {
        let mut waiting = std::mem::take(&mut self.waiting);
        self.written += self.write(&waiting[self.written..], timeout);
        if self.failed || self.written == waiting.len() {
            waiting.clear();
            self.written = 0;
        } else if self.written > FULL {
            waiting.drain(..std::mem::take(&mut self.written));
        }
        self.waiting = waiting;
    }

    /// Writes until there is no room for `timeout` (`None`: for ever). Returns the number of written bytes.
    fn write(&mut self, text: &[u8], timeout: Option<Duration>) -> usize {
        let mut done = 0;
        while done < text.len() && !self.failed {
            let room = pipe::poll(&mut [PollFd::new(&self.to, PollFlags::OUT)], timeout);
            if matches!(room, Ok(0)) {
                break;
            }
            let end = text.len().min(done.saturating_add(self.write_max));
            match pipe::write(&self.to, &text[done..end]) {
                // Asked again, it would be asked for ever.
                Ok(0) => break,
                Ok(written) => done += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if timeout.is_some() {
                        break;
                    }
                }
                Err(error) => {
                    self.failed = true;
                    self.error = Some(error);
                }
            }
        }
        done
    }
}

impl AsFd for StreamWriter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.to.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Read;

    fn writer(to: impl AsFd) -> StreamWriter {
        StreamWriter::new("the stream".into(), to.as_fd()).expect("a writer")
    }

    #[test]
    fn a_reader_that_does_not_read_fills_the_writer_and_gets_all() {
        let (mut reader, to) = io::pipe().expect("a pipe");
        let mut writer = writer(&to);
        drop(to);
        let line = [b'x'; 1023].into_iter().chain([b'\n']).collect::<Vec<u8>>();
        let mut lines = 0;
        while !writer.is_full() {
            writer.put(&line);
            writer.flush();
            lines += 1;
        }
        let reading = std::thread::spawn(move || {
            let mut all = Vec::new();
            reader.read_to_end(&mut all).map(|_| all)
        });
        writer.flush_all();
        assert!(!writer.is_waiting());
        drop(writer);
        let all = reading.join().expect("the reader ends").expect("readable");
        assert!(all.len() == lines * 1024 && all.chunks(1024).all(|chunk| chunk == line));
    }

    #[test]
    fn a_full_device_is_a_failure_that_is_reported_once() {
        let full = File::options().write(true).open("/dev/full");
        let mut writer = writer(full.expect("/dev/full"));
        writer.put(b"text\n");
        writer.flush();
        let failure = writer.take_failure().expect("a failure");
        assert!(
            failure
                .to_string()
                .starts_with("cannot write the stream: No space left on device")
        );
        assert_eq!((failure.code(), failure.is_closed_pipe()), (1, false));
        writer.put(&[b'x'; 2 * FULL]);
        writer.flush_all();
        assert!(writer.take_failure().is_none() && !writer.is_full());
    }
}
