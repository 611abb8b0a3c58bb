//! The warnings of OpenMP runtimes about settings of threads, in the runtimes' own words.

use core::fmt;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::placement::{Warning, WarningCode};

/// One warning about a setting of threads. The texts are those of Intel's and LLVM's runtimes, without the
/// prefix `OMP: Warning #N: `, whose number differs between releases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// A word that is no parameter.
    Invalid(String),
    /// A parameter that is given twice.
    Repeated(String),
    /// Characters behind a complete parameter.
    Trailing(String),
    /// A third integer, and the text behind it.
    ManyIntegers(String),
    /// A second integer for `logical` or `physical`.
    ManyForLogical(u64),
    /// Integers for a type that takes none.
    NoIntegers(&'static str),
    /// `explicit` without a list.
    NoProclist,
    /// A list without a type.
    ProclistAlone,
    /// A list with a type that is not `explicit`.
    ProclistIdle,
    /// A list with a syntax error.
    ListSyntax,
    /// A range with stride 0.
    ZeroStride,
    /// A range that goes down with a positive stride: from, to.
    Downwards(u64, u64),
    /// A range that goes up with a negative stride: from, to.
    Upwards(u64, u64),
    /// A range of too many processors: from, to, stride.
    RangeTooLong(u64, u64, i64),
    /// A list of more processors than this limit.
    ListTooLong(usize),
    /// A processor that is missing or not allowed; negative if places count down below 0.
    NoSuchProcessor(i64),
    /// A list none of whose processors exists.
    NoProcessorLeft,
    /// `balanced` without a granularity: `core` is used.
    GranularityChosen,
    /// `OMP_PLACES` with a syntax error.
    PlacesSyntax,
    /// `OMP_PLACES` with more processors than this limit.
    PlacesTooLong(u64),
    /// A value that the setting does not know.
    BadValue(String),
    /// `KMP_HW_SUBSET` with a syntax error.
    SubsetSyntax(String),
    /// `KMP_HW_SUBSET` with a level that the machine does not have.
    SubsetLevel(&'static str),
    /// `KMP_HW_SUBSET` that leaves no processor.
    SubsetEmpty,
    /// A team of more threads than can be placed: asked, placed.
    TeamTooLarge(u32, u32),
    /// A granularity with a level that the machine does not have.
    NoSuchLevel(&'static str),
    /// A granularity that makes the whole machine one place.
    TooCoarse,
    /// `balanced` on a machine that has no cores to balance over.
    NoBalanced,
    /// A setting that another one overrides: the ignored setting, the other setting.
    Overridden(&'static str, &'static str),
}

impl Message {
    fn code(&self) -> WarningCode {
        match self {
            Self::Invalid(_) => WarningCode::ParameterInvalid,
            Self::Repeated(_) => WarningCode::ParameterRepeated,
            Self::Trailing(_) => WarningCode::TrailingCharacters,
            Self::ManyIntegers(_) | Self::ManyForLogical(_) => WarningCode::TooManyIntegers,
            Self::NoIntegers(_) => WarningCode::IntegersIgnored,
            Self::NoProclist | Self::ProclistAlone | Self::ProclistIdle => WarningCode::Proclist,
            Self::ListSyntax => WarningCode::ListSyntax,
            Self::ZeroStride
            | Self::Downwards(..)
            | Self::Upwards(..)
            | Self::RangeTooLong(..)
            | Self::ListTooLong(_)
            | Self::PlacesTooLong(_) => WarningCode::ListRange,
            Self::PlacesSyntax | Self::BadValue(_) | Self::SubsetSyntax(_) => {
                WarningCode::SettingUnreadable
            }
            Self::SubsetLevel(_) => WarningCode::NoSuchLevel,
            Self::SubsetEmpty => WarningCode::NoProcessorLeft,
            Self::TeamTooLarge(..) => WarningCode::TeamClipped,
            Self::NoSuchProcessor(_) => WarningCode::NoSuchProcessor,
            Self::NoProcessorLeft => WarningCode::NoProcessorLeft,
            Self::GranularityChosen => WarningCode::GranularityChosen,
            Self::NoSuchLevel(_) => WarningCode::NoSuchLevel,
            Self::TooCoarse => WarningCode::GranularityTooCoarse,
            Self::NoBalanced => WarningCode::BalancedUnavailable,
            Self::Overridden(..) => WarningCode::SettingOverridden,
        }
    }

    fn arguments(&self) -> Vec<String> {
        match self {
            Self::Invalid(text)
            | Self::Repeated(text)
            | Self::Trailing(text)
            | Self::ManyIntegers(text)
            | Self::BadValue(text)
            | Self::SubsetSyntax(text) => [text.clone()].into(),
            Self::ManyForLogical(number) => [number.to_string()].into(),
            Self::NoSuchProcessor(number) => [number.to_string()].into(),
            Self::ListTooLong(most) => [most.to_string()].into(),
            Self::TeamTooLarge(asked, placed) => [asked.to_string(), placed.to_string()].into(),
            Self::NoIntegers(word) | Self::NoSuchLevel(word) | Self::SubsetLevel(word) => {
                [word.to_string()].into()
            }
            Self::Downwards(from, to) | Self::Upwards(from, to) => {
                [from.to_string(), to.to_string()].into()
            }
            Self::RangeTooLong(from, to, stride) => {
                [from.to_string(), to.to_string(), stride.to_string()].into()
            }
            Self::Overridden(ignored, reason) => [ignored.to_string(), reason.to_string()].into(),
            _ => Vec::new(),
        }
    }

    /// The warning about the setting `name`.
    pub(crate) fn about(&self, name: &str) -> Warning {
        let text = match self {
            Self::NoSuchProcessor(_)
            | Self::NoProcessorLeft
            | Self::TooCoarse
            | Self::Overridden(..) => self.to_string(),
            Self::SubsetLevel(_) | Self::SubsetEmpty => alloc::format!("{name} {self}"),
            _ => alloc::format!("{name}: {self}"),
        };
        Warning {
            code: self.code(),
            args: self.arguments(),
            text,
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let no_affinity = "not using affinity.";
        match self {
            Self::Invalid(text) => write!(f, "parameter invalid, ignoring \"{text}\"."),
            Self::Repeated(text) => {
                write!(f, "parameter has been specified already, ignoring \"{text}\".")
            }
            Self::Trailing(text) => write!(f, "extra trailing characters ignored: \"{text}\"."),
            Self::ManyIntegers(text) => {
                write!(f, "too many integer parameters specified, ignoring \"{text}\".")
            }
            Self::ManyForLogical(number) => write!(
                f,
                "too many integer parameters specified for logical or physical type, ignoring \"{number}\"."
            ),
            Self::NoIntegers(word) => write!(
                f,
                "'{word}' type does not take any integer parameters, ignoring them."
            ),
            Self::NoProclist => f.write_str(
                "proclist not specified with explicit affinity type, using \"none\".",
            ),
            Self::ProclistAlone => {
                f.write_str("proclist specified, setting affinity type to \"explicit\".")
            }
            Self::ProclistIdle => f.write_str(
                "proclist specified without \"explicit\" affinity type, proclist ignored.",
            ),
            Self::ListSyntax => write!(f, "syntax error, {no_affinity}"),
            Self::ZeroStride => write!(f, "range error (zero stride), {no_affinity}"),
            Self::Downwards(from, to) => write!(f, "range error ({from} > {to}), {no_affinity}"),
            Self::Upwards(from, to) => {
                write!(f, "range error ({from} < {to} & stride < 0), {no_affinity}")
            }
            Self::RangeTooLong(from, to, stride) => {
                write!(f, "range error (({to}-{from})/{stride} too big), {no_affinity}")
            }
            Self::ListTooLong(most) => {
                write!(f, "more than {most} processors in a list, {no_affinity}")
            }
            Self::PlacesSyntax => f.write_str("syntax error, using cores."),
            Self::PlacesTooLong(most) => {
                write!(f, "more than {most} processors in all, using cores.")
            }
            Self::BadValue(text) => write!(f, "\"{text}\" is an invalid value; ignored."),
            Self::SubsetSyntax(text) => write!(
                f,
                "invalid value \"{text}\", valid format is \"N<item>[@N][,...][,Nt] (<item> can be S, N, L2, C, T  for Socket, NUMA Node, L2 Cache, Core, Thread)\"."
            ),
            Self::SubsetLevel(level) => {
                write!(f, "ignored: {level}: level not detected in machine topology.")
            }
            Self::SubsetEmpty => f.write_str(
                "ignored: all hardware resources would be filtered, please reduce the filter.",
            ),
            Self::TeamTooLarge(asked, placed) => {
                write!(f, "{asked} threads asked, the first {placed} are placed.")
            }
            Self::NoSuchProcessor(number) => write!(f, "Ignoring invalid OS proc ID {number}."),
            Self::NoProcessorLeft => {
                write!(f, "No valid OS proc IDs specified - {no_affinity}")
            }
            Self::GranularityChosen => f.write_str("granularity=core will be used."),
            Self::NoSuchLevel(level) => write!(
                f,
                "granularity setting: {level} does not exist in topology.  Using granularity=core instead."
            ),
            Self::TooCoarse => f.write_str(
                "Threads may migrate across all available OS procs (granularity setting too coarse).",
            ),
            Self::NoBalanced => f.write_str("Affinity balanced is not available."),
            Self::Overridden(ignored, reason) => {
                write!(f, "{ignored}: ignored because {reason} has been defined")
            }
        }
    }
}
