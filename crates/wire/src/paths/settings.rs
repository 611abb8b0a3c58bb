//! The settings that move switch points.

use oxmpi_text::{Alias, Error, Expected, Level, Product, Setting, Span, Words, size};

use super::RendezvousScheme;

/// What stands for "let costs decide".
const AUTO: &str = "auto";

/// The rows of the settings table that are about switch points between the paths.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "short_limit",
        aliases: &[],
        default: AUTO,
        kind: "bytes",
        level: Level::Expert,
        short: "the longest message on path E0: in one line or mailbox",
        long: "`auto` takes E0 as far as it reaches and costs less than the other paths. A size makes \
               it end there; no size makes it longer than a line or mailbox of the transport. \
               `oxmpi explain` shows all switch points.",
        check: |text| short_limit(text).map(drop),
    },
    Setting {
        name: "eager_limit",
        aliases: &[
            Alias::new(Product::IntelMpi, "I_MPI_EAGER_THRESHOLD"),
            Alias::new(Product::OpenMpi, "btl_sm_eager_limit"),
            Alias::new(Product::OpenMpi, "btl_vader_eager_limit"),
        ],
        default: AUTO,
        kind: "bytes",
        level: Level::Tuning,
        short: "the longest message that is sent before its receive is known",
        long: "Up to this length a standard send copies the message to the receiver's side and returns. \
               Longer messages wait for their receive and are then copied once. `auto` compares the \
               costs of both ways; a transport whose frames are shorter takes its own limit. \
               `oxmpi explain` shows all switch points.",
        check: |text| eager_limit(text).map(drop),
    },
    Setting {
        name: "get_limit",
        aliases: &[],
        default: AUTO,
        kind: "bytes",
        level: Level::Tuning,
        short: "the longest message on path R0: the receiver gets it in one piece",
        long: "Longer messages take path R1: the sender puts them in chunks of `put_chunk` bytes. `auto` \
               compares the costs of both, within the transport's own limit. Counts only where \
               `rendezvous` is `auto`.",
        check: |text| get_limit(text).map(drop),
    },
    Setting {
        name: "rendezvous",
        aliases: &[
            Alias {
                product: Product::Ucx,
                name: "UCX_RNDV_SCHEME",
                values: &[("get_zcopy", "get"), ("put_zcopy", "put")],
            },
            Alias {
                product: Product::OpenMpi,
                name: "btl_openib_flags",
                values: &[("2", "put"), ("4", "get"), ("6", AUTO)],
            },
        ],
        default: AUTO,
        kind: "word",
        level: Level::Tuning,
        short: "who moves a long message: auto, get (the receiver) or put (the sender)",
        long: "`get` is path R0: the receiver fetches the message in one piece. `put` is path R1: the \
               sender writes it in chunks. `auto` takes what costs less for each size.",
        check: |text| rendezvous(text).map(drop),
    },
    Setting {
        name: "put_chunk",
        aliases: &[Alias::new(
            Product::OpenMpi,
            "btl_openib_rdma_pipeline_frag_size",
        )],
        default: AUTO,
        kind: "bytes",
        level: Level::Expert,
        short: "bytes of one put on path R1",
        long: "Up to four puts of a message are under way at once. 4 KiB to 1 GiB; `auto` takes the \
               transport's own size.",
        check: |text| put_chunk(text).map(drop),
    },
];

/// The value of `short_limit`, in bytes; none: by cost.
///
/// # Errors
/// What is neither `auto` nor a size below 4 GiB.
pub fn short_limit(text: &str) -> Result<Option<u32>, Error> {
    auto_or(text, below_4g)
}

/// The value of `eager_limit`, in bytes; none: by cost.
///
/// # Errors
/// What is neither `auto` nor a size below 4 GiB.
pub fn eager_limit(text: &str) -> Result<Option<u32>, Error> {
    auto_or(text, below_4g)
}

/// The value of `get_limit`, in bytes; none: by cost.
///
/// # Errors
/// What is neither `auto` nor a size.
pub fn get_limit(text: &str) -> Result<Option<u64>, Error> {
    auto_or(text, size)
}

/// The value of `rendezvous`.
///
/// # Errors
/// Any other word.
pub fn rendezvous(text: &str) -> Result<RendezvousScheme, Error> {
    const WORDS: Words = Words(&[AUTO, "get", "put"]);
    Ok(match WORDS.find(text)? {
        0 => RendezvousScheme::Auto,
        1 => RendezvousScheme::Get,
        _ => RendezvousScheme::Put,
    })
}

/// The value of `put_chunk`, in bytes; none: the transport's.
///
/// # Errors
/// What is neither `auto` nor a size from 4 KiB to 1 GiB.
pub fn put_chunk(text: &str) -> Result<Option<u64>, Error> {
    auto_or(text, |text| {
        let bytes = size(text)?;
        if (4 << 10..=1 << 30).contains(&bytes) {
            Ok(bytes)
        } else {
            Err(wrong(text, "`auto` or a size from 4KiB to 1GiB"))
        }
    })
}

fn auto_or<T>(text: &str, read: fn(&str) -> Result<T, Error>) -> Result<Option<T>, Error> {
    if text == AUTO {
        Ok(None)
    } else {
        read(text).map(Some)
    }
}

fn below_4g(text: &str) -> Result<u32, Error> {
    u32::try_from(size(text)?).map_err(|_| wrong(text, "`auto` or a size below 4G"))
}

fn wrong(text: &str, expected: &'static str) -> Error {
    Error {
        span: Span::whole(text),
        expected: Expected::Text(expected),
        suggestion: None,
    }
}
