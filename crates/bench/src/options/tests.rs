use super::{Request, help, parse};
use crate::kernels::Kernel;
use crate::method::{Lengths, Method};
use crate::suite::Plan;
use alloc::string::ToString;

fn plan(line: &str) -> Plan {
    match parse(line.split_whitespace()) {
        Ok(Request::Run(plan)) => plan,
        other => panic!("{line}: {other:?}"),
    }
}

fn error(line: &str) -> alloc::string::String {
    parse(line.split_whitespace()).unwrap_err().to_string()
}

#[test]
fn nothing_means_everything_by_default() {
    let all = plan("");
    assert!(Kernel::by_default().eq(all.kernels));
    assert_eq!(
        (all.lengths, all.method),
        (Lengths::default(), Method::default())
    );
}

#[test]
fn names_ignore_case_keep_their_order_and_run_once() {
    let named = plan("mpi1 ALLREDUCE pingpong allreduce");
    assert_eq!(named.kernels, [Kernel::Allreduce, Kernel::PingPong]);
}

#[test]
fn options_are_read_in_any_order() {
    let given = plan("-time 0.3 PingPong -iter 2000,100 -msglog 3:7");
    let method = Method {
        samples: 2000,
        volume: 100 << 20,
        seconds: 0.3,
        ..Method::default()
    };
    assert_eq!(given.method, method);
    assert_eq!(
        given.lengths,
        Lengths {
            min_log: 3,
            max_log: 7
        }
    );
    assert_eq!(
        plan("-msglog 3").lengths,
        Lengths {
            min_log: 0,
            max_log: 3
        }
    );
    assert_eq!(
        plan("-iter 20").method,
        Method {
            samples: 20,
            ..Method::default()
        }
    );
}

#[test]
fn help_names_every_kernel_and_option() {
    assert_eq!(parse(["PingPong", "-h"]), Ok(Request::Help));
    for word in ["PingPong", "Allreduce", "-iter", "-time", "-msglog"] {
        assert!(help().contains(word), "{word}");
    }
}

#[test]
fn errors_say_what_would_be_right() {
    for (line, want) in [
        (
            "PingPnog",
            "unknown benchmark 'PingPnog'; did you mean 'PingPong'?",
        ),
        (
            "-msglg 3",
            "unknown option '-msglg'; did you mean '-msglog'?",
        ),
        (
            "xyzzyxyzzy",
            "unknown benchmark 'xyzzyxyzzy'; -h lists them all",
        ),
        ("-time", "-time needs a value: -time SECONDS"),
        (
            "-time -1",
            "'-1' does not fit -time SECONDS: a number above 0, such as 0.5",
        ),
        (
            "-time inf",
            "'inf' does not fit -time SECONDS: a number above 0, such as 0.5",
        ),
        (
            "-msglog 7:3",
            "'7:3' does not fit -msglog [MIN:]MAX: powers of two from 0 to 30, the smaller first",
        ),
        (
            "-iter 0",
            "'0' does not fit -iter SAMPLES[,MB]: two whole numbers from 1 to 1000000000, \
             the second may be left out",
        ),
    ] {
        assert_eq!(error(line), want, "{line}");
    }
    for line in [
        "-iter 1,2,3",
        "-iter x",
        "-iter ,",
        "-msglog 31",
        "-msglog :",
        "-time x",
    ] {
        assert!(error(line).contains("does not fit"), "{line}");
    }
}
