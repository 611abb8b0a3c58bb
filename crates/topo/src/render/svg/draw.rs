//! Writes a finished picture as SVG 1.1, without scripts and external fonts or styles.
//!
//! Source: W3C, Scalable Vector Graphics (SVG) 1.1, second edition.

use super::boxes::{Area, Marks, Scene, Shape, Size, Text};
use super::palette::{CLASSES, Look, Palette};
use alloc::format;
use alloc::string::{String, ToString};
use svg::Document;
use svg::node::element::{
    Circle, Definitions, Description, Group, Path, Pattern, Polyline, Rectangle, Style,
    Text as TextElement, Title,
};

/// Half of a number, for an attribute.
fn half(double: u32) -> f32 {
    double as f32 / 2.0
}

/// The picture as a document, with a title and a description for screen readers.
pub(super) fn document(scene: Scene, palette: Palette, title: &str, description: &str) -> String {
    let Size { width, height } = scene.size;
    let marks = || scene.shapes.iter().map(|shape| &shape.face.marks);
    let classes = |marks: &Marks| {
        let all = marks.fills.iter().chain(&marks.outlines).chain(&marks.dots);
        all.map(|class| class % CLASSES + 1).max().unwrap_or(0)
    };
    let used = marks().map(classes).max().unwrap_or(0);
    let mut document = Document::new()
        .set("class", palette.class())
        .set("role", "img")
        .set("width", width)
        .set("height", height)
        .set("viewBox", format!("0 0 {width} {height}"))
        .add(Title::new(title))
        .add(Description::new().add(svg::node::Text::new(description)))
        .add(Style::new(palette.style(used)));
    if marks().any(|marks| marks.is_hatched) {
        document = document.add(Definitions::new().add(hatch()));
    }
    let page = Rectangle::new()
        .set("width", width)
        .set("height", height)
        .set("fill", "#ffffff");
    document = document.add(page);
    for shape in &scene.shapes {
        document = document.add(group(shape));
    }
    for wire in &scene.wires {
        let points: String = wire.iter().map(|(x, y)| format!("{x},{y} ")).collect();
        document = document.add(
            Polyline::new()
                .set("class", "wire")
                .set("points", points.trim_end()),
        );
    }
    document.to_string() + "\n"
}

/// The hatch pattern of objects that are not allowed.
fn hatch() -> Pattern {
    let line = Path::new()
        .set("d", "M-1,1l2,-2M0,6l6,-6M5,7l2,-2")
        .set("stroke", "#b0a0a0");
    Pattern::new()
        .set("id", "topo-hatch")
        .set("patternUnits", "userSpaceOnUse")
        .set("width", 6)
        .set("height", 6)
        .add(line)
}

fn rectangle(area: Area, class: impl Into<svg::node::Value>) -> Rectangle {
    Rectangle::new()
        .set("x", area.x)
        .set("y", area.y)
        .set("width", area.size.width)
        .set("height", area.size.height)
        .set("class", class)
}

fn group(shape: &Shape) -> Group {
    let Shape { area, face, texts } = shape;
    let mut group = Group::new();
    if !face.tooltip.is_empty() {
        group = group.add(Title::new(face.tooltip.as_str()));
    }
    if face.look.is_framed() {
        let corner = if matches!(face.look, Look::Bridge) {
            0
        } else {
            3
        };
        group = group.add(rectangle(*area, face.look.class()).set("rx", corner));
    }
    let mut marked = *area;
    if let Some(look) = face.sample {
        marked = sample(*area);
        group = group.add(rectangle(marked, look.class()).set("rx", 2));
    }
    group = draw_marks(group, marked, &face.marks);
    texts
        .iter()
        .fold(group, |group, text| group.add(element(text)))
}

/// The position of a legend entry's sample.
fn sample(area: Area) -> Area {
    let size = Size {
        width: 18,
        height: 14,
    };
    let y = area.y + (area.size.height - size.height) / 2;
    Area {
        x: area.x + 2,
        y,
        size,
    }
}

fn draw_marks(mut group: Group, area: Area, marks: &Marks) -> Group {
    let stripes = marks.fills.len() as u32;
    for (place, class) in (0..).zip(&marks.fills) {
        // Inside the frame, half a pixel of which is on either side of the edge.
        let inner = area.size.width - 1;
        let (left, right) = (inner * place / stripes, inner * (place + 1) / stripes);
        let stripe = Rectangle::new()
            .set("x", half(2 * (area.x + left) + 1))
            .set("y", half(2 * area.y + 1))
            .set("width", right - left)
            .set("height", area.size.height - 1)
            .set("class", format!("fill{}", class % CLASSES));
        group = group.add(stripe);
    }
    if marks.is_hatched {
        let hatch = rectangle(area, "hatch").set("fill", "url(#topo-hatch)");
        group = group.add(hatch);
    }
    for (place, class) in (0..).zip(&marks.outlines) {
        let inset = 2 + 3 * place;
        let outline = Rectangle::new()
            .set("x", area.x + inset)
            .set("y", area.y + inset)
            .set("width", area.size.width - 2 * inset)
            .set("height", area.size.height - 2 * inset)
            .set("class", format!("line{}", class % CLASSES));
        group = group.add(outline);
    }
    let dots = marks.dots.len() as u32;
    for (place, class) in (0..).zip(&marks.dots) {
        // In the middle of the lower edge, 9 pixels from centre to centre.
        let centre = 2 * area.x + area.size.width + 18 * place - 9 * (dots - 1);
        let dot = Circle::new()
            .set("cx", half(centre))
            .set("cy", area.bottom() - 7)
            .set("r", 3.5)
            .set("class", format!("dot{}", class % CLASSES));
        group = group.add(dot);
    }
    group
}

fn element(text: &Text) -> TextElement {
    let element = TextElement::new(text.line.text.as_str())
        .set("x", text.x)
        .set("y", text.y)
        .set("class", text.line.font.class());
    match text.is_centred {
        true => element.set("text-anchor", "middle"),
        false => element,
    }
}
