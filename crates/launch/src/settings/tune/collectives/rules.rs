//! The rules that measurements say.

use oxmpi_coll::catalog::{Algorithm, Collective};
use oxmpi_coll::choice::RULES;
use serde_json::json;

/// The measured times of a collective by one algorithm, or as it is usually served, for one length.
pub(super) struct CollectiveTimes {
    pub(super) collective: Collective,
    pub(super) ranks: u32,
    pub(super) algorithm: Option<Algorithm>,
    pub(super) bytes: u64,
    /// Nanoseconds of a call, one number a round.
    pub(super) rounds: Vec<f64>,
}

impl CollectiveTimes {
    fn median(&self) -> f64 {
        let mut rounds = self.rounds.clone();
        rounds.sort_by(f64::total_cmp);
        rounds[rounds.len() / 2]
    }

    fn least(&self) -> f64 {
        self.rounds.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// How much less, in percent, an algorithm must take than what is usual.
pub(super) const PERCENT: u32 = 5;

/// A collective on some ranks for one length: the least usual time, and the fastest algorithm with its median, in
/// nanoseconds. So a busy machine makes no rule: it slows down some rounds of what is usual, but not all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Comparison {
    pub(super) collective: Collective,
    pub(super) ranks: u32,
    pub(super) bytes: u64,
    pub(super) usual: f64,
    pub(super) fastest: (Algorithm, f64),
}

impl Comparison {
    /// Whether the algorithm takes so much less that a rule is worth it.
    pub(super) fn gains(&self) -> bool {
        self.fastest.1 * f64::from(100 + PERCENT) < self.usual * 100.0
    }
}

/// Compares all algorithms for each collective, number of ranks and length, in the order of the usual times.
pub(super) fn compared(times: &[CollectiveTimes]) -> Vec<Comparison> {
    let usual = times.iter().filter(|one| one.algorithm.is_none());
    let compare = |usual: &CollectiveTimes| {
        let &CollectiveTimes {
            collective,
            ranks,
            bytes,
            ..
        } = usual;
        let of_call = |one: &&CollectiveTimes| {
            (one.collective, one.ranks, one.bytes) == (collective, ranks, bytes)
        };
        let algorithms = times.iter().filter(of_call);
        let medians = algorithms.filter_map(|one| Some((one.algorithm?, one.median())));
        let fastest = medians.min_by(|one, other| one.1.total_cmp(&other.1))?;
        Some(Comparison {
            collective,
            ranks,
            bytes,
            usual: usual.least(),
            fastest,
        })
    };
    usual.filter_map(compare).collect()
}

/// A rule: an algorithm for ranges of ranks and bytes, both ends included; without an end where there is none.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MeasuredRule {
    algorithm: Algorithm,
    ranks: (u32, u32),
    bytes: (u64, Option<u64>),
    /// The largest factor by which it is faster.
    factor: f64,
}

/// The rules. A measured length stands for those up to the next one, a number of ranks for those below its double. Of
/// more rules than a collective may have, those that gain least are left out.
pub(super) fn rules(comparisons: &[Comparison]) -> Vec<MeasuredRule> {
    let mut rules: Vec<MeasuredRule> = Vec::new();
    for (at, one) in comparisons.iter().enumerate() {
        if !one.gains() {
            continue;
        }
        let is_next =
            |next: &&Comparison| (next.collective, next.ranks) == (one.collective, one.ranks);
        let next = comparisons
            .get(at + 1)
            .filter(is_next)
            .map(|next| next.bytes - 1);
        let is_first = at == 0 || !is_next(&&comparisons[at - 1]);
        let rule = MeasuredRule {
            algorithm: one.fastest.0,
            ranks: (one.ranks, 2 * one.ranks - 1),
            bytes: (if is_first { 0 } else { one.bytes }, next),
            factor: one.usual / one.fastest.1,
        };
        match rules.last_mut() {
            Some(last) if last.continues(&rule) => {
                last.bytes.1 = rule.bytes.1;
                last.factor = last.factor.max(rule.factor);
            }
            _ => rules.push(rule),
        }
    }
    let collective = |rule: &MeasuredRule| rule.algorithm.collective();
    let is_kept = |rule: &MeasuredRule| {
        let better = rules
            .iter()
            .filter(|one| collective(one) == collective(rule) && one.factor > rule.factor);
        better.count() < RULES
    };
    rules.iter().filter(|rule| is_kept(rule)).cloned().collect()
}

impl MeasuredRule {
    /// Whether the other rule is for the lengths after those of this one, by the same algorithm.
    fn continues(&self, next: &MeasuredRule) -> bool {
        (self.algorithm, self.ranks) == (next.algorithm, next.ranks)
            && self.bytes.1.is_some_and(|last| last + 1 == next.bytes.0)
    }
}

/// The file, a rule a line.
pub(super) fn text(rules: &[MeasuredRule]) -> String {
    let line = |rule: &MeasuredRule| {
        let collective = rule.algorithm.collective();
        let (fewest, most) = rule.ranks;
        let mut json = json!({
            "collective": collective.name(),
            "ranks": format!("{fewest}..{most}"),
            "algorithm": rule.algorithm.name(),
        });
        if collective != Collective::Barrier {
            let last = rule.bytes.1.map_or(String::new(), |last| last.to_string());
            json["bytes"] = format!("{}..{last}", rule.bytes.0).into();
        }
        format!("    {json}")
    };
    let lines: Vec<String> = rules.iter().map(line).collect();
    format!(
        "{{\"version\": 1, \"rules\": [\n{}\n]}}\n",
        lines.join(",\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_coll::catalog::Call;
    use oxmpi_coll::choice::{Tuning, choose, read_rules};

    /// The times of an algorithm for one length, in nanoseconds.
    fn times(
        ranks: u32,
        (collective, name): (Collective, &str),
        bytes: u64,
        rounds: &[f64],
    ) -> CollectiveTimes {
        let algorithm = collective.algorithm(name);
        assert_eq!(algorithm.is_none(), name == "auto", "{name}");
        CollectiveTimes {
            collective,
            ranks,
            algorithm,
            bytes,
            rounds: rounds.to_vec(),
        }
    }

    /// A bcast on two ranks for which a chain is faster from 512 B on, and no rule for 8 B.
    fn bcasts() -> Vec<CollectiveTimes> {
        let of = |name: &'static str| {
            move |bytes, time: f64| {
                // One round of three is disturbed.
                times(
                    2,
                    (Collective::Bcast, name),
                    bytes,
                    &[time, 100.0 * time, time],
                )
            }
        };
        let (auto, chain, tree) = (of("auto"), of("chain"), of("binomial"));
        let mut all = vec![
            auto(8, 100.0),
            auto(512, 200.0),
            auto(8192, 900.0),
            auto(65536, 9e3),
        ];
        all.extend([
            chain(8, 97.0),
            chain(512, 150.0),
            chain(8192, 800.0),
            chain(65536, 2e4),
        ]);
        all.extend([
            tree(8, 120.0),
            tree(512, 199.0),
            tree(8192, 850.0),
            tree(65536, 5e3),
        ]);
        all
    }

    #[test]
    fn the_fastest_algorithm_is_compared_with_the_least_usual_time() {
        let compared = compared(&bcasts());
        let fastest: Vec<_> = compared
            .iter()
            .map(|one| (one.fastest.0.name(), one.gains()))
            .collect();
        let expected = [
            ("chain", false),
            ("chain", true),
            ("chain", true),
            ("binomial", true),
        ];
        assert_eq!(fastest, expected);
        assert_eq!((compared[1].usual, compared[1].fastest.1), (200.0, 150.0));
    }

    #[test]
    fn a_disturbed_round_of_the_usual_makes_no_rule() {
        let barrier = |name, rounds: &[f64]| times(4, (Collective::Barrier, name), 0, rounds);
        let gains = |usual: &[f64], forced: &[f64]| {
            compared(&[barrier("auto", usual), barrier("knomial", forced)])[0].gains()
        };
        assert!(!gains(&[100.0, 900.0, 800.0], &[120.0, 120.0, 120.0]));
        assert!(!gains(&[100.0, 100.0, 100.0], &[50.0, 120.0, 120.0]));
        assert!(gains(&[100.0, 900.0, 100.0], &[90.0, 500.0, 80.0]));
    }

    #[test]
    fn rules_for_neighbouring_lengths_are_one() {
        let rules = rules(&compared(&bcasts()));
        let shown: Vec<_> = rules
            .iter()
            .map(|one| (one.algorithm.name(), one.ranks, one.bytes))
            .collect();
        let expected = [
            ("chain", (2, 3), (512, Some(65535))),
            ("binomial", (2, 3), (65536, None)),
        ];
        assert_eq!(shown, expected);
    }

    /// What is written chooses what was fastest, and nothing where nothing was.
    #[test]
    fn what_is_written_is_read_back() {
        let mut all = bcasts();
        all.push(times(4, (Collective::Barrier, "auto"), 0, &[500.0]));
        all.push(times(4, (Collective::Barrier, "knomial"), 0, &[400.0]));
        let text = text(&rules(&compared(&all)));
        let rules = read_rules(&text).unwrap_or_else(|why| panic!("{why}: {text}"));
        assert_eq!(rules.len(), 3);
        let usual = Tuning::default();
        let tuning = Tuning {
            rules,
            ..usual.clone()
        };
        let chosen = |call: &Call| choose(call, &tuning).expect("it suits").algorithm;
        for (bytes, expected) in [(512, "chain"), (60_000, "chain"), (1 << 24, "binomial")] {
            assert_eq!(
                chosen(&Call::bcast(0, 3, 0, bytes)).name(),
                expected,
                "{bytes}"
            );
        }
        assert_eq!(chosen(&Call::barrier(0, 7)).name(), "knomial");
        for call in [
            Call::bcast(0, 2, 0, 511),
            Call::bcast(0, 4, 0, 512),
            Call::barrier(0, 8),
        ] {
            assert_eq!(choose(&call, &tuning), choose(&call, &usual), "{call:?}");
        }
    }

    /// Each length has another algorithm than the one before: more rules than a collective may have.
    #[test]
    fn rules_that_gain_least_are_left_out() {
        let comparison = |at: u64| Comparison {
            collective: Collective::Bcast,
            ranks: 2,
            bytes: 1 << at,
            usual: 100.0 * (2 + at) as f64,
            fastest: (
                [Algorithm::BcastChain, Algorithm::BcastKnomial][at as usize % 2],
                100.0,
            ),
        };
        let comparisons: Vec<_> = (0..12).map(comparison).collect();
        let kept = rules(&comparisons);
        assert_eq!(kept.len(), RULES);
        assert!(kept.iter().all(|rule| rule.factor > 5.0), "{kept:?}");
        assert!(read_rules(&text(&kept)).is_ok());
    }

    #[test]
    fn no_gain_gives_an_empty_file() {
        let none = rules(&compared(&bcasts()[..5]));
        assert!(none.is_empty());
        assert_eq!(
            read_rules(&text(&none)).map(|rules| rules.len()).ok(),
            Some(0)
        );
    }
}
