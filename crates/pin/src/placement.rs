//! The result: who runs where, why, and what was not as asked.

use alloc::string::String;
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

/// The kinds of warnings. The text of a code never changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningCode {
    /// `size-clipped`: a domain has fewer processors than asked. Arguments: asked, allowed.
    SizeClipped,
    /// `mask-elsewhere`: the inherited mask names no processor of the machine. Arguments: mask,
    /// the machine's processors.
    MaskElsewhere,
}

impl fmt::Display for WarningCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SizeClipped => "size-clipped",
            Self::MaskElsewhere => "mask-elsewhere",
        })
    }
}
