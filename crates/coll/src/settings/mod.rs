//! The settings of collectives: their rows in the table of settings, and parsers of their values.

mod aliases;
mod costs;
mod plain;
mod preferences;

use oxmpi_text::{Alias, Error, Level, Product, Setting, Words, size};

use aliases::aliases;
pub use aliases::unsupported_hardware;
use costs::COSTS;
pub use costs::{bandwidth, latency, machine};
pub use plain::{plain, textbook};
use preferences::PREFERENCES;
pub use preferences::reproducible;

use crate::call::{Algorithm, Collective};

/// The value that leaves the choice to [`choose`](crate::choice::choose).
const AUTO: &str = "auto";

/// The number of algorithms of a collective.
const fn algorithms(collective: Collective) -> usize {
    let (mut at, mut found) = (0, 0);
    while at < Algorithm::ALL.len() {
        found += (Algorithm::ALL[at].collective() as u8 == collective as u8) as usize;
        at += 1;
    }
    found
}

/// `auto` and the names of the collective's algorithms; `N` is one more than these are.
const fn names<const N: usize>(collective: Collective) -> [&'static str; N] {
    let mut names = [AUTO; N];
    let (mut at, mut found) = (0, 0);
    while at < Algorithm::ALL.len() {
        if Algorithm::ALL[at].collective() as u8 == collective as u8 {
            found += 1;
            names[found] = Algorithm::ALL[at].name();
        }
        at += 1;
    }
    names
}

/// Makes the allowed values and the setting of each collective from its name.
macro_rules! collectives {
    ($($collective:ident $name:literal)*) => {
        /// The allowed values of the collective's `_algorithm` setting.
        const fn words(collective: Collective) -> Words {
            match collective {
                $(Collective::$collective => const {
                    Words(&names::<{ 1 + algorithms(Collective::$collective) }>(
                        Collective::$collective,
                    ))
                },)*
            }
        }

        /// One `_algorithm` setting per collective.
        const ALGORITHMS: [Setting; Collective::ALL.len()] = [$(Setting {
            name: concat!($name, "_algorithm"),
            aliases: aliases(Collective::$collective),
            default: AUTO,
            kind: "word",
            level: Level::Tuning,
            short: concat!("the algorithm of ", $name),
            long: "`auto` chooses the one with the least expected time; `oxmpi explain` shows it. A named \
                   algorithm serves every call that it supports; other calls are served as with `auto`. \
                   coll_rules sets algorithms for ranges of sizes, and parameters. Every rank must have \
                   the same value.",
            check: |text| algorithm(Collective::$collective, text).map(drop),
        },)*];
    };
}

collectives! {
    Barrier "barrier"
    Bcast "bcast"
    Gather "gather"
    Gatherv "gatherv"
    Scatter "scatter"
    Scatterv "scatterv"
    Allgather "allgather"
    Allgatherv "allgatherv"
    Alltoall "alltoall"
    Alltoallv "alltoallv"
    Reduce "reduce"
    Allreduce "allreduce"
    ReduceScatter "reduce_scatter"
    ReduceScatterBlock "reduce_scatter_block"
    Scan "scan"
    Exscan "exscan"
    NeighborAllgather "neighbor_allgather"
    NeighborAllgatherv "neighbor_allgatherv"
    NeighborAlltoall "neighbor_alltoall"
    NeighborAlltoallv "neighbor_alltoallv"
}

/// The algorithm with the name `text`; `None` for `auto`.
///
/// # Errors
///
/// If the collective has no such algorithm; the error lists its algorithms.
pub fn algorithm(collective: Collective, text: &str) -> Result<Option<Algorithm>, Error> {
    match collective.algorithm(text) {
        None => words(collective).find(text).map(|_| None),
        found => Ok(found),
    }
}

/// Copies `from` into `rows` from index `at` on and returns the index after them.
const fn append(rows: &mut [Setting], mut at: usize, from: &[Setting]) -> usize {
    let first = at;
    while at < first + from.len() {
        rows[at] = from[at - first];
        at += 1;
    }
    at
}

/// All settings of collectives. Those that end in `_algorithm` are parsed by [`algorithm`], one for each
/// collective; the others are fields of [`Tuning`](crate::choice::Tuning).
pub const SETTINGS: &[Setting] = &{
    let mut rows = [SIZES[0]; ALGORITHMS.len() + SIZES.len() + COSTS.len() + PREFERENCES.len()];
    let at = append(&mut rows, 0, &ALGORITHMS);
    let at = append(&mut rows, at, &SIZES);
    let at = append(&mut rows, at, &COSTS);
    append(&mut rows, at, &PREFERENCES);
    rows
};

const SIZES: [Setting; 3] = [
    Setting {
        name: "allreduce_ring_segment",
        aliases: &[],
        default: "1MiB",
        kind: "bytes",
        level: Level::Expert,
        short: "the longest message of the ring in allreduce",
        long: "A rank's share is cut into messages of this length, at most 64, so that one is reduced \
               while the next one travels. Every rank must have the same value.",
        check: |text| size(text).map(drop),
    },
    Setting {
        name: "gatherv_short",
        aliases: &[Alias::new(Product::CrayMpich, "MPICH_GATHERV_SHORT_MSG")],
        default: "16KiB",
        kind: "bytes",
        level: Level::Tuning,
        short: "the longest block that gatherv sends through its tree",
        long: "Longer blocks go straight to the root, which requests a few at a time. Each block's own \
               length counts; in Cray MPICH the average does. 0 counts as 1. Every rank must have the \
               same value.",
        check: |text| size(text).map(drop),
    },
    Setting {
        name: "scatterv_short",
        aliases: &[Alias::new(Product::CrayMpich, "MPICH_SCATTERV_SHORT_MSG")],
        default: "16KiB",
        kind: "bytes",
        level: Level::Tuning,
        short: "the longest block that scatterv sends through its tree",
        long: "Longer blocks come straight from the root, a few at a time. Each block's own length \
               counts; in Cray MPICH the average does. 0 counts as 1. Every rank must have the same \
               value.",
        check: |text| size(text).map(drop),
    },
];

#[cfg(test)]
mod tests {
    use oxmpi_text::{Setting, size};

    use super::{AUTO, SETTINGS, algorithm, words};
    use crate::call::{Algorithm, Collective};
    use crate::choice::Tuning;

    fn row(name: &str) -> &'static Setting {
        SETTINGS
            .iter()
            .find(|row| row.name == name)
            .expect("the setting exists")
    }

    #[test]
    fn every_algorithm_can_be_set_by_name() {
        for algorithm in Algorithm::ALL {
            assert_eq!(
                super::algorithm(algorithm.collective(), algorithm.name()),
                Ok(Some(algorithm))
            );
        }
        for collective in Collective::ALL {
            assert_eq!(algorithm(collective, AUTO), Ok(None));
            assert_eq!(
                words(collective).0.len(),
                1 + collective.algorithms().count()
            );
            let is_row =
                |row: &&Setting| row.name.strip_suffix("_algorithm") == Some(collective.name());
            assert_eq!(
                SETTINGS.iter().any(|row| is_row(&row)),
                collective.algorithms().next().is_some(),
                "{collective} has a row where it has an algorithm"
            );
        }
    }

    #[test]
    fn former_names_are_accepted() {
        let named = |name| algorithm(Collective::Allreduce, name);
        assert_eq!(named("team"), Ok(Some(Algorithm::AllreduceIntraNode)));
        // word 'lane': a former name
        assert_eq!(named("lane-circulant"), named("rail-circulant"));
        // word 'guest': a former name
        assert!(named("guest").is_err(), "reduce alone has that one");
    }

    #[test]
    fn a_wrong_name_is_answered_by_the_right_ones() {
        let error =
            algorithm(Collective::Allreduce, "rinng").expect_err("there is no such algorithm");
        assert_eq!(error.suggestion, Some("ring"));
    }

    #[test]
    fn settings_and_tuning_have_the_same_defaults() {
        assert!(SETTINGS.iter().all(|row| (row.check)(row.default).is_ok()));
        let tuning = Tuning::default();
        assert_eq!(
            size(row("allreduce_ring_segment").default),
            Ok(tuning.ring_segment_bytes)
        );
        for (name, bytes, algorithm) in [
            (
                "gatherv_short",
                tuning.gatherv_short_bytes,
                Algorithm::GathervKnomial,
            ),
            (
                "scatterv_short",
                tuning.scatterv_short_bytes,
                Algorithm::ScattervKnomial,
            ),
        ] {
            assert_eq!(size(row(name).default), Ok(bytes));
            assert_eq!(algorithm.row().parameters.cutoff, bytes);
        }
    }
}
