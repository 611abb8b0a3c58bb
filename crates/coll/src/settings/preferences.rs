//! What a user can wish of all collectives, as settings.

use oxmpi_text::{Alias, Error, Level, Product, Setting, Words, switch};

use super::plain::plain;
use crate::choice::Reproducible;

/// What a variable of Cray MPICH that is a switch means to the wish for reproducible results.
const SWITCHED: &[(&str, &str)] = &[("0", "off"), ("1", "placement")];

/// Reads when results are to be reproducible.
///
/// # Errors
///
/// Another word; the error lists those there are.
pub fn reproducible(text: &str) -> Result<Reproducible, Error> {
    const WORDS: Words = Words(&["off", "placement", "ranks"]);
    let all = [
        Reproducible::Off,
        Reproducible::Placement,
        Reproducible::Ranks,
    ];
    WORDS.find(text).map(|at| all[at])
}

/// What a user can wish of all collectives.
pub(super) const PREFERENCES: [Setting; 5] = [
    Setting {
        name: "coll_rules",
        aliases: &[],
        default: "",
        kind: "path",
        level: Level::Tuning,
        short: "a JSON file of rules: which algorithm serves which sizes on how many ranks",
        long: "docs/formats.md describes it. A rule serves the calls that its algorithm suits; what \
               NAME_algorithm asks for is stronger. Every rank must be given the same.",
        check: |_| Ok(()),
    },
    Setting {
        name: "coll_plain",
        aliases: &[Alias::new(Product::CrayMpich, "MPICH_COLL_OPT_OFF")],
        default: "none",
        kind: "list",
        level: Level::Tuning,
        short: "collectives that the textbook's algorithms serve, whatever others would cost",
        long: "Names with commas, such as bcast,allgather, also as MPI_Bcast; `all` or `none`. To see \
               whether a fault or a time comes of the choice. NAME_algorithm is stronger. Every rank \
               must be told the same.",
        check: |text| plain(text, drop),
    },
    Setting {
        name: "coll_flags",
        aliases: &[Alias::new(Product::CrayMpich, "MPICH_USE_DMAPP_COLL")],
        default: "off",
        kind: "switch",
        level: Level::Tuning,
        short: "whether barrier and allreduce between nodes signal by flags in the other's memory",
        long: "Flags, which may carry one word of 8 B, are written by the network and match nothing, \
               which halves a barrier's time. This version has no network that could, so that it \
               moves the choice of algorithms only, as `oxmpi explain` shows it; inside a node \
               signals are flags anyway. Off by default, as in Cray MPICH. Every rank must be told the same.",
        check: |text| switch(text).map(drop),
    },
    Setting {
        name: "coll_reproducible",
        aliases: &[
            Alias {
                product: Product::IntelMpi,
                name: "I_MPI_CBWR",
                values: &[
                    ("0", "off"),
                    ("none", "off"),
                    ("1", "placement"),
                    ("weak_mode", "placement"),
                    ("2", "placement"),
                    ("strict_mode", "placement"),
                ],
            },
            Alias {
                product: Product::CrayMpich,
                name: "MPICH_ALLREDUCE_NO_SMP",
                values: SWITCHED,
            },
            Alias {
                product: Product::CrayMpich,
                name: "MPICH_REDUCE_NO_SMP",
                values: SWITCHED,
            },
        ],
        default: "off",
        kind: "word",
        level: Level::Tuning,
        short: "when reductions that round give the same bits: off, placement or ranks",
        long: "`off`: on every rank. `placement`: also in every job of as many ranks, wherever they \
               are. `ranks`: in jobs of any number of ranks: sums of floats are exact and rounded once, \
               so that they depend on what the ranks bring and on nothing else, at 35 times the bytes; \
               products of floats and operations of the program's own are refused. What a rank has \
               added up before is its own affair; ExactSum adds without rounding. Every rank must be \
               told the same.",
        check: |text| reproducible(text).map(drop),
    },
    Setting {
        name: "coll_check",
        aliases: &[],
        default: "off",
        kind: "switch",
        level: Level::Tuning,
        short: "whether ranks compare what they call before each collective",
        long: "Ranks that call different collectives, or one with different roots or lengths, get an \
               error that names two of them, where they might wait for ever. It costs an allgather for \
               each collective: for finding mistakes. Every rank must be told the same.",
        check: |text| switch(text).map(drop),
    },
];
