//! Aims for one-sided communication: an access in shared memory is a copy, without the target's help.

use super::Aims;
use crate::compare::figures::FigureKey;

/// Kernels of 8 B: at most these nanoseconds, and this ratio to the best peer.
const SHORT: [(&str, Option<f64>, Option<f64>); 11] = [
    ("put", Some(100.0), Some(0.25)),
    ("put_many", Some(50.0), None),
    ("get", Some(100.0), Some(0.25)),
    ("get_many", Some(50.0), None),
    ("accumulate", Some(100.0), Some(0.6)),
    ("fetch_and_op", Some(100.0), Some(0.6)),
    ("fetch_and_op_many", Some(100.0), Some(0.6)),
    ("compare_and_swap", Some(100.0), Some(0.6)),
    ("compare_and_swap_many", Some(100.0), Some(0.6)),
    ("window", None, Some(0.5)),
    ("fence_put", None, Some(0.5)),
];

/// Kernels, lengths, and the ratio to the best peer.
const LONG_OR_FAR: [(&str, u64, f64); 8] = [
    ("put", 65536, 0.95),
    ("put", 1048576, 0.95),
    ("put", 4194304, 1.0),
    ("accumulate", 65536, 0.8),
    ("get_accumulate", 65536, 0.8),
    ("network put", 8, 0.9),
    ("network put_many", 8, 0.5),
    ("network put", 1048576, 1.0),
];

/// Kernels of more ranks than processors, and their ratio to the best peer.
const CROWD: [&str; 3] = ["window", "all_put_all", "exchange_put"];
const OVER_CROWD: f64 = 0.7;

/// The ratio of a long put to a bare copy into shared memory.
const OVER_COPY: f64 = 1.15;

/// Nanoseconds that a put to private memory takes over the system call.
const OVER_CALL: f64 = 100.0;

/// 11: fixed limits, over the best peer, and over the floor.
pub(super) fn aims(aims: &mut Aims<'_>) {
    for (kernel, most, factor) in SHORT {
        let (what, cell) = (format!("{kernel} 8 B"), FigureKey::new(kernel, 2, 8));
        if most.is_some() {
            aims.time(11, &what, &cell, most, "a fixed limit".into());
        }
        if let Some(factor) = factor {
            aims.peer(11, &what, &cell, factor);
        }
    }
    for (kernel, bytes, factor) in LONG_OR_FAR {
        let cell = FigureKey::new(kernel, 2, bytes);
        let what = format!("{kernel} {bytes} B");
        aims.peer(11, &what, &cell, factor);
        if kernel == "put" {
            aims.floor(11, &what, &cell, OVER_COPY, 0.0);
        }
    }
    for (kernel, ranks) in CROWD
        .iter()
        .flat_map(|kernel| [4, 8].map(|ranks| (*kernel, ranks)))
    {
        let cell = FigureKey::new(kernel, ranks, 8);
        aims.peer(
            11,
            &format!("{kernel} 8 B, {ranks} ranks"),
            &cell,
            OVER_CROWD,
        );
    }
    let private = FigureKey::new("private_put", 2, 8);
    aims.floor(11, "private_put 8 B", &private, 1.0, OVER_CALL);
    let message = aims.figures.ours(&FigureKey::new("pingpong", 2, 8));
    let polled = FigureKey::new("put_pingpong", 2, 8);
    aims.time(
        11,
        "put_pingpong 8 B",
        &polled,
        message,
        "pingpong 8 B".into(),
    );
}
