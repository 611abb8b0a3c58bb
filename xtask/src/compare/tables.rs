//! Prints tables: one for each placement, with a line for each length and a column for each implementation.

use super::figures::{FigureKey, Figures, Pick};
use super::programs::{FLOOR, Implementation, OURS};
use super::rounds::MeasuredRun;
use super::works::Work;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The tables of one work from its `runs`: for each placement the medians over runs of each run's
/// median, then the fastest blocks.
pub(crate) fn tables(
    work: &Work,
    implementations: &[Implementation],
    runs: &[MeasuredRun],
) -> String {
    let mut text = String::new();
    let dropped = runs.iter().filter(|run| run.tag.is_none()).count();
    let placements: BTreeSet<&str> = runs.iter().filter_map(|run| run.tag).collect();
    let ran = |name: &str| runs.iter().any(|run| run.implementation == name);
    let names = implementations.iter().map(|i| i.name);
    let names: Vec<&str> = names.filter(|name| *name != FLOOR && ran(name)).collect();
    for placement in placements {
        let (title, ranks) = (&work.title, work.ranks);
        _ = write!(
            text,
            "{title}; {ranks} ranks; placement {placement}; runs kept:"
        );
        for name in names.iter().chain(&[FLOOR]).filter(|name| ran(name)) {
            let kept =
                |run: &&MeasuredRun| run.tag == Some(placement) && run.implementation == *name;
            _ = write!(text, " {name} {}", runs.iter().filter(kept).count());
        }
        _ = writeln!(text, "; {dropped} runs dropped");
        for (title, pick) in [("median", Pick::Median), ("fastest", Pick::Fastest)] {
            table(
                &mut text,
                title,
                work,
                &names,
                &Figures::new(runs, placement, pick),
            );
        }
        methods(
            &mut text,
            work,
            &Figures::new(runs, placement, Pick::Median),
        );
        text.push('\n');
    }
    text
}

/// One table. Columns: ours, the peers, the best peer, ours over it, the floor, ours over the floor.
fn table(text: &mut String, title: &str, work: &Work, names: &[&str], figures: &Figures<'_>) {
    let (cells, unit) = figures.cells(work.name, work.ranks);
    let lengths = cells.iter().all(|cell| cell.kernel == work.name);
    let width = if lengths { 20 } else { 36 };
    let title = format!("{title}, {}", unit.shown());
    _ = write!(
        text,
        "{title:<12}{:>1$}",
        if lengths { "bytes" } else { "" },
        width - 12
    );
    for name in names {
        _ = write!(text, "{name:>12}");
    }
    _ = writeln!(
        text,
        "{:>13}{:>11}{:>11}{:>12}",
        "best peer", "ours/best", FLOOR, "ours/floor"
    );
    for cell in cells {
        let label = if lengths {
            cell.bytes.to_string()
        } else {
            match cell.bytes {
                0 => cell.kernel.clone(),
                bytes => format!("{} {bytes} B", cell.kernel),
            }
        };
        _ = write!(text, "{label:>width$}");
        let number = |figure: Option<f64>| {
            figure.map_or_else(|| "-".to_owned(), |figure| format!("{:.3}", figure / 1e3))
        };
        for name in names {
            _ = write!(text, "{:>12}", number(figures.of(name, &cell)));
        }
        let (ours, best) = (figures.of(OURS, &cell), figures.best_peer(&cell));
        let floor = figures.floor(&cell);
        let over = |other: Option<f64>| {
            let ratio = ours.zip(other).map(|(ours, other)| ours / other);
            ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
        };
        _ = write!(
            text,
            "{:>13}{:>11}{:>11}{:>12}",
            best.map_or("-", |(name, _)| name),
            over(best.map(|(_, figure)| figure)),
            number(floor.map(|(_, figure)| figure)),
            over(floor.map(|(_, figure)| figure)),
        );
        let lost = ours.zip(best).is_some_and(|(ours, (_, best))| ours > best);
        _ = writeln!(text, "{}", if lost { "  lost" } else { "" });
    }
}

/// The median of each method of the floor.
fn methods(text: &mut String, work: &Work, figures: &Figures<'_>) {
    let ranks = work.ranks as u64;
    let lines = ["one line", "two lines"]
        .map(|kernel| (kernel.to_owned(), FigureKey::new(kernel, ranks, 0)));
    let lengths = work.lengths().map(|bytes| {
        (
            format!("{bytes} B"),
            FigureKey::new(work.name, ranks, bytes),
        )
    });
    for (label, cell) in lines.into_iter().chain(lengths) {
        let methods = figures.methods(&cell);
        if methods.is_empty() || methods.iter().all(|(method, _)| method.is_empty()) {
            continue;
        }
        let methods: Vec<String> = methods
            .iter()
            .map(|(method, figure)| format!("{method} {:.3}", figure / 1e3))
            .collect();
        _ = writeln!(text, "{:<8}{label:>12}: {} us", FLOOR, methods.join(", "));
    }
}
