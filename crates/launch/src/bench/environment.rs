//! The environment of a run, for its report: system, library, transports and settings.

use std::fs;
use std::time::Instant;

use oxmpi_bench::Part;
use oxmpi_bench::method::compute_rate;
use oxmpi_bench::report::{Environment, Setting};
use oxmpi_settings::Origin;
use time::OffsetDateTime;

use super::command::BenchCommand;
use crate::process_settings;

/// The thread level of the library, whatever level the user asks for.
const THREAD_LEVEL: &str = "MPI_THREAD_MULTIPLE";

/// The environment of this run. If it `speaks`, the rate of the computation of part NBC is measured.
pub(super) fn of(command: &BenchCommand, speaks: bool) -> Environment {
    let computes = speaks && command.bench_run.plan.part == Part::Nbc;
    let start = Instant::now();
    let kernel = |name: &str| {
        let text = fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default();
        text.trim().to_owned()
    };
    Environment {
        library: format!("oxmpi {} benchmarks", env!("CARGO_PKG_VERSION")),
        date: date(OffsetDateTime::now_utc()),
        machine: std::env::consts::ARCH.to_owned(),
        system: kernel("ostype"),
        release: kernel("osrelease"),
        version: kernel("version"),
        mpi_version: "5.0".to_owned(),
        thread_level: THREAD_LEVEL.to_owned(),
        command: command.typed.clone(),
        transports: vec![match &command.simulated {
            Some(simulated) => format!("simulated {}", simulated.name),
            None => "shm".to_owned(),
        }],
        compute_mflops: computes.then(|| compute_rate(|| start.elapsed().as_nanos() as u64)),
        settings: settings(),
    }
}

/// The settings that differ from their defaults. Wrong settings have ended the run before.
fn settings() -> Vec<Setting> {
    let all = process_settings::values()
        .map(|values| values.all)
        .unwrap_or_default();
    let made = all.iter().filter(|value| value.origin != Origin::Default);
    made.map(|value| Setting {
        name: value.setting.name.to_owned(),
        value: value.text.clone(),
        origin: value.origin.to_string(),
    })
    .collect()
}

/// A time in UTC, in the format of C's `asctime`.
fn date(at: OffsetDateTime) -> String {
    let (weekday, month) = (at.weekday().to_string(), at.month().to_string());
    let (hour, minute, second) = at.time().as_hms();
    let (day, year) = (at.day(), at.year());
    format!("{weekday:.3} {month:.3} {day:>2} {hour:02}:{minute:02}:{second:02} {year}")
}

#[cfg(test)]
mod tests {
    use super::date;
    use time::OffsetDateTime;

    #[test]
    fn dates_look_as_in_c() {
        let at = OffsetDateTime::from_unix_timestamp(1_794_000_000 + 3661).unwrap();
        assert_eq!(date(at), "Fri Nov  6 22:21:01 2026");
    }
}
