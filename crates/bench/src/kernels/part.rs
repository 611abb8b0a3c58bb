//! [`Part`]: the parts of the Intel MPI Benchmarks.

use crate::lengths::Lengths;

/// A part of the benchmarks: a program of its own in the original.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Part {
    /// Messages and collectives.
    #[default]
    Mpi1,
    /// Windows in epochs of fences.
    Ext,
    /// Windows in epochs of locks.
    Rma,
    /// Collectives in the background of a computation.
    Nbc,
}

impl Part {
    /// All parts.
    pub const ALL: [Part; 4] = [Part::Mpi1, Part::Ext, Part::Rma, Part::Nbc];

    /// The word that selects the part.
    pub const fn word(self) -> &'static str {
        match self {
            Part::Mpi1 => "MPI1",
            Part::Ext => "EXT",
            Part::Rma => "RMA",
            Part::Nbc => "NBC",
        }
    }

    /// The part of that word, in any case.
    pub fn named(word: &str) -> Option<Part> {
        let mut all = Self::ALL.into_iter();
        all.find(|part| part.word().eq_ignore_ascii_case(word))
    }

    /// The original's program.
    pub const fn program(self) -> &'static str {
        match self {
            Part::Mpi1 => "IMB-MPI1",
            Part::Ext => "IMB-EXT",
            Part::Rma => "IMB-RMA",
            Part::Nbc => "IMB-NBC",
        }
    }

    /// How the head of a listing calls the part.
    pub const fn heading(self) -> &'static str {
        match self {
            Part::Mpi1 => "MPI-1 part",
            Part::Ext => "MPI-2 part",
            Part::Rma => "MPI-RMA part",
            Part::Nbc => "MPI-NBC part",
        }
    }

    /// The lengths of its messages where the user gives none: 0, then powers of two up to 4 MiB, in EXT from 4 on.
    pub fn lengths(self) -> Lengths {
        let min_log = match self {
            Part::Mpi1 | Part::Rma | Part::Nbc => 0,
            Part::Ext => 2,
        };
        Lengths::Powers {
            min_log,
            max_log: 22,
        }
    }
}
