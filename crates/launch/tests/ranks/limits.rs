//! Tests of wrong settings and machines that are too small: errors at the start of the job.

use oxmpi::{Result, World};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::job::Job;

/// The text, a caret under what is wrong, and what would have been right.
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

/// Unknown names of ours are warned of once, and the job runs.
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

/// More ranks than the address space of each has room for.
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
        // Rank 0 has no room, and the others only find it gone. Had one of these ended first, the launcher would end
        // rank 0 soon, which may not have said why.
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

/// Shared memory is a file to the system, and files may be limited: a signal would end the rank that
/// made one too large. So none is made, and messages go another way.
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
