use super::{Lengths, Method, share};
use crate::Kernel;

#[test]
fn repetitions_are_those_of_the_guides_listing() {
    let method = Method::default();
    let listed = [
        (0, 1000),
        (32768, 1000),
        (65536, 640),
        (131_072, 320),
        (262_144, 160),
    ]
    .into_iter()
    .chain([
        (524_288, 80),
        (1_048_576, 40),
        (2_097_152, 20),
        (4_194_304, 10),
    ]);
    for (bytes, repetitions) in listed {
        assert_eq!(method.repetitions(bytes), repetitions, "{bytes} bytes");
    }
    assert_eq!(method.repetitions(100_000), 419);
    assert_eq!(method.repetitions(1_000_000), 41);
    assert_eq!(method.repetitions(1 << 40), 1);
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
fn lengths_begin_with_nothing_and_hold_whole_items() {
    let all: std::vec::Vec<usize> = Lengths {
        min_log: 0,
        max_log: 4,
    }
    .of(Kernel::PingPong.info())
    .collect();
    assert_eq!(all, [0, 1, 2, 4, 8, 16]);
    let floats: std::vec::Vec<usize> = Lengths {
        min_log: 0,
        max_log: 4,
    }
    .of(Kernel::Allreduce.info())
    .collect();
    assert_eq!(floats, [0, 4, 8, 16]);
}

#[test]
fn shares_add_up() {
    for whole in 1..200 {
        let parts = 40.min(whole as usize);
        assert_eq!(
            (0..parts)
                .map(|part| share(whole, parts, part))
                .sum::<u32>(),
            whole
        );
    }
}
