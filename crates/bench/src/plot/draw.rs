//! The drawing of a plot as SVG.

use super::axis::LogAxis;
use super::{LineStyle, Plot, PlotPoint, PlotSeries, Quantity, STYLE};
use maud::{Markup, PreEscaped, html};
use std::format;
use std::string::String;
use std::vec::Vec;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
/// The edges of the field.
const LEFT: f64 = 72.0;
const TOP: f64 = 36.0;
const RIGHT: f64 = 420.0;
const BOTTOM: f64 = 250.0;
/// Distance of two labels.
const LABEL: f64 = 16.0;
/// The most letters of a label on a page, and in a document of its own, which is wider.
const PAGE_LETTERS: usize = 17;
const DOCUMENT_LETTERS: usize = 34;
/// Width of a document of its own.
const DOCUMENT_WIDTH: f64 = 680.0;
/// Height of a line of its note.
const NOTE: f64 = 14.0;
/// Least distance of two numbers at the horizontal axis.
const APART: f64 = 46.0;
/// Factor by which spreads may widen the vertical axis; they are cut there.
const BEYOND: f64 = 2.0;
/// Factor by which the vertical axis goes beyond the least and the largest number.
const MARGIN: f64 = 1.15;

/// The plot as an SVG element of a page, coloured by the classes of [`STYLE`].
pub(crate) fn svg(plot: &Plot) -> Markup {
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(plot.title) {
            (content(plot, PAGE_LETTERS))
        }
    }
}

/// The plot as an SVG 1.1 document, with a note below: a line for each of its first clause and its rest.
pub fn document(plot: &Plot, note: &str) -> String {
    let (first, rest) = note.split_once("; ").unwrap_or((note, ""));
    let (width, height) = (DOCUMENT_WIDTH, HEIGHT + 2.0 * NOTE + 4.0);
    let markup = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height)
            role="img" font-family="sans-serif" {
            title { (plot.title) }
            desc { (note) }
            style { (PreEscaped(STYLE)) }
            rect.page width=(width) height=(height) {}
            (content(plot, DOCUMENT_LETTERS))
            text.note x="16" y=(HEIGHT + NOTE - 4.0) { (first) }
            text.note x="16" y=(HEIGHT + 2.0 * NOTE - 4.0) { (rest) }
        }
    };
    markup.into_string() + "\n"
}

/// Everything inside the SVG element.
fn content(plot: &Plot, letters: usize) -> Markup {
    let points = || plot.series.iter().flat_map(|series| &series.points);
    let least = points().map(|point| point.y).fold(f64::INFINITY, f64::min);
    let largest = points().map(|point| point.y).fold(0.0, f64::max);
    let heights = points()
        .flat_map(|point| {
            let (low, high) = point.range.unwrap_or((point.y, point.y));
            [low.max(least / BEYOND), point.y, high.min(largest * BEYOND)]
        })
        .chain((plot.up == Quantity::Ratio).then_some(1.0));
    let across = LogAxis::new(
        plot.across,
        points().map(|point| point.x),
        (LEFT + 12.0, RIGHT - 8.0),
        1.0,
    );
    let up = LogAxis::new(plot.up, heights, (BOTTOM, TOP), MARGIN);
    html! {
        text.title x=(LEFT) y="20" { (plot.title) }
        (grid(plot, &across, &up))
        @for series in &plot.series { (line(series, &across, &up)) }
        (labels(plot, &across, &up, letters))
    }
}

/// The grid lines with their numbers, and the name of the horizontal quantity.
fn grid(plot: &Plot, across: &LogAxis, up: &LogAxis) -> Markup {
    let mut reached = f64::NEG_INFINITY;
    let apart = across.ticks().into_iter().filter(|&(_, x)| {
        let fits = x - reached >= APART || reached <= LEFT + 12.0 && x - reached >= 20.0;
        if fits {
            reached = x;
        }
        fits
    });
    let middle = f64::midpoint(LEFT, RIGHT);
    html! {
        g.grid {
            @for (number, y) in up.ticks() {
                @let class = if plot.up == Quantity::Ratio && number == 1.0 { "one" } else { "rule" };
                line class=(class) x1=(LEFT) x2=(RIGHT) y1=(y) y2=(y) {}
                text x=(LEFT - 6.0) y=(y + 4.0) text-anchor="end" { (plot.up.show(number)) }
            }
            @for (number, x) in apart {
                line.rule x1=(x) x2=(x) y1=(TOP) y2=(BOTTOM) {}
                text x=(x) y=(BOTTOM + 17.0) text-anchor="middle" { (plot.across.show(number)) }
            }
            text x=(middle) y=(BOTTOM + 38.0) text-anchor="middle" { (plot.across.name()) }
        }
    }
}

/// A line with its points. A point at 0, which a logarithmic axis shows apart, is not joined to the rest.
fn line(series: &PlotSeries, across: &LogAxis, up: &LogAxis) -> Markup {
    let place = |point: &PlotPoint| (across.at(point.x), up.at(point.y));
    let joined = series.points.iter().filter(|point| !across.apart(point.x));
    let path: Vec<String> = joined.map(place).map(|(x, y)| format!("{x},{y}")).collect();
    html! {
        g class=(class(series.style)) {
            polyline points=(path.join(" ")) {}
            @for point in &series.points {
                @let (x, y) = place(point);
                @if let Some((low, high)) = point.range {
                    line.range x1=(x) x2=(x) y1=(up.at(low)) y2=(up.at(high)) {}
                }
                @if let Some(mark) = mark(series.style, x, y, 3.0) {
                    path d=(mark) {}
                } @else if across.apart(point.x) || path.len() == 1 {
                    line x1=(x - 7.0) x2=(x + 7.0) y1=(y) y2=(y) {}
                }
            }
        }
    }
}

/// The name of each line beside its end; names of lines that end close to each other are moved apart.
fn labels(plot: &Plot, across: &LogAxis, up: &LogAxis, letters: usize) -> Markup {
    let mut ends: Vec<(&PlotSeries, f64, f64)> = plot
        .series
        .iter()
        .filter_map(|series| {
            let last = series.points.last()?;
            Some((series, across.at(last.x), up.at(last.y)))
        })
        .collect();
    ends.sort_by(|a, b| a.2.total_cmp(&b.2));
    let heights = spread(&ends.iter().map(|end| end.2).collect::<Vec<_>>());
    html! {
        @for ((series, x, y), height) in ends.into_iter().zip(heights) {
            g class=(class(series.style)) {
                @if x >= RIGHT - 12.0 {
                    line.lead x1=(x + 5.0) x2=(RIGHT + 8.0) y1=(y) y2=(height) {}
                }
                @if let Some(mark) = mark(series.style, RIGHT + 14.0, height, 4.0) {
                    path d=(mark) {}
                } @else {
                    line x1=(RIGHT + 9.0) x2=(RIGHT + 19.0) y1=(height) y2=(height) {}
                }
                text.label x=(RIGHT + 23.0) y=(height + 4.0) { (short(&series.name, letters)) }
            }
        }
    }
}

/// Ascending heights at which labels do not overlap: moved down where needed, then back up into the picture.
fn spread(wanted: &[f64]) -> Vec<f64> {
    let mut heights = wanted.to_vec();
    for number in 1..heights.len() {
        heights[number] = heights[number].max(heights[number - 1] + LABEL);
    }
    let mut limit = BOTTOM + 12.0;
    for height in heights.iter_mut().rev() {
        *height = height.min(limit);
        limit = *height - LABEL;
    }
    heights
}

fn class(style: LineStyle) -> String {
    match style {
        LineStyle::Numbered(number @ 0..8) => format!("s{number}"),
        LineStyle::Numbered(number) => format!("s{} more", number % 8),
        LineStyle::Reference => "floor".into(),
    }
}

/// The mark of a point; its shape depends on the number, so that lines differ without colours.
fn mark(style: LineStyle, x: f64, y: f64, r: f64) -> Option<String> {
    let LineStyle::Numbered(number) = style else {
        return None;
    };
    let (d, h) = (2.0 * r, 1.3 * r);
    Some(match number % 8 {
        0 => format!("M{} {y}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0z", x - r),
        1 => format!("M{} {}h{d}v{d}h-{d}z", x - r, y - r),
        2 => format!("M{x} {}L{} {}H{}z", y - h, x + h, y + r, x - h),
        3 => format!("M{x} {}L{} {y}L{x} {}L{} {y}z", y - h, x + h, y + h, x - h),
        4 => format!("M{x} {}L{} {}H{}z", y + h, x + h, y - r, x - h),
        5 => format!("M{} {}v{d}l{d} -{r}z", x - r, y - r),
        6 => format!("M{} {}v{d}l-{d} -{r}z", x + r, y - r),
        _ => format!("M{} {}h{d}v{r}h-{d}z", x - r, y - r / 2.0),
    })
}

/// The name, cut after `letters` letters.
fn short(name: &str, letters: usize) -> String {
    match name.char_indices().nth(letters) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{BOTTOM, LABEL, spread};

    #[test]
    fn labels_keep_apart_and_inside() {
        let heights = spread(&[40.0, 41.0, 240.0, 249.0, 250.0]);
        assert!(
            heights
                .windows(2)
                .all(|pair| pair[1] - pair[0] >= LABEL - 1e-9)
        );
        assert!(
            heights
                .iter()
                .all(|height| (36.0..=BOTTOM + 12.0).contains(height))
        );
        assert_eq!(heights[0], 40.0);
    }
}
