//! The trials of `oxmpi settings --tune`: a few values of each setting, at the message lengths that it affects.

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// One setting with the values and lengths to try.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TrialGroup {
    pub(super) setting: &'static str,
    /// What the values select.
    pub(super) about: &'static str,
    pub(super) values: &'static [&'static str],
    /// Bytes of the messages.
    pub(super) lengths: &'static [u64],
    /// Other settings with fixed values.
    pub(super) fixed: &'static [(&'static str, &'static str)],
    /// Which time of a message is measured.
    pub(super) timing: Timing,
}

/// Which time of a message is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::settings) enum Timing {
    /// The one-way time: half of a round trip.
    OneWay,
    /// The time of one more message in a series without pauses, whose last message is answered.
    BackToBack,
}

/// The setting whose group measures one-way times, for all costs.
pub(super) const ONE_WAY: &str = "coll_node_latency";
/// The setting whose group measures series of messages.
pub(super) const BACK_TO_BACK: &str = "coll_node_overhead";
/// Bytes of the messages from which costs are fitted.
pub(super) const LENGTHS_OF_COSTS: &[u64] = &[8, KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB];

/// All groups. Each job sets all of their settings; a setting that is not tried is `auto`.
pub(super) const GROUPS: [TrialGroup; 6] = [
    TrialGroup {
        setting: "short_limit",
        about: "path E0 (one or two cache lines) against E1 (a buffer)",
        values: &[E0, E1],
        lengths: &[56, 64, 80, 96, 112],
        fixed: &[],
        timing: Timing::OneWay,
    },
    TrialGroup {
        setting: "eager_limit",
        about: "path E1 (a buffer) against R0 (rendezvous by get)",
        values: &[EAGER, RENDEZVOUS],
        lengths: &[512, KIB, 2 * KIB, 4 * KIB, 6 * KIB, 8 * KIB],
        fixed: &[],
        timing: Timing::OneWay,
    },
    TrialGroup {
        setting: "shm_protocol",
        about: "the protocols of long messages",
        values: &["auto", "slots", "copy", "copy_nt", "cma", "cma_both"],
        lengths: &[16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB],
        fixed: &[],
        timing: Timing::OneWay,
    },
    TrialGroup {
        setting: "shm_chunk",
        about: "the chunks of copies through shared memory",
        values: &["auto", "8KiB", "16KiB", "32KiB", "64KiB", "128KiB"],
        lengths: &[64 * KIB, 256 * KIB, MIB, 4 * MIB],
        // Else trials of other protocols would be measured, too.
        fixed: &[("shm_protocol", "slots")],
        timing: Timing::OneWay,
    },
    TrialGroup {
        setting: ONE_WAY,
        about: "the cost of a message, for the choice of collective algorithms",
        values: &["auto"],
        lengths: LENGTHS_OF_COSTS,
        fixed: &[],
        timing: Timing::OneWay,
    },
    TrialGroup {
        setting: BACK_TO_BACK,
        about: "the time of one more message in a series without pauses",
        values: &["auto"],
        lengths: &[LENGTHS_OF_COSTS[0]],
        fixed: &[],
        timing: Timing::BackToBack,
    },
];

/// The value of `short_limit` with which all lengths of its group take E0.
pub(super) const E0: &str = "auto";
/// The value with which they take E1.
pub(super) const E1: &str = "48";
/// The value of `eager_limit` with which all lengths of its group take E1.
pub(super) const EAGER: &str = "8192";
/// The value with which they take R0.
pub(super) const RENDEZVOUS: &str = "112";

/// One job of two ranks.
#[derive(Debug)]
pub(super) struct TrialJob {
    pub(super) group: &'static TrialGroup,
    pub(super) value: &'static str,
    /// The number of the processor pair.
    pub(super) pair: usize,
}

/// The times of a message with one value, on one pair, in each round.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measurement {
    pub(super) setting: &'static str,
    pub(super) value: &'static str,
    pub(super) pair: usize,
    pub(super) bytes: u64,
    /// Nanoseconds, at least one.
    pub(super) rounds: Vec<f64>,
}

impl TrialJob {
    /// The settings of the job, by name.
    pub(super) fn settings(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let (tried, value) = (self.group.setting, self.value);
        let fixed = self.group.fixed;
        GROUPS.iter().map(move |group| {
            let still = fixed.iter().find(|(name, _)| *name == group.setting);
            let value = match still {
                _ if group.setting == tried => value,
                Some((_, value)) => value,
                None => "auto",
            };
            (group.setting, value)
        })
    }
}

/// All jobs of a round.
pub(super) fn jobs(pairs: usize) -> Vec<TrialJob> {
    let of_group = |group: &'static TrialGroup| {
        let values = group.values.iter();
        values.flat_map(move |&value| (0..pairs).map(move |pair| TrialJob { group, value, pair }))
    };
    GROUPS.iter().flat_map(of_group).collect()
}

impl Measurement {
    /// Whether it has the setting, value and pair of `job`, and the length.
    fn is_of(&self, job: &TrialJob, bytes: u64) -> bool {
        (self.setting, self.value, self.pair, self.bytes)
            == (job.group.setting, job.value, job.pair, bytes)
    }

    /// The median of the rounds.
    pub(super) fn nanoseconds(&self) -> f64 {
        median(self.rounds.clone())
    }

    /// The slowest round divided by the fastest.
    fn spread(&self) -> f64 {
        let slowest = self.rounds.iter().copied().fold(0.0, f64::max);
        slowest / self.rounds.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// Adds the times of a job, one for each length of its group, as one more round.
pub(super) fn add(measurements: &mut Vec<Measurement>, job: &TrialJob, nanoseconds: &[f64]) {
    for (&bytes, &time) in job.group.lengths.iter().zip(nanoseconds) {
        match measurements
            .iter_mut()
            .find(|measurement| measurement.is_of(job, bytes))
        {
            Some(measurement) => measurement.rounds.push(time),
            None => measurements.push(Measurement {
                setting: job.group.setting,
                value: job.value,
                pair: job.pair,
                bytes,
                rounds: vec![time],
            }),
        }
    }
}

/// The median spread of rounds as a ratio: near 1 on an idle machine.
pub(super) fn spread(measurements: &[Measurement]) -> f64 {
    median(measurements.iter().map(Measurement::spread).collect())
}

/// The median of `numbers`; 1 if there are none.
pub(super) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_settings::TABLE;

    #[test]
    fn every_value_is_one_that_its_setting_takes() {
        for group in &GROUPS {
            let row = TABLE.find(group.setting).expect("a row");
            assert_eq!(row.default, "auto", "{}", row.name);
            for value in group.values {
                assert!((row.check)(value).is_ok(), "{} = {value}", row.name);
            }
        }
    }

    #[test]
    fn a_job_sets_the_tried_value_and_the_fixed_ones() {
        let jobs = jobs(2);
        let values: usize = GROUPS.iter().map(|group| group.values.len()).sum();
        assert_eq!(jobs.len(), 2 * values);
        for job in jobs {
            let set: Vec<_> = job.settings().collect();
            assert_eq!(set.len(), GROUPS.len());
            assert!(set.contains(&(job.group.setting, job.value)));
            assert!(job.group.fixed.iter().all(|still| set.contains(still)));
        }
    }

    #[test]
    fn the_median_of_all_rounds_counts() {
        let jobs = jobs(1);
        let mut measurements = Vec::new();
        for time in [5.0, 900.0, 7.0] {
            add(&mut measurements, &jobs[0], &[1.0, 2.0, 3.0, 4.0, 5.0]);
            add(&mut measurements, &jobs[1], &[time; 5]);
        }
        let times: Vec<f64> = measurements.iter().map(Measurement::nanoseconds).collect();
        assert_eq!(times, [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 7.0, 7.0, 7.0, 7.0]);
        assert_eq!(
            (spread(&measurements[..5]), spread(&measurements[5..])),
            (1.0, 180.0)
        );
    }
}
