//! Tests of wrong settings and of limits that are too small: the job fails at its start with an error.

use oxmpi::{Result, World};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::job::Job;

/// An error shows the value with a caret under the wrong part, and the expected values.
#[test]
fn a_wrong_setting_is_shown_with_a_caret() {
    for (name, value, says) in [
        (
            "OXMPI_SHM_SLOTS",
            "5",
            "a power of two from 4 to 65536, found `5`\n  5\n  ^\n",
        ),
        (
            "OXMPI_ALLREDUCE_ALGORITHM",
            "rinng",
            "found `rinng`; did you mean `ring`?\n  rinng\n  ^^^^^\n",
        ),
        ("OXMPI_EAGER_LIMIT", "8Kx", "found `Kx`\n  8Kx\n   ^^\n"),
        ("OXMPI_WAIT", "lazily", "  lazily\n  ^^^^^^\n"),
    ] {
        let done = Job::of(2).with(name, value).run(|| World::init().map(drop));
        assert_ne!(done.code, 0, "{name}={value}");
        assert!(
            done.err.contains(name) && done.err.contains(says),
            "{}",
            done.err
        );
    }
}

/// A job warns once of an unknown variable whose name begins with OXMPI, and runs.
#[test]
fn an_unknown_setting_is_warned_of_once() {
    let done = Job::of(3)
        .with("OXMPI_EAGER_LIMT", "1K")
        .run(|| World::init()?.finalize());
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(
        done.err.matches("OXMPI_EAGER_LIMT").count(),
        1,
        "{}",
        done.err
    );
    assert!(
        done.err.contains("did you mean `OXMPI_EAGER_LIMIT`"),
        "a suggestion: {}",
        done.err
    );
}

/// The buffers of all ranks exceed the address space of each rank.
#[test]
fn a_job_that_is_too_large_is_refused_with_numbers() {
    let job = Job::of(8)
        .on_one_host()
        .with("OXMPI_SHM_BUFFER", "65472")
        .with("OXMPI_SHM_BUFFERS", "4096");
    let done = job.run(|| -> Result<()> {
        let limit = Rlimit {
            current: Some(4 << 30),
            maximum: Some(4 << 30),
        };
        setrlimit(Resource::As, limit).expect("a lower limit may be set");
        let world = World::init();
        // Rank 0 fails, and the other ranks then lose it. They do not end before rank 0: otherwise the
        // launcher could end rank 0 before it has printed its error.
        let is_first = std::env::var("PMI_RANK").is_ok_and(|rank| rank == "0");
        while world.is_err() && !is_first {
            std::thread::park();
        }
        world?.comm().barrier()
    });
    assert_eq!(done.code, 1, "{}", done.err);
    let says = "B of addresses for 8 ranks: Cannot allocate memory";
    let Some((before, _)) = done.err.split_once(says) else {
        panic!("{}", done.err);
    };
    let number = before.trim_end().rsplit(' ').next();
    let bytes: u64 = number.and_then(|text| text.parse().ok()).expect("a number");
    assert!(
        bytes > 64 * 65_472 * 4096,
        "{bytes}: the links' buffers alone are more"
    );
}

/// The kernel limits shared memory by the size of files, and a signal would end a rank that exceeds the
/// limit. The job makes no shared memory then, and uses tcp.
#[test]
fn a_limit_on_files_is_reported_with_numbers() {
    let done = Job::of(2).on_one_host().run(|| -> Result<()> {
        let limit = Rlimit {
            current: Some(64 << 10),
            maximum: Some(64 << 10),
        };
        setrlimit(Resource::Fsize, limit).expect("a lower limit may be set");
        World::init()?.comm().barrier()
    });
    assert_eq!(done.code, 0, "{}", done.err);
    let says = "MiB of shared memory wanted, 0 MiB allowed in a file (RLIMIT_FSIZE, `ulimit -f`); tcp is \
                used instead";
    assert_eq!(done.err.matches(says).count(), 1, "{}", done.err);
}
