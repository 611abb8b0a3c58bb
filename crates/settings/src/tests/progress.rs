//! Tests of the helper thread's names in other products.

use oxmpi_core::settings::{helper_cpus, helper_poll};

use super::*;

/// Whether there is a helper thread, on which processors, and the warnings.
fn helper(variables: &[(&str, &str)]) -> (bool, Vec<usize>, Vec<String>) {
    let values = resolve(TABLE, &environment(variables)).expect("right values");
    let on = values.parse("async_progress", oxmpi_text::switch);
    let _ = values.parse("async_progress_poll", helper_poll);
    (
        on,
        values.parse("async_progress_cpus", helper_cpus),
        values.warnings,
    )
}

#[test]
fn names_of_other_products_start_the_helper() {
    let cray = |value| {
        let level = ("MPICH_MAX_THREAD_SAFETY", "multiple");
        helper(&[("MPICH_NEMESIS_ASYNC_PROGRESS", value), level])
    };
    for value in ["1", "SC", "MC"] {
        assert_eq!(cray(value), (true, vec![], vec![]), "{value}");
    }
    assert_eq!(cray("0"), (false, vec![], vec![]));
    for name in [
        "OXMPI_ASYNC_PROGRESS",
        "MPIR_CVAR_ASYNC_PROGRESS",
        "I_MPI_ASYNC_PROGRESS",
    ] {
        assert_eq!(helper(&[(name, "1")]), (true, vec![], vec![]), "{name}");
        assert_eq!(helper(&[(name, "0")]), (false, vec![], vec![]), "{name}");
    }
    assert_eq!(helper(&[]), (false, vec![], vec![]));
}

#[test]
fn cray_asks_for_both_of_its_variables() {
    for level in ["serialized", ""] {
        let (on, _, warnings) = helper(&[
            ("MPICH_NEMESIS_ASYNC_PROGRESS", "SC"),
            ("MPICH_MAX_THREAD_SAFETY", level),
        ]);
        assert!(!on && warnings.len() == 1, "{warnings:?}");
        assert!(warnings[0].contains("together with MPICH_MAX_THREAD_SAFETY=multiple only"));
    }
    // Our own name needs no other.
    let both = [
        ("MPICH_NEMESIS_ASYNC_PROGRESS", "1"),
        ("OXMPI_ASYNC_PROGRESS", "on"),
    ];
    assert_eq!(helper(&both), (true, vec![], vec![]));
}

#[test]
fn processors_of_helpers_have_names_elsewhere() {
    for name in [
        "OXMPI_ASYNC_PROGRESS_CPUS",
        "MPIR_CVAR_PROGRESS_THREAD_AFFINITY",
        "I_MPI_ASYNC_PROGRESS_PIN",
    ] {
        assert_eq!(helper(&[(name, "2,5-6")]), (false, vec![2, 5, 6], vec![]));
        assert_eq!(helper(&[(name, "auto")]), (false, vec![], vec![]));
    }
    for older in ["yes", "off"] {
        let pinned = helper(&[("I_MPI_ASYNC_PROGRESS_PIN", older)]);
        assert_eq!(pinned, (false, vec![], vec![]));
    }
    let (_, _, warnings) = helper(&[("I_MPI_ASYNC_PROGRESS_PIN", "2,x")]);
    assert!(warnings[0].contains('^'), "{warnings:?}");
    let (_, _, warnings) = helper(&[("I_MPI_ASYNC_PROGRESS_THREADS", "4")]);
    assert!(warnings[0].contains("one helper thread"), "{warnings:?}");
    assert_eq!(
        helper(&[("I_MPI_ASYNC_PROGRESS_THREADS", "1")]),
        (false, vec![], vec![])
    );
}
