//! What is measured: of each setting a few values, each at the lengths of messages that it moves.

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// One setting and what is tried of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TrialGroup {
    pub(super) setting: &'static str,
    /// What the values stand for.
    pub(super) about: &'static str,
    pub(super) values: &'static [&'static str],
    /// Bytes of the messages.
    pub(super) lengths: &'static [u64],
    /// Other settings that must stand still meanwhile.
    pub(super) fixed: &'static [(&'static str, &'static str)],
    /// What is timed of a message.
    pub(super) timing: Timing,
}

/// What is timed of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::settings) enum Timing {
    /// Its way: half of there and back.
    OneWay,
    /// What one more takes in a row of many, of which the last one is answered.
    BackToBack,
}

/// The setting whose group has messages one way, for all costs.
pub(super) const ONE_WAY: &str = "coll_node_latency";
/// The setting whose group has rows of messages.
pub(super) const BACK_TO_BACK: &str = "coll_node_overhead";
/// Bytes of the messages from which costs are fitted.
pub(super) const LENGTHS_OF_COSTS: &[u64] = &[8, KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB];

/// Everything that is measured. All are set for each job: what is not tried is `auto`.
pub(super) const GROUPS: [TrialGroup; 6] = [
    TrialGroup {
        setting: "short_limit",
        about: "path E0 (one line or two) against E1 (a buffer)",
        values: &[E0, E1],
        lengths: &[56, 64, 80, 96, 112],
        fixed: &[],
        timing: Timing::OneWay,
    },
    TrialGroup {
        setting: "eager_limit",
        about: "path E1 (a buffer) against R0 (the receiver gets)",
        values: &[EAGER, RENDEZVOUS],
        lengths: &[512, KIB, 2 * KIB, 4 * KIB, 6 * KIB, 8 * KIB],
        fixed: &[],
        timing: Timing::OneWay,
    },
    TrialGroup {
        setting: "shm_road",
        about: "the roads of long messages",
        values: &["auto", "turn", "cache", "stream", "single", "both"],
        lengths: &[16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB],
        fixed: &[],
        timing: Timing::OneWay,
    },
    TrialGroup {
        setting: "shm_chunk",
        about: "the pieces in which they are copied through shared memory",
        values: &["auto", "8KiB", "16KiB", "32KiB", "64KiB", "128KiB"],
        lengths: &[64 * KIB, 256 * KIB, MIB, 4 * MIB],
        // Trials of other roads would be timed too.
        fixed: &[("shm_road", "turn")],
        timing: Timing::OneWay,
    },
    TrialGroup {
        setting: ONE_WAY,
        about: "what a message costs, for the choice of collectives' algorithms",
        values: &["auto"],
        lengths: LENGTHS_OF_COSTS,
        fixed: &[],
        timing: Timing::OneWay,
    },
    TrialGroup {
        setting: BACK_TO_BACK,
        about: "one more message in a row of many: what its slower end takes",
        values: &["auto"],
        lengths: &[LENGTHS_OF_COSTS[0]],
        fixed: &[],
        timing: Timing::BackToBack,
    },
];

/// The value of `short_limit` by which all lengths of its group take E0 ...
pub(super) const E0: &str = "auto";
/// ... and E1.
pub(super) const E1: &str = "48";
/// The value of `eager_limit` by which all lengths of its group take E1 ...
pub(super) const EAGER: &str = "8192";
/// ... and R0.
pub(super) const RENDEZVOUS: &str = "112";

/// One job of two ranks.
#[derive(Debug)]
pub(super) struct TrialJob {
    pub(super) group: &'static TrialGroup,
    pub(super) value: &'static str,
    /// Which pair of processors.
    pub(super) pair: usize,
}

/// What a message takes one way, in each round.
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

/// All jobs of one round, the values of a setting one after the other.
pub(super) fn jobs(pairs: usize) -> Vec<TrialJob> {
    let of_group = |group: &'static TrialGroup| {
        let values = group.values.iter();
        values.flat_map(move |&value| (0..pairs).map(move |pair| TrialJob { group, value, pair }))
    };
    GROUPS.iter().flat_map(of_group).collect()
}

impl Measurement {
    /// Whether it is of the same setting, value, pair and length.
    fn is_of(&self, job: &TrialJob, bytes: u64) -> bool {
        (self.setting, self.value, self.pair, self.bytes)
            == (job.group.setting, job.value, job.pair, bytes)
    }

    /// The median of the rounds.
    pub(super) fn nanoseconds(&self) -> f64 {
        median(self.rounds.clone())
    }

    /// By what factor the slowest round differs from the fastest.
    fn spread(&self) -> f64 {
        let slowest = self.rounds.iter().copied().fold(0.0, f64::max);
        slowest / self.rounds.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// Adds the times of one job, which are those of its group's lengths in order, as one more round.
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

/// How much rounds differ, as a factor: near 1 on a quiet machine.
pub(super) fn spread(measurements: &[Measurement]) -> f64 {
    median(measurements.iter().map(Measurement::spread).collect())
}

/// The median of `numbers`; 1 where there is none.
pub(super) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi::settings::TABLE;

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
    fn a_job_sets_what_it_tries_and_what_must_stand_still() {
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
