//! The output of a job: reads what ranks write, and writes it to the streams of the launcher or to a file for each rank.
//!
//! ```text
//! lines    merges the output of ranks in whole lines (a state machine without system calls)
//! label    what stands before each line
//! writer   writes without blocking; a reader that is too slow makes the ranks wait
//! files    the files of --output-filename
//! ```

mod files;
mod label;
mod lines;
mod writer;

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use oxmpi_os::pipe::{self, PollFd, PollFlags};

pub(crate) use files::FilePattern;
pub(crate) use label::{LabelOptions, LabelStyle, StreamName};

use crate::diagnostics;
use label::Label;
use lines::LineMerger;
use writer::{FULL, StreamWriter};

/// Most bytes of one read.
const READ_MAX: usize = 256 << 10;
/// Most bytes of one read whose lines are labelled: each of them may be a newline, which gets a label. The least share of a
/// stream in what waits for a slow reader.
const SMALL_READ_MAX: usize = 16 << 10;
/// The capacity of the pipe from a rank in bytes, with few ranks. The pipes of an unprivileged user have 64 MiB together.
const CAPACITY_MAX: usize = 1 << 20;
/// The capacity of all pipes from ranks in bytes.
const CAPACITY_ALL: usize = 32 << 20;

/// The output streams of a rank, in their order.
const STREAMS: [StreamName; 2] = [StreamName::Stdout, StreamName::Stderr];

/// What the options say about output.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct OutputOptions {
    pub(crate) labels: LabelOptions,
    /// The files of the ranks; `None`: the streams of the launcher.
    pub(crate) files: Option<FilePattern>,
}

/// The output of a running job.
pub(crate) struct JobOutput {
    start: Instant,
    /// The time since 1970 at `start`.
    epoch: Duration,
    labels: LabelOptions,
    /// Standard output, standard error unless it is the same file, and the files of the ranks.
    sinks: Vec<Sink>,
    /// The number of the sink of standard error.
    stderr: usize,
    /// The number of the sink of rank 0's file, if ranks have files.
    first_file: Option<usize>,
    /// Standard output and standard error of each rank in turn, until they end.
    streams: Vec<Option<RankStream>>,
    /// The capacity of each pipe from a rank.
    capacity: usize,
    buffer: Vec<u8>,
}

/// A stream of the launcher or a file, with the lines that it gets.
struct Sink {
    writer: StreamWriter,
    lines: LineMerger,
    /// The streams of ranks that are the sources of `lines`.
    streams: Vec<usize>,
    /// The source that is read first: the one after that which was read last, so that a fast one leaves room for others.
    next: usize,
    /// Since when `writer` is full.
    full_since: Option<Duration>,
}

/// Standard output or standard error of a rank.
struct RankStream {
    from: OwnedFd,
    sink: usize,
    source: usize,
}

/// A descriptor of the output that is ready.
#[derive(Clone, Copy)]
pub(crate) enum OutputSource {
    Sink(usize),
    Stream(usize),
}

/// A file for the output of a rank that cannot be created.
#[derive(Debug, thiserror::Error)]
#[error("cannot create `{}` for the output of rank {rank}: {source}", path.display())]
pub(crate) struct FileError {
    rank: u32,
    path: PathBuf,
    source: io::Error,
}

impl JobOutput {
    /// The output of a job of `ranks` ranks on `host`, whose files are created.
    ///
    /// # Errors
    /// The first file that cannot be created; other errors of the system.
    pub(crate) fn new(
        options: &OutputOptions,
        ranks: u32,
        host: &str,
    ) -> io::Result<Result<Self, FileError>> {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let mut sinks = vec![Sink::new("standard output".into(), stdout.as_fd())?];
        // Lines of both streams are merged if both are the same terminal or file.
        if !pipe::is_same_file(&stdout, &stderr) {
            sinks.push(Sink::new("standard error".into(), stderr.as_fd())?);
        }
        let stderr = sinks.len() - 1;
        if let Some(pattern) = &options.files {
            for rank in 0..ranks {
                match pattern.create(rank, host) {
                    Ok((path, file)) => sinks.push(Sink::file(&path, &file)?),
                    Err((path, source)) => return Ok(Err(FileError { rank, path, source })),
                }
            }
        }
        let each = CAPACITY_ALL / (2 * ranks.max(1) as usize);
        Ok(Ok(Self {
            start: Instant::now(),
            epoch: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default(),
            labels: options.labels,
            first_file: options.files.is_some().then_some(stderr + 1),
            stderr,
            sinks,
            streams: Vec::new(),
            capacity: each.min(CAPACITY_MAX),
            buffer: vec![0; READ_MAX],
        }))
    }

    /// Adds the next rank with its standard output and standard error.
    ///
    /// # Errors
    /// The error of the system.
    pub(crate) fn attach(&mut self, streams: [OwnedFd; 2]) -> io::Result<()> {
        let rank = self.streams.len() / STREAMS.len();
        for ((from, name), own) in streams.into_iter().zip(STREAMS).zip([0, self.stderr]) {
            pipe::set_nonblocking(&from)?;
            // Fails for a user who has too many long pipes: then the pipe keeps its capacity.
            let _ = pipe::set_capacity(&from, self.capacity);
            let sink = self.first_file.map_or(own, |first| first + rank);
            let rank = u32::try_from(rank).unwrap_or(u32::MAX);
            let label = Label::new(self.labels, rank, name, self.epoch);
            let source = self.sinks[sink].lines.add(label);
            self.sinks[sink].streams.push(self.streams.len());
            self.streams.push(Some(RankStream { from, sink, source }));
        }
        Ok(())
    }

    /// The descriptors to poll.
    pub(crate) fn sources(
        &self,
    ) -> impl Iterator<Item = (OutputSource, BorrowedFd<'_>, PollFlags)> {
        let waiting = self.sinks.iter().enumerate();
        let waiting = waiting.filter(|(_, sink)| sink.writer.is_waiting());
        let sinks =
            waiting.map(|(i, sink)| (OutputSource::Sink(i), sink.writer.as_fd(), PollFlags::OUT));
        let now = self.start.elapsed();
        let streams = self.sinks.iter().flat_map(|sink| {
            let (last, first) = sink.streams.split_at(sink.next);
            first.iter().chain(last)
        });
        let streams = streams.filter_map(|i| Some((*i, self.streams[*i].as_ref()?)));
        let readable = streams.filter(move |(_, stream)| self.room(stream, now) > 0);
        sinks.chain(
            readable
                .map(|(i, stream)| (OutputSource::Stream(i), stream.from.as_fd(), PollFlags::IN)),
        )
    }

    /// How long to wait for a descriptor until [`JobOutput::write_due`] is to be called; `None`: for ever.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        let open = self.sinks.iter().filter(|sink| !sink.writer.is_full());
        let deadline = open.filter_map(|sink| sink.lines.deadline()).min();
        deadline.map(|deadline| deadline.saturating_sub(self.start.elapsed()))
    }

    /// Reads or writes a descriptor that is ready.
    pub(crate) fn handle(&mut self, source: OutputSource) {
        match source {
            OutputSource::Sink(sink) => self.sinks[sink].flush(self.start.elapsed()),
            OutputSource::Stream(stream) => drop(self.forward(stream)),
        }
    }

    /// Forwards what a rank has written before it ended, as far as the readers have room.
    pub(crate) fn drain(&mut self, rank: usize) {
        for stream in [2 * rank, 2 * rank + 1] {
            // A process that the rank has left behind may write without end.
            let mut left = self.capacity;
            while let Ok(read @ 1..) = self.forward(stream) {
                left = left.saturating_sub(read);
                if left == 0 {
                    break;
                }
            }
        }
    }

    /// Writes the beginnings of lines that have waited for their ends, and reports long lines that were broken.
    pub(crate) fn write_due(&mut self) {
        let now = self.start.elapsed();
        let mut messages = Vec::new();
        for sink in &mut self.sinks {
            for source in sink.lines.due(now) {
                if sink.writer.is_full() {
                    break;
                }
                let stream = self.streams[sink.streams[source]].as_ref();
                // The rest of a line that is in the pipe comes with the next read.
                if !(sink.lines.is_partial(source) && stream.is_some_and(RankStream::is_readable)) {
                    let write = &mut |text: &[u8]| sink.writer.put(text);
                    sink.lines.write_due(source, now, write);
                }
            }
            sink.flush(now);
            messages.extend(sink.take_broken());
        }
        messages.iter().for_each(|text| self.message(text));
    }

    /// Writes a message of the launcher to standard error, with its name, on a line of its own. Control characters are
    /// escaped.
    pub(crate) fn message(&mut self, text: &str) {
        self.line(&format!("oxmpi: {}", diagnostics::printable(text)));
    }

    /// Writes a line of the launcher without its name.
    pub(crate) fn line(&mut self, text: &str) {
        // Standard output is the only other place for the message that standard error cannot be written.
        let has_stderr = !self.sinks[self.stderr].writer.has_failed();
        let sink = if has_stderr { self.stderr } else { 0 };
        let sink = &mut self.sinks[sink];
        sink.lines.end_line(&mut |text| sink.writer.put(text));
        sink.writer.put(format!("{text}\n").as_bytes());
        // At once: by the next call the rest may be a long open line again.
        if let Some(broken) = sink.take_broken() {
            sink.writer.put(format!("oxmpi: {broken}\n").as_bytes());
        }
        sink.flush(self.start.elapsed());
    }

    /// Reports streams and files that could not be written since the last call. Returns the exit code of the first.
    pub(crate) fn report_failures(&mut self) -> Option<u8> {
        let writers = self.sinks.iter_mut().map(|sink| &mut sink.writer);
        let failures: Vec<_> = writers.filter_map(StreamWriter::take_failure).collect();
        for failure in &failures {
            if !failure.is_closed_pipe() {
                self.message(&failure.to_string());
            }
        }
        failures.first().map(writer::WriteFailure::code)
    }

    /// Forwards the rest of the streams, which nobody writes any more, and blocks until the readers have room.
    pub(crate) fn finish(&mut self) {
        let waits = |sink: &Sink| sink.lines.deadline().is_some();
        while self.streams.iter().any(Option::is_some) || self.sinks.iter().any(waits) {
            for stream in 0..self.streams.len() {
                if self.forward(stream).is_err() {
                    self.end(stream);
                }
            }
            self.write_due();
            self.flush_all();
        }
    }

    /// Writes all bytes, and blocks until the readers have room.
    pub(crate) fn flush_all(&mut self) {
        for sink in &mut self.sinks {
            sink.writer.flush_all();
            sink.note_room(self.start.elapsed());
        }
    }

    /// How many bytes of a stream may be read now.
    fn room(&self, stream: &RankStream, now: Duration) -> usize {
        let sink = &self.sinks[stream.sink];
        let most = if self.labels != LabelOptions::default() {
            SMALL_READ_MAX
        } else if sink.writer.is_waiting() {
            (FULL / sink.streams.len()).max(SMALL_READ_MAX)
        } else {
            READ_MAX
        };
        if sink.writer.is_full() {
            0
        } else {
            sink.lines.room(stream.source, most, now)
        }
    }

    /// Reads a stream once and forwards the bytes. Returns their number; 0: the stream has ended or must wait.
    ///
    /// # Errors
    /// `WouldBlock` if there is nothing to read.
    fn forward(&mut self, index: usize) -> io::Result<usize> {
        let now = self.start.elapsed();
        let Some(stream) = &self.streams[index] else {
            return Ok(0);
        };
        let room = self.room(stream, now);
        if room == 0 {
            return Ok(0);
        }
        let read = match pipe::read(&stream.from, &mut self.buffer[..room]) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(error),
            // A pipe that cannot be read has ended.
            Ok(0) | Err(_) => {
                self.end(index);
                return Ok(0);
            }
            Ok(read) => read,
        };
        let sink = &mut self.sinks[stream.sink];
        let write = &mut |text: &[u8]| sink.writer.put(text);
        sink.lines
            .take(stream.source, &self.buffer[..read], now, write);
        sink.next = (stream.source + 1) % sink.streams.len();
        sink.flush(now);
        Ok(read)
    }

    fn end(&mut self, index: usize) {
        if let Some(stream) = self.streams[index].take() {
            self.sinks[stream.sink].lines.end(stream.source);
        }
    }
}

impl Sink {
    fn new(name: String, to: BorrowedFd<'_>) -> io::Result<Self> {
        Ok(Self {
            writer: StreamWriter::new(name, to)?,
            lines: LineMerger::default(),
            streams: Vec::new(),
            next: 0,
            full_since: None,
        })
    }

    fn file(path: &Path, file: &File) -> io::Result<Self> {
        Self::new(format!("`{}`", path.display()), file.as_fd())
    }

    /// The message on a long line that was broken since the last call.
    fn take_broken(&mut self) -> Option<String> {
        let broken = self.lines.take_broken()?;
        let stream = self.streams[broken.source];
        let (rank, name) = (stream / STREAMS.len(), STREAMS[stream % STREAMS.len()]);
        let reason = match broken.by_message {
            true => "a message of oxmpi does not wait",
            false => {
                "other output did not wait longer (the limits are 64 MiB, and 1 s for each MiB)"
            }
        };
        let length = broken.length;
        Some(format!(
            "rank {rank} wrote {length} bytes of a line to {name}, and what follows is on a line of its own: {reason}"
        ))
    }

    /// Writes as much as there is room for.
    fn flush(&mut self, now: Duration) {
        self.writer.flush();
        self.note_room(now);
    }

    /// Tells `lines` for how long there was no room.
    fn note_room(&mut self, now: Duration) {
        if self.writer.is_full() {
            self.full_since.get_or_insert(now);
        } else if let Some(since) = self.full_since.take() {
            self.lines.resume_after(now.saturating_sub(since));
        }
    }
}

impl RankStream {
    /// Whether a read returns at once.
    fn is_readable(&self) -> bool {
        let ready = pipe::poll(
            &mut [PollFd::new(&self.from, PollFlags::IN)],
            Some(Duration::ZERO),
        );
        ready.is_ok_and(|ready| ready > 0)
    }
}
