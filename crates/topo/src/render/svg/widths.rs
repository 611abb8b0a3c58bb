//! A table of character widths, because a picture is made without access to fonts.
//!
//! Each width is the larger one of Liberation Sans (as wide as Arial and Helvetica) and DejaVu Sans, from the
//! fonts' tables of advance widths. So a text stays in its box with any font of [`FAMILY`].

use alloc::string::String;

/// The fonts of all texts; the table covers all but the last.
pub(super) const FAMILY: &str = "'Liberation Sans', Arial, Helvetica, 'DejaVu Sans', sans-serif";

/// Thousandths of the font's size, from U+0020 to U+007E.
const WIDTHS: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 556, 1015, 684, 686, 722, 770, 667,
    611, 778, 752, 295, 500, 667, 557, 863, 748, 787, 667, 787, 722, 667, 611, 732, 684, 989, 685,
    667, 685, 390, 337, 390, 838, 556, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/// The width of all other characters: few of any script are wider.
const OTHER: u16 = 1000;

/// The fonts' sizes and weights in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Font {
    /// The caller's lines above the picture.
    Title,
    /// Names of boxes with contents.
    Head,
    /// Names of boxes without contents, and the legend.
    Leaf,
    /// Speeds on lines.
    Small,
}

impl Font {
    pub(super) const ALL: [Self; 4] = [Self::Title, Self::Head, Self::Leaf, Self::Small];

    /// The size in pixels.
    pub(super) fn size(self) -> u32 {
        match self {
            Self::Title => 16,
            Self::Head => 12,
            Self::Leaf => 11,
            Self::Small => 9,
        }
    }

    /// The distance of baselines in pixels.
    pub(super) fn line(self) -> u32 {
        self.size() * 13 / 10
    }

    /// Whether the font is bold: up to 1.27 times as wide as others in the fonts of the table.
    pub(super) fn is_bold(self) -> bool {
        self == Self::Title
    }

    /// The most pixels that `text` takes.
    pub(super) fn width(self, text: &str) -> u32 {
        let one = |letter: char| {
            let place = (letter as usize).wrapping_sub(' ' as usize);
            u32::from(*WIDTHS.get(place).unwrap_or(&OTHER))
        };
        let plain = text.chars().map(one).sum::<u32>() * self.size();
        plain.div_ceil(if self.is_bold() { 750 } else { 1000 })
    }

    /// `text`, or as much of its start as fits into `room` pixels, followed by dots.
    pub(super) fn cut(self, text: &str, room: u32) -> String {
        if self.width(text) <= room {
            return text.into();
        }
        let mut short = String::new();
        for letter in text.chars() {
            short.push(letter);
            if self.width(&short) + self.width("…") > room {
                short.pop();
                break;
            }
        }
        short.push('…');
        short
    }
}
