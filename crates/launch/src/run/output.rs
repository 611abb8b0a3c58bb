//! Forwards the output of ranks to the streams of the launcher, in whole lines, with labels on request.
//!
//! Writes never block while ranks run: a reader that is too slow makes the ranks wait.

use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use oxmpi_os::pipe::{self, PollFd, PollFlags};

/// A write of at most this many bytes does not block when poll reports room (`PIPE_BUF`).
const WRITE_MAX: usize = 4096;
/// Bytes that wait for the reader; with more, ranks are not read.
const FULL: usize = 256 << 10;
/// A longer line is forwarded in pieces.
const LINE_MAX: usize = 1 << 20;

/// Standard output or standard error of one rank.
pub(crate) struct RankStream<S> {
    stream: S,
    /// Bytes read that do not end in a newline yet.
    partial: Vec<u8>,
    label: Option<String>,
    rank: u32,
}

/// The state of a stream after reading.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StreamState {
    /// The stream is open; nothing more can be read now.
    Open,
    /// The stream has ended, and all of it was forwarded.
    Ended,
}

impl<S: Read + AsFd> RankStream<S> {
    /// The stream of `rank`, with a label on each line if `labelled`.
    pub(crate) fn new(stream: S, rank: u32, labelled: bool) -> io::Result<Self> {
        pipe::set_nonblocking(&stream)?;
        let label = labelled.then(|| format!("[{rank}] "));
        Ok(Self {
            stream,
            partial: Vec::new(),
            label,
            rank,
        })
    }

    /// Forwards what can be read, until the stream is empty or `sink` is full.
    pub(crate) fn forward(&mut self, sink: &mut OutputStream<impl AsFd>) -> StreamState {
        let mut chunk = [0; 16 << 10];
        while !sink.is_full() {
            match self.stream.read(&mut chunk) {
                Ok(0) => return self.end(sink),
                Ok(read) => self.take(&chunk[..read], sink),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return StreamState::Open,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // A pipe that cannot be read has ended.
                Err(_) => return self.end(sink),
            }
        }
        StreamState::Open
    }

    /// Forwards the rest of a stream that nobody writes any more, and blocks if `sink` is full.
    pub(crate) fn finish(&mut self, sink: &mut OutputStream<impl AsFd>) {
        loop {
            sink.flush_all();
            if self.forward(sink) == StreamState::Ended || !sink.is_full() {
                break;
            }
        }
        self.end(sink);
    }

    fn take(&mut self, bytes: &[u8], sink: &mut OutputStream<impl AsFd>) {
        let Some(last) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            self.partial.extend_from_slice(bytes);
            if self.partial.len() > LINE_MAX {
                self.pass_partial(sink);
            }
            return;
        };
        let (lines, rest) = bytes.split_at(last + 1);
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(line);
            self.pass_partial(sink);
        }
        self.partial.extend_from_slice(rest);
    }

    fn pass_partial(&mut self, sink: &mut OutputStream<impl AsFd>) {
        sink.push(self.rank, self.label.as_deref(), &self.partial);
        self.partial.clear();
    }

    fn end(&mut self, sink: &mut OutputStream<impl AsFd>) -> StreamState {
        if !self.partial.is_empty() {
            self.pass_partial(sink);
        }
        StreamState::Ended
    }
}

impl<S: AsFd> AsFd for RankStream<S> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// Standard output or standard error of the launcher.
pub(crate) struct OutputStream<F> {
    to: F,
    waiting: Vec<u8>,
    /// The rank whose last line has no newline yet.
    unfinished_line_of: Option<u32>,
    /// The reader has gone.
    broken: bool,
}

/// Stands for the launcher among the ranks that write.
const LAUNCHER: u32 = u32::MAX;

impl<F: AsFd> OutputStream<F> {
    pub(crate) fn new(to: F) -> Self {
        Self {
            to,
            waiting: Vec::new(),
            unfinished_line_of: None,
            broken: false,
        }
    }

    /// Writes a message of the launcher, with its name, on a line of its own.
    pub(crate) fn message(&mut self, text: &str) {
        self.line(&format!("oxmpi: {text}"));
    }

    /// Writes a line of the launcher without its name.
    pub(crate) fn line(&mut self, text: &str) {
        self.push(LAUNCHER, None, format!("{text}\n").as_bytes());
        self.flush();
    }

    /// Appends a line, or part of one, of `rank`. An unfinished line of another rank ends first.
    fn push(&mut self, rank: u32, label: Option<&str>, text: &[u8]) {
        let continues = self.unfinished_line_of == Some(rank);
        if self.unfinished_line_of.is_some() && !continues {
            self.waiting.push(b'\n');
        }
        if !continues {
            self.waiting
                .extend_from_slice(label.unwrap_or_default().as_bytes());
        }
        self.waiting.extend_from_slice(text);
        self.unfinished_line_of = (text.last() != Some(&b'\n')).then_some(rank);
    }

    /// Whether ranks must wait until the reader has read.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() > FULL
    }

    /// Whether bytes wait for the reader.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether the reader has gone.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Writes as much as there is room for, without blocking.
    pub(crate) fn flush(&mut self) {
        self.write_while(Some(Duration::ZERO));
    }

    /// Writes all bytes, and blocks until the reader has room.
    pub(crate) fn flush_all(&mut self) {
        self.write_while(None);
    }

    fn write_while(&mut self, timeout: Option<Duration>) {
        let mut done = 0;
        while done < self.waiting.len() && !self.broken {
            let room = pipe::poll(&mut [PollFd::new(&self.to, PollFlags::OUT)], timeout);
            if matches!(room, Ok(0)) {
                break;
            }
            let chunk = &self.waiting[done..self.waiting.len().min(done + WRITE_MAX)];
            match pipe::write(&self.to, chunk) {
                Ok(written) => done += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if timeout.is_some() {
                        break;
                    }
                }
                Err(_) => self.broken = true,
            }
        }
        if self.broken {
            self.waiting.clear();
        } else {
            self.waiting.drain(..done);
        }
    }
}

impl<F: AsFd> AsFd for OutputStream<F> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.to.as_fd()
    }
}

#[cfg(test)]
mod tests;
