use super::{Method, Policy};
use crate::kernels::Kernel;

#[test]
fn repetitions_are_those_of_the_guides_listing() {
    let method = Method::default();
    let listed = [
        (0, 1000),
        (32768, 1000),
        (65536, 640),
        (131_072, 320),
        (262_144, 160),
        (524_288, 80),
        (1_048_576, 40),
        (2_097_152, 20),
        (4_194_304, 10),
    ];
    for (bytes, repetitions) in listed {
        assert_eq!(method.repetitions(bytes), repetitions, "{bytes} bytes");
    }
    assert_eq!(method.repetitions(100_000), 419);
    assert_eq!(method.repetitions(1_000_000), 41);
    assert_eq!(method.repetitions(1 << 40), 1);
}

#[test]
fn off_ignores_the_volume() {
    let method = Method {
        policy: Policy::Off,
        ..Method::default()
    };
    assert_eq!(method.repetitions(0), 1000);
    assert_eq!(method.repetitions(1 << 40), 1000);
}

#[test]
fn time_cuts_repetitions_but_never_to_none() {
    let method = Method {
        seconds: 0.001,
        ..Method::default()
    };
    assert_eq!(method.cut(1000, 100), 1000);
    assert_eq!(method.cut(1000, 10_000), 100);
    assert_eq!(method.cut(1000, u64::MAX), 1);
    assert_eq!(method.cut(1000, 0), 1000);
}

#[test]
fn every_rank_is_the_root_as_often_where_the_policy_says_so() {
    let (rooted, other) = (Kernel::Bcast.info(), Kernel::Allreduce.info());
    for (policy, of_rooted, of_other) in [
        (Policy::Dynamic, 640, 640),
        (Policy::MultipleNp, 637, 637),
        (Policy::Auto, 637, 640),
        (Policy::Off, 640, 640),
    ] {
        assert_eq!(policy.fair(rooted, 7, 640), of_rooted, "{policy:?}");
        assert_eq!(policy.fair(other, 7, 640), of_other, "{policy:?}");
        // Few repetitions are better than none.
        assert_eq!(policy.fair(rooted, 7, 3), 3, "{policy:?}");
    }
}
