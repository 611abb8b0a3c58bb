//! [`Overlay`]: sets drawn over the processors of a picture: ranks, domains, threads.

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
    /// The name in the legend, for [`Style::Fill`] also on the PUs.
    pub label: String,
    /// The processors; those that the machine does not have are only in the legend.
    pub cpus: CpuSet,
    /// The class, which chooses the colour: overlays of one class look alike. Eight colours repeat.
    pub class: usize,
    /// How the overlay is drawn.
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

    /// The same overlay, drawn in this style.
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
    /// The PU has its colour and label; several overlays of a PU are stripes.
    Fill,
    /// A frame in its colour.
    Outline,
    /// A small circle in its colour.
    Mark,
}

/// The most stripes, frames and circles on one PU; the tooltip names all overlays.
const MOST: [usize; 3] = [8, 2, 4];

/// The most pixels of a label on a PU.
const LABEL: u32 = 64;

/// Pixels for circles below a PU's text.
const FOOT: u32 = 9;

/// The overlays, by processor.
pub(super) struct OverlaysByCpu<'a> {
    overlays: &'a [Overlay],
    at: BTreeMap<usize, Vec<usize>>,
}

impl<'a> OverlaysByCpu<'a> {
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

    /// The marks of a processor.
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

    /// The line with the labels of the fills of a processor: the first in full, then the number of others. If
    /// one PU has this line, every PU has it, so that all have the same size.
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

    /// The pixels below the text of every PU.
    pub(super) fn foot(&self) -> u32 {
        if self.has(Style::Mark) { FOOT } else { 0 }
    }

    /// The labels of all overlays of a processor, a line for each.
    pub(super) fn facts(&self, cpu: usize) -> String {
        self.on(cpu)
            .map(|overlay| format!("\n{}", super::labels::clean(&overlay.label)))
            .collect()
    }
}

impl Overlay {
    /// The marks of the overlay's sample in the legend.
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
