//! Runs side by side: which is faster, by how much, and how certain that is.

use super::run::{ComparedRun, Figure, Kind, Subject};
use std::format;
use std::string::String;
use std::vec::Vec;

/// The most runs in one report: more lines in one plot cannot be told apart.
const RUNS_MAX: usize = 8;

/// A comparison of runs: the first against the best of the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The compared runs, with distinct names.
    pub runs: Vec<ComparedRun>,
    /// The floors: what machines reach without message passing.
    pub floors: Vec<ComparedRun>,
    /// The benchmarks, in the order of the runs.
    pub sections: Vec<Section>,
}

/// A benchmark in one placement.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// A table for each number of ranks, the least first.
    pub tables: Vec<ComparisonTable>,
}

/// A benchmark on one number of ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonTable {
    /// The benchmark, ranks, placement and unit.
    pub subject: Subject,
    /// A row for each length, the shortest first.
    pub rows: Vec<ComparisonRow>,
}

/// One message length.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonRow {
    /// The length in bytes.
    pub bytes: u64,
    /// The figure of each run.
    pub figures: Vec<Option<Figure>>,
    /// The lowest figure of the floors.
    pub floor: Option<f64>,
    /// The first run over the best of the others; `None` where one of them is missing or flawed, or where
    /// the best may be a run measured in another placement only.
    pub ratio: Option<Ratio>,
}

/// The first run's figure over that of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The index of the other run.
    pub best: usize,
    /// The ratio; below 1 the first run is better.
    pub value: f64,
    /// The lowest and the highest ratio within the spreads of both, where both are known.
    pub range: Option<(f64, f64)>,
}

impl Ratio {
    /// Whether the first run is worse.
    pub fn lost(&self) -> bool {
        self.value > 1.0
    }

    /// Whether the spread leaves open which run is better.
    pub fn open(&self) -> bool {
        self.range
            .is_some_and(|(low, high)| low <= 1.0 && 1.0 <= high)
    }
}

/// The error for more runs than a report can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} runs; a report shows at most {RUNS_MAX}")]
pub struct TooMany(usize);

impl Report {
    /// Puts runs side by side; the first is compared with the others. If one of them has means only, as a
    /// listing has, the means of all are shown.
    ///
    /// # Errors
    /// When there are more than eight runs, floors not counted.
    pub fn new(runs: Vec<ComparedRun>) -> Result<Report, TooMany> {
        let (floors, mut runs): (Vec<ComparedRun>, Vec<ComparedRun>) =
            runs.into_iter().partition(|run| run.kind == Kind::Floor);
        if runs.len() > RUNS_MAX {
            return Err(TooMany(runs.len()));
        }
        if runs.iter().any(ComparedRun::tells_means_only) {
            runs.iter_mut().for_each(ComparedRun::by_means);
        }
        for number in 1..runs.len() {
            let (before, rest) = runs.split_at_mut(number);
            let same = before.iter().filter(|run| run.name == rest[0].name).count();
            if same > 0 {
                rest[0].name = format!("{} ({})", rest[0].name, number + 1);
            }
        }
        let mut sections: Vec<Section> = Vec::new();
        for (subject, _, _) in runs.iter().flat_map(ComparedRun::figures) {
            match sections.iter_mut().find(|section| section.holds(subject)) {
                Some(section) if section.tables.iter().any(|table| table.subject == *subject) => {}
                Some(section) => section.tables.push(table(subject, &runs, &floors)),
                None => sections.push(Section {
                    tables: [table(subject, &runs, &floors)].into(),
                }),
            }
        }
        for section in &mut sections {
            section.tables.sort_by_key(|table| table.subject.ranks);
        }
        Ok(Report {
            runs,
            floors,
            sections,
        })
    }

    /// The number of rows with a ratio, and of those among them that the first run loses.
    pub fn score(&self) -> (usize, usize) {
        let tables = self.sections.iter().flat_map(|section| &section.tables);
        let scores = tables.map(ComparisonTable::score);
        scores.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    }
}

impl Section {
    /// The benchmark and the placement.
    pub fn title(&self) -> String {
        let subject = self.tables.first().map(|table| &table.subject);
        subject.map_or_else(String::new, |subject| match subject.placement.as_str() {
            "" => subject.benchmark.clone(),
            placement => format!("{}, {placement}", subject.benchmark),
        })
    }

    fn holds(&self, subject: &Subject) -> bool {
        self.tables.first().is_some_and(|table| {
            let own = &table.subject;
            (&own.benchmark, &own.placement, own.unit)
                == (&subject.benchmark, &subject.placement, subject.unit)
        })
    }
}

impl ComparisonTable {
    /// The number of rows with a ratio, and of those among them that the first run loses.
    pub fn score(&self) -> (usize, usize) {
        let ratios = || self.rows.iter().filter_map(|row| row.ratio);
        (ratios().count(), ratios().filter(Ratio::lost).count())
    }

    /// The geometric mean of all ratios.
    pub fn mean(&self) -> Option<f64> {
        let ratios: Vec<f64> = self
            .rows
            .iter()
            .filter_map(|row| row.ratio)
            .map(|r| r.value)
            .collect();
        let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        (!ratios.is_empty()).then(|| (logarithms / ratios.len() as f64).exp())
    }
}

fn table(subject: &Subject, runs: &[ComparedRun], floors: &[ComparedRun]) -> ComparisonTable {
    let figures = runs.iter().flat_map(ComparedRun::figures);
    let mut lengths: Vec<u64> = figures
        .filter(|(other, _, _)| *other == subject)
        .map(|(_, bytes, _)| bytes)
        .collect();
    lengths.sort_unstable();
    lengths.dedup();
    let rows = lengths.into_iter().map(|bytes| {
        let figures = runs.iter().map(|run| run.figure(subject, bytes).cloned());
        let figures: Vec<Option<Figure>> = figures.collect();
        let elsewhere = runs
            .iter()
            .zip(&figures)
            .any(|(run, figure)| figure.is_none() && measured_elsewhere(run, subject, bytes));
        ComparisonRow {
            bytes,
            ratio: ratio(&figures).filter(|_| !elsewhere),
            floor: floors
                .iter()
                .filter_map(|floor| least(floor, subject, bytes))
                .reduce(f64::min),
            figures,
        }
    });
    ComparisonTable {
        subject: subject.clone(),
        rows: rows.collect(),
    }
}

/// Whether the run has this figure in another placement.
fn measured_elsewhere(run: &ComparedRun, subject: &Subject, bytes: u64) -> bool {
    run.figures().any(|(other, length, _)| {
        length == bytes && (&other.benchmark, other.ranks) == (&subject.benchmark, subject.ranks)
    })
}

/// A floor's figure; where the placement is not known, the lowest of all placements.
fn least(floor: &ComparedRun, subject: &Subject, bytes: u64) -> Option<f64> {
    let fits = |other: &Subject, length: u64| {
        length == bytes
            && (&other.benchmark, other.ranks, other.unit)
                == (&subject.benchmark, subject.ranks, subject.unit)
            && (subject.placement.is_empty() || other.placement == subject.placement)
    };
    floor
        .figures()
        .filter(|&(other, length, _)| fits(other, length))
        .filter_map(|(_, _, figure)| figure.sound())
        .reduce(f64::min)
}

/// The first run over the best of the others, flawed figures left out.
fn ratio(figures: &[Option<Figure>]) -> Option<Ratio> {
    let value = |figure: &Option<Figure>| figure.as_ref()?.sound().filter(|&value| value > 0.0);
    let range = |number: usize| figures[number].as_ref().and_then(|figure| figure.range);
    let first = value(figures.first()?)?;
    let others = figures.iter().enumerate().skip(1);
    let others = others.filter_map(|(number, figure)| Some((number, value(figure)?)));
    let (best, least) = others.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let spread = range(0).zip(range(best));
    Some(Ratio {
        best,
        value: first / least,
        range: spread
            .filter(|(_, other)| other.0 > 0.0)
            .map(|(own, other)| (own.0 / other.1, own.1 / other.0)),
    })
}
