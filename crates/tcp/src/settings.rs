//! The settings of this transport: their rows, and functions that read their values.

use std::time::Duration;

use oxmpi_text::{
    Alias, Error, Expected, Level, Product, Setting, Span, duration, size, switch, whole,
};

pub use oxmpi_text::{size as speculative_push, size as zero_copy};

use crate::address::{self, InterfaceFilter};

/// The rows of the settings table.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "tcp_include",
        aliases: &[
            Alias::new(Product::OpenMpi, "btl_tcp_if_include"),
            Alias::new(Product::IntelMpi, "FI_TCP_IFACE"),
        ],
        default: "",
        kind: "list",
        level: Level::Basic,
        short: "interfaces that tcp may use: names and address ranges",
        long: "Names (`eth0`) and ranges (`10.0.0.0/8`, `fd00::/8`), separated by commas. Empty: all that \
               are up, the loopback device only if there is no other. A rank advertises the addresses of these \
               interfaces; two ranks connect in a common subnet, if there is one.",
        check: address::check,
    },
    Setting {
        name: "tcp_exclude",
        aliases: &[Alias::new(Product::OpenMpi, "btl_tcp_if_exclude")],
        default: "",
        kind: "list",
        level: Level::Basic,
        short: "interfaces that tcp may not use: names and address ranges",
        long: "As `tcp_include`; an interface in both lists is not used. Bridges of containers and virtual \
               machines (`docker0`, `virbr0`) need not be named: an address that both ranks have is \
               tried last.",
        check: address::check,
    },
    Setting {
        name: "tcp_frame",
        aliases: &[Alias::new(Product::OpenMpi, "btl_tcp_eager_limit")],
        default: "64KiB",
        kind: "bytes",
        level: Level::Tuning,
        short: "longest message that a connection's buffers take (eager limit)",
        long: "Longer messages wait for their receive and go from memory to memory (rendezvous). Each \
               connection has buffers of four times this size; unused pages cost no memory. 128 B to 1 MiB. \
               All ranks of a job need the same value.",
        check: |text| frame(text).map(drop),
    },
    Setting {
        name: "tcp_chunk",
        aliases: &[Alias::new(Product::OpenMpi, "btl_tcp_max_send_size")],
        default: "1MiB",
        kind: "bytes",
        level: Level::Expert,
        short: "bytes of a long message that go in one piece; other messages pass between pieces",
        long: "4 KiB to 64 MiB. All ranks of a job need the same value.",
        check: |text| chunk(text).map(drop),
    },
    Setting {
        name: "tcp_speculative_push",
        aliases: &[Alias::new(Product::Oxmpi, "tcp_ahead")],
        default: "1MiB",
        kind: "bytes",
        level: Level::Expert,
        short: "most bytes of a long message that the sender pushes before the receiver asks for them",
        long: "A receive that waits gets them without a round trip. If none waits, they are dropped, and \
               the sender pushes for fewer messages. The first push to a peer has up to 256 KiB, and twice as \
               much after each message whose receive waited. 0: no push.",
        check: |text| speculative_push(text).map(drop),
    },
    Setting {
        name: "tcp_zero_copy",
        aliases: &[Alias::new(Product::Oxmpi, "tcp_pages")],
        default: "1MiB",
        kind: "bytes",
        level: Level::Expert,
        short: "longest message whose pages may go to the kernel without a copy (vmsplice)",
        long: "Saves the sender a copy, of all bytes or of every other 256 KiB: the time of transfers \
               decides. The process must ignore SIGPIPE, as programs in Rust and Python do. 0: always copy. \
               `tcp_stall_timeout` turns it off: a lost peer that is still alive could read later contents.",
        check: |text| zero_copy(text).map(drop),
    },
    Setting {
        name: "tcp_host_timeout",
        aliases: &[Alias::new(Product::Oxmpi, "tcp_silence")],
        default: "20s",
        kind: "time",
        level: Level::Basic,
        short: "how long a peer's host may acknowledge nothing before the peer counts as lost",
        long: "For hosts that lose power and links that are cut; a process that ends is noticed at once, \
               also after kill -9. The kernel of the host answers: a process that computes for long or is \
               stopped is not lost. 1s to 1h.",
        check: |text| timeout(text).map(drop),
    },
    Setting {
        name: "tcp_stall_timeout",
        aliases: &[Alias::new(Product::Oxmpi, "tcp_stall")],
        default: "off",
        kind: "time",
        level: Level::Expert,
        short: "how long a connection may bring nothing although the peer is pinged, before it counts as lost",
        long: "For networks whose proxy or firewall acknowledges bytes that it may never pass on, which \
               `tcp_host_timeout` cannot notice. With a time here, quiet peers are pinged. A peer answers only \
               inside of calls of oxmpi: one that makes no call for this long, because it computes or is \
               stopped, counts as lost, and so does one that leaves a new connection unanswered. 1s to 1h, or `off`.",
        check: |text| stall_timeout(text).map(drop),
    },
    Setting {
        name: "tcp_connect_timeout",
        aliases: &[Alias::new(Product::Oxmpi, "tcp_patience")],
        default: "30s",
        kind: "time",
        level: Level::Expert,
        short: "how long a rank tries to connect to a peer before the peer counts as lost",
        long: "All addresses of the peer are tried in turn, again and again. 1s to 1h.",
        check: |text| timeout(text).map(drop),
    },
    Setting {
        name: "tcp_pending_connections",
        // word 'guest': the old name is an alias for one release
        aliases: &[Alias::new(Product::Oxmpi, "tcp_guests")],
        default: "128",
        kind: "count",
        level: Level::Expert,
        short: "most connections that may be in the handshake at once",
        long: "One more drops the oldest; a rank of the job connects again. 1 to 65536.",
        check: |text| pending_connections(text).map(drop),
    },
    Setting {
        name: "tcp_log",
        aliases: &[],
        default: "on",
        kind: "switch",
        level: Level::Expert,
        short: "whether refused connections and protocol violations are reported on stderr",
        long: "One line for each of the first 16 refused connections, then for fewer. In a program with a \
               `tracing` subscriber the lines always go there instead.",
        check: |text| switch(text).map(drop),
    },
];

/// The value of `tcp_frame`, in bytes.
///
/// # Errors
/// If the text is no size, or out of bounds.
pub fn frame(text: &str) -> Result<u32, Error> {
    between(text, size(text)?, 128..=1 << 20, "a size from 128 to 1MiB").map(|bytes| bytes as u32)
}

/// The value of `tcp_chunk`, in bytes.
///
/// # Errors
/// If the text is no size, or out of bounds.
pub fn chunk(text: &str) -> Result<u32, Error> {
    let bounds = 4 << 10..=64 << 20;
    between(text, size(text)?, bounds, "a size from 4KiB to 64MiB").map(|bytes| bytes as u32)
}

/// The value of `tcp_stall_timeout`.
///
/// # Errors
/// If the text is neither a time within bounds nor `off`.
pub fn stall_timeout(text: &str) -> Result<Option<Duration>, Error> {
    if text == "off" {
        return Ok(None);
    }
    let expected = "a time from 1s to 1h, such as 20s or 5min, or off";
    let time = duration(text).and_then(|value| between(text, value, TIMES, expected));
    time.map(|nanos| Some(Duration::from_nanos(nanos)))
        .map_err(|why| Error {
            expected: Expected::Text(expected),
            ..why
        })
}

/// The value of `tcp_pending_connections`.
///
/// # Errors
/// If the text is no whole number, or out of bounds.
pub fn pending_connections(text: &str) -> Result<u32, Error> {
    whole(text, 1..=1 << 16, "a whole number from 1 to 65536").map(|count| count as u32)
}

/// The values of `tcp_include` and `tcp_exclude`.
///
/// # Errors
/// The first invalid entry.
pub fn filter(include: &str, exclude: &str) -> Result<InterfaceFilter, Error> {
    InterfaceFilter::new(include, exclude)
}

/// Times from a second to an hour, in nanoseconds.
const TIMES: std::ops::RangeInclusive<u64> = 1_000_000_000..=3_600_000_000_000;

/// The value of `tcp_host_timeout` or `tcp_connect_timeout`.
///
/// # Errors
/// If the text is no time, or out of bounds.
pub fn timeout(text: &str) -> Result<Duration, Error> {
    let expected = "a time from 1s to 1h, such as 20s or 5min";
    between(text, duration(text)?, TIMES, expected).map(Duration::from_nanos)
}

fn between(
    text: &str,
    value: u64,
    bounds: std::ops::RangeInclusive<u64>,
    expected: &'static str,
) -> Result<u64, Error> {
    if bounds.contains(&value) {
        return Ok(value);
    }
    Err(Error::new(Span::whole(text), expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_options() {
        let defaults = crate::TcpOptions::default();
        for row in SETTINGS {
            (row.check)(row.default).unwrap();
            let text = row.default;
            match row.name {
                "tcp_include" | "tcp_exclude" => {
                    assert_eq!(filter(text, text), Ok(InterfaceFilter::all()))
                }
                "tcp_frame" => assert_eq!(frame(text), Ok(defaults.frame)),
                "tcp_chunk" => assert_eq!(chunk(text), Ok(defaults.chunk)),
                "tcp_speculative_push" => {
                    assert_eq!(speculative_push(text), Ok(defaults.speculative_push))
                }
                "tcp_zero_copy" => assert_eq!(zero_copy(text), Ok(defaults.zero_copy)),
                "tcp_host_timeout" => assert_eq!(timeout(text), Ok(defaults.host_timeout)),
                "tcp_stall_timeout" => assert_eq!(stall_timeout(text), Ok(defaults.stall_timeout)),
                "tcp_connect_timeout" => {
                    assert_eq!(timeout(text), Ok(defaults.connect_timeout))
                }
                "tcp_pending_connections" => {
                    assert_eq!(pending_connections(text), Ok(defaults.pending_connections))
                }
                "tcp_log" => assert_eq!(switch(text), Ok(defaults.log)),
                other => panic!("{other} has no reader"),
            }
        }
    }

    #[test]
    fn bad_values_are_refused() {
        for bad in ["", "0", "127", "2MiB", "x", "-1"] {
            assert!(frame(bad).is_err(), "{bad:?}");
            assert!(pending_connections(bad).is_err() || bad == "127", "{bad:?}");
        }
        for bad in ["", "0", "20", "0.5s", "2h", "x"] {
            assert!(timeout(bad).is_err(), "{bad:?}");
            assert!(stall_timeout(bad).is_err(), "{bad:?}");
        }
        assert!(chunk("1K").is_err() && chunk("128MiB").is_err());
        assert!(filter("eth0", "10.0.0.0/99").is_err());
    }
}
