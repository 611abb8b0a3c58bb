//! Prints the report of `oxmpi settings --tune` as text and as JSON: times, choices and their reasons.

use serde_json::json;

use super::TuningReport;
use super::choose::SettingChoice;
use super::file::describe;
use super::plan::{GROUPS, Measurement, TrialGroup, spread};
use crate::columns::aligned;

/// Ratio of rounds above which the machine was busy.
const QUIET: f64 = 1.3;

/// The text.
pub(super) fn text(report: &TuningReport) -> String {
    let between: Vec<String> = report.pairs.iter().map(describe).collect();
    let mut text = format!("measured between {}\n", between.join(", "));
    for group in &GROUPS {
        text += &format!(
            "\n{}: {}; ns of a message one way\n{}",
            group.setting,
            group.about,
            of_group(report, group)
        );
    }
    let spread = spread(&report.measurements);
    if spread > QUIET {
        text += &format!(
            "\nThis machine was busy: rounds differ by {spread:.1} times. MeasureOptions again when it is \
             quiet.\n"
        );
    }
    let mut rows = vec![
        ["setting", "default", "chosen", "why"]
            .map(String::from)
            .to_vec(),
    ];
    rows.extend(report.choices.iter().map(of_choice));
    let differ = differing(report).count();
    let differ = match differ {
        0 => "the defaults suit this machine: it sets nothing".into(),
        1 => "one setting differs from its default".into(),
        more => format!("{more} settings differ from their defaults"),
    };
    let file = report.file.display();
    text + &format!("\n{}\nwritten to {file}: {differ}\n", aligned(&rows))
}

/// A table of times: a line for each pair and length, a column for each value; `*` marks the least time.
fn of_group(report: &TuningReport, group: &TrialGroup) -> String {
    let mut heading = vec!["pair".into(), "bytes".into()];
    heading.extend(group.values.iter().map(ToString::to_string));
    let mut rows = vec![heading];
    for (number, pair) in report.pairs.iter().enumerate() {
        for &bytes in group.lengths {
            let time = |value: &&str| {
                let is_it = |measurement: &&Measurement| {
                    (measurement.setting, measurement.value) == (group.setting, *value)
                        && (measurement.pair, measurement.bytes) == (number, bytes)
                };
                report
                    .measurements
                    .iter()
                    .find(is_it)
                    .map(|measurement| measurement.nanoseconds())
            };
            let times: Vec<_> = group.values.iter().map(time).collect();
            let least = times
                .iter()
                .flatten()
                .copied()
                .fold(f64::INFINITY, f64::min);
            let cell = |time: Option<f64>| match time {
                Some(time) if time == least => format!("{time:.0} *"),
                Some(time) => format!("{time:.0}"),
                None => "-".into(),
            };
            let mut row = vec![pair.name.into(), bytes.to_string()];
            row.extend(times.into_iter().map(cell));
            rows.push(row);
        }
    }
    aligned(&rows)
}

fn of_choice(choice: &SettingChoice) -> Vec<String> {
    let default = default(choice);
    vec![
        choice.setting.into(),
        default.into(),
        choice.value.clone().unwrap_or_else(|| default.into()),
        choice.why.clone(),
    ]
}

fn default(choice: &SettingChoice) -> &'static str {
    let row = oxmpi_settings::TABLE.find(choice.setting);
    row.map_or("", |row| row.default)
}

fn differing(report: &TuningReport) -> impl Iterator<Item = &SettingChoice> {
    report
        .choices
        .iter()
        .filter(|choice| choice.value.is_some())
}

/// The format `oxmpi-tuning` of docs/formats.md.
pub(super) fn json(report: &TuningReport) -> String {
    let pairs = report.pairs.iter().map(
        |pair| json!({"name": pair.name, "processors": pair.processors, "line_ns": pair.line_transfer_ns}),
    );
    let measurements = report.measurements.iter().map(|measurement| {
        json!({
            "setting": measurement.setting,
            "value": measurement.value,
            "pair": report.pairs[measurement.pair].name,
            "bytes": measurement.bytes,
            "ns": measurement.nanoseconds(),
        })
    });
    let choices = report.choices.iter().map(|choice| {
        json!({
            "setting": choice.setting,
            "default": default(choice),
            "value": choice.value.as_deref().unwrap_or(default(choice)),
            "differs": choice.value.is_some(),
            "why": choice.why,
        })
    });
    let whole = json!({
        "format": "oxmpi-tuning",
        "version": 1,
        "pairs": pairs.collect::<Vec<_>>(),
        "spread": spread(&report.measurements),
        "figures": measurements.collect::<Vec<_>>(),
        "choices": choices.collect::<Vec<_>>(),
        "file": report.file.display().to_string(),
    });
    format!("{whole:#}\n")
}

#[cfg(test)]
mod tests {
    use super::super::pairs::CpuPair;
    use super::*;

    fn measurement(value: &'static str, rounds: &[f64]) -> Measurement {
        Measurement {
            setting: "shm_chunk",
            value,
            pair: 0,
            bytes: 64 << 10,
            rounds: rounds.to_vec(),
        }
    }

    fn report(measurements: Vec<Measurement>) -> TuningReport {
        TuningReport {
            pairs: vec![CpuPair {
                name: "near",
                processors: [2, 5],
                line_transfer_ns: 47.6,
            }],
            measurements,
            choices: vec![SettingChoice {
                setting: "shm_chunk",
                value: Some("32KiB".into()),
                why: "it is faster".into(),
            }],
            file: "tuned.toml".into(),
        }
    }

    #[test]
    fn the_report_has_times_choices_and_reasons() {
        let quiet = report(vec![
            measurement("auto", &[4000.0, 4100.0]),
            measurement("32KiB", &[3000.0, 3010.0]),
        ]);
        let said = text(&quiet);
        for part in [
            "between processors 2 and 5 (near: a cache line takes 48 ns)\n",
            "\npair  bytes    auto  8KiB  16KiB  32KiB   64KiB  128KiB\n",
            "\nnear  65536    4100  -     -      3010 *  -      -\n",
            "\nshm_chunk  auto     32KiB   it is faster\n",
            "\nwritten to tuned.toml: one setting differs from its default\n",
        ] {
            assert!(said.contains(part), "{part:?} is not in\n{said}");
        }
        assert!(!said.contains("busy"));
        let busy = report(vec![measurement("auto", &[4000.0, 9000.0])]);
        assert!(text(&busy).contains("rounds differ by 2.2 times"));
        let read: serde_json::Value = serde_json::from_str(&json(&quiet)).unwrap();
        assert_eq!(read["figures"][1]["ns"], 3010.0);
        assert_eq!(read["choices"][0]["default"], "auto");
    }
}
