//! The settings of the helper thread that carries on communication while the program computes.

use std::time::Duration;

use oxmpi_text::{Alias, Error, Level, Product, Ranges, Setting, Span, duration, switch};

/// The text of a list that is left to the library.
const AUTO: &str = "auto";

/// The processors of the helper threads of a node's ranks, in turn; empty for `auto`.
///
/// # Errors
/// When it is neither `auto` nor a list of processors.
pub fn helper_cpus(text: &str) -> Result<Vec<usize>, Error> {
    if text == AUTO {
        return Ok(Vec::new());
    }
    let mut cpus = Vec::new();
    for range in Ranges::new(text) {
        cpus.extend(range?.into_iter().take(MOST_CPUS).map(|cpu| cpu as usize));
        if cpus.len() >= MOST_CPUS {
            let expected = "auto, or fewer than 65536 processors";
            return Err(Error::new(Span::whole(text), expected));
        }
    }
    Ok(cpus)
}

/// More than any machine has.
const MOST_CPUS: usize = 1 << 16;

/// How long a helper thread polls on a processor that it shares.
///
/// # Errors
/// When it is no duration of at most one second.
pub fn helper_poll(text: &str) -> Result<Duration, Error> {
    match duration(text)? {
        ns @ 0..=1_000_000_000 => Ok(Duration::from_nanos(ns)),
        _ => Err(Error::new(Span::whole(text), "a duration to 1s")),
    }
}

/// Whether there is a helper thread.
pub(super) const ASYNC_PROGRESS: Setting = Setting {
    name: "async_progress",
    aliases: &[
        Alias::new(Product::Mpich, "MPIR_CVAR_ASYNC_PROGRESS"),
        Alias {
            product: Product::CrayMpich,
            name: "MPICH_NEMESIS_ASYNC_PROGRESS",
            values: &[("SC", "on"), ("MC", "on")],
        },
        Alias::new(Product::IntelMpi, "I_MPI_ASYNC_PROGRESS"),
    ],
    default: "off",
    kind: "switch",
    level: Level::Tuning,
    short: "whether a helper thread carries on communication while the program computes",
    long: "When on, each rank has a thread `oxmpi-progress` that moves long messages, nonblocking collectives and what peers ask of a \
           window by messages, while the rank is in no call. It polls on a processor of its own (`async_progress_cpus`), and else sleeps \
           until something comes; then it takes its time from the rank. `oxmpi explain progress` says what it changes. When off, there is no \
           thread, and calls cost nothing for it. MPICH_NEMESIS_ASYNC_PROGRESS counts together with MPICH_MAX_THREAD_SAFETY=multiple only.",
    check: |text| switch(text).map(drop),
};

/// Where it runs.
pub(super) const ASYNC_PROGRESS_CPUS: Setting = Setting {
    name: "async_progress_cpus",
    aliases: &[
        Alias::new(Product::Mpich, "MPIR_CVAR_PROGRESS_THREAD_AFFINITY"),
        Alias {
            product: Product::IntelMpi,
            name: "I_MPI_ASYNC_PROGRESS_PIN",
            values: &[("yes", AUTO), ("off", AUTO), ("no", AUTO)],
        },
    ],
    default: AUTO,
    kind: "processors",
    level: Level::Tuning,
    short: "processors of the helper threads of a node's ranks, in turn",
    long: "A list such as 14,15: the helper of the first rank of a node runs on 14, that of the second on 15, that of the third on 14 \
           again. A helper on a processor that its rank may not use polls as long as something is under way. `auto` leaves a helper where \
           its rank may run.",
    check: |text| helper_cpus(text).map(drop),
};

/// How long it polls.
pub(super) const ASYNC_PROGRESS_POLL: Setting = Setting {
    name: "async_progress_poll",
    aliases: &[],
    default: "0us",
    kind: "duration",
    level: Level::Expert,
    short: "how long a helper thread polls on a shared processor before it sleeps",
    long: "Counted from the last message, at most 1s. Polling answers peers without a wake, and takes the processor from the rank.",
    check: |text| helper_poll(text).map(drop),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_and_durations_are_read() {
        assert_eq!(helper_cpus("auto"), Ok(Vec::new()));
        assert_eq!(helper_cpus("3,8-9"), Ok(vec![3, 8, 9]));
        for wrong in ["", "3,", "9-8", "0-4294967295", "Auto"] {
            assert!(helper_cpus(wrong).is_err(), "{wrong}");
        }
        assert_eq!(helper_poll("20us"), Ok(Duration::from_micros(20)));
        assert!(helper_poll("2s").is_err() && helper_poll("soon").is_err());
    }
}
