//! The result of placing ranks: the processors of each, the explanation, and the warnings.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use oxmpi_topo::CpuSet;

/// Where the ranks of one node run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// One entry for each rank, in the order of ranks.
    pub ranks: Vec<RankPlace>,
    /// The processors that the job may use: those of the machine that are in the inherited mask.
    pub allowed: CpuSet,
    /// What was done and why, in whole sentences.
    pub explanation: String,
    /// Requests that could not be met.
    pub warnings: Vec<Warning>,
}

impl Placement {
    /// Whether some rank has fewer than all allowed processors. If not, the caller has no affinity to set.
    pub fn is_pinned(&self) -> bool {
        self.ranks.iter().any(|rank| rank.cpus != self.allowed)
    }
}

/// The processors of one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankPlace {
    /// The rank's number on the node, from 0.
    pub rank: u32,
    /// The rank's processors, by the operating system's numbers; never empty.
    pub cpus: CpuSet,
}

/// A number and a noun in singular or plural: `1 rank`, `2 ranks`.
pub(crate) fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// A request that could not be met; the job runs nevertheless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The kind of warning.
    pub code: WarningCode,
    /// The variable parts of the text, in the order that the kind's description names.
    pub args: Vec<String>,
    /// The whole text of the warning.
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

    /// The warning that `ignored` has no effect because `by` is set.
    pub fn overridden(ignored: &str, by: &str) -> Self {
        let text = format!("{ignored} is ignored because {by} is set; unset one of them");
        Self::new(WarningCode::SettingOverridden, [&ignored, &by], text)
    }
}

/// The kinds of warnings. The meaning of a code never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningCode {
    /// `size-clipped`: a domain has fewer processors than asked. Arguments: asked, allowed.
    SizeClipped,
    /// `mask-elsewhere`: the inherited mask names no processor of the machine. Arguments: mask,
    /// the machine's processors.
    MaskElsewhere,
    /// `not-allowed`: a list has processors that the job may not use. Arguments: these, the allowed.
    NotAllowed,
    /// `all-excluded`: the exclude list has all allowed processors. Arguments: the list, the allowed.
    AllExcluded,
    /// `parameter-invalid`: an unknown word in a setting of threads. Argument: the word.
    ParameterInvalid,
    /// `parameter-repeated`: a parameter that is given twice. Argument: the later one.
    ParameterRepeated,
    /// `trailing-characters`: characters behind a complete parameter. Argument: these characters.
    TrailingCharacters,
    /// `too-many-integers`: more integers than the type of affinity takes. Argument: the ignored ones.
    TooManyIntegers,
    /// `integers-ignored`: integers for a type of affinity that takes none. Argument: the type.
    IntegersIgnored,
    /// `proclist`: a list of processors contradicts the type of affinity.
    Proclist,
    /// `list-syntax`: a list of processors has a syntax error.
    ListSyntax,
    /// `list-range`: an impossible range of processors. Arguments: from, to, stride, as far as they matter.
    ListRange,
    /// `no-such-processor`: a list names a processor that is missing or not allowed. Argument: its number.
    NoSuchProcessor,
    /// `no-processor-left`: no processor of a list exists.
    NoProcessorLeft,
    /// `granularity-chosen`: `balanced` without a granularity binds to cores.
    GranularityChosen,
    /// `no-such-level`: the machine does not have a level. Argument: the level's word.
    NoSuchLevel,
    /// `granularity-too-coarse`: one place is the whole machine.
    GranularityTooCoarse,
    /// `balanced-unavailable`: the machine has no cores for `balanced`.
    BalancedUnavailable,
    /// `team-clipped`: a team has more threads than can be placed. Arguments: asked, placed.
    TeamClipped,
    /// `setting-unreadable`: a setting has a syntax error. For threads, the setting is ignored; argument: its
    /// text, if the warning has it. For ranks, callers warn so of [`Unreadable`](crate::Unreadable);
    /// argument: the setting's name.
    SettingUnreadable,
    /// `setting-overridden`: a setting is ignored because of another. Arguments: the ignored, the other.
    SettingOverridden,
    /// `threads-exceed-domain`: a rank has fewer processors than threads. Arguments: rank, threads, its
    /// processors.
    ThreadsExceedDomain,
    /// `processor-shared`: two ranks on one processor. Arguments: both ranks, the shared processors, the idle
    /// ones.
    ProcessorShared,
    /// `sibling-shared`: two ranks on one core while another core is idle. Arguments: both ranks, the core,
    /// an idle core.
    SiblingShared,
    /// `domain-across-numa`: a rank has parts of several NUMA nodes. Arguments: rank, its processors.
    DomainAcrossNuma,
    /// `far-from-rdma`: ranks are not near the active RDMA port. Arguments: the ranks, the processors near
    /// the port.
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
