//! The settings of collectives: their rows in the table of settings, and their grammar.

use oxmpi_text::{Error, Level, Setting, Words, size};

use crate::catalog::{Algorithm, Collective};

/// The word that leaves the choice to [`choose`](crate::choice::choose).
const AUTO: &str = "auto";

const BARRIER: Words = Words(&[AUTO, Algorithm::BarrierDissemination.name()]);
const BCAST: Words = Words(&[AUTO, Algorithm::BcastBinomial.name()]);
const REDUCE: Words = Words(&[AUTO, Algorithm::ReduceBinomial.name()]);
const ALLREDUCE: Words = Words(&[
    AUTO,
    Algorithm::AllreduceRecursiveDoubling.name(),
    Algorithm::AllreduceRing.name(),
]);

/// The words that the setting of the collective's algorithm knows.
const fn words(collective: Collective) -> Words {
    match collective {
        Collective::Barrier => BARRIER,
        Collective::Bcast => BCAST,
        Collective::Reduce => REDUCE,
        Collective::Allreduce => ALLREDUCE,
    }
}

/// The algorithm that the text asks for; `None` for `auto`.
///
/// # Errors
///
/// What is no algorithm of the collective; the error lists those there are.
pub fn algorithm(collective: Collective, text: &str) -> Result<Option<Algorithm>, Error> {
    words(collective).find(text)?;
    Ok(collective
        .algorithms()
        .find(|algorithm| algorithm.name() == text))
}

/// The rows of collectives in the table of settings. Those that end in `_algorithm` are read by
/// [`algorithm`], the others are sizes in bytes: the fields of [`Tuning`](crate::choice::Tuning).
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "barrier_algorithm",
        aliases: &[],
        default: AUTO,
        kind: "word",
        level: Level::Tuning,
        short: "the algorithm of barrier: auto or dissemination",
        long: "`dissemination` takes the fewest rounds for every number of ranks.",
        check: |text| algorithm(Collective::Barrier, text).map(drop),
    },
    Setting {
        name: "bcast_algorithm",
        aliases: &[],
        default: AUTO,
        kind: "word",
        level: Level::Tuning,
        short: "the algorithm of bcast: auto or binomial",
        long: "`binomial` takes the fewest rounds, and sends the whole vector in each.",
        check: |text| algorithm(Collective::Bcast, text).map(drop),
    },
    Setting {
        name: "reduce_algorithm",
        aliases: &[],
        default: AUTO,
        kind: "word",
        level: Level::Tuning,
        short: "the algorithm of reduce: auto or binomial",
        long: "`binomial` takes the fewest rounds, and sends the whole vector in each.",
        check: |text| algorithm(Collective::Reduce, text).map(drop),
    },
    Setting {
        name: "allreduce_algorithm",
        aliases: &[],
        default: AUTO,
        kind: "word",
        level: Level::Tuning,
        short: "the algorithm of allreduce: auto, recursive-doubling or ring",
        long: "`recursive-doubling` takes few rounds and sends the whole vector in each: for small \
               vectors. `ring` takes many rounds and sends the least volume: for large ones. It \
               serves operations that commute; others are always served by recursive doubling. \
               `auto` goes by size.",
        check: |text| algorithm(Collective::Allreduce, text).map(drop),
    },
    Setting {
        name: "allreduce_ring_from",
        aliases: &[],
        default: "64KiB",
        kind: "bytes",
        level: Level::Tuning,
        short: "the shortest vector for which allreduce chooses the ring",
        long: "Shorter vectors are served by recursive doubling. See allreduce_ring_chunk for many \
               ranks.",
        check: |text| size(text).map(drop),
    },
    Setting {
        name: "allreduce_ring_chunk",
        aliases: &[],
        default: "4KiB",
        kind: "bytes",
        level: Level::Tuning,
        short: "the shortest share of one rank for which allreduce chooses the ring",
        long: "The ring cuts the vector into one share for each rank and takes two rounds for \
               each. With shares shorter than this the rounds cost more than the smaller volume \
               saves.",
        check: |text| size(text).map(drop),
    },
    Setting {
        name: "allreduce_ring_segment",
        aliases: &[],
        default: "1MiB",
        kind: "bytes",
        level: Level::Expert,
        short: "the longest message of the ring in allreduce",
        long: "A rank's share is cut into messages of this length, 64 at most, so that one is \
               reduced while the next one travels.",
        check: |text| size(text).map(drop),
    },
];

#[cfg(test)]
mod tests {
    use oxmpi_text::{Setting, size};

    use super::{AUTO, SETTINGS, algorithm, words};
    use crate::catalog::{Algorithm, Collective};
    use crate::choice::Tuning;

    fn row(name: &str) -> &'static Setting {
        SETTINGS
            .iter()
            .find(|row| row.name == name)
            .expect("the row is there")
    }

    #[test]
    fn every_algorithm_can_be_asked_for() {
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
            assert!(
                SETTINGS.iter().any(|row| is_row(&row)),
                "{collective} has a row"
            );
        }
    }

    #[test]
    fn a_wrong_name_is_answered_by_the_right_ones() {
        let error =
            algorithm(Collective::Allreduce, "rinng").expect_err("there is no such algorithm");
        assert_eq!(error.suggestion, Some("ring"));
    }

    #[test]
    fn the_table_and_the_tuning_have_the_same_defaults() {
        assert!(SETTINGS.iter().all(|row| (row.check)(row.default).is_ok()));
        let tuning = Tuning::default();
        assert_eq!(
            size(row("allreduce_ring_from").default),
            Ok(tuning.ring_from_bytes)
        );
        assert_eq!(
            size(row("allreduce_ring_chunk").default),
            Ok(tuning.ring_chunk_bytes)
        );
        assert_eq!(
            size(row("allreduce_ring_segment").default),
            Ok(tuning.ring_segment_bytes)
        );
    }
}
