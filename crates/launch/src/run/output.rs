//! The way of output from ranks to this command's own streams: in whole lines, labelled on
//! request, never waiting while the other side does not read.

use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use oxmpi_os::pipe::{self, PollFd, PollFlags};

/// A write of at most this many bytes does not wait when poll says there is room (`PIPE_BUF`).
const WRITE_MAX: usize = 4096;
/// Bytes waiting for the reader of our stream, above which ranks are not read any more.
const FULL: usize = 256 << 10;
/// A line longer than this is passed on in pieces.
const LINE_MAX: usize = 1 << 20;

/// One stream of one rank, as it comes in.
pub(crate) struct RankStream<S> {
    stream: S,
    /// What was read and is no whole line yet.
    partial: Vec<u8>,
    label: Option<String>,
    rank: u32,
}

/// What reading a source gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StreamState {
    /// Nothing more has come yet.
    Open,
    /// The stream has ended and all of it was passed on.
    Ended,
}

impl<S: Read + AsFd> RankStream<S> {
    /// The stream of `rank`; with a label if asked.
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

    /// Passes on what is there, until the stream has nothing more or `sink` is full.
    pub(crate) fn forward(&mut self, sink: &mut OutputStream<impl AsFd>) -> StreamState {
        let mut chunk = [0; 16 << 10];
        while !sink.is_full() {
            match self.stream.read(&mut chunk) {
                Ok(0) => return self.end(sink),
                Ok(read) => self.take(&chunk[..read], sink),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return StreamState::Open,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // A pipe that cannot be read has nothing more to give.
                Err(_) => return self.end(sink),
            }
        }
        StreamState::Open
    }

    /// Passes on all that is left, however full the sink; nobody writes any more.
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

/// One of our own streams, as it goes out.
pub(crate) struct OutputStream<F> {
    to: F,
    waiting: Vec<u8>,
    /// Whose line stands there without its newline.
    unfinished_line_of: Option<u32>,
    /// Nobody reads any more.
    broken: bool,
}

/// Stands for this command among the writers of a sink.
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

    /// Says something of our own, under our name, on a line of its own.
    pub(crate) fn message(&mut self, text: &str) {
        self.line(&format!("oxmpi: {text}"));
    }

    /// Writes a line of our own without our name before it.
    pub(crate) fn line(&mut self, text: &str) {
        self.push(LAUNCHER, None, format!("{text}\n").as_bytes());
        self.flush();
    }

    /// Takes a line, or a chunk of one, that `rank` wrote. Another rank's open line ends first.
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

    /// Whether ranks must wait until some of it is read.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() > FULL
    }

    /// Whether something waits for the reader.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether the reader has gone: then so should the writers.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Writes as much as there is room for, without waiting.
    pub(crate) fn flush(&mut self) {
        self.write_while(Some(Duration::ZERO));
    }

    /// Writes all of it, however long that takes.
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
