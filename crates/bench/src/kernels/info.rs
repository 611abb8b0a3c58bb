//! What the suite, the options and the reports need to know about a kernel.

use crate::buffers::Room;

/// What a kernel measures, which decides the columns of its table.
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
}

/// How many ranks of a group take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Active {
    /// Two, whatever the job's size.
    Two,
    /// All; the suite runs it on growing groups.
    All,
}

/// What the suite, the options and the reports need to know about a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// Its name in the Intel MPI Benchmarks.
    pub name: &'static str,
    /// One line for lists.
    pub about: &'static str,
    /// Which columns it prints.
    pub class: Class,
    /// Who takes part.
    pub active: Active,
    /// Whether it runs when nothing is named; else only when it is named or included.
    pub by_default: bool,
    /// Whether it has a root, which turns round-robin: then a multiple of the ranks is the fair
    /// number of repetitions.
    pub rooted: bool,
    /// Size of one item in bytes: lengths below it, except 0, are left out.
    pub item: usize,
    /// Messages that follow each other in one repetition; the reported time is one message's.
    pub trips: u32,
    /// Messages that leave or enter one rank, counted in the throughput; 0 when none is reported.
    pub messages: u32,
    /// The room that a rank needs for messages of so many bytes among so many ranks.
    pub room: fn(bytes: usize, ranks: usize) -> Room,
}

impl Info {
    /// Of a group of so many processes every how many ranks count in the times, from the first on:
    /// of a single transfer only the rank that starts it sees whole round trips.
    pub fn counted(&self, processes: usize) -> usize {
        match self.class {
            Class::SingleTransfer => processes,
            _ => 1,
        }
    }

    /// A transfer whose throughput counts so many messages, by default between two ranks.
    pub(super) const fn transfer(name: &'static str, about: &'static str, messages: u32) -> Self {
        Info {
            class: Class::SingleTransfer,
            active: Active::Two,
            messages,
            ..Self::collective(name, about, |bytes, _| Room::both(bytes))
        }
    }

    /// A collective operation on bytes, without a root.
    pub(super) const fn collective(
        name: &'static str,
        about: &'static str,
        room: fn(usize, usize) -> Room,
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
            room,
        }
    }

    /// A collective operation that adds single-precision numbers.
    pub(super) const fn reduction(
        name: &'static str,
        about: &'static str,
        room: fn(usize, usize) -> Room,
    ) -> Self {
        Info {
            item: size_of::<f32>(),
            ..Self::collective(name, about, room)
        }
    }
}
