//! The description of a kernel for the suite, the options and the reports.

use crate::buffers::BufferSizes;

/// The class of a kernel, which decides the columns of its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// One message at a time between two ranks: one time, and throughput.
    SingleTransfer,
    /// All ranks transfer at once: least, largest and average time over ranks, and throughput.
    ParallelTransfer,
    /// A collective operation: least, largest and average time over ranks.
    Collective,
    /// A collective operation without data: as above, in one row without a length.
    Synchronisation,
    /// One transfer at a time between two ranks, whose target waits, or computes meanwhile: a time for each.
    Overlap,
    /// A collective operation in the background of a computation: its time, those of both alone, and their overlap.
    Nonblocking,
}

/// How many ranks of a group take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Active {
    /// Two, whatever the job's size.
    Two,
    /// All; the suite runs it on growing groups.
    All,
}

/// How the repetitions of a sample complete, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// Up to [`Method::samples`](crate::method::Method::samples); each completes before the next one begins.
    Many,
    /// Up to [`Method::samples_single`](crate::method::Method::samples_single); each completes before the next one begins.
    Few,
    /// As many as of [`Schedule::Many`]; all complete with the last one, so they are timed as one block.
    Aggregated,
}

/// The description of a kernel for the suite, the options and the reports.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// Its name in the Intel MPI Benchmarks.
    pub name: &'static str,
    /// A one-line description for lists.
    pub about: &'static str,
    /// The class, which decides the columns of its table.
    pub class: Class,
    /// The ranks that take part.
    pub active: Active,
    /// Whether it runs when no benchmark is named; else only when it is named or included.
    pub by_default: bool,
    /// Whether it has a root, which rotates: a fair number of repetitions is then a multiple of the ranks.
    pub rooted: bool,
    /// The size of one item in bytes; smaller lengths except 0 are left out.
    pub item: usize,
    /// Successive messages in one repetition; the reported time is that of one message.
    pub trips: u32,
    /// Messages that leave or enter one rank, counted in the throughput; 0 without throughput.
    pub messages: u32,
    /// Whether these are as many for each other rank of the group.
    pub is_to_all: bool,
    /// The only length of its messages in bytes, where they have no other: 0 in a table without lengths.
    pub fixed: Option<usize>,
    /// The buffers of messages that a rank needs, by message length and number of ranks; none for windows.
    pub buffer_sizes: fn(bytes: usize, ranks: usize) -> BufferSizes,
}

impl Info {
    /// The distance between ranks whose times count, from rank 0 on, in a group of `processes`: in a single
    /// transfer only the rank that starts it sees whole round trips.
    pub fn counted(&self, processes: usize) -> usize {
        match self.class {
            Class::SingleTransfer | Class::Overlap => processes,
            _ => 1,
        }
    }

    /// Messages that leave or enter one rank of a group of `processes`, counted in the throughput.
    pub fn messages_among(&self, processes: usize) -> u32 {
        match self.is_to_all {
            true => self.messages * processes.saturating_sub(1) as u32,
            false => self.messages,
        }
    }

    /// A transfer whose throughput counts `messages` messages, by default between two ranks.
    pub(super) const fn transfer(name: &'static str, about: &'static str, messages: u32) -> Self {
        Info {
            class: Class::SingleTransfer,
            active: Active::Two,
            messages,
            ..Self::collective(name, about, |bytes, _| BufferSizes::both(bytes))
        }
    }

    /// A collective operation on bytes, without a root.
    pub(super) const fn collective(
        name: &'static str,
        about: &'static str,
        buffer_sizes: fn(usize, usize) -> BufferSizes,
    ) -> Self {
        Info {
            name,
            about,
            class: Class::Collective,
            active: Active::All,
            by_default: true,
            rooted: false,
            item: 1,
            trips: 1,
            messages: 0,
            is_to_all: false,
            fixed: None,
            buffer_sizes,
        }
    }

    /// A transfer between two ranks by a window.
    #[cfg(feature = "alloc")]
    pub(super) const fn window(name: &'static str, about: &'static str) -> Self {
        Info {
            buffer_sizes: |_, _| BufferSizes::both(0),
            ..Self::transfer(name, about, 1)
        }
    }

    /// A collective operation that adds single-precision numbers.
    pub(super) const fn reduction(
        name: &'static str,
        about: &'static str,
        buffer_sizes: fn(usize, usize) -> BufferSizes,
    ) -> Self {
        Info {
            item: size_of::<f32>(),
            ..Self::collective(name, about, buffer_sizes)
        }
    }
}
