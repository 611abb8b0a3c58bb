//! The settings of a network transport (`network_*`), with Cray MPICH's names as aliases, and their parsers.
//! Only `oxmpi explain` reads them, for its model of such a network: their help starts with `unused: `.

use oxmpi_text::{Alias, Error, Level, Product, Setting, Span, Words, switch, whole};

use super::super::settings::{AUTO, auto_or, within};
use super::{ConnectTime, HEADER, JOB_SIZES, MailboxSharing};

const fn cray(name: &'static str) -> Alias {
    Alias::new(Product::CrayMpich, name)
}

const fn cray_values(name: &'static str, values: &'static [(&'static str, &'static str)]) -> Alias {
    Alias {
        product: Product::CrayMpich,
        name,
        values,
    }
}

/// The rows of the settings table about network transports.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "network_short_limit",
        aliases: &[cray("MPICH_GNI_MAX_VSHORT_MSG_SIZE")],
        default: AUTO,
        kind: "bytes",
        level: Level::Tuning,
        short: "unused: payload of a mailbox slot: the longest message on path E0 of a network",
        long: "`auto` depends on the size of the job: 8152 B up to 512 ranks, 2008 up to 1024, 472 below \
               16384, 216 up to 256K, 100 above. Each peer's mailbox takes memory: \
               `oxmpi explain -n RANKS` shows how much. 64 to 8152.",
        check: |text| short_limit(text).map(drop),
    },
    Setting {
        name: "network_eager_limit",
        aliases: &[cray("MPICH_GNI_MAX_EAGER_MSG_SIZE")],
        default: "8KiB",
        kind: "bytes",
        level: Level::Tuning,
        short: "unused: the longest message on the eager paths of a network, with its header of 40 B",
        long: "Raise it for programs that send medium messages and spend their time in Waitall, and \
               post receives early. 40 to 131072. `eager_limit`, where it is set, takes precedence; it \
               counts no header.",
        check: |text| eager_limit(text).map(drop),
    },
    Setting {
        name: "network_get_limit",
        aliases: &[cray("MPICH_GNI_NDREG_MAXSIZE")],
        default: "4MiB",
        kind: "bytes",
        level: Level::Tuning,
        short: "unused: the longest message on path R0 of a network, and the chunk of path R1",
        long: "Longer messages are put in chunks of this size (path R1), a few in flight at once. At \
               least 4 KiB. `get_limit` and `put_chunk`, where they are set, take precedence.",
        check: |text| get_limit(text).map(drop),
    },
    Setting {
        name: "network_zero_copy",
        aliases: &[cray_values(
            "MPICH_GNI_LMT_PATH",
            &[("enabled", "on"), ("disabled", "off")],
        )],
        default: "on",
        kind: "switch",
        level: Level::Tuning,
        short: "unused: whether long messages move between nodes without copies",
        long: "`off` registers no memory of the program: long messages go through the transport's \
               buffers. Slower, and a way around memory that cannot be registered.",
        check: |text| switch(text).map(drop),
    },
    Setting {
        name: "network_engine_from",
        aliases: &[cray("MPICH_GNI_RDMA_THRESHOLD")],
        default: "1KiB",
        kind: "bytes",
        level: Level::Expert,
        short: "unused: transfers of at least this size use the adapter's DMA engine",
        long: "The processor does shorter ones: it starts faster and moves more slowly. Concerns paths E1, \
               R0 and R1; path E0 always uses the processor. 0 to 64 KiB, a multiple of 128.",
        check: |text| engine_from(text).map(drop),
    },
    Setting {
        name: "network_buffers",
        aliases: &[cray("MPICH_GNI_NUM_BUFS")],
        default: "64",
        kind: "count",
        level: Level::Expert,
        short: "unused: buffers of 32 KiB that a rank has for path E1 of a network",
        long: "A message takes one on each side for every 32 KiB; when none is left, sends wait. 4 to \
               65536.",
        check: |text| buffers(text).map(drop),
    },
    Setting {
        name: "network_connect",
        aliases: &[cray_values(
            "MPICH_GNI_DYNAMIC_CONN",
            &[("enabled", "first-use"), ("disabled", "start")],
        )],
        default: "first-use",
        kind: "word",
        level: Level::Tuning,
        short: "unused: when a peer on another node gets its mailbox: first-use or start",
        long: "`first-use` takes memory only for peers that send. `start` makes all mailboxes when the \
               job starts: for programs in which all ranks exchange messages.",
        check: |text| connect(text).map(drop),
    },
    Setting {
        name: "network_mailbox_block",
        aliases: &[cray("MPICH_GNI_MBOXES_PER_BLOCK")],
        default: AUTO,
        kind: "count",
        level: Level::Expert,
        short: "unused: mailboxes that are allocated and registered at once",
        long: "`auto` depends on the size of the job: 64 up to 512 ranks, 32 up to 1024, 16 below 16384, 8 \
               up to 256K, 4 above. 1 to 65536.",
        check: |text| mailbox_block(text).map(drop),
    },
    Setting {
        name: "network_mailboxes",
        aliases: &[cray_values(
            "MPICH_GNI_VC_MSG_PROTOCOL",
            &[
                ("SMSG", "peer"),
                ("smsg", "peer"),
                ("MSGQ", "shared"),
                ("msgq", "shared"),
            ],
        )],
        default: "peer",
        kind: "word",
        level: Level::Tuning,
        short: "unused: mailboxes: peer (one for each peer) or shared (one pool for all peers)",
        long: "`shared` takes the same memory however many peers there are, and lets jobs run that would \
               not fit otherwise; but peers wait for each other. `oxmpi explain -n RANKS` shows both.",
        check: |text| mailboxes(text).map(drop),
    },
];

/// Parses the value of `network_short_limit`, in bytes; `None`: by the size of the job.
///
/// # Errors
/// If the text is neither `auto` nor a size from 64 to 8,152.
pub fn short_limit(text: &str) -> Result<Option<u32>, Error> {
    let range = (64, u64::from(JOB_SIZES[0].payload));
    let bytes = auto_or(text, |text| {
        within(text, range, "`auto` or a size from 64 to 8152")
    })?;
    Ok(bytes.map(|bytes| bytes as u32))
}

/// Parses the value of `network_eager_limit`, in bytes, its header included.
///
/// # Errors
/// If the text is no size from 40 to 131,072.
pub fn eager_limit(text: &str) -> Result<u32, Error> {
    let range = (u64::from(HEADER), 128 << 10);
    within(text, range, "a size from 40 to 131072, with a header of 40").map(|bytes| bytes as u32)
}

/// Parses the value of `network_get_limit`, in bytes.
///
/// # Errors
/// If the text is no size of at least 4 KiB.
pub fn get_limit(text: &str) -> Result<u64, Error> {
    within(text, (4 << 10, u64::MAX), "a size of at least 4KiB")
}

/// Parses the value of `network_engine_from`, in bytes.
///
/// # Errors
/// If the text is no multiple of 128 up to 65,536.
pub fn engine_from(text: &str) -> Result<u32, Error> {
    const EXPECTED: &str = "a size from 0 to 65536 in steps of 128";
    let bytes = within(text, (0, 64 << 10), EXPECTED)?;
    if bytes.is_multiple_of(128) {
        Ok(bytes as u32)
    } else {
        Err(Error::new(Span::whole(text), EXPECTED))
    }
}

/// Parses the value of `network_buffers`.
///
/// # Errors
/// If the text is no number from 4 to 65,536.
pub fn buffers(text: &str) -> Result<u32, Error> {
    whole(text, 4..=1 << 16, "a whole number from 4 to 65536").map(|count| count as u32)
}

/// Parses the value of `network_connect`.
///
/// # Errors
/// If the text is another word.
pub fn connect(text: &str) -> Result<ConnectTime, Error> {
    const WORDS: Words = Words(&["first-use", "start"]);
    Ok(match WORDS.find(text)? {
        0 => ConnectTime::FirstUse,
        _ => ConnectTime::Start,
    })
}

/// Parses the value of `network_mailbox_block`; `None`: by the size of the job.
///
/// # Errors
/// If the text is neither `auto` nor a number from 1 to 65,536.
pub fn mailbox_block(text: &str) -> Result<Option<u32>, Error> {
    let expected = "`auto` or a whole number from 1 to 65536";
    let count = auto_or(text, |text| whole(text, 1..=1 << 16, expected))?;
    Ok(count.map(|count| count as u32))
}

/// Parses the value of `network_mailboxes`.
///
/// # Errors
/// If the text is another word.
pub fn mailboxes(text: &str) -> Result<MailboxSharing, Error> {
    const WORDS: Words = Words(&["peer", "shared"]);
    Ok(match WORDS.find(text)? {
        0 => MailboxSharing::Peer,
        _ => MailboxSharing::Shared,
    })
}
