//! Rows: registered memory and forks.

use oxmpi_text::{Level, Setting, size};

use super::{AUTO, auto_or, count, openib, signed};

/// The rows of the settings table about registered memory.
pub const MEMORY: &[Setting] = &[
    Setting {
        name: "verbs_leave_pinned",
        aliases: &[openib("mpi_leave_pinned")],
        default: AUTO,
        kind: "number",
        level: Level::Tuning,
        short: "whether memory stays registered with an RDMA device after its use: auto, 1, 0 or -1",
        long: "1: it stays, and the next message from it costs no registration. 0 and -1: it does not. `auto`: it does \
               where the kernel tells this process of memory that goes away (userfaultfd). It is not read from files.",
        check: |text| auto_or(text, signed).map(drop),
    },
    Setting {
        name: "verbs_leave_pinned_pipeline",
        aliases: &[openib("mpi_leave_pinned_pipeline")],
        default: AUTO,
        kind: "number",
        level: Level::Expert,
        short: "as verbs_leave_pinned, for long messages in pieces of verbs_fragment: auto, 1, 0 or -1",
        long: "1: long messages move in pieces, which stay registered after their use. 0: they are released at once. It is not read from files.",
        check: |text| auto_or(text, signed).map(drop),
    },
    Setting {
        name: "verbs_cache_bytes",
        aliases: &[
            openib("mpool_rdma_rcache_size_limit"),
            openib("mpool_rdma_cache_size_limit"),
        ],
        default: "0",
        kind: "bytes",
        level: Level::Tuning,
        short: "the most memory of the program that stays registered; 0 for any amount",
        long: "What was used least recently goes first. Memory that two devices register counts twice.",
        check: |text| size(text).map(drop),
    },
    Setting {
        name: "verbs_cache_ranges",
        aliases: &[],
        default: "4096",
        kind: "count",
        level: Level::Expert,
        short: "the most ranges of the program's memory that stay registered",
        long: "Each is a row in tables of the device.",
        check: |text| count(text).map(drop),
    },
    Setting {
        name: "verbs_fork",
        aliases: &[openib("btl_openib_want_fork_support")],
        default: "-1",
        kind: "number",
        level: Level::Tuning,
        short: "whether a program with registered memory may fork: negative to try, 0 not to, positive to insist",
        long: "A positive number fails where it cannot be; then the next transport is used. Kernels from 5.12 on copy registered \
               pages for a child; with older ones a child must not touch them before it starts another program. \
               `oxmpi info --rdma` says what this machine does.",
        check: |text| signed(text).map(drop),
    },
];
