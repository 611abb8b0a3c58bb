//! The launcher's settings: when it ends jobs and kills ranks.

use std::time::Duration;

use oxmpi_text::{Alias, Error, Expected, Level, Product, Setting, Span, duration};

/// A time in seconds (`10`, `0.5`) or with its unit (`500ms`, `2min`).
///
/// # Errors
/// When it is neither.
pub fn seconds(text: &str) -> Result<Duration, Error> {
    let nanos = duration(text).or_else(|_| duration(&format!("{text}s")));
    nanos.map(Duration::from_nanos).map_err(|_| Error {
        span: Span::whole(text),
        expected: Expected::Text("seconds such as 10 or 0.5, or a time such as 500ms or 2min"),
        suggestion: None,
    })
}

/// The launcher's rows in the table.
pub(super) const ROWS: &[Setting] = &[
    Setting {
        name: "kill_timeout",
        aliases: &[Alias::new(Product::OpenMpi, "odls_base_sigkill_timeout")],
        default: "10s",
        kind: "time",
        level: Level::Basic,
        short: "how long ranks have to end after a signal to `oxmpi run`, before they are killed",
        long: "`oxmpi run` forwards SIGTERM, SIGINT, SIGHUP and SIGQUIT to the ranks once, and sends SIGTERM when the time \
               of job_timeout is over: ranks can save their work. Then they get SIGKILL. A second signal kills them at once: \
               one from the terminal (Ctrl-C), or one that another process sends a second or more after the first. After \
               the failure of a rank the others have 150 ms. A number without unit is in seconds.",
        check: |text| seconds(text).map(drop),
    },
    Setting {
        name: "job_timeout",
        aliases: &[
            Alias::new(Product::Mpich, "MPIEXEC_TIMEOUT"),
            Alias::new(Product::IntelMpi, "I_MPI_JOB_TIMEOUT"),
        ],
        default: "0s",
        kind: "time",
        level: Level::Basic,
        short: "how long a job may run before `oxmpi run` ends it; 0: no limit",
        long: "When the time is over, `oxmpi run` prints the state of each rank, ends the job as after SIGTERM, and exits \
               with code 124, as GNU timeout does. Its option --timeout is stronger. Open MPI reads MPIEXEC_TIMEOUT, too. \
               A number without unit is in seconds.",
        check: |text| seconds(text).map(drop),
    },
];
