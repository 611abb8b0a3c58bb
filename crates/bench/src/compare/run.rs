//! The figures of one run, by benchmark and message length.

use crate::kernels::AnyKernel;
use crate::{Kernel, Part};
use std::format;
use std::string::String;
use std::vec::Vec;

/// A run: one program's figures.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRun {
    /// The run's name.
    pub name: String,
    /// Whether it is compared or a floor.
    pub kind: Kind,
    /// When, where and how it ran: names and texts.
    pub facts: Vec<(String, String)>,
    /// The numbers, from 1, of the lines of its file that were skipped as of other origin.
    pub foreign: Vec<usize>,
    figures: Vec<(Subject, u64, Figure)>,
}

/// Whether a run is compared or a floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A run that is compared.
    Rival,
    /// What the machine reaches without message passing, such as a copy of memory: a lower bound, not a
    /// competitor.
    Floor,
}

/// What figures measure, except the message length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Name of the benchmark, such as `PingPong`, `Multi-PingPong` where groups ran it at once, or `EXT Unidir_Put, aggregate`.
    pub benchmark: String,
    /// Ranks that took part, of one group.
    pub ranks: usize,
    /// How near to each other the ranks ran; empty where that is not known or does not matter.
    pub placement: String,
    /// The unit of the figures.
    pub unit: Unit,
}

/// The unit of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Time.
    Microseconds,
    /// Memory.
    Bytes,
}

/// One measurement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figure {
    /// The measured value, if there is one.
    pub value: Option<f64>,
    /// The mean over all repetitions of the slowest rank, where it is known: the value in a listing.
    pub mean: Option<f64>,
    /// The lowest and the highest value, where they are known.
    pub range: Option<(f64, f64)>,
    /// What else is known of it, such as the overlap; it is shown.
    pub remark: Option<String>,
    /// A flaw of the figure; it is then shown, but not compared.
    pub note: Option<String>,
}

/// The name of the fact that describes the figures, and its text for means.
pub(super) const FIGURES: &str = "figures";
pub(super) const MEANS: &str = "means of all repetitions, of the slowest rank";

/// Stands before the name of a benchmark that several groups ran at once.
const MULTIPLE: &str = "Multi-";

/// What a report calls a benchmark of `part`: `Multi-NAME` where groups ran it at `several` at once, with the part's word before
/// the name unless it is MPI1, and with the mode in which its transfers complete behind it.
pub(super) fn benchmark(
    part: Part,
    several: bool,
    (name, aggregation): (&str, Option<&str>),
) -> String {
    let multiple = if several { MULTIPLE } else { "" };
    let name = match part {
        Part::Mpi1 => format!("{multiple}{name}"),
        Part::Ext | Part::Rma | Part::Nbc => format!("{} {multiple}{name}", part.word()),
    };
    match aggregation {
        Some(mode) => format!("{name}, {mode}"),
        None => name,
    }
}

/// The kernel that [`benchmark`] has named so.
fn kernel(benchmark: &str) -> Option<AnyKernel> {
    let (name, _) = benchmark.split_once(", ").unwrap_or((benchmark, ""));
    let (part, name) = match name.split_once(' ') {
        Some((word, name)) => (Part::named(word)?, name),
        None => (Part::Mpi1, name),
    };
    AnyKernel::named(part, name.strip_prefix(MULTIPLE).unwrap_or(name))
}

impl Figure {
    /// The value, unless the figure is flawed.
    pub fn sound(&self) -> Option<f64> {
        self.value.filter(|_| self.note.is_none())
    }
}

impl Subject {
    /// Bytes that one rank moves per byte of a message, in one direction or in both; `None` where
    /// throughput says nothing, as for collectives.
    pub fn messages(&self) -> Option<u32> {
        let messages = kernel(&self.benchmark)?.info().messages_among(self.ranks);
        Some(messages).filter(|&messages| messages > 0)
    }
}

impl ComparedRun {
    /// A run without figures.
    pub fn new(name: impl Into<String>, kind: Kind) -> ComparedRun {
        ComparedRun {
            name: name.into(),
            kind,
            facts: Vec::new(),
            foreign: Vec::new(),
            figures: Vec::new(),
        }
    }

    /// Adds a fact about the run, unless its text is empty.
    pub fn fact(&mut self, name: &str, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.facts.push((name.into(), text));
        }
    }

    /// Adds a figure. The benchmark's name is spelled as in the catalog. Of two figures for the same line
    /// the slower one counts, in a floor the faster one. A flawed figure is kept in a compared run and
    /// ignored in a floor.
    pub fn add(&mut self, mut subject: Subject, bytes: u64, figure: Figure) {
        if let Some(kernel) = Kernel::named(&subject.benchmark) {
            subject.benchmark = kernel.info().name.into();
        }
        let same = |(other, length, _): &&mut (Subject, u64, Figure)| {
            *length == bytes && *other == subject
        };
        let Some((_, _, old)) = self.figures.iter_mut().find(same) else {
            self.figures.push((subject, bytes, figure));
            return;
        };
        let slower = figure.value > old.value;
        let counts = match self.kind {
            Kind::Rival => slower && old.note.is_none() || figure.note.is_some(),
            Kind::Floor => figure.note.is_none() && (old.note.is_some() || !slower),
        };
        let slowest = old.mean.into_iter().chain(figure.mean).reduce(f64::max);
        if counts {
            *old = figure;
        }
        if self.kind == Kind::Rival {
            old.mean = slowest;
        }
    }

    /// Whether the run has means only, as a listing.
    pub(super) fn tells_means_only(&self) -> bool {
        let mut measured = self
            .figures
            .iter()
            .filter(|(_, _, figure)| figure.value.is_some());
        let is_mean = |figure: &Figure| figure.value == figure.mean && figure.range.is_none();
        measured.clone().next().is_some() && measured.all(|(_, _, figure)| is_mean(figure))
    }

    /// Shows means instead of medians; a figure without a mean is not compared.
    pub(super) fn by_means(&mut self) {
        if self
            .figures
            .iter()
            .any(|(_, _, figure)| figure.mean.is_some())
        {
            self.facts.retain(|(name, _)| name != FIGURES);
            self.fact(FIGURES, MEANS);
        }
        for (_, _, figure) in &mut self.figures {
            if figure.mean.is_none() && figure.value.is_some() && figure.note.is_none() {
                figure.note = Some("a median among means".into());
            }
            figure.value = figure.mean.or(figure.value);
            figure.range = None;
        }
    }

    /// All figures, in order.
    pub fn figures(&self) -> impl Iterator<Item = (&Subject, u64, &Figure)> {
        self.figures
            .iter()
            .map(|(subject, bytes, figure)| (subject, *bytes, figure))
    }

    /// The figure of this subject and length.
    pub fn figure(&self, subject: &Subject, bytes: u64) -> Option<&Figure> {
        self.figures()
            .find(|&(other, length, _)| length == bytes && other == subject)
            .map(|(_, _, figure)| figure)
    }
}
