//! [`MemoryNotifier`]: the thread that learns when memory goes, and the log that it writes.
//!
//! # Why nothing stale is found
//! Thread A unmaps watched memory, and thread B, which may be A, gets the addresses again and looks them up.
//!
//! - The kernel raises `mmap_changing` before it unmaps, under the lock of the mappings that B's new mapping takes, and
//!   lowers it when A's event is read. So when B sees it lowered ([`MemoryWatch::is_changing`]), the event is read.
//! - The notifier says that it is busy before it reads an event. So when B then sees it idle, the event is in the log.
//! - B reads the log up to its end before it looks anything up.
//!
//! Pages that A discards go after the event is read, until A's call returns. Whoever sends them meanwhile races with A
//! on what they hold.

use super::event_log::{EventLog, LogMemory, LogPosition, LogReading, LogWriter};
use oxmpi_os::signal;
use oxmpi_os::userfault::{MemoryEvent, MemoryWatch, WatchUnavailable};
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::OnceLock;
use std::thread;

/// Ranges that the log holds, and words for them.
const RANGES: usize = 1024;
const WORDS: usize = 1 + 2 * RANGES;

/// How often a look-up asks again while the notifier is busy, each time giving the processor away.
const TRIES: u32 = 100;

/// Learns what becomes of the memory of this process.
///
/// It starts with the first cache and ends with the process: as long as memory is watched, a thread that unmaps some
/// waits for it.
#[derive(Debug)]
pub(crate) struct MemoryNotifier {
    watch: MemoryWatch,
    log: EventLog<LogMemory<WORDS>>,
}

/// Why a process learns nothing of its memory: then no registration is cached.
#[derive(Debug)]
pub struct NotifierUnavailable(Reason);

#[derive(Debug)]
enum Reason {
    Watch(WatchUnavailable),
    Thread(io::Error),
}

impl fmt::Display for NotifierUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::Watch(why) => why.fmt(f),
            Reason::Thread(why) => write!(f, "no thread can be started: {why}"),
        }
    }
}

impl std::error::Error for NotifierUnavailable {}

/// Why registrations are not cached in this process; `None` if they can be.
///
/// # Cost
/// The first call starts the notifier: a descriptor and a thread that sleeps.
#[must_use]
pub fn notifier_unavailable() -> Option<&'static NotifierUnavailable> {
    MemoryNotifier::of_process().err()
}

impl MemoryNotifier {
    /// The notifier of this process.
    pub(crate) fn of_process() -> Result<&'static Self, &'static NotifierUnavailable> {
        static STARTED: OnceLock<Result<&MemoryNotifier, NotifierUnavailable>> = OnceLock::new();
        let started = STARTED.get_or_init(|| Self::start().map_err(NotifierUnavailable));
        started.as_ref().map(|notifier| *notifier)
    }

    fn start() -> Result<&'static Self, Reason> {
        let watch = MemoryWatch::open().map_err(Reason::Watch)?;
        let log = EventLog::new(LogMemory::new());
        // Busy until the thread is ready: nobody watches memory before.
        let mut writer = LogWriter::new();
        writer.begin(&log);
        let notifier: &Self = Box::leak(Box::new(Self { watch, log }));
        let thread = thread::Builder::new().name("oxmpi-memory".into());
        let started = thread.spawn(move || {
            // A handler on this thread might allocate.
            signal::block_all();
            notifier.run(writer);
        });
        started.map(|_| notifier).map_err(Reason::Thread)
    }

    /// Writes events to the log. It allocates nothing and takes no lock: a thread whose event it reads may be in the
    /// allocator, as when that returns memory to the system.
    fn run(&self, mut writer: LogWriter) -> ! {
        loop {
            while let Ok(Some(event)) = self.watch.next() {
                let void = match event {
                    MemoryEvent::Unmapped(at)
                    | MemoryEvent::Discarded(at)
                    | MemoryEvent::Moved(at) => at.start..at.end,
                    MemoryEvent::Unknown => 0..u64::MAX,
                };
                writer.push(&self.log, void);
            }
            writer.finish(&self.log);
            // It fails where the kernel has no memory for a moment.
            while self.watch.wait().is_err() {}
            writer.begin(&self.log);
        }
    }

    /// Watches whole pages.
    ///
    /// # Errors
    /// See [`MemoryWatch::watch`].
    pub(crate) fn watch(&self, range: Range<u64>) -> io::Result<()> {
        self.watch.watch(range)
    }

    pub(crate) fn end(&self) -> LogPosition {
        self.log.end()
    }

    /// Gives to `void` all memory that has gone since `from`, or all memory there is. False if another thread is
    /// changing watched memory for so long that this one should not wait.
    ///
    /// # Cost
    /// A system call.
    pub(crate) fn read(&self, from: &mut LogPosition, mut void: impl FnMut(Range<u64>)) -> bool {
        for _ in 0..TRIES {
            if !self.watch.is_changing() {
                match self.log.read(from, &mut void) {
                    LogReading::Current => return true,
                    LogReading::Overflowed => {
                        void(0..u64::MAX);
                        return true;
                    }
                    LogReading::Busy => {}
                }
            }
            thread::yield_now();
        }
        false
    }
}
