//! The result: who runs where, why, and what was not as asked.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use oxmpi_topo::CpuSet;

/// Where the ranks of one node run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// One entry for each rank, in their order.
    pub ranks: Vec<RankPlace>,
    /// The processors that the job may use: those of the machine that the inherited mask leaves.
    pub allowed: CpuSet,
    /// What was done and why, in whole sentences.
    pub explanation: String,
    /// What could not be done as asked.
    pub warnings: Vec<Warning>,
}

impl Placement {
    /// Whether some rank has less than all allowed processors. If not, there is nothing to apply.
    pub fn is_pinned(&self) -> bool {
        self.ranks.iter().any(|rank| rank.cpus != self.allowed)
    }
}

/// Where one rank runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankPlace {
    /// Its number on the node, from 0.
    pub rank: u32,
    /// Its processors, as the operating system numbers them; never empty.
    pub cpus: CpuSet,
}

/// So many things, in words.
pub(crate) fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// Something that could not be done as asked; the job runs all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Which kind of thing.
    pub code: WarningCode,
    /// What varies in the text, in the order of the code's description.
    pub args: Vec<String>,
    /// The whole text.
    pub text: String,
}

impl Warning {
    /// A warning of this kind; `args` in the order of the kind's description.
    pub(crate) fn new<const N: usize>(
        code: WarningCode,
        args: [&dyn fmt::Display; N],
        text: String,
    ) -> Self {
        let args = args.iter().map(ToString::to_string).collect();
        Self { code, args, text }
    }

    /// The setting `ignored` does nothing because of the setting `by`.
    pub fn overridden(ignored: &str, by: &str) -> Self {
        let text = format!("{ignored} is ignored because {by} is set; unset one of them");
        Self::new(WarningCode::SettingOverridden, [&ignored, &by], text)
    }
}

/// The kinds of warnings. The text of a code never changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningCode {
    /// `size-clipped`: a domain has fewer processors than asked. Arguments: asked, allowed.
    SizeClipped,
    /// `mask-elsewhere`: the inherited mask names no processor of the machine. Arguments: mask,
    /// the machine's processors.
    MaskElsewhere,
    /// `not-allowed`: processors of a list that the job may not use. Arguments: those, the allowed.
    NotAllowed,
    /// `all-excluded`: the exclude list has all processors. Arguments: the list, the allowed.
    AllExcluded,
    /// `parameter-invalid`: a word of a setting of threads that means nothing. Argument: the word.
    ParameterInvalid,
    /// `parameter-repeated`: a parameter that was there before. Argument: the later one.
    ParameterRepeated,
    /// `trailing-characters`: something behind a complete parameter. Argument: that.
    TrailingCharacters,
    /// `too-many-integers`: more integers than the type of affinity takes. Argument: what is ignored.
    TooManyIntegers,
    /// `integers-ignored`: integers for a type of affinity that takes none. Argument: the type.
    IntegersIgnored,
    /// `proclist`: a list of processors and the type of affinity do not go together.
    Proclist,
    /// `list-syntax`: a list of processors does not read.
    ListSyntax,
    /// `list-range`: a range of processors that cannot be. Arguments: from, to, stride, as far as they matter.
    ListRange,
    /// `no-such-processor`: a processor of a list that is not there or not allowed. Argument: its number.
    NoSuchProcessor,
    /// `no-processor-left`: none of a list is there.
    NoProcessorLeft,
    /// `granularity-chosen`: `balanced` binds to cores where nothing else is asked.
    GranularityChosen,
    /// `no-such-level`: the machine has no such level. Argument: its word.
    NoSuchLevel,
    /// `granularity-too-coarse`: one place takes in the whole machine.
    GranularityTooCoarse,
    /// `balanced-unavailable`: `balanced` has no meaning on this machine.
    BalancedUnavailable,
    /// `team-clipped`: a team has more threads than are placed. Arguments: asked, placed.
    TeamClipped,
    /// `setting-unreadable`: a setting that does not read. Of threads it is left out; argument: its text, if that is part of
    /// the warning. Of ranks, callers warn so of [`Unreadable`](crate::Unreadable); argument: its name.
    SettingUnreadable,
    /// `setting-overridden`: one setting is ignored because of another. Arguments: the ignored, the other.
    SettingOverridden,
    /// `threads-exceed-domain`: a rank has fewer processors than threads. Arguments: rank, threads, its processors.
    ThreadsExceedDomain,
    /// `processor-shared`: two ranks on one processor. Arguments: both ranks, what they share, the idle processors.
    ProcessorShared,
    /// `sibling-shared`: two ranks on one core while another is idle. Arguments: both ranks, the core, an idle one.
    SiblingShared,
    /// `domain-across-numa`: a rank reaches over the border of a NUMA node. Arguments: rank, its processors.
    DomainAcrossNuma,
    /// `far-from-rdma`: ranks away from the active RDMA port. Arguments: the ranks, the processors near it.
    FarFromRdma,
}

impl fmt::Display for WarningCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SizeClipped => "size-clipped",
            Self::MaskElsewhere => "mask-elsewhere",
            Self::NotAllowed => "not-allowed",
            Self::AllExcluded => "all-excluded",
            Self::ParameterInvalid => "parameter-invalid",
            Self::ParameterRepeated => "parameter-repeated",
            Self::TrailingCharacters => "trailing-characters",
            Self::TooManyIntegers => "too-many-integers",
            Self::IntegersIgnored => "integers-ignored",
            Self::Proclist => "proclist",
            Self::ListSyntax => "list-syntax",
            Self::ListRange => "list-range",
            Self::NoSuchProcessor => "no-such-processor",
            Self::NoProcessorLeft => "no-processor-left",
            Self::GranularityChosen => "granularity-chosen",
            Self::NoSuchLevel => "no-such-level",
            Self::GranularityTooCoarse => "granularity-too-coarse",
            Self::BalancedUnavailable => "balanced-unavailable",
            Self::TeamClipped => "team-clipped",
            Self::SettingUnreadable => "setting-unreadable",
            Self::SettingOverridden => "setting-overridden",
            Self::ThreadsExceedDomain => "threads-exceed-domain",
            Self::ProcessorShared => "processor-shared",
            Self::SiblingShared => "sibling-shared",
            Self::DomainAcrossNuma => "domain-across-numa",
            Self::FarFromRdma => "far-from-rdma",
        })
    }
}
