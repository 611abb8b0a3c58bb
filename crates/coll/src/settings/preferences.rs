//! The settings that concern all collectives: rules, textbook algorithms, flags, reproducibility and call
//! checks.

use oxmpi_text::{Alias, Error, Level, Product, Setting, Words, switch};

use super::plain::plain;
use crate::choice::Reproducible;

/// The values of Cray MPICH's switches as values of `coll_reproducible`.
const SWITCHED: &[(&str, &str)] = &[("0", "off"), ("1", "placement")];

/// Parses the value of `coll_reproducible`.
///
/// # Errors
///
/// If it is another word; the error lists the allowed ones.
pub fn reproducible(text: &str) -> Result<Reproducible, Error> {
    const WORDS: Words = Words(&["off", "placement", "ranks"]);
    let all = [
        Reproducible::Off,
        Reproducible::Placement,
        Reproducible::Ranks,
    ];
    WORDS.find(text).map(|at| all[at])
}

/// The settings that concern all collectives.
pub(super) const PREFERENCES: [Setting; 5] = [
    Setting {
        name: "coll_rules",
        aliases: &[],
        default: "none",
        kind: "path",
        level: Level::Tuning,
        short: "a JSON file of rules: which algorithm serves which sizes on how many ranks",
        long: "docs/formats.md describes the file; `none` is no file. A rule serves the calls that its algorithm \
               supports; NAME_algorithm takes precedence. Every rank must have the same value.",
        check: |_| Ok(()),
    },
    Setting {
        name: "coll_plain",
        aliases: &[Alias::new(Product::CrayMpich, "MPICH_COLL_OPT_OFF")],
        default: "none",
        kind: "list",
        level: Level::Tuning,
        short: "collectives that use their textbook algorithms, whatever the expected times",
        long: "Names with commas, such as bcast,allgather, also as MPI_Bcast; `all` or `none`. This shows \
               whether a fault or a time is due to the choice. NAME_algorithm takes precedence. Every rank \
               must have the same value.",
        check: |text| plain(text, drop),
    },
    Setting {
        name: "coll_flags",
        aliases: &[Alias::new(Product::CrayMpich, "MPICH_USE_DMAPP_COLL")],
        default: "off",
        kind: "switch",
        level: Level::Tuning,
        short: "unused: whether barrier and allreduce between nodes signal by flags in remote memory",
        long: "The network writes a flag of up to 8 B without matching, which halves the time of a barrier. \
               No transport of this version can do that, so the setting only affects the choice of \
               algorithms, as `oxmpi explain` shows. Inside a node signals are flags anyway. Off by \
               default, as in Cray MPICH. Every rank must have the same value.",
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
        long: "`off`: on all ranks of a call. `placement`: also in all jobs with the same number of ranks, \
               for any placement. `ranks`: in jobs with any number of ranks; sums of floats are then exact \
               and rounded once, so that they depend on the contributions only, at 35 times the bytes, and \
               products of floats and operations of the program's own are refused. A rank's own local sums \
               are not covered; ExactSum adds without rounding. Every rank must have the same value.",
        check: |text| reproducible(text).map(drop),
    },
    Setting {
        name: "coll_check",
        aliases: &[],
        default: "off",
        kind: "switch",
        level: Level::Tuning,
        short: "whether ranks compare their calls before each collective",
        long: "Ranks that call different collectives, or one with different roots or lengths, get an error \
               that names two of them, where they might deadlock. Each collective then costs an \
               allgather more: use it to find mistakes. Every rank must have the same value.",
        check: |text| switch(text).map(drop),
    },
];
