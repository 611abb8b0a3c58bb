//! Chooses values of settings from measurements. A default stays unless another value is faster by more than noise in
//! every round, so that a busy machine changes nothing.

use super::plan::{E0, E1, EAGER, GROUPS, Measurement, RENDEZVOUS, TrialGroup};

/// A smaller ratio of times is noise.
const NOISE_FACTOR: f64 = 1.05;

/// The choice for one setting.
#[derive(Debug, PartialEq)]
pub(super) struct SettingChoice {
    pub(super) setting: &'static str,
    /// The value; `None`: the default stays.
    pub(super) value: Option<String>,
    /// The reason, as a sentence.
    pub(super) why: String,
}

/// The choices for all measured settings.
pub(super) fn all(measurements: &[Measurement]) -> Vec<SettingChoice> {
    let choice = |group: &'static TrialGroup| {
        let measurements = GroupMeasurements {
            all: measurements,
            group,
        };
        let (value, why) = match group.setting {
            "short_limit" => limit(&measurements, E0, E1, 48),
            "eager_limit" => limit(&measurements, EAGER, RENDEZVOUS, 112),
            "shm_protocol" => protocol(&measurements),
            _ => best(&measurements),
        };
        SettingChoice {
            setting: group.setting,
            value,
            why,
        }
    };
    // Groups with one value measure costs, which are fitted elsewhere.
    let tried = GROUPS.iter().filter(|group| group.values.len() > 1);
    tried.map(choice).collect()
}

/// The measurements of one group.
struct GroupMeasurements<'a> {
    all: &'a [Measurement],
    group: &'static TrialGroup,
}

impl GroupMeasurements<'_> {
    fn of<'b>(&'b self, value: &'b str) -> impl Iterator<Item = &'b Measurement> {
        let is_it = |measurement: &&Measurement| measurement.setting == self.group.setting;
        self.all
            .iter()
            .filter(is_it)
            .filter(move |measurement| measurement.value == value)
    }

    /// The time with `value` divided by the time with `other`: the geometric mean over processor pairs and the lengths
    /// that `which` accepts.
    fn ratio(&self, value: &str, other: &str, which: impl Fn(u64) -> bool) -> f64 {
        self.ratio_by(value, other, which, |measurement| {
            Some(measurement.nanoseconds())
        })
    }

    /// Whether `value` is slower than `other` in every round.
    fn slower_in_every_round(&self, value: &str, other: &str, which: impl Fn(u64) -> bool) -> bool {
        let rounds = self
            .of(value)
            .map(|measurement| measurement.rounds.len())
            .min();
        (0..rounds.unwrap_or(0)).all(|round| {
            let time = |measurement: &Measurement| measurement.rounds.get(round).copied();
            self.ratio_by(value, other, &which, time) > 1.0
        })
    }

    fn ratio_by(
        &self,
        value: &str,
        other: &str,
        which: impl Fn(u64) -> bool,
        time: impl Fn(&Measurement) -> Option<f64>,
    ) -> f64 {
        let (mut sum, mut count) = (0.0, 0);
        for one in self.of(value).filter(|one| which(one.bytes)) {
            let same = |two: &&Measurement| (two.pair, two.bytes) == (one.pair, one.bytes);
            let two = self.of(other).find(same);
            if let Some((one, two)) = time(one).zip(two.and_then(&time)) {
                sum += f64::ln(one / two);
                count += 1;
            }
        }
        if count == 0 {
            1.0
        } else {
            f64::exp(sum / f64::from(count))
        }
    }
}

/// The longest message of the first path, if the second path is faster for all longer messages. The values `first` and
/// `then` select the paths; `floor` is the longest message that always takes the first path.
fn limit(
    measurements: &GroupMeasurements<'_>,
    first: &str,
    then: &str,
    floor: u64,
) -> (Option<String>, String) {
    let lengths = measurements.group.lengths;
    let longest = lengths[lengths.len() - 1];
    let slower = |length: u64| measurements.ratio(first, then, |bytes| bytes == length);
    // From the end: a single length at which the second path wins does not end the first path.
    let from = lengths
        .iter()
        .rposition(|&length| slower(length) <= NOISE_FACTOR);
    match from {
        Some(at) if at + 1 == lengths.len() => (
            None,
            format!(
                "the first path is not slower up to its longest message, {longest} B: \
                 {:.2} times the time of the second path there",
                slower(longest)
            ),
        ),
        _ => {
            let limit = from.map_or(floor, |at| lengths[at]);
            let lost = measurements.ratio(first, then, |bytes| bytes > limit);
            if !measurements.slower_in_every_round(first, then, |bytes| bytes > limit) {
                return (None, undecided(&limit.to_string()));
            }
            (
                Some(limit.to_string()),
                format!(
                    "beyond {limit} B the first path takes {lost:.2} times as long as the second"
                ),
            )
        }
    }
}

/// A protocol is set only if it is the fastest one, within noise, for every pair and length; else trials in the job are
/// faster.
fn protocol(measurements: &GroupMeasurements<'_>) -> (Option<String>, String) {
    let protocols = || {
        measurements
            .group
            .values
            .iter()
            .filter(|value| **value != "auto")
    };
    let worst = |protocol: &str| {
        let behind = measurements.of(protocol).map(|one| {
            let same = |two: &&Measurement| (two.pair, two.bytes) == (one.pair, one.bytes);
            let least = protocols()
                .filter_map(|other| measurements.of(other).find(same))
                .map(Measurement::nanoseconds)
                .fold(f64::INFINITY, f64::min);
            one.nanoseconds() / least
        });
        behind.fold(1.0, f64::max)
    };
    let best = protocols()
        .map(|&protocol| (protocol, worst(protocol)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let Some((protocol, behind)) = best else {
        return (None, "nothing was measured".into());
    };
    let gain = measurements.ratio("auto", protocol, |_| true);
    if behind <= NOISE_FACTOR
        && gain > NOISE_FACTOR
        && measurements.slower_in_every_round("auto", protocol, |_| true)
    {
        let why =
            format!("the fastest protocol at every length, and {gain:.2} times as fast as trials");
        return (Some(protocol.into()), why);
    }
    let why = if behind <= NOISE_FACTOR {
        format!(
            "`{protocol}` is the fastest protocol at every length, and trials in the job find it: {gain:.2}"
        )
    } else {
        format!(
            "no protocol is fastest at every length (`{protocol}` takes up to {behind:.2} times as long as \
             the fastest): trials in the job find each"
        )
    };
    (None, why)
}

/// The value that is fastest over all lengths.
fn best(measurements: &GroupMeasurements<'_>) -> (Option<String>, String) {
    let others = measurements
        .group
        .values
        .iter()
        .filter(|value| **value != "auto");
    let gains = others.map(|&value| (value, measurements.ratio("auto", value, |_| true)));
    match gains.max_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((value, gain))
            if gain > NOISE_FACTOR
                && !measurements.slower_in_every_round("auto", value, |_| true) =>
        {
            (None, undecided(value))
        }
        Some((value, gain)) if gain > NOISE_FACTOR => (
            Some(value.into()),
            format!("over all lengths {gain:.2} times as fast as `auto`"),
        ),
        Some((value, gain)) => (
            None,
            format!(
                "the best other value, {value}, is {gain:.2} times as fast: within noise or slower"
            ),
        ),
        None => (None, "nothing was measured".into()),
    }
}

/// The reason for a default although another value is faster in the mean.
fn undecided(value: &str) -> String {
    format!("{value} is faster in the mean, but not in every round")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measurements of one group on two pairs of processors, as `time(value, pair, bytes)` says.
    fn measurements(setting: &str, time: impl Fn(&str, usize, u64) -> f64) -> Vec<Measurement> {
        let group = GROUPS
            .iter()
            .find(|group| group.setting == setting)
            .expect("a group");
        let mut measurements = Vec::new();
        for &value in group.values {
            for pair in 0..2 {
                for &bytes in group.lengths {
                    measurements.push(Measurement {
                        setting: group.setting,
                        value,
                        pair,
                        bytes,
                        rounds: vec![time(value, pair, bytes)],
                    });
                }
            }
        }
        measurements
    }

    fn chosen(setting: &str, time: impl Fn(&str, usize, u64) -> f64) -> Option<String> {
        let choices = all(&measurements(setting, time));
        let choice = choices.into_iter().find(|choice| choice.setting == setting);
        choice.expect("a choice").value
    }

    #[test]
    fn equal_times_keep_the_default() {
        for group in GROUPS.iter().filter(|group| group.values.len() > 1) {
            assert_eq!(chosen(group.setting, |_, _, bytes| bytes as f64), None);
            // Noise of a few parts in a hundred, other for each value.
            let noisy = |value: &str, pair: usize, bytes: u64| {
                (1000 + bytes) as f64 * (1.0 + 0.01 * ((value.len() + pair) % 4) as f64)
            };
            assert_eq!(chosen(group.setting, noisy), None, "{}", group.setting);
        }
        assert!(all(&[]).iter().all(|choice| choice.value.is_none()));
    }

    #[test]
    fn a_path_ends_where_the_next_one_is_faster() {
        let crossing = |first: &'static str, at: u64| {
            move |value: &str, pair: usize, bytes: u64| {
                let scale = if pair == 0 { 1.0 } else { 4.0 };
                let time = if (value == first) == (bytes > at) {
                    200.0
                } else {
                    100.0
                };
                scale * time
            }
        };
        assert_eq!(
            chosen("eager_limit", crossing(EAGER, 2048)).as_deref(),
            Some("2048")
        );
        assert_eq!(
            chosen("eager_limit", crossing(EAGER, 0)).as_deref(),
            Some("112")
        );
        assert_eq!(chosen("eager_limit", crossing(EAGER, 8192)), None);
        assert_eq!(
            chosen("short_limit", crossing(E0, 64)).as_deref(),
            Some("64")
        );
        assert_eq!(
            chosen("short_limit", crossing(E0, 0)).as_deref(),
            Some("48")
        );
        // One length at which the second path happens to win.
        let once = |value: &str, _: usize, bytes: u64| match (value, bytes) {
            (EAGER, 2048) => 300.0,
            (EAGER, _) => 100.0,
            _ => 200.0,
        };
        assert_eq!(chosen("eager_limit", once), None);
    }

    #[test]
    fn a_protocol_is_set_only_where_it_is_fastest_at_every_length() {
        let single = |value: &str, _: usize, bytes: u64| {
            bytes as f64 * if value == "cma" { 1.0 } else { 1.5 }
        };
        assert_eq!(chosen("shm_protocol", single).as_deref(), Some("cma"));
        let found_by_trials = |value: &str, _: usize, bytes: u64| {
            bytes as f64
                * if matches!(value, "cma" | "auto") {
                    1.0
                } else {
                    1.5
                }
        };
        assert_eq!(chosen("shm_protocol", found_by_trials), None);
        let near_only = |value: &str, pair: usize, bytes: u64| {
            bytes as f64
                * if (value == "cma") == (pair == 0) {
                    1.0
                } else {
                    1.5
                }
        };
        assert_eq!(chosen("shm_protocol", near_only), None);
    }

    #[test]
    fn a_chunk_is_set_that_is_faster_over_all() {
        let time = |value: &str, _: usize, bytes: u64| match value {
            "32KiB" => bytes as f64,
            "64KiB" => 1.1 * bytes as f64,
            _ => 1.2 * bytes as f64,
        };
        assert_eq!(chosen("shm_chunk", time).as_deref(), Some("32KiB"));
        // Once it was not.
        let mut measurements = measurements("shm_chunk", time);
        for measurement in &mut measurements {
            let time = measurement.rounds[0];
            measurement.rounds = vec![
                time,
                time,
                if measurement.value == "auto" {
                    time / 2.0
                } else {
                    time
                },
            ];
        }
        let choice = &all(&measurements)[3];
        assert_eq!((choice.setting, &choice.value), ("shm_chunk", &None));
        assert!(choice.why.contains("not in every round"), "{}", choice.why);
    }
}
