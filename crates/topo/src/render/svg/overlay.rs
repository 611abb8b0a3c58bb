//! What is drawn over the processors: where ranks, domains and threads are.

use super::boxes::Marks;
use super::widths::Font;
use crate::cpuset::CpuSet;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A set of processors that is shown in a picture and named in its legend: a rank, a domain, a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlay {
    /// What the legend calls it, and for [`Style::Fill`] its PUs too.
    pub label: String,
    /// Its processors; those that the machine has not are left out of the picture, not of the legend.
    pub cpus: CpuSet,
    /// Which colour: overlays of one class look alike. Eight colours are used in turn.
    pub class: usize,
    /// How it is drawn.
    pub style: Style,
}

impl Overlay {
    /// An overlay that fills its PUs.
    pub fn new(label: impl Into<String>, cpus: CpuSet, class: usize) -> Self {
        Self {
            label: label.into(),
            cpus,
            class,
            style: Style::Fill,
        }
    }

    /// The same, drawn otherwise.
    #[must_use]
    pub fn with_style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }
}

/// How an overlay is drawn on each of its PUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Style {
    /// The PU has its colour and its label; several share the PU in stripes.
    Fill,
    /// A frame in its colour.
    Outline,
    /// A small circle in its colour.
    Mark,
}

/// The most stripes, frames and circles on one PU; the tooltip names all.
const MOST: [usize; 3] = [8, 2, 4];

/// Pixels that a label on a PU takes at most.
const LABEL: u32 = 64;

/// Pixels below a PU's text for circles.
const FOOT: u32 = 9;

/// The overlays, by processor.
pub(super) struct Overlaid<'a> {
    overlays: &'a [Overlay],
    at: BTreeMap<usize, Vec<usize>>,
}

impl<'a> Overlaid<'a> {
    pub(super) fn new(overlays: &'a [Overlay], online: &CpuSet) -> Self {
        let mut at: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (place, overlay) in overlays.iter().enumerate() {
            for cpu in &(&overlay.cpus & online) {
                at.entry(cpu).or_default().push(place);
            }
        }
        Self { overlays, at }
    }

    fn on(&self, cpu: usize) -> impl Iterator<Item = &'a Overlay> {
        let places = self.at.get(&cpu).map_or(&[][..], Vec::as_slice);
        places.iter().map(|place| &self.overlays[*place])
    }

    fn has(&self, style: Style) -> bool {
        self.overlays.iter().any(|overlay| overlay.style == style)
    }

    /// What is drawn on a processor.
    pub(super) fn marks(&self, cpu: usize) -> Marks {
        let classes = |style, most| {
            let of_style = self.on(cpu).filter(move |overlay| overlay.style == style);
            of_style.map(|overlay| overlay.class).take(most).collect()
        };
        Marks {
            fills: classes(Style::Fill, MOST[0]),
            outlines: classes(Style::Outline, MOST[1]),
            dots: classes(Style::Mark, MOST[2]),
            is_hatched: false,
        }
    }

    /// The line with the labels of what fills a processor: the first in full, of the others their number. Every PU has
    /// the line if one of them has, so that all are of one size.
    pub(super) fn label(&self, cpu: usize) -> Option<String> {
        let mut fills = self.on(cpu).filter(|overlay| overlay.style == Style::Fill);
        let first = fills
            .next()
            .map(|overlay| super::labels::clean(&overlay.label));
        let more = match fills.count() {
            0 => String::new(),
            more => format!(" +{more}"),
        };
        let label = first.map(|label| {
            let room = LABEL.saturating_sub(Font::Leaf.width(&more));
            Font::Leaf.cut(&label, room) + &more
        });
        self.has(Style::Fill).then(|| label.unwrap_or_default())
    }

    /// Pixels below the text of every PU.
    pub(super) fn foot(&self) -> u32 {
        if self.has(Style::Mark) { FOOT } else { 0 }
    }

    /// The labels of all overlays on a processor, a line each.
    pub(super) fn facts(&self, cpu: usize) -> String {
        self.on(cpu)
            .map(|overlay| format!("\n{}", super::labels::clean(&overlay.label)))
            .collect()
    }
}

impl Overlay {
    /// How a sample of it looks.
    pub(super) fn sample(&self) -> Marks {
        let mut marks = Marks::default();
        match self.style {
            Style::Fill => marks.fills.push(self.class),
            Style::Outline => marks.outlines.push(self.class),
            Style::Mark => marks.dots.push(self.class),
        }
        marks
    }
}
