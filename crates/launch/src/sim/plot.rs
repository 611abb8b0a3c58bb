//! Time over ranks or over sizes, one line for each algorithm, both axes logarithmic, as an SVG 1.1 document.

use svg::Document;
use svg::node::element::{Circle, Description, Group, Line, Polyline, Rectangle, Text, Title};

/// What a picture shows.
pub(super) struct Plot<'a> {
    /// Its name, above it.
    pub(super) title: &'a str,
    /// The model in clauses, below it: the first on a line of its own.
    pub(super) note: &'a str,
    /// What is counted to the right, and how a number of it is written.
    pub(super) axis: &'a str,
    pub(super) number: fn(u64) -> String,
    pub(super) lines: &'a [Series],
}

/// One line.
pub(super) struct Series {
    pub(super) name: String,
    /// What is counted, and the time in picoseconds.
    pub(super) points: Vec<(u64, u64)>,
}

/// Colours that people with any colour vision tell apart: Okabe and Ito, "Color Universal Design", 2008.
const COLOURS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
];

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 456.0;
/// The field's edges.
const LEFT: f64 = 84.0;
const TOP: f64 = 48.0;
const RIGHT: f64 = 520.0;
const BOTTOM: f64 = 372.0;

/// A logarithmic axis from one number to another.
struct Axis {
    low: f64,
    high: f64,
    /// Where its ends are drawn.
    from: f64,
    to: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = u64> + Clone, from: f64, to: f64) -> Self {
        let low = values.clone().min().unwrap_or(1).max(1) as f64;
        let high = values.max().unwrap_or(1) as f64;
        Axis {
            low: low.ln(),
            high: high.max(low * 1.01).ln(),
            from,
            to,
        }
    }

    /// Widens it to whole powers of ten.
    fn widened(self) -> Self {
        let ten = 10_f64.ln();
        let high = (self.high / ten).ceil();
        Axis {
            low: ten * (self.low / ten).floor().min(high - 1.0),
            high: ten * high,
            ..self
        }
    }

    /// Where a number is drawn, to a tenth.
    fn at(&self, value: u64) -> f64 {
        let share = ((value.max(1) as f64).ln() - self.low) / (self.high - self.low);
        (10.0 * (self.from + share * (self.to - self.from))).round() / 10.0
    }
}

/// The picture.
pub(super) fn svg(plot: &Plot<'_>) -> String {
    let points = || plot.lines.iter().flat_map(|line| &line.points).copied();
    let across = Axis::new(points().map(|point| point.0), LEFT, RIGHT);
    let up = Axis::new(points().map(|point| point.1), BOTTOM, TOP).widened();
    let (costs, rest) = plot.note.split_once("; ").unwrap_or((plot.note, ""));
    let note = |words: &str, above: f64| {
        let y = HEIGHT - 10.0 - 14.0 * above;
        text(words, 16.0, y, "start").set("font-size", 10)
    };
    let page = Rectangle::new()
        .set("width", WIDTH)
        .set("height", HEIGHT)
        .set("fill", "#ffffff");
    let mut document = Document::new()
        .set("role", "img")
        .set("width", WIDTH)
        .set("height", HEIGHT)
        .set("viewBox", format!("0 0 {WIDTH} {HEIGHT}"))
        .set("font-family", "sans-serif")
        .set("font-size", 12)
        .add(Title::new(plot.title))
        .add(Description::new().add(svg::node::Text::new(plot.note)))
        .add(page)
        .add(text(plot.title, LEFT, 28.0, "start").set("font-size", 15))
        .add(text(
            plot.axis,
            (LEFT + RIGHT) / 2.0,
            BOTTOM + 38.0,
            "middle",
        ))
        .add(note(costs, 1.0))
        .add(note(rest, 0.0))
        .add(grid(&across, &up, plot));
    for (number, line) in plot.lines.iter().enumerate() {
        document = document.add(series(line, number, &across, &up));
    }
    document.to_string() + "\n"
}

fn text(words: &str, x: f64, y: f64, anchor: &str) -> Text {
    Text::new(words)
        .set("x", x)
        .set("y", y)
        .set("text-anchor", anchor)
}

/// The lines behind, with their numbers.
fn grid(across: &Axis, up: &Axis, plot: &Plot<'_>) -> Group {
    let mut group = Group::new().set("stroke-width", 1);
    let rule = |x1: f64, y1: f64, x2: f64, y2: f64| {
        Line::new()
            .set("x1", x1)
            .set("y1", y1)
            .set("x2", x2)
            .set("y2", y2)
            .set("stroke", "#d8d8d8")
    };
    let low = (up.low / 10_f64.ln()).round() as u32;
    let high = (up.high / 10_f64.ln()).round() as u32;
    for power in low..=high {
        let y = up.at(10_u64.pow(power));
        group = group.add(rule(LEFT, y, RIGHT, y)).add(text(
            &time(10_u64.pow(power)),
            LEFT - 8.0,
            y + 4.0,
            "end",
        ));
    }
    let mut values: Vec<u64> = plot
        .lines
        .iter()
        .flat_map(|line| &line.points)
        .map(|point| point.0)
        .collect();
    values.sort_unstable();
    values.dedup();
    let every = values.len().div_ceil(9);
    for &value in values.iter().rev().step_by(every.max(1)) {
        let x = across.at(value);
        group = group.add(rule(x, TOP, x, BOTTOM)).add(text(
            &(plot.number)(value),
            x,
            BOTTOM + 18.0,
            "middle",
        ));
    }
    group
}

/// A line, its points, and its name beside the field.
fn series(line: &Series, number: usize, across: &Axis, up: &Axis) -> Group {
    let colour = COLOURS[number % COLOURS.len()];
    let places: Vec<(f64, f64)> = line
        .points
        .iter()
        .map(|&(value, time)| (across.at(value), up.at(time)))
        .collect();
    let path = places.iter().map(|(x, y)| format!("{x},{y}"));
    let mut group = Group::new().set("fill", colour).add(
        Polyline::new()
            .set("points", path.collect::<Vec<_>>().join(" "))
            .set("fill", "none")
            .set("stroke", colour)
            .set("stroke-width", 2),
    );
    for (x, y) in places {
        group = group.add(Circle::new().set("cx", x).set("cy", y).set("r", 3));
    }
    let y = TOP + 8.0 + 20.0 * number as f64;
    group
        .add(
            Circle::new()
                .set("cx", RIGHT + 20.0)
                .set("cy", y)
                .set("r", 5),
        )
        .add(text(&line.name, RIGHT + 32.0, y + 4.0, "start"))
}

/// A power of ten of picoseconds in words.
fn time(picoseconds: u64) -> String {
    match picoseconds {
        0..1_000 => format!("{picoseconds} ps"),
        1_000..1_000_000 => format!("{} ns", picoseconds / 1_000),
        1_000_000..1_000_000_000 => format!("{} us", picoseconds / 1_000_000),
        1_000_000_000..1_000_000_000_000 => format!("{} ms", picoseconds / 1_000_000_000),
        _ => format!("{} s", picoseconds / 1_000_000_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, BOTTOM, Plot, Series, TOP, svg, time};

    #[test]
    fn times_have_units() {
        assert_eq!(
            [1_000, 10_000_000, 1_000_000_000].map(time),
            ["1 ns", "10 us", "1 ms"]
        );
    }

    #[test]
    fn an_axis_is_widened_widened_of_ten() {
        let axis = Axis::new([20, 300].into_iter(), BOTTOM, TOP).widened();
        assert_eq!((axis.at(10), axis.at(1000)), (BOTTOM, TOP));
        let flat = Axis::new([100].into_iter(), BOTTOM, TOP).widened();
        assert!(flat.at(100).is_finite());
    }

    #[test]
    fn names_are_escaped() {
        let line = Series {
            name: "a<b".into(),
            points: vec![(1, 1), (2, 2)],
        };
        let lines = [line];
        let plot = Plot {
            title: "t",
            note: "n & m",
            axis: "ranks",
            number: |n| n.to_string(),
            lines: &lines,
        };
        let picture = svg(&plot);
        assert!(
            picture.contains("a&lt;b") && picture.contains("n &amp; m"),
            "{picture}"
        );
    }
}
