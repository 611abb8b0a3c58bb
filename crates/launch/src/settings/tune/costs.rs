//! Fits the LogGP costs of a message between two processors of this machine (Alexandrov, Ionescu,
//! Schauser and Scheiman, "LogGP: incorporating long messages into the LogP model", 1995).
//!
//! `o` is the processor time of a short message at the busier end: the time of one more message in a series without
//! pauses. `G` is the time of one more byte of a long message. `L` is the one-way time of a short message without `o` at
//! both ends. (Hoefler, Lichei and Rehm, "Low-overhead LogGP parameter assessment for
//! modern interconnection networks", 2007, measure these in the same way.)

use oxmpi_coll::machine::Machine;

use super::choose::SettingChoice;
use super::plan::{BACK_TO_BACK, LENGTHS_OF_COSTS, Measurement, ONE_WAY, median};

/// Factor by which a cost must differ from the machine's to be set; smaller differences hardly change choices.
const APART: f64 = 1.25;

/// Least length in bytes of the messages that show the cost of a byte.
const LONG: u64 = 16 << 10;

/// The LogGP costs of a message: nanoseconds, and nanoseconds for a byte.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LogGpCosts {
    latency: f64,
    overhead: f64,
    byte: f64,
}

/// The costs that fit the one-way times by length, the shortest first, and the time of one more message in a series.
/// `None` if times are missing or longer messages take less.
fn fit(one_way: &[(u64, f64)], back_to_back: f64) -> Option<LogGpCosts> {
    let (&(shortest, least), longer) = one_way.split_first()?;
    let long = longer.iter().filter(|(bytes, _)| *bytes >= LONG);
    let slopes: Vec<f64> = long
        .map(|(bytes, time)| (time - least) / (bytes - shortest) as f64)
        .collect();
    let byte = (!slopes.is_empty()).then(|| median(slopes))?;
    // Both ends together take at most the whole time.
    let overhead = back_to_back.min(least / 2.0);
    let latency = least - 2.0 * overhead - byte * shortest as f64;
    let is_sound = byte > 0.0 && back_to_back > 0.0;
    is_sound.then_some(LogGpCosts {
        latency: latency.max(0.0),
        overhead,
        byte,
    })
}

/// The mean of the costs over the measured processor pairs.
fn of_pairs(measurements: &[Measurement]) -> Option<LogGpCosts> {
    let time = |setting: &str, pair: usize, bytes: u64| {
        let is_it = |measurement: &&Measurement| {
            (measurement.setting, measurement.pair, measurement.bytes) == (setting, pair, bytes)
        };
        measurements
            .iter()
            .find(is_it)
            .map(Measurement::nanoseconds)
    };
    let of_pair = |pair: usize| {
        let lengths = LENGTHS_OF_COSTS.iter();
        let one_way = lengths.map(|&bytes| Some((bytes, time(ONE_WAY, pair, bytes)?)));
        let one_way: Option<Vec<_>> = one_way.collect();
        fit(&one_way?, time(BACK_TO_BACK, pair, LENGTHS_OF_COSTS[0])?)
    };
    let pairs = measurements
        .iter()
        .map(|measurement| measurement.pair + 1)
        .max()?;
    let all: Option<Vec<LogGpCosts>> = (0..pairs).map(of_pair).collect();
    let all = all?;
    let mean = |of: fn(&LogGpCosts) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
    Some(LogGpCosts {
        latency: mean(|costs| costs.latency),
        overhead: mean(|costs| costs.overhead),
        byte: mean(|costs| costs.byte),
    })
}

/// The choices for the costs of a message inside a node: all are set if one differs from `machine` by [`APART`], else
/// none.
pub(super) fn choices(measurements: &[Measurement], machine: &Machine) -> [SettingChoice; 3] {
    let nanoseconds = |picoseconds: u64| picoseconds as f64 / 1000.0;
    let of_machine = LogGpCosts {
        latency: nanoseconds(machine.node.latency),
        overhead: nanoseconds(machine.node.send),
        byte: nanoseconds(machine.node.byte),
    };
    let fitted = of_pairs(measurements);
    let is_apart = |of: fn(&LogGpCosts) -> f64| {
        let (one, other) = (fitted.as_ref().map_or(1.0, of), of(&of_machine).max(0.001));
        one > APART * other || other > APART * one
    };
    let is_set = fitted.is_some()
        && (is_apart(|costs| costs.latency)
            || is_apart(|costs| costs.overhead)
            || is_apart(|costs| costs.byte));
    let choice =
        |setting, what: &str, value: fn(&LogGpCosts) -> String, default: String| SettingChoice {
            setting,
            value: fitted.as_ref().filter(|_| is_set).map(value),
            why: match &fitted {
                None => "the measurements fit no LogGP costs".into(),
                Some(costs) => format!("{what} is {}, the machine's {default}", value(costs)),
            },
        };
    let duration = |nanoseconds: f64| format!("{:.0}ns", nanoseconds.max(1.0));
    let bandwidth = |byte: f64| format!("{:.0}M", 1e3 / byte);
    [
        choice(
            "coll_node_latency",
            "L of a message, fitted,",
            |costs| format!("{:.0}ns", costs.latency.max(1.0)),
            duration(of_machine.latency),
        ),
        choice(
            "coll_node_overhead",
            "o of a message, fitted,",
            |costs| format!("{:.0}ns", costs.overhead.max(1.0)),
            duration(of_machine.overhead),
        ),
        choice(
            "coll_node_bandwidth",
            "1/G of a message, fitted,",
            |costs| format!("{:.0}M", 1e3 / costs.byte),
            bandwidth(of_machine.byte),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The one-way times with these costs.
    fn one_way(costs: LogGpCosts, noise: impl Fn(usize) -> f64) -> Vec<(u64, f64)> {
        let time = |(at, &bytes): (usize, &u64)| {
            let time = costs.latency + 2.0 * costs.overhead + costs.byte * bytes as f64;
            (bytes, time * noise(at))
        };
        LENGTHS_OF_COSTS.iter().enumerate().map(time).collect()
    }

    proptest! {
        #[test]
        fn costs_are_found_again(latency in 1.0..2000.0, overhead in 1.0..500.0, byte in 0.01..2.0) {
            let costs = LogGpCosts { latency, overhead, byte };
            let found = fit(&one_way(costs, |_| 1.0), overhead).expect("a fit");
            prop_assert!((found.latency - latency).abs() < 1e-6 * latency + 1e-6);
            prop_assert!((found.byte - byte).abs() < 1e-9);
            prop_assert_eq!(found.overhead, overhead);
        }

        #[test]
        fn noise_does_no_more_than_it_is(
            latency in 1.0..2000.0,
            overhead in 1.0..500.0,
            byte in 0.01..2.0,
            noise in prop::collection::vec(0.95..1.05, LENGTHS_OF_COSTS.len()),
        ) {
            let costs = LogGpCosts { latency, overhead, byte };
            let found = fit(&one_way(costs, |at| noise[at]), overhead).expect("a fit");
            let short = latency + 2.0 * overhead + byte * LENGTHS_OF_COSTS[0] as f64;
            let off = 0.1 * short / LONG as f64 + 0.06 * byte;
            prop_assert!((found.byte - byte).abs() < off);
            let one_way = found.latency + 2.0 * found.overhead;
            let most = 0.06 * short + off * LENGTHS_OF_COSTS[0] as f64;
            prop_assert!((one_way - latency - 2.0 * overhead).abs() < most);
            prop_assert!(found.latency >= 0.0);
        }
    }

    #[test]
    fn what_cannot_be_is_no_fit() {
        let flat: Vec<_> = LENGTHS_OF_COSTS
            .iter()
            .map(|&bytes| (bytes, 100.0))
            .collect();
        assert_eq!(fit(&flat, 10.0), None);
        assert_eq!(fit(&[(8, 100.0)], 10.0), None);
        assert_eq!(fit(&[], 10.0), None);
        let costs = LogGpCosts {
            latency: 50.0,
            overhead: 20.0,
            byte: 0.1,
        };
        // A row that is slower than a message alone says no more than that both ends are always busy.
        let found = fit(&one_way(costs, |_| 1.0), 1000.0).expect("a fit");
        assert!(found.latency < 1e-9 && found.overhead < 46.0, "{found:?}");
    }

    /// Measurements of costs between two pairs of processors.
    fn measurements(of: [LogGpCosts; 2]) -> Vec<Measurement> {
        let measurement = |setting, pair, bytes, time| Measurement {
            setting,
            value: "auto",
            pair,
            bytes,
            rounds: vec![time],
        };
        let of_pair = |(pair, costs): (usize, LogGpCosts)| {
            let all = one_way(costs, |_| 1.0).into_iter();
            let all = all.map(move |(bytes, time)| measurement(ONE_WAY, pair, bytes, time));
            all.chain([measurement(
                BACK_TO_BACK,
                pair,
                LENGTHS_OF_COSTS[0],
                costs.overhead,
            )])
        };
        of.into_iter().enumerate().flat_map(of_pair).collect()
    }

    #[test]
    fn costs_are_set_where_they_are_far_from_the_machine_s() {
        let values =
            |costs| choices(&measurements(costs), &Machine::ZEN4).map(|choice| choice.value);
        let like = LogGpCosts {
            latency: 42.0,
            overhead: 15.0,
            byte: 0.06,
        };
        assert_eq!(values([like; 2]), [None, None, None]);
        let far = LogGpCosts {
            latency: 360.0,
            overhead: 35.0,
            byte: 0.1,
        };
        let set = values([like, far]).map(|value| value.expect("it is set"));
        assert_eq!(set, ["201ns", "25ns", "12500M"]);
        for (choice, row) in choices(&[], &Machine::ZEN4).iter().zip(set) {
            assert_eq!(choice.value, None);
            let setting = oxmpi_settings::TABLE.find(choice.setting).expect("a row");
            assert!((setting.check)(&row).is_ok(), "{row}");
        }
    }
}
