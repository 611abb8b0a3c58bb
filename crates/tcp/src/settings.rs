//! The settings of this transport.

use std::time::Duration;

use oxmpi_text::{
    Alias, Error, Expected, Level, Product, Setting, Span, duration, size, switch, whole,
};

use crate::address::{self, InterfaceFilter};

/// The rows of the settings table.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "tcp_include",
        aliases: &[
            Alias::new(Product::OpenMpi, "btl_tcp_if_include"),
            Alias::new(Product::OpenMpi, "btl_openib_ipaddr_include"),
            Alias::new(Product::IntelMpi, "FI_TCP_IFACE"),
        ],
        default: "",
        kind: "list",
        level: Level::Basic,
        short: "interfaces that tcp may use: names and ranges of addresses",
        long: "Names (`eth0`) and ranges (`10.0.0.0/8`, `fd00::/8`), separated by commas. Empty: all that \
               are up, the loopback device only if there is no other. A rank offers these addresses; two \
               ranks meet in a subnet that both are in, if there is one.",
        check: address::check,
    },
    Setting {
        name: "tcp_exclude",
        aliases: &[
            Alias::new(Product::OpenMpi, "btl_tcp_if_exclude"),
            Alias::new(Product::OpenMpi, "btl_openib_ipaddr_exclude"),
        ],
        default: "",
        kind: "list",
        level: Level::Basic,
        short: "interfaces that tcp may not use: names and ranges of addresses",
        long: "As `tcp_include`; what is in both lists is not used. Bridges of containers and virtual \
               machines (`docker0`, `virbr0`) need not be named: addresses that both sides have alike are \
               tried last.",
        check: address::check,
    },
    Setting {
        name: "tcp_frame",
        aliases: &[Alias::new(Product::OpenMpi, "btl_tcp_eager_limit")],
        default: "64KiB",
        kind: "bytes",
        level: Level::Tuning,
        short: "longest message that goes through a connection's buffers",
        long: "Longer ones wait for their receive and go from memory to memory. Each connection has \
               buffers of four times this size, which cost memory as far as they are used. 128 B to 1 MiB. \
               All ranks of a job need the same value.",
        check: |text| frame(text).map(drop),
    },
    Setting {
        name: "tcp_chunk",
        aliases: &[Alias::new(Product::OpenMpi, "btl_tcp_max_send_size")],
        default: "1MiB",
        kind: "bytes",
        level: Level::Expert,
        short: "piece of a long message, between two of which other messages pass",
        long: "4 KiB to 64 MiB. All ranks of a job need the same value.",
        check: |text| chunk(text).map(drop),
    },
    Setting {
        name: "tcp_ahead",
        aliases: &[],
        default: "1MiB",
        kind: "bytes",
        level: Level::Expert,
        short: "bytes of a long message that follow its request before the receiver asks for them",
        long: "A receive that waits has them without a question and its way back. Where none waits they are \
               dropped, and after that fewer messages have such bytes. A peer's first ones are 256 KiB at most, \
               and twice as many after each message whose receive waited. 0: none.",
        check: |text| ahead(text).map(drop),
    },
    Setting {
        name: "tcp_pages",
        aliases: &[],
        default: "1MiB",
        kind: "bytes",
        level: Level::Expert,
        short: "longest message whose memory the kernel may get by page, all of it or every other 256 KiB",
        long: "That saves the sender a copy. Whether it is faster is learned from the time that messages take. \
               Needs a process that ignores SIGPIPE as long as it runs, as programs in Rust and Python do. 0: all is copied. With `tcp_stall` all is, too: a peer that is given up, but \
               lives, would read what has changed since.",
        check: |text| pages(text).map(drop),
    },
    Setting {
        name: "tcp_silence",
        aliases: &[],
        default: "20s",
        kind: "time",
        level: Level::Basic,
        short: "how long a peer's host may be silent before the peer counts as lost",
        long: "A process that ends is noticed at once, also by kill -9. This is for hosts that lose power \
               and links that are cut. The host's kernel has to answer, not the process: one that computes \
               for long or is stopped is not lost. 1s to 1h.",
        check: |text| silence(text).map(drop),
    },
    Setting {
        name: "tcp_stall",
        aliases: &[],
        default: "off",
        kind: "time",
        level: Level::Expert,
        short: "how long a connection may bring nothing although the peer is asked, before it counts as lost",
        long: "For networks with a proxy or firewall between the hosts that ends connections and makes its \
               own: it confirms what it may never pass on, so `tcp_silence` cannot see that it has stalled. \
               With a time here a peer whose connection is quiet is asked to answer, which it does inside of \
               calls of oxmpi only: one that makes none for so long, because it computes or is stopped, \
               counts as lost. So does one that answers no connection made to it for so long. 1s to 1h, or `off`.",
        check: |text| stall(text).map(drop),
    },
    Setting {
        name: "tcp_patience",
        aliases: &[],
        default: "30s",
        kind: "time",
        level: Level::Expert,
        short: "how long a rank calls a peer that cannot be reached before the peer counts as lost",
        long: "All addresses of the peer are tried in turn, again and again. 1s to 1h.",
        check: |text| patience(text).map(drop),
    },
    Setting {
        name: "tcp_guests",
        aliases: &[],
        default: "128",
        kind: "count",
        level: Level::Expert,
        short: "callers that may wait at once to prove that they know the key of the job",
        long: "When there are more, who came first is turned away; a rank of the job calls again. 1 to \
               65536.",
        check: |text| guests(text).map(drop),
    },
    Setting {
        name: "tcp_log",
        aliases: &[],
        default: "on",
        kind: "switch",
        level: Level::Expert,
        short: "whether strangers that are turned away are told on stderr, and peers that break the protocol",
        long: "A line each, for each of the first strangers and then for ever fewer of them. In a program that has a \
               `tracing` subscriber such lines go there, in any case.",
        check: |text| switch(text).map(drop),
    },
];

/// The value of `tcp_frame`, in bytes.
///
/// # Errors
/// What is no size, or out of bounds.
pub fn frame(text: &str) -> Result<u32, Error> {
    between(text, size(text)?, 128..=1 << 20, "a size from 128 to 1MiB").map(|bytes| bytes as u32)
}

/// The value of `tcp_chunk`, in bytes.
///
/// # Errors
/// What is no size, or out of bounds.
pub fn chunk(text: &str) -> Result<u32, Error> {
    let bounds = 4 << 10..=64 << 20;
    between(text, size(text)?, bounds, "a size from 4KiB to 64MiB").map(|bytes| bytes as u32)
}

/// The value of `tcp_ahead`, in bytes.
///
/// # Errors
/// What is no size.
pub fn ahead(text: &str) -> Result<u64, Error> {
    size(text)
}

/// The value of `tcp_pages`, in bytes.
///
/// # Errors
/// What is no size.
pub fn pages(text: &str) -> Result<u64, Error> {
    size(text)
}

/// The value of `tcp_silence`.
///
/// # Errors
/// What is no time, or out of bounds.
pub fn silence(text: &str) -> Result<Duration, Error> {
    time(text)
}

/// The value of `tcp_stall`.
///
/// # Errors
/// What is neither a time within bounds nor `off`.
pub fn stall(text: &str) -> Result<Option<Duration>, Error> {
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

/// The value of `tcp_patience`.
///
/// # Errors
/// What is no time, or out of bounds.
pub fn patience(text: &str) -> Result<Duration, Error> {
    time(text)
}

/// The value of `tcp_guests`.
///
/// # Errors
/// What is no whole number, or out of bounds.
pub fn guests(text: &str) -> Result<u32, Error> {
    whole(text, 1..=1 << 16, "a whole number from 1 to 65536").map(|count| count as u32)
}

/// The values of `tcp_include` and `tcp_exclude`.
///
/// # Errors
/// The first list that is none.
pub fn filter(include: &str, exclude: &str) -> Result<InterfaceFilter, Error> {
    InterfaceFilter::new(include, exclude)
}

/// Times from a second to an hour, in nanoseconds.
const TIMES: std::ops::RangeInclusive<u64> = 1_000_000_000..=3_600_000_000_000;

fn time(text: &str) -> Result<Duration, Error> {
    between(
        text,
        duration(text)?,
        TIMES,
        "a time from 1s to 1h, such as 20s or 5min",
    )
    .map(Duration::from_nanos)
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
    Err(Error {
        span: Span::whole(text),
        expected: Expected::Text(expected),
        suggestion: None,
    })
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
                "tcp_ahead" => assert_eq!(ahead(text), Ok(defaults.speculative_push)),
                "tcp_pages" => assert_eq!(pages(text), Ok(defaults.zero_copy)),
                "tcp_silence" => assert_eq!(silence(text), Ok(defaults.host_timeout)),
                "tcp_stall" => assert_eq!(stall(text), Ok(defaults.stall_timeout)),
                "tcp_patience" => assert_eq!(patience(text), Ok(defaults.connect_timeout)),
                "tcp_guests" => assert_eq!(guests(text), Ok(defaults.pending_connections)),
                "tcp_log" => assert_eq!(switch(text), Ok(defaults.log)),
                other => panic!("{other} has no reader"),
            }
        }
    }

    #[test]
    fn bad_values_are_refused() {
        for bad in ["", "0", "127", "2MiB", "x", "-1"] {
            assert!(frame(bad).is_err(), "{bad:?}");
            assert!(guests(bad).is_err() || bad == "127", "{bad:?}");
        }
        for bad in ["", "0", "20", "0.5s", "2h", "x"] {
            assert!(silence(bad).is_err() && patience(bad).is_err(), "{bad:?}");
            assert!(stall(bad).is_err(), "{bad:?}");
        }
        assert!(chunk("1K").is_err() && chunk("128MiB").is_err());
        assert!(filter("eth0", "10.0.0.0/99").is_err());
    }
}
