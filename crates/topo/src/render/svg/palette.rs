//! The colours and style classes of all boxes of a picture.

use super::widths::{FAMILY, Font};
use crate::kind::Kind;
use alloc::format;
use alloc::string::String;
use core::fmt::Write;

/// The colours of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Palette {
    /// The colours of lstopo: green packages, pink memory, grey cores, white caches and PUs.
    #[default]
    Lstopo,
    /// Blue packages, orange memory; overlays in eight colours that are distinct in any colour vision.
    ///
    /// Source: Okabe and Ito, "Color Universal Design", 2008; fills are lighter than theirs, for black text on them.
    ColourBlind,
}

/// The look of a box: which colours and frame it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The caller's lines, and groups of boxes that need no frame.
    Plain,
    Machine,
    Package,
    Die,
    Group,
    Numa,
    /// A memory-side cache.
    SideCache,
    Cache,
    /// The scope of one of several caches.
    Scope,
    Core,
    /// A core of the second or a further kind, on a hybrid machine.
    OtherCore,
    Pu,
    /// An offline processor.
    Offline,
    Bridge,
    Pci,
    SystemDevice,
    /// A text on a line: no frame.
    Speed,
    Legend,
    /// A line of the legend: no frame.
    Entry,
}

impl Look {
    /// All looks and the style classes of their elements, in the order of the variants.
    pub(super) const ALL: [(Self, &str); 19] = [
        (Self::Plain, "plain"),
        (Self::Machine, "machine"),
        (Self::Package, "package"),
        (Self::Die, "die"),
        (Self::Group, "group"),
        (Self::Numa, "numa"),
        (Self::SideCache, "side-cache"),
        (Self::Cache, "cache"),
        (Self::Scope, "scope"),
        (Self::Core, "core"),
        (Self::OtherCore, "other-core"),
        (Self::Pu, "pu"),
        (Self::Offline, "offline"),
        (Self::Bridge, "bridge"),
        (Self::Pci, "pci"),
        (Self::SystemDevice, "system-device"),
        (Self::Speed, "speed"),
        (Self::Legend, "legend"),
        (Self::Entry, "entry"),
    ];

    pub(super) fn of(kind: Kind) -> Self {
        match kind {
            Kind::Machine => Self::Machine,
            Kind::Group => Self::Group,
            Kind::Package => Self::Package,
            Kind::Die => Self::Die,
            Kind::Numa => Self::Numa,
            Kind::Core => Self::Core,
            Kind::Pu => Self::Pu,
            _ => Self::Cache,
        }
    }

    /// The style class of its elements.
    pub(super) fn class(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Whether the look has a frame.
    pub(super) fn is_framed(self) -> bool {
        !matches!(self, Self::Plain | Self::Speed | Self::Entry)
    }

    /// The colours of fill and frame.
    pub(super) fn colours(self, palette: Palette) -> (&'static str, &'static str) {
        let lstopo = palette == Palette::Lstopo;
        let of_two = |one, two| if lstopo { one } else { two };
        match self {
            Self::Plain | Self::Speed | Self::Entry => ("none", "none"),
            Self::Machine => ("#ffffff", "#222222"),
            Self::Package => of_two(("#d2e7a4", "#5d7430"), ("#cfe2f3", "#35618a")),
            Self::Die => of_two(("#e7ffb5", "#7c9648"), ("#e6f0f9", "#5d86ad")),
            Self::Group => ("#eeeeee", "#777777"),
            Self::Numa => of_two(("#efdfde", "#9a6f6c"), ("#fbdfb1", "#9a6a12")),
            Self::SideCache => of_two(("#faf2f1", "#9a6f6c"), ("#fdf0da", "#9a6a12")),
            Self::Cache => ("#ffffff", "#555555"),
            Self::Scope => of_two(("#f3fae4", "#a3b77b"), ("#f4f8fc", "#9db8d2")),
            Self::Core => ("#bebebe", "#5a5a5a"),
            Self::OtherCore => ("#d9d2c3", "#6e6553"),
            Self::Pu => ("#ffffff", "#333333"),
            Self::Offline => ("#dddddd", "#888888"),
            Self::Bridge => ("#ffffff", "#444444"),
            Self::Pci => of_two(("#f0f7df", "#5d7430"), ("#e3dcef", "#5f4b8b")),
            Self::SystemDevice => ("#e8e8e8", "#777777"),
            Self::Legend => ("#fafafa", "#999999"),
        }
    }
}

/// The colour of all texts.
pub(super) const INK: &str = "#111111";

/// The number of colours of overlay classes; further classes repeat them.
pub(super) const CLASSES: usize = 8;

impl Palette {
    /// The colours of an overlay class: for fills, and for outlines and marks.
    pub(super) fn overlay(self, class: usize) -> (&'static str, &'static str) {
        const LSTOPO: [(&str, &str); CLASSES] = [
            ("#8ecae6", "#14658a"),
            ("#ffc55c", "#a35f00"),
            ("#a9d18e", "#3c7a1c"),
            ("#f5a3a1", "#b3221f"),
            ("#c9b6ee", "#5d3fa5"),
            ("#f2e27a", "#7d6b00"),
            ("#93dfcd", "#0f7560"),
            ("#deb893", "#7a4a1a"),
        ];
        const COLOUR_BLIND: [(&str, &str); CLASSES] = [
            ("#9ad2f2", "#0072b2"),
            ("#f2c766", "#b07a00"),
            ("#7fceb8", "#00735a"),
            ("#f0e442", "#6b6400"),
            ("#eba173", "#b04a00"),
            ("#e0afca", "#9c3f74"),
            ("#c4c4c4", "#000000"),
            ("#7ea9e0", "#1f3f8f"),
        ];
        let colours = match self {
            Self::Lstopo => LSTOPO,
            Self::ColourBlind => COLOUR_BLIND,
        };
        colours[class % CLASSES]
    }

    /// The style class of a picture with this palette.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Lstopo => "topo-lstopo",
            Self::ColourBlind => "topo-colour-blind",
        }
    }

    /// The style rules of the whole picture, with `classes` classes of overlays. All names begin with
    /// that of the palette, so that pictures in one page do not change each other.
    pub(super) fn style(self, classes: usize) -> String {
        let picture = format!(".{}", self.class());
        let mut styles = format!("{picture} text{{font-family:{FAMILY};fill:{INK}}}\n");
        for font in Font::ALL {
            let bold = if font.is_bold() {
                ";font-weight:bold"
            } else {
                ""
            };
            let (class, size) = (font.class(), font.size());
            let _ = writeln!(styles, "{picture} .{class}{{font-size:{size}px{bold}}}");
        }
        for (look, class) in Look::ALL.into_iter().filter(|(look, _)| look.is_framed()) {
            let (fill, stroke) = look.colours(self);
            let _ = writeln!(styles, "{picture} .{class}{{fill:{fill};stroke:{stroke}}}");
        }
        for class in 0..classes.min(CLASSES) {
            let (fill, line) = self.overlay(class);
            let _ = write!(
                styles,
                "{picture} .fill{class}{{fill:{fill}}}\n\
                 {picture} .line{class}{{fill:none;stroke:{line};stroke-width:2}}\n\
                 {picture} .dot{class}{{fill:{line};stroke:#ffffff}}\n"
            );
        }
        let _ = write!(
            styles,
            "{picture} .wire{{fill:none;stroke:#444444;shape-rendering:crispEdges}}\n\
             {picture} .offline{{stroke-dasharray:3 2}}"
        );
        styles
    }
}

impl Font {
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Head => "head",
            Self::Leaf => "leaf",
            Self::Small => "small",
        }
    }
}
