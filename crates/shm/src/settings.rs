//! The settings of the node's transport: the sizes of its [`SegmentLayout`], the protocols of large messages,
//! and the memory that programs allocate.

use oxmpi_text::{
    Alias, Error, Expected, Level, Product, Setting, Span, Words, size, switch, whole,
};

use crate::heap::{HeapSize, PagePreference};
use crate::segment::SegmentLayout;
use crate::segment::area::FIFO_LEN;
use crate::transport::BulkProtocol;

/// The rows of the settings table.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "shm_slots",
        aliases: &[],
        default: "64",
        kind: "count",
        level: Level::Expert,
        short: "slots of the ring from one rank of a node to another",
        long: "Each holds one message of up to 112 B, or the header of a longer one, and takes \
               128 B. A sender that is this far ahead waits. A power of two, 4 to 65536.",
        check: |text| slots(text).map(drop),
    },
    Setting {
        name: "shm_buffer",
        aliases: &[],
        default: "8KiB",
        kind: "bytes",
        level: Level::Expert,
        short: "size of a larger buffer from one rank of a node to another",
        long: "The longest frame (path E1), and the unit of bulk \
               transfer. A multiple of 64 B, 128 to 65472.",
        check: |text| buffer(text).map(drop),
    },
    Setting {
        name: "shm_buffers",
        aliases: &[],
        default: "16",
        kind: "count",
        level: Level::Expert,
        short: "larger buffers from one rank of a node to another",
        long: "They cost memory once the two ranks have used them. A power of two, 4 to 4096.",
        check: |text| buffers(text).map(drop),
    },
    Setting {
        name: "shm_heap",
        aliases: &[],
        default: "auto",
        kind: "auto or bytes",
        level: Level::Tuning,
        short: "memory that a rank can allocate where its peers reach it",
        long: "The size of the area that `World::alloc` takes its memory from, one for each rank. It \
               costs addresses only, until it is used. `auto` is half of the memory that is left; 0 \
               is none. Where a limit of the process (`ulimit -f`, `ulimit -v`) allows less, it is \
               less; where there is none, `World::alloc` gives private memory.",
        check: |text| heap(text).map(drop),
    },
    Setting {
        name: "shm_heap_pages",
        aliases: &[Alias {
            product: Product::CrayMpich,
            name: "MPICH_ALLOC_MEM_HUGE_PAGES",
            values: &[("0", "small"), ("1", "auto")],
        }],
        default: "auto",
        kind: "word",
        level: Level::Tuning,
        short: "pages of the memory that ranks allocate: auto, pool or small",
        long: "`auto` asks the kernel for huge pages, which gives them to shared memory where \
               /sys/kernel/mm/transparent_hugepage/shmem_enabled says so. `pool` takes those that \
               the administrator has set aside (/proc/sys/vm/nr_hugepages), and asks where these do \
               not suffice. `small` does not ask.",
        check: |text| heap_pages(text).map(drop),
    },
    Setting {
        name: "shm_road",
        aliases: &[
            Alias {
                product: Product::OpenMpi,
                name: "btl_vader_single_copy_mechanism",
                values: COPIES,
            },
            Alias {
                product: Product::OpenMpi,
                name: "smsc",
                values: COPIES,
            },
            Alias {
                product: Product::CrayMpich,
                name: "MPICH_SMP_SINGLE_COPY_MODE",
                values: &[("NONE", "turn"), ("CMA", "single"), ("XPMEM", "single")],
            },
        ],
        default: "auto",
        kind: "word",
        level: Level::Tuning,
        short: "how large messages go between ranks of a node",
        long: "`auto` times each protocol for each peer and class of sizes, and takes the best one; now \
               and then it tries another, since ranks move. `cache` copies through shared memory in \
               the cache, `stream` through shared memory past it; with `single` the receiver copies \
               from the sender's memory (process_vm_readv), with `both` each side copies a part; \
               `direct` copies from memory of `World::alloc`; `buffers` uses the buffers of shorter \
               messages. A protocol that is closed, say by the ptrace scope, is replaced by `cache`.",
        check: |text| protocol(text).map(drop),
    },
    Setting {
        name: "shm_chunk",
        aliases: &[],
        default: "auto",
        kind: "auto or bytes",
        level: Level::Expert,
        short: "piece of a large message in shared memory",
        long: "While one side copies a piece in, the other copies the one before out. `auto` \
               begins with 4 KiB and goes up to an eighth of the message, 8 KiB to 64 KiB. 4 KiB to \
               128 KiB.",
        check: |text| chunk(text).map(drop),
    },
    Setting {
        name: "shm_collectives",
        aliases: &[Alias {
            product: Product::IntelMpi,
            name: "I_MPI_COLL_INTRANODE",
            values: &[("shm", "on"), ("pt2pt", "off")],
        }],
        default: "on",
        kind: "switch",
        level: Level::Tuning,
        short: "whether ranks of one node have flags and buffers for collectives",
        long: "A communicator whose ranks are all on one node, up to 64, then runs its collectives \
               without messages: those of one length for all ranks, unless an algorithm is asked for; \
               but not reductions of two ranks from 256 KiB on. Where its ranks are on several nodes, in \
               blocks or in turn, those of each may begin and end bcast, reduce, allreduce, gather and scatter so. \
               The first 8 communicators of a rank have them. Their buffers cost memory once they \
               are used: up to 2.6 MiB for each rank and communicator. Every rank must be told the same.",
        check: |text| switch(text).map(drop),
    },
];

/// What Open MPI calls ways to copy between address spaces.
const COPIES: &[(&str, &str)] = &[
    ("none", "turn"),
    ("emulated", "turn"),
    ("cma", "single"),
    ("knem", "single"),
    ("xpmem", "single"),
];

const AUTO: Words = Words(&["auto"]);
const PROTOCOLS: Words = Words(&[
    "auto", "buffers", "turn", "cache", "stream", "single", "both", "direct",
]);

/// The value of `shm_road`; `None` is `auto`.
///
/// # Errors
/// What is none of the words.
pub fn protocol(text: &str) -> Result<Option<BulkProtocol>, Error> {
    Ok(match PROTOCOLS.find(text)? {
        0 => None,
        1 => Some(BulkProtocol::Buffers),
        claimed => Some(BulkProtocol::CLAIMABLE[claimed - 2]),
    })
}

/// The value of `shm_chunk`, in bytes; `None` is `auto`.
///
/// # Errors
/// What is neither `auto` nor a size that a pipe can have.
pub fn chunk(text: &str) -> Result<Option<u32>, Error> {
    if AUTO.find(text).is_ok() {
        return Ok(None);
    }
    let wrong = |error: Error| Error {
        expected: Expected::Text("`auto` or a size from 4 KiB to 128 KiB"),
        ..error
    };
    match size(text).map_err(wrong)? {
        bytes if (4 << 10..=FIFO_LEN as u64 / 4).contains(&bytes) => Ok(Some(bytes as u32)),
        _ => Err(wrong(Error {
            span: Span::whole(text),
            expected: Expected::Text(""),
            suggestion: None,
        })),
    }
}

const PAGES: Words = Words(&["auto", "pool", "small"]);

/// The value of `shm_heap`.
///
/// # Errors
/// What is neither `auto` nor a size.
pub fn heap(text: &str) -> Result<HeapSize, Error> {
    if AUTO.find(text).is_ok() {
        return Ok(HeapSize::Auto);
    }
    size(text).map(HeapSize::Bytes).map_err(|error| Error {
        expected: Expected::Text("`auto` or a size"),
        ..error
    })
}

/// The value of `shm_heap_pages`.
///
/// # Errors
/// What is none of the words.
pub fn heap_pages(text: &str) -> Result<PagePreference, Error> {
    Ok(match PAGES.find(text)? {
        0 => PagePreference::Auto,
        1 => PagePreference::Pool,
        _ => PagePreference::Small,
    })
}

/// The value of `shm_slots`.
///
/// # Errors
/// What no ring can have.
pub fn slots(text: &str) -> Result<u32, Error> {
    const EXPECTED: &str = "a power of two from 4 to 65536";
    let slots = whole(text, 4..=1 << 16, EXPECTED)? as u32;
    fitting(
        text,
        EXPECTED,
        SegmentLayout {
            slots,
            ..SegmentLayout::new(1)
        },
    )
    .map(|l| l.slots)
}

/// The value of `shm_buffer`, in bytes.
///
/// # Errors
/// What no buffer can have.
pub fn buffer(text: &str) -> Result<u32, Error> {
    const EXPECTED: &str = "a size from 128 to 65472, a multiple of 64";
    let buffer = u32::try_from(size(text)?).unwrap_or(u32::MAX);
    fitting(
        text,
        EXPECTED,
        SegmentLayout {
            buffer,
            ..SegmentLayout::new(1)
        },
    )
    .map(|l| l.buffer)
}

/// The value of `shm_buffers`.
///
/// # Errors
/// What no link can have.
pub fn buffers(text: &str) -> Result<u32, Error> {
    const EXPECTED: &str = "a power of two from 4 to 4096";
    let buffers = whole(text, 4..=1 << 12, EXPECTED)? as u32;
    fitting(
        text,
        EXPECTED,
        SegmentLayout {
            buffers,
            ..SegmentLayout::new(1)
        },
    )
    .map(|l| l.buffers)
}

fn fitting(
    text: &str,
    expected: &'static str,
    layout: SegmentLayout,
) -> Result<SegmentLayout, Error> {
    match layout.check() {
        Ok(()) => Ok(layout),
        Err(_) => Err(Error {
            span: Span::whole(text),
            expected: Expected::Text(expected),
            suggestion: None,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::BulkPreference;

    #[test]
    fn defaults_are_those_of_the_layout() {
        let usual = SegmentLayout::new(1);
        for row in SETTINGS {
            (row.check)(row.default).unwrap();
            let value = match row.name {
                "shm_heap" => {
                    assert_eq!(heap(row.default), Ok(HeapSize::default()));
                    continue;
                }
                "shm_heap_pages" => {
                    assert_eq!(heap_pages(row.default), Ok(PagePreference::default()));
                    continue;
                }
                "shm_road" => {
                    assert_eq!(
                        protocol(row.default),
                        Ok(BulkPreference::default().protocol)
                    );
                    continue;
                }
                "shm_chunk" => {
                    assert_eq!(chunk(row.default), Ok(BulkPreference::default().chunk));
                    continue;
                }
                "shm_collectives" => {
                    assert_eq!(switch(row.default), Ok(true));
                    continue;
                }
                "shm_slots" => (slots(row.default), usual.slots),
                "shm_buffer" => (buffer(row.default), usual.buffer),
                "shm_buffers" => (buffers(row.default), usual.buffers),
                other => panic!("{other} has no reader"),
            };
            assert_eq!(value.0, Ok(value.1));
        }
    }

    #[test]
    fn words_and_sizes_of_the_heap() {
        assert_eq!(heap("0"), Ok(HeapSize::Bytes(0)));
        assert_eq!(heap("3GiB"), Ok(HeapSize::Bytes(3 << 30)));
        assert_eq!(heap_pages("pool"), Ok(PagePreference::Pool));
        assert_eq!(heap_pages("small"), Ok(PagePreference::Small));
        for bad in ["", "full", "-1", "3Gx", "99999999999999T"] {
            let error = heap(bad).unwrap_err();
            assert_eq!(
                error.expected,
                Expected::Text("`auto` or a size"),
                "{bad:?}"
            );
            assert!(heap_pages(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn roads_have_their_names() {
        assert_eq!(protocol("buffers"), Ok(Some(BulkProtocol::Buffers)));
        for claimed in BulkProtocol::CLAIMABLE {
            assert_eq!(protocol(claimed.name()), Ok(Some(claimed)));
        }
        let row = SETTINGS.iter().find(|row| row.name == "shm_road");
        let aliases = row.expect("a row").aliases.iter();
        for (_, ours) in aliases.flat_map(|alias| alias.values) {
            assert!(protocol(ours).is_ok(), "{ours}");
        }
        assert_eq!(chunk("16KiB"), Ok(Some(16 << 10)));
        for bad in ["", "0", "1K", "129KiB", "1M", "x"] {
            assert!(chunk(bad).is_err(), "{bad:?}");
            assert!(protocol(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn bad_values_are_refused() {
        for bad in ["", "0", "3", "5", "-4", "131072", "x"] {
            assert!(slots(bad).is_err(), "{bad:?}");
            assert!(buffers(bad).is_err(), "{bad:?}");
        }
        for bad in ["", "0", "100", "64", "64K", "99999999999999"] {
            assert!(buffer(bad).is_err(), "{bad:?}");
        }
    }
}
