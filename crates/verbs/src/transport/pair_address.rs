//! [`PairAddress`]: what two ranks tell each other before they are connected, as text.

use super::receive_queues::ReceiveQueue;
use crate::objects::{Gid, Mtu};
use std::fmt;
use std::str::FromStr;

/// How a peer reaches the queue pairs of this rank: what the two exchange before they are connected.
///
/// Its text is one word without spaces, which [`FromStr`] reads:
/// `P,128,8,4,2,7:S,2048,16,8,2;17,18;1193046;0;4096;16;::ffff:10.9.0.1`: the receive queues, the numbers of their queue
/// pairs, `sq_psn`, `lid`, `mtu` in bytes, `reads` and, if there is one, `gid`. With `X` queues the fields of `extended` follow:
/// `;f00,19,0,20`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairAddress {
    /// The receive queues of the rank.
    pub receive_queues: Vec<ReceiveQueue>,
    /// The number of the queue pair of each receive queue; of each `X` queue its own number.
    pub numbers: Vec<u32>,
    /// The sequence number of the first packet of each: 24 bits.
    pub sq_psn: u32,
    /// The LID of the port; 0 on Ethernet.
    pub lid: u16,
    /// The global address of the port.
    pub gid: Option<Gid>,
    /// The longest packet of the port.
    pub mtu: Mtu,
    /// Reads that each queue pair serves and has in flight at a time.
    pub reads: u8,
    /// The connection of `X` queues.
    pub extended: Option<ExtendedAddress>,
}

/// What a rank tells of its connection with the node of a peer, if its receive queues are of kind `X`. Numbers are those of
/// queue pairs; 0 for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtendedAddress {
    /// Tells its XRC domain from others on the port.
    pub domain: u64,
    /// The queue pair by which it sends.
    pub initiator: u32,
    /// The queue pair of the peer's node with which that is connected already.
    pub connected: u32,
    /// The queue pair that awaits the one by which the peer sends, unless that is connected already.
    pub target: u32,
}

/// What is wrong with the text of a [`PairAddress`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the address of queue pairs {text:?}: {what}; expected the fields that another rank of this version writes"
)]
pub struct PairAddressError {
    text: String,
    what: &'static str,
}

impl fmt::Display for PairAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            receive_queues,
            numbers,
            sq_psn,
            lid,
            gid,
            mtu,
            reads,
            extended,
        } = self;
        let numbers: Vec<_> = numbers.iter().map(u32::to_string).collect();
        let (queues, numbers) = (ReceiveQueue::join_all(receive_queues), numbers.join(","));
        let mtu = mtu.bytes();
        write!(f, "{queues};{numbers};{sq_psn};{lid};{mtu};{reads};")?;
        gid.map_or(Ok(()), |gid| write!(f, "{gid}"))?;
        let Some(ExtendedAddress {
            domain,
            initiator,
            connected,
            target,
        }) = extended
        else {
            return Ok(());
        };
        write!(f, ";{domain:x},{initiator},{connected},{target}")
    }
}

impl FromStr for PairAddress {
    type Err = PairAddressError;

    fn from_str(text: &str) -> Result<Self, PairAddressError> {
        Self::parse(text).map_err(|what| PairAddressError {
            text: text.to_owned(),
            what,
        })
    }
}

impl PairAddress {
    fn parse(text: &str) -> Result<Self, &'static str> {
        let mut fields: Vec<&str> = text.split(';').collect();
        let extended = (fields.len() == 8).then(|| fields.pop()).flatten();
        let extended = match extended.map(ExtendedAddress::parse) {
            Some(None) => return Err("its connection of X queues is none"),
            Some(extended) => extended,
            None => None,
        };
        let [queues, numbers, sq_psn, lid, mtu, reads, gid] = fields[..] else {
            return Err("not seven fields, or eight");
        };
        let receive_queues =
            ReceiveQueue::parse_all(queues).map_err(|_| "its receive queues are none")?;
        let numbers = numbers.split(',').map(str::parse);
        let numbers: Vec<u32> = numbers
            .collect::<Result<_, _>>()
            .map_err(|_| "the numbers of its queue pairs are none")?;
        if numbers.len() != receive_queues.len() {
            return Err("another number of queue pairs than of receive queues");
        }
        let sq_psn = sq_psn.parse().ok().filter(|number: &u32| *number < 1 << 24);
        let mtu = mtu.parse().ok().and_then(Mtu::new);
        let gid = match gid {
            "" => None,
            gid => Some(gid.parse().map_err(|_| "its GID is none")?),
        };
        Ok(Self {
            receive_queues,
            numbers,
            sq_psn: sq_psn.ok_or("its sequence number has more than 24 bits")?,
            lid: lid.parse().map_err(|_| "its LID is none")?,
            gid,
            mtu: mtu.ok_or("its MTU is none of InfiniBand's")?,
            reads: reads.parse().map_err(|_| "it has no number of reads")?,
            extended,
        })
    }
}

impl ExtendedAddress {
    fn parse(text: &str) -> Option<Self> {
        let (domain, numbers) = text.split_once(',')?;
        let domain = u64::from_str_radix(domain, 16).ok()?;
        let numbers = numbers.split(',').map(str::parse);
        let numbers: Vec<u32> = numbers.collect::<Result<_, _>>().ok()?;
        let [initiator, connected, target] = numbers[..] else {
            return None;
        };
        Some(Self {
            domain,
            initiator,
            connected,
            target,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_address_reads_back(
            numbers in prop::collection::vec(0..1u32 << 24, 2..3),
            (sq_psn, lid, mtu, reads) in (0..1u32 << 24, any::<u16>(), 0..5u32, any::<u8>()),
            gid in prop::option::of(any::<u128>()),
            extended in prop::option::of((any::<u64>(), any::<[u32; 3]>())),
        ) {
            let gid = gid.map(|bits: u128| Gid(bits.to_be_bytes()));
            let address = PairAddress {
                receive_queues: ReceiveQueue::parse_all("P,128:S,2048").unwrap(),
                numbers,
                sq_psn,
                lid,
                gid,
                mtu: Mtu::new(256 << mtu).unwrap(),
                reads,
                extended: extended.map(|(domain, [initiator, connected, target])| ExtendedAddress {
                    domain,
                    initiator,
                    connected,
                    target,
                }),
            };
            let text = address.to_string();
            prop_assert!(!text.contains(' '));
            prop_assert_eq!(text.parse(), Ok(address));
        }

        #[test]
        fn any_text_is_an_address_or_an_error(text in ".{0,60}") {
            let _ = text.parse::<PairAddress>();
        }
    }

    #[test]
    fn a_wrong_address_is_named_with_the_reason() {
        for (text, why) in [
            ("", "not seven fields"),
            ("Q;1;1;0;4096;4;", "its receive queues are none"),
            ("P,128;1,2;1;0;4096;4;", "another number of queue pairs"),
            ("P,128;1;16777216;0;4096;4;", "more than 24 bits"),
            ("P,128;1;1;65536;4096;4;", "its LID is none"),
            ("P,128;1;1;0;1500;4;", "its MTU is none"),
            ("P,128;1;1;0;4096;;", "no number of reads"),
            ("P,128;1;1;0;4096;4;x", "its GID is none"),
            (
                "X,128;1;1;0;4096;4;;f,1,2",
                "its connection of X queues is none",
            ),
            (
                "X,128;1;1;0;4096;4;;x,1,2,3",
                "its connection of X queues is none",
            ),
        ] {
            let error = text.parse::<PairAddress>().unwrap_err().to_string();
            assert!(error.contains(why) && error.contains(text), "{error}");
        }
    }
}
