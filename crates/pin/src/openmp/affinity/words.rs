//! The words of `KMP_AFFINITY`: types, modifiers and granularities.

use oxmpi_text::Words;

use crate::openmp::affinity::{Granularity, Type};
use crate::openmp::layers::Layer;
use crate::openmp::{Dialect, Levels, Rules};

pub(super) const TYPES: [(&str, Type); 8] = [
    ("none", Type::None),
    ("compact", Type::Compact),
    ("scatter", Type::Scatter),
    ("logical", Type::Logical),
    ("physical", Type::Physical),
    ("balanced", Type::Balanced),
    ("explicit", Type::Explicit),
    ("disabled", Type::Disabled),
];

impl Type {
    /// The word of the type.
    pub(super) fn word(self) -> &'static str {
        let word = TYPES.iter().find(|(_, kind)| *kind == self);
        word.map_or("default", |(word, _)| word)
    }
}

/// A modifier that is on or off.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Switch {
    Verbose,
    Warnings,
    Respect,
    Duplicates,
    /// Whether the initial thread gets its mask back behind the first region: no effect on a placement.
    Reset,
}

impl Switch {
    /// The name under which the parser notes that it is set, on or off.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Verbose => "verbose",
            Self::Warnings => "warnings",
            Self::Respect => "respect",
            Self::Duplicates => "duplicates",
            Self::Reset => "reset",
        }
    }
}

pub(super) const SWITCHES: [(&str, Switch, bool); 12] = [
    ("verbose", Switch::Verbose, true),
    ("noverbose", Switch::Verbose, false),
    ("warnings", Switch::Warnings, true),
    ("nowarnings", Switch::Warnings, false),
    ("respect", Switch::Respect, true),
    ("norespect", Switch::Respect, false),
    ("duplicates", Switch::Duplicates, true),
    ("noduplicates", Switch::Duplicates, false),
    ("dups", Switch::Duplicates, true),
    ("nodups", Switch::Duplicates, false),
    ("reset", Switch::Reset, true),
    ("noreset", Switch::Reset, false),
];

/// The words of granularities, and the first runtimes that know them.
const GRANULARITIES: [(&str, Granularity, Levels); 14] = {
    use Granularity::{Core, Package, Thread};
    use Levels::{Current, Documented};
    [
        ("fine", Thread, Documented),
        ("thread", Thread, Documented),
        ("core", Core, Documented),
        ("package", Package, Documented),
        ("tile", Granularity::Layer(Layer::Tile), Documented),
        ("node", Granularity::Layer(Layer::Numa), Documented),
        ("socket", Package, Current),
        ("die", Granularity::Layer(Layer::Die), Current),
        ("module", Granularity::Layer(Layer::Module), Current),
        ("numa_domain", Granularity::Layer(Layer::Numa), Current),
        ("l3_cache", Granularity::Layer(Layer::L3), Current),
        ("l2_cache", Granularity::Layer(Layer::L2), Current),
        ("l1_cache", Granularity::Layer(Layer::L1), Current),
        ("ll_cache", Granularity::Layer(Layer::LastCache), Current),
    ]
};

/// The words behind `granularity=`; older runtimes do not know all of them.
pub(super) fn granularities(dialect: Dialect) -> impl Iterator<Item = (&'static str, Granularity)> {
    let all = dialect.levels == Levels::Current || dialect.rules == Rules::Documented;
    let known = move |since| all || since == Levels::Documented;
    let words = GRANULARITIES.into_iter();
    words.filter_map(move |(word, meaning, since)| known(since).then_some((word, meaning)))
}

/// What may stand between two commas, for suggestions.
pub(super) const PARAMETERS: Words = Words(&[
    "none",
    "compact",
    "scatter",
    "balanced",
    "explicit",
    "disabled",
    "logical",
    "physical",
    "verbose",
    "noverbose",
    "warnings",
    "nowarnings",
    "respect",
    "norespect",
    "granularity=core",
    "proclist=[0,{2,3},4-8:2]",
    "an integer",
]);

/// What may stand behind `granularity=`, for suggestions.
pub(super) const LEVELS: Words = Words(&[
    "fine",
    "thread",
    "core",
    "socket",
    "package",
    "die",
    "numa_domain",
    "ll_cache",
    "l3_cache",
    "l2_cache",
    "l1_cache",
    "a number of levels",
]);
