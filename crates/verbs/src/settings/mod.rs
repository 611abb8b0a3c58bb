//! The settings of this transport: their rows, and functions that read their values.
//!
//! Each has the name, and the default, of openib's parameter or UCX's variable as an alias.

mod connections;
mod memory;
mod messages;

pub use connections::CONNECTIONS;
pub use memory::MEMORY;
pub use messages::MESSAGES;

use oxmpi_text::{Alias, Error, Product, Span, size, switch, whole};
pub use oxmpi_text::{
    duration as resolve_timeout, switch as different_subnets, switch as path_record,
};

use crate::preference::ConnectionMethod;
use crate::transport::{ReceiveQueue, TransferFlags};

/// The value that leaves a setting to the device.
const AUTO: &str = "auto";

const fn openib(name: &'static str) -> Alias {
    Alias::new(Product::OpenMpi, name)
}

/// A parameter of openib by which -1 leaves the choice to the device.
const fn openib_auto(name: &'static str) -> Alias {
    Alias {
        product: Product::OpenMpi,
        name,
        values: &[("-1", AUTO)],
    }
}

const fn ucx(name: &'static str) -> Alias {
    Alias::new(Product::Ucx, name)
}

/// `auto` as `None`, any other text by `read`.
///
/// # Errors
/// That of `read`.
pub fn auto_or<T>(
    text: &str,
    read: impl FnOnce(&str) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    match text {
        AUTO => Ok(None),
        text => read(text).map(Some),
    }
}

/// Receive queues.
///
/// # Errors
/// What is wrong with them has the span of the whole text.
pub fn receive_queues(text: &str) -> Result<Vec<ReceiveQueue>, Error> {
    let queues = ReceiveQueue::parse_all(text).and_then(|queues| {
        ReceiveQueue::check_all(&queues)?;
        Ok(queues)
    });
    queues.map_err(|_| {
        Error::new(
            Span::whole(text),
            "`auto` or queues joined by `:`, one of 128 B or more, all or none of kind X: \
             P,size[,buffers[,low mark[,window[,reserve]]]] or S,size[,buffers[,low mark[,sends]]]",
        )
    })
}

/// How the bytes of long messages go.
///
/// # Errors
/// If the text is neither a number nor one or more of `send`, `put` and `get`.
pub fn transfers(text: &str) -> Result<TransferFlags, Error> {
    let expected = "some of send, put, get, or their numbers 1, 2, 4 added";
    let all = TransferFlags::all().bits();
    if let Ok(bits) = text.parse::<u32>() {
        let flags = TransferFlags::from_bits_truncate(bits & all);
        return match flags.is_empty() {
            true => Err(Error::new(Span::whole(text), expected)),
            false => Ok(flags),
        };
    }
    let flag = |word: &str| match word.trim() {
        "send" => Some(TransferFlags::SEND),
        "put" => Some(TransferFlags::PUT),
        "get" => Some(TransferFlags::GET),
        _ => None,
    };
    let flags: Option<TransferFlags> = text.split(',').map(flag).collect();
    flags.ok_or_else(|| Error::new(Span::whole(text), expected))
}

/// A size below 4 GiB, in bytes.
///
/// # Errors
/// If it is none.
pub fn bytes(text: &str) -> Result<u32, Error> {
    u32::try_from(size(text)?).map_err(|_| Error::new(Span::whole(text), "a size below 4G"))
}

/// A size from 4 KiB to 1 GiB, in bytes.
///
/// # Errors
/// If it is none.
pub fn fragment(text: &str) -> Result<u32, Error> {
    let found = bytes(text).ok();
    let found = found.filter(|bytes| (4 << 10..=1 << 30).contains(bytes));
    found.ok_or_else(|| Error::new(Span::whole(text), "a size from 4KiB to 1GiB"))
}

/// A number of peers, slots or messages.
///
/// # Errors
/// If it is no number below 65,536.
pub fn count(text: &str) -> Result<u32, Error> {
    whole(text, 0..=u16::MAX.into(), "a whole number below 65536").map(|count| count as u32)
}

/// A whole number that may be negative.
///
/// # Errors
/// If it is none.
pub fn signed(text: &str) -> Result<i32, Error> {
    let expected = "a whole number: negative, 0 or positive";
    (text.parse()).map_err(|_| Error::new(Span::whole(text), expected))
}

/// Whether to use something: `on` or `off`.
///
/// # Errors
/// If it is neither.
pub fn rings(text: &str) -> Result<bool, Error> {
    switch(text)
}

/// Who connects queue pairs.
///
/// # Errors
/// If it is neither `oob` nor `rdmacm`.
pub fn connects(text: &str) -> Result<ConnectionMethod, Error> {
    match text {
        "oob" => Ok(ConnectionMethod::OutOfBand),
        "rdmacm" => Ok(ConnectionMethod::Rdmacm),
        _ => Err(Error::new(Span::whole(text), "`auto`, `oob` or `rdmacm`")),
    }
}

/// The index of an address, 0 to 255.
///
/// # Errors
/// If it is none.
pub fn gid_index(text: &str) -> Result<u8, Error> {
    whole(text, 0..=255, "`auto` or a whole number from 0 to 255").map(|index| index as u8)
}

/// The index of a partition key.
///
/// # Errors
/// If it is none.
pub fn pkey_index(text: &str) -> Result<u16, Error> {
    count(text).map(|index| index as u16)
}

/// A number of ports, 1 to 8.
///
/// # Errors
/// If it is none.
pub fn rails(text: &str) -> Result<usize, Error> {
    let most = crate::transport::MOST_RAILS as u64;
    whole(text, 1..=most, "a whole number from 1 to 8").map(|count| count as usize)
}

/// A service level, 0 to 15.
///
/// # Errors
/// If it is none.
pub fn service_level(text: &str) -> Result<u8, Error> {
    whole(text, 0..=15, "a whole number from 0 to 15").map(|level| level as u8)
}

/// The exponent of a time, 1 to 31: 0 would be for ever.
///
/// # Errors
/// If it is none.
pub fn timeout(text: &str) -> Result<u8, Error> {
    whole(text, 1..=31, "a whole number from 1 to 31").map(|exponent| exponent as u8)
}

/// How often to try again, 0 to 7.
///
/// # Errors
/// If it is no such number.
pub fn retries(text: &str) -> Result<u8, Error> {
    whole(text, 0..=7, "a whole number from 0 to 7").map(|count| count as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RdmaPreference;

    #[test]
    fn flags_by_word_and_by_number() {
        for (text, expected) in [
            ("send", Ok(1)),
            ("put,get", Ok(6)),
            ("get, put", Ok(6)),
            ("6", Ok(6)),
            ("7", Ok(7)),
            // Open MPI's later versions add flags for other things.
            ("310", Ok(6)),
            ("0", Err(())),
            ("8", Err(())),
            ("put,", Err(())),
            ("", Err(())),
        ] {
            let flags = transfers(text).map(|flags| flags.bits());
            assert_eq!(flags.map_err(drop), expected, "{text:?}");
        }
    }

    /// What the rows say is what a rank without settings does.
    #[test]
    fn the_defaults_of_rows_are_those_of_the_transport() {
        let rows = [MESSAGES, MEMORY, CONNECTIONS].concat();
        let of = |name: &str| {
            let row = rows.iter().find(|row| row.name == name);
            row.map(|row| row.default).expect("a row")
        };
        let default = RdmaPreference::default();
        assert_eq!(bytes(of("verbs_eager_limit")), Ok(default.eager_limit));
        let long = default.long;
        assert_eq!(transfers(of("verbs_transfers")), Ok(long.flags));
        assert_eq!(fragment(of("verbs_fragment")), Ok(long.fragment));
        assert_eq!(bytes(of("verbs_min_rdma")), Ok(long.min_rdma_size));
        assert_eq!(auto_or(of("verbs_pipeline_first"), bytes), Ok(long.first));
        assert_eq!(bytes(of("verbs_pipeline_last")), Ok(long.last));
        let rings = default.rings;
        for (name, expected) in [
            ("verbs_ring_threshold", rings.threshold),
            ("verbs_ring_peers", rings.peers),
            ("verbs_ring_slots", rings.slots),
            ("verbs_cache_ranges", default.caps.ranges as u32),
        ] {
            assert_eq!(count(of(name)), Ok(expected), "{name}");
        }
        assert_eq!(size(of("verbs_cache_bytes")), Ok(default.caps.bytes));
        assert_eq!(signed(of("verbs_fork")), Ok(default.want_fork_support));
        let wait = default.resolve_timeout.as_nanos() as u64;
        assert_eq!(resolve_timeout(of("verbs_resolve_timeout")), Ok(wait));
        assert_eq!(
            different_subnets(of("verbs_different_subnets")),
            Ok(default.crosses_subnets)
        );
        assert_eq!(
            auto_or(of("verbs_connection"), connects),
            Ok(default.connects)
        );
        let connection = default.connection;
        assert_eq!(
            path_record(of("verbs_path_record_service_level")),
            Ok(connection.by_path_record)
        );
        assert_eq!(
            service_level(of("verbs_service_level")),
            Ok(connection.service_level)
        );
        assert_eq!(
            pkey_index(of("verbs_pkey_index")),
            Ok(connection.pkey_index)
        );
        assert_eq!(timeout(of("verbs_timeout")), Ok(connection.timeout));
        assert_eq!(rails(of("verbs_rails")), Ok(default.rails));
        let warns = switch(of("verbs_warn_default_prefix"));
        assert_eq!(warns, Ok(default.warn_default_prefix));
        assert_eq!(retries(of("verbs_retry_count")), Ok(connection.retry_count));
    }
}
