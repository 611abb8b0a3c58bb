//! The settings of shared memory: sizes of the [`SegmentLayout`], protocol of large messages, heap, collectives.
//!
//! [`SETTINGS`] has their rows; one function for each parses its value.

use oxmpi_text::{
    Alias, Error, Expected, Level, Product, Setting, Span, Words, size, switch, whole,
};

use crate::heap::{HeapSize, PagePreference};
use crate::node::collective::ProtocolPreference;
use crate::segment::SegmentLayout;
use crate::segment::area::FIFO_LEN;
use crate::transport::BulkProtocol;

/// The settings of this crate, as rows of the settings table.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "shm_slots",
        aliases: &[],
        default: "64",
        kind: "count",
        level: Level::Expert,
        short: "slots of the ring from one rank of a node to another",
        long: "Each holds one message of up to 112 B, or the header of a longer one, and takes \
               128 B. A sender that is this many messages ahead waits. A power of two, 4 to 65536.",
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
        long: "The size of each rank's area, from which `World::alloc` takes its memory. An area \
               costs only addresses until it is used. `auto` is half of the memory that is left; 0 \
               is no area. A limit of the process (`ulimit -f`, `ulimit -v`) may make it \
               smaller. Without an area `World::alloc` gives private memory.",
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
        long: "`auto` asks the kernel for huge pages; it grants them where \
               /sys/kernel/mm/transparent_hugepage/shmem_enabled allows it. `pool` takes pages that \
               the administrator has set aside (/proc/sys/vm/nr_hugepages), and acts as `auto` where these do \
               not suffice. `small` uses small pages.",
        check: |text| heap_pages(text).map(drop),
    },
    Setting {
        name: "shm_protocol",
        aliases: &[
            Alias {
                product: Product::Oxmpi,
                // word 'road': the old name is an alias for one release
                name: "shm_road",
                values: &[
                    ("turn", "slots"),
                    ("cache", "copy"),
                    ("stream", "copy_nt"),
                    ("single", "cma"),
                    ("both", "cma_both"),
                    ("direct", "mapped"),
                ],
            },
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
                values: &[("NONE", "slots"), ("CMA", "cma"), ("XPMEM", "cma")],
            },
        ],
        default: "auto",
        kind: "word",
        level: Level::Tuning,
        short: "protocol of large messages between ranks of a node",
        long: "`auto` times each protocol for each peer and size class and uses the best one; now and \
               then it tries another, since ranks move. `slots` copies through ping-pong windows of shared \
               memory, which both ranks write in turn; `copy` through shared memory in the cache, `copy_nt` \
               through shared memory past it (non-temporal stores); with `cma` the receiver copies \
               from the sender's memory (process_vm_readv), or the sender to the receiver's if its bytes \
               have gaps (process_vm_writev), with `cma_both` each side copies a part; \
               `mapped` copies from memory of `World::alloc`; `buffers` uses the buffers of shorter \
               messages. `copy` replaces a protocol that is not available, say by the ptrace scope.",
        check: |text| protocol(text).map(drop),
    },
    Setting {
        name: "shm_chunk",
        aliases: &[],
        default: "auto",
        kind: "auto or bytes",
        level: Level::Expert,
        short: "piece of a large message in shared memory",
        long: "While the sender copies a piece in, the receiver copies the piece before out. `auto` \
               begins with 4 KiB and grows to an eighth of the message, at least 8 KiB and at most 64 KiB. \
               Values from 4 KiB to 128 KiB.",
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
        short: "whether collectives of one node use shared flags and buffers",
        long: "A communicator whose ranks, at most 64, are all on one node then runs its collectives \
               without messages, if all ranks have the same length and no algorithm is set; nonblocking ones do \
               so once the ranks have made a barrier or another collective that all wait for; \
               reductions of two ranks from 256 KiB on still use messages. A communicator on several nodes, with ranks \
               in blocks or round-robin, may use them for the intra-node phase of bcast, reduce, allreduce, gather and \
               scatter. The first 8 communicators of a rank have them, and 8 persistent collectives. Their buffers \
               cost memory once they are used: up to 2.6 MiB for each rank and communicator. All ranks must have the same value.",
        check: |text| switch(text).map(drop),
    },
    Setting {
        name: "shm_collective_protocol",
        aliases: &[],
        default: "auto",
        kind: "word",
        level: Level::Expert,
        short: "protocol of long collectives in the memory of a node",
        long: "`auto` goes by a table of lengths and groups, and by the time of trial calls where that names two; \
               `oxmpi explain allreduce 64KiB -n 4` prints it. `buffers` copies in and out of shared buffers, `cma` \
               copies once by process_vm calls, with `shares` each rank reduces a share, `hierarchical` reduces \
               among the ranks of each processor first. A word takes the calls that the table lets its protocol \
               serve, without trials; others go as with `auto`. All ranks must have the same value.",
        check: |text| collective_protocol(text).map(drop),
    },
];

/// Open MPI's names of ways to copy between address spaces, and ours.
const COPIES: &[(&str, &str)] = &[
    ("none", "slots"),
    ("emulated", "slots"),
    ("cma", "cma"),
    ("knem", "cma"),
    ("xpmem", "cma"),
];

const AUTO: Words = Words(&["auto"]);
const PROTOCOLS: Words = Words(&[
    "auto", "buffers", "slots", "copy", "copy_nt", "cma", "cma_both", "mapped",
]);

/// The value of `shm_protocol`; `None` is `auto`.
///
/// # Errors
/// The text is none of the words.
pub fn protocol(text: &str) -> Result<Option<BulkProtocol>, Error> {
    Ok(match PROTOCOLS.find(text)? {
        0 => None,
        1 => Some(BulkProtocol::Buffers),
        claimable => Some(BulkProtocol::CLAIMABLE[claimable - 2]),
    })
}

const COLLECTIVE_PROTOCOLS: Words = Words(&["auto", "buffers", "cma", "shares", "hierarchical"]);

/// The value of `shm_collective_protocol`; `None` is `auto`.
///
/// # Errors
/// The text is none of the words.
pub fn collective_protocol(text: &str) -> Result<Option<ProtocolPreference>, Error> {
    let index = COLLECTIVE_PROTOCOLS.find(text)?;
    Ok(index
        .checked_sub(1)
        .map(|index| ProtocolPreference::ALL[index]))
}

/// The value of `shm_chunk`, in bytes; `None` is `auto`.
///
/// # Errors
/// The text is neither `auto` nor a size from 4 KiB to 128 KiB.
pub fn chunk(text: &str) -> Result<Option<u32>, Error> {
    if AUTO.find(text).is_ok() {
        return Ok(None);
    }
    const EXPECTED: &str = "`auto` or a size from 4 KiB to 128 KiB";
    let expected = Expected::Text(EXPECTED);
    match size(text).map_err(|error| Error { expected, ..error })? {
        bytes if (4 << 10..=FIFO_LEN as u64 / 4).contains(&bytes) => Ok(Some(bytes as u32)),
        _ => Err(Error::new(Span::whole(text), EXPECTED)),
    }
}

const PAGE_KINDS: Words = Words(&["auto", "pool", "small"]);

/// The value of `shm_heap`.
///
/// # Errors
/// The text is neither `auto` nor a size.
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
/// The text is none of the words.
pub fn heap_pages(text: &str) -> Result<PagePreference, Error> {
    Ok(match PAGE_KINDS.find(text)? {
        0 => PagePreference::Auto,
        1 => PagePreference::Pool,
        _ => PagePreference::Small,
    })
}

/// The value of `shm_slots`.
///
/// # Errors
/// The text is no power of two from 4 to 65536.
pub fn slots(text: &str) -> Result<u32, Error> {
    const EXPECTED: &str = "a power of two from 4 to 65536";
    let slots = whole(text, 4..=1 << 16, EXPECTED)? as u32;
    fitting(text, EXPECTED, slots, |layout| &mut layout.slots)
}

/// The value of `shm_buffer`, in bytes.
///
/// # Errors
/// The text is no multiple of 64 from 128 to 65472.
pub fn buffer(text: &str) -> Result<u32, Error> {
    const EXPECTED: &str = "a size from 128 to 65472, a multiple of 64";
    let buffer = u32::try_from(size(text)?).unwrap_or(u32::MAX);
    fitting(text, EXPECTED, buffer, |layout| &mut layout.buffer)
}

/// The value of `shm_buffers`.
///
/// # Errors
/// The text is no power of two from 4 to 4096.
pub fn buffers(text: &str) -> Result<u32, Error> {
    const EXPECTED: &str = "a power of two from 4 to 4096";
    let buffers = whole(text, 4..=1 << 12, EXPECTED)? as u32;
    fitting(text, EXPECTED, buffers, |layout| &mut layout.buffers)
}

/// The value of `text`, if a layout may have it in this field.
fn fitting(
    text: &str,
    expected: &'static str,
    value: u32,
    field: impl FnOnce(&mut SegmentLayout) -> &mut u32,
) -> Result<u32, Error> {
    let mut layout = SegmentLayout::new(1);
    *field(&mut layout) = value;
    match layout.check() {
        Ok(()) => Ok(value),
        Err(_) => Err(Error::new(Span::whole(text), expected)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::BulkPreference;

    #[test]
    fn defaults_are_those_of_the_layout() {
        let (usual, bulk) = (SegmentLayout::new(1), BulkPreference::default());
        for Setting { name, default, .. } in SETTINGS {
            let is_usual = match *name {
                "shm_heap" => heap(default) == Ok(HeapSize::default()),
                "shm_heap_pages" => heap_pages(default) == Ok(PagePreference::default()),
                "shm_protocol" => protocol(default) == Ok(bulk.protocol),
                "shm_chunk" => chunk(default) == Ok(bulk.chunk),
                "shm_collectives" => switch(default) == Ok(true),
                "shm_collective_protocol" => collective_protocol(default) == Ok(None),
                "shm_slots" => slots(default) == Ok(usual.slots),
                "shm_buffer" => buffer(default) == Ok(usual.buffer),
                "shm_buffers" => buffers(default) == Ok(usual.buffers),
                other => panic!("{other} has no reader"),
            };
            assert!(is_usual, "{name}: {default}");
        }
        assert!(SETTINGS.iter().all(|row| (row.check)(row.default).is_ok()));
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
    fn protocols_have_their_names() {
        assert_eq!(protocol("buffers"), Ok(Some(BulkProtocol::Buffers)));
        for claimed in BulkProtocol::CLAIMABLE {
            assert_eq!(protocol(claimed.name()), Ok(Some(claimed)));
        }
        let row = SETTINGS.iter().find(|row| row.name == "shm_protocol");
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
