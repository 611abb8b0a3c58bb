//! The settings that override switch points between the paths, and their parsers.

use oxmpi_text::{Alias, Error, Level, Product, Setting, Span, Words, size};

use super::RendezvousScheme;

/// The value that lets costs decide.
pub(super) const AUTO: &str = "auto";

/// The rows of the settings table about switch points between the paths.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "short_limit",
        aliases: &[],
        default: AUTO,
        kind: "bytes",
        level: Level::Expert,
        short: "the longest message on path E0: in one cache line or mailbox",
        long: "`auto` uses E0 as far as it reaches and costs less than the other paths. A size ends it \
               there; no size extends it beyond a cache line or mailbox of the transport. \
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
        short: "the longest message that is sent eagerly, before its receive is known",
        long: "Up to this length a standard send copies the message to the receiver's side and returns. \
               Longer messages wait for their receive and are then copied once. `auto` compares the \
               costs of both; a transport with shorter frames uses its own limit. \
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
               compares the costs of both, within the transport's own limit. Has effect only if \
               `rendezvous` is `auto`.",
        check: |text| get_limit(text).map(drop),
    },
    Setting {
        name: "rendezvous",
        aliases: &[Alias {
            product: Product::Ucx,
            name: "UCX_RNDV_SCHEME",
            values: &[("get_zcopy", "get"), ("put_zcopy", "put")],
        }],
        default: AUTO,
        kind: "word",
        level: Level::Tuning,
        short: "who moves a long message: auto, get (the receiver) or put (the sender)",
        long: "`get` is path R0: the receiver fetches the message in one piece. `put` is path R1: the \
               sender writes it in chunks. `auto` uses the cheaper one for each size.",
        check: |text| rendezvous(text).map(drop),
    },
    Setting {
        name: "put_chunk",
        aliases: &[],
        default: AUTO,
        kind: "bytes",
        level: Level::Expert,
        short: "bytes of one put on path R1",
        long: "Up to four puts of a message are in flight at once. 4 KiB to 1 GiB; `auto` uses the \
               transport's own size.",
        check: |text| put_chunk(text).map(drop),
    },
];

/// Parses the value of `short_limit`, in bytes; `None`: by cost.
///
/// # Errors
/// If the text is neither `auto` nor a size below 4 GiB.
pub fn short_limit(text: &str) -> Result<Option<u32>, Error> {
    auto_or(text, below_4g)
}

/// Parses the value of `eager_limit`, in bytes; `None`: by cost.
///
/// # Errors
/// If the text is neither `auto` nor a size below 4 GiB.
pub fn eager_limit(text: &str) -> Result<Option<u32>, Error> {
    auto_or(text, below_4g)
}

/// Parses the value of `get_limit`, in bytes; `None`: by cost.
///
/// # Errors
/// If the text is neither `auto` nor a size.
pub fn get_limit(text: &str) -> Result<Option<u64>, Error> {
    auto_or(text, size)
}

/// Parses the value of `rendezvous`.
///
/// # Errors
/// If the text is another word.
pub fn rendezvous(text: &str) -> Result<RendezvousScheme, Error> {
    const WORDS: Words = Words(&[AUTO, "get", "put"]);
    Ok(match WORDS.find(text)? {
        0 => RendezvousScheme::Auto,
        1 => RendezvousScheme::Get,
        _ => RendezvousScheme::Put,
    })
}

/// Parses the value of `put_chunk`, in bytes; `None`: the transport's.
///
/// # Errors
/// If the text is neither `auto` nor a size from 4 KiB to 1 GiB.
pub fn put_chunk(text: &str) -> Result<Option<u64>, Error> {
    let expected = "`auto` or a size from 4KiB to 1GiB";
    auto_or(text, |text| within(text, (4 << 10, 1 << 30), expected))
}

/// Parses `auto` as `None`, and any other text by `read`.
pub(super) fn auto_or<T>(
    text: &str,
    read: impl Fn(&str) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    if text == AUTO {
        Ok(None)
    } else {
        read(text).map(Some)
    }
}

fn below_4g(text: &str) -> Result<u32, Error> {
    u32::try_from(size(text)?)
        .map_err(|_| Error::new(Span::whole(text), "`auto` or a size below 4G"))
}

/// Parses a size from `least` to `most` bytes.
pub(super) fn within(
    text: &str,
    (least, most): (u64, u64),
    expected: &'static str,
) -> Result<u64, Error> {
    let bytes = size(text)?;
    let found = Some(bytes).filter(|bytes| (least..=most).contains(bytes));
    found.ok_or_else(|| Error::new(Span::whole(text), expected))
}
