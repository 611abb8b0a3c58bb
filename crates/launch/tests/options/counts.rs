//! How many ranks start without `-n`, and which numbers are refused.

use oxmpi_testkit::folder::Folder;

use super::{done, sorted};

/// The reports prrte#769 and ompi#3133.
#[test]
fn slots_and_ranks_per_host_decide_how_many_ranks_start() {
    let folder = Folder::fresh();
    let slots = folder.write("slots", "localhost slots=1\n");
    let ipv6 = folder.write("ipv6", "::1\n");
    for (options, ranks) in [
        (&["--hostfile", &slots][..], 1),
        (&["-H", "localhost:1"], 1),
        (&["-H", "localhost:2,127.0.0.1:1", "--oversubscribe"], 3),
        (&["-H", "[::1]:1"], 1),
        (&["--npernode", "1"], 1),
        (&["-N", "1"], 1),
        (&["-ppn", "1"], 1),
        (&["-f", &ipv6, "-n", "1"], 1),
        (&["-H", "::1", "-n", "1"], 1),
        // Options for all programs do not make one program's ranks those of the other.
        (&["-H", "localhost:3", "--oversubscribe", "-n", "2"], 2),
    ] {
        let done = done(&[&["run"], options, &["echo", "a"]].concat());
        assert_eq!(done.code, 0, "{options:?}: {done:?}");
        assert_eq!(done.out, "a\n".repeat(ranks), "{options:?}");
    }
}

#[test]
fn more_ranks_than_slots_are_an_error() {
    let folder = Folder::fresh();
    let file = folder.write("hosts", "localhost slots=2\n");
    let done_with = |options: &[&str]| done(&[&["run", "-f", &file], options, &["true"]].concat());
    let refused = done_with(&["-n", "3"]);
    let says = "oxmpi: 3 ranks do not fit into the 2 slots of localhost:2: start fewer ranks, or pass --oversubscribe if more are \
                intended\n";
    assert_eq!((refused.code, refused.err.as_str()), (2, says));
    for asked in ["--oversubscribe", "--map-by=:OVERSUBSCRIBE"] {
        let done = done_with(&["-n", "3", asked]);
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{asked}");
    }
}

#[test]
fn programs_come_from_a_file() {
    let folder = Folder::fresh();
    let text = "# two programs\n-n 1 -env A one sh -c 'echo $A $B'\n-n 1 sh -c 'echo none $B'\n";
    let file = folder.write("programs", text);
    for option in ["--app", "-configfile"] {
        let done = done(&["run", "--oversubscribe", "-genv", "B=all", option, &file]);
        assert_eq!(done.code, 0, "{done:?}");
        assert_eq!(sorted(&done.out), ["none all", "one all"], "{option}");
    }
}
