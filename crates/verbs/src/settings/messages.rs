//! Rows: by which queues, rings and transfers messages go.

use oxmpi_text::{Alias, Level, Product, Setting};

use super::{
    AUTO, auto_or, bytes, count, fragment, openib, openib_auto, receive_queues, rings, transfers,
};

/// A switch of openib.
const fn openib_switch(name: &'static str) -> Alias {
    Alias {
        product: Product::OpenMpi,
        name,
        values: &[("-1", AUTO), ("0", "off"), ("1", "on")],
    }
}

/// The rows of the settings table about messages by RDMA.
pub const MESSAGES: &[Setting] = &[
    Setting {
        name: "verbs_receive_queues",
        aliases: &[openib("btl_openib_receive_queues")],
        default: AUTO,
        kind: "queues",
        level: Level::Tuning,
        short: "receive queues of a rank on an RDMA device, as openib writes them",
        long: "Queues joined by `:`. `P,size,buffers,low mark,window,reserve` is one for each peer, \
               `S,size,buffers,low mark,sends` one for all peers; numbers from the right may be left out. \
               `P,128,256,192,128:S,65536,256,128,32` is an example. With `X` in place of each `P` and `S`, ranks \
               of a node share connections; the device needs XRC. `auto` takes those that the table of devices has for this one. All ranks of a job need the same. \
               `oxmpi explain memory` shows how much memory they take.",
        check: |text| auto_or(text, receive_queues).map(drop),
    },
    Setting {
        name: "verbs_eager_limit",
        aliases: &[openib("btl_openib_eager_limit")],
        default: "12KiB",
        kind: "bytes",
        level: Level::Tuning,
        short: "the longest message by RDMA that is sent eagerly, and that fits in an eager ring",
        long: "Longer messages wait for their receive. It ends at the largest buffers of `verbs_receive_queues`. \
               `eager_limit`, where it is set, takes precedence on every transport.",
        check: |text| bytes(text).map(drop),
    },
    Setting {
        name: "verbs_inline",
        aliases: &[openib_auto("btl_openib_max_inline_data")],
        default: AUTO,
        kind: "bytes",
        level: Level::Expert,
        short: "bytes of a message that are handed to an RDMA device with the request, if it grants so many",
        long: "At most 256 are used. `auto` is what the table of devices says. 0 sends nothing inline.",
        check: |text| auto_or(text, bytes).map(drop),
    },
    Setting {
        name: "verbs_rings",
        aliases: &[
            openib_switch("btl_openib_use_eager_rdma"),
            openib_switch("btl_openib_user_eager_rdma"),
        ],
        default: AUTO,
        kind: "switch",
        level: Level::Tuning,
        short: "whether peers that send often write short messages to memory that the receiver polls (eager rings)",
        long: "The lowest latency, for memory of `verbs_ring_slots` times `verbs_eager_limit` a peer. It needs a device that \
               writes the bytes of a request in order: `auto` is what the table of devices says.",
        check: |text| auto_or(text, rings).map(drop),
    },
    Setting {
        name: "verbs_ring_threshold",
        aliases: &[
            openib("btl_openib_eager_rdma_threshold"),
            openib("btl_openib_eager_rdma_threshhold"),
        ],
        default: "16",
        kind: "count",
        level: Level::Expert,
        short: "short messages of a peer after which it gets an eager ring",
        long: "So that only peers that send often get one.",
        check: |text| count(text).map(drop),
    },
    Setting {
        name: "verbs_ring_peers",
        aliases: &[openib("btl_openib_max_eager_rdma")],
        default: "16",
        kind: "count",
        level: Level::Expert,
        short: "peers that get an eager ring",
        long: "Each poll looks at every ring: many rings cost latency. 0 is no rings.",
        check: |text| count(text).map(drop),
    },
    Setting {
        name: "verbs_ring_slots",
        aliases: &[openib("btl_openib_eager_rdma_num")],
        default: "16",
        kind: "count",
        level: Level::Expert,
        short: "messages that an eager ring holds",
        long: "More are sent by the receive queues. A ring has at most 16 MiB; with more there are no rings.",
        check: |text| count(text).map(drop),
    },
    Setting {
        name: "verbs_transfers",
        aliases: &[openib("btl_openib_flags")],
        default: "put,get",
        kind: "list",
        level: Level::Tuning,
        short: "how long messages go by RDMA: some of send, put, get",
        long: "`get`: the receiver reads the sender's memory. `put`: the sender writes the receiver's, in parts of \
               `verbs_fragment`. With both the receiver reads, which takes a message less. `send` alone: all by the \
               receive queues, with copies. The numbers of openib are 1 for send, 2 for put, 4 for get, added.",
        check: |text| transfers(text).map(drop),
    },
    Setting {
        name: "verbs_fragment",
        aliases: &[openib("btl_openib_rdma_pipeline_frag_size")],
        default: "1MiB",
        kind: "bytes",
        level: Level::Expert,
        short: "bytes of one put of a long message by RDMA, and of one piece that is registered while it moves",
        long: "4 KiB to 1 GiB. Where memory does not stay registered (`verbs_leave_pinned`), or only in pieces, four pieces of a \
               message are registered at a time. `put_chunk`, where it is set, takes precedence on every transport.",
        check: |text| fragment(text).map(drop),
    },
    Setting {
        name: "verbs_min_rdma",
        aliases: &[
            openib("btl_openib_min_rdma_pipeline_size"),
            openib("btl_openib_min_rdma_size"),
        ],
        default: "256KiB",
        kind: "bytes",
        level: Level::Tuning,
        short: "the shortest message whose memory is registered to be read or written by RDMA",
        long: "Shorter ones go by the receive queues: copies cost less than registrations.",
        check: |text| bytes(text).map(drop),
    },
    Setting {
        name: "verbs_pipeline_first",
        aliases: &[openib("btl_openib_rndv_eager_limit")],
        default: AUTO,
        kind: "bytes",
        level: Level::Expert,
        short: "bytes at the start of a long message that are copied while the rest is registered in pieces",
        long: "Only where memory does not stay registered (`verbs_leave_pinned`). They go by the receive queues. `auto` is \
               `verbs_eager_limit`.",
        check: |text| auto_or(text, bytes).map(drop),
    },
    Setting {
        name: "verbs_pipeline_last",
        aliases: &[openib("btl_openib_rdma_pipeline_send_length")],
        default: "1MiB",
        kind: "bytes",
        level: Level::Expert,
        short: "bytes at the end of a long message that are copied while the rest is registered in pieces",
        long: "As `verbs_pipeline_first`, for the end. It is a page at least, so that the last page is never registered: what else is on \
               it stays with forked children.",
        check: |text| bytes(text).map(drop),
    },
];
