//! Ports of a device, and the addresses (GIDs) that they answer to.

use super::context::Context;
use crate::error::VerbsError;
use crate::ffi::{
    IBV_GID_TYPE_IB, IBV_GID_TYPE_ROCE_V1, IBV_GID_TYPE_ROCE_V2, IBV_LINK_LAYER_ETHERNET,
    IBV_LINK_LAYER_INFINIBAND, IBV_MTU_256, IBV_MTU_4096, IBV_PORT_ACTIVE, IBV_PORT_ARMED,
    IBV_PORT_DOWN, IBV_PORT_INIT, ibv_gid_entry, ibv_port_attr,
};
use std::fmt;
use std::mem::{MaybeUninit, size_of};
use std::net::Ipv6Addr;

/// What a port is and how it is at the moment.
///
/// Source: ibv_query_port(3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// Whether it can carry messages.
    pub state: PortState,
    /// What it is connected to.
    pub link_layer: LinkLayer,
    /// The longest packet that the link carries now.
    pub active_mtu: Mtu,
    /// Bytes of the longest message.
    pub max_message: u32,
    /// Its address in an InfiniBand subnet; 0 on Ethernet.
    pub lid: u16,
}

/// The state of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortState {
    /// There is no link.
    Down,
    /// There is a link, which no subnet manager has configured yet.
    Init,
    /// The subnet manager has configured it, and not yet allowed messages.
    Armed,
    /// It carries messages.
    Active,
    /// The library gives this number, which has no name here.
    Other(u32),
}

/// What a port is connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkLayer {
    /// InfiniBand.
    InfiniBand,
    /// Ethernet: RoCE or iWARP.
    Ethernet,
    /// The library gives this number, which has no name here.
    Other(u8),
}

/// The longest payload of a packet: 256, 512, 1024, 2048 or 4096 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mtu(u32);

impl Mtu {
    /// The one of this many bytes, if there is one.
    #[must_use]
    pub fn new(bytes: u32) -> Option<Mtu> {
        (IBV_MTU_256..=IBV_MTU_4096)
            .map(Mtu)
            .find(|mtu| mtu.bytes() == bytes)
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(self) -> u32 {
        128 << self.0
    }

    /// The library's number of it; what is out of range becomes the nearest.
    fn from_c(number: u32) -> Mtu {
        Mtu(number.clamp(IBV_MTU_256, IBV_MTU_4096))
    }

    pub(super) fn to_c(self) -> u32 {
        self.0
    }
}

impl fmt::Debug for Mtu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.bytes())
    }
}

/// A global address: 16 bytes in the format of an IPv6 address. RoCE v2 maps IPv4 addresses to `::ffff:a.b.c.d`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gid(pub [u8; 16]);

impl fmt::Display for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ipv6Addr::from(self.0).fmt(f)
    }
}

impl fmt::Debug for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::str::FromStr for Gid {
    type Err = std::net::AddrParseError;

    fn from_str(text: &str) -> Result<Gid, Self::Err> {
        Ok(Gid(text.parse::<Ipv6Addr>()?.octets()))
    }
}

/// An address that a port answers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GidEntry {
    /// Its index in the port's table, by which a queue pair chooses its own address.
    pub index: u8,
    /// The address.
    pub gid: Gid,
    /// The packets that carry it.
    pub kind: GidType,
    /// Number of the network interface it belongs to; 0 if to none.
    pub interface: u32,
}

/// The packets that carry a GID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GidType {
    /// InfiniBand.
    InfiniBand,
    /// Ethernet without IP.
    RoceV1,
    /// UDP, which routers forward.
    RoceV2,
    /// The library gives this number, which has no name here.
    Other(u32),
}

impl Context {
    /// What port `number` is, and how it is now. Ports are numbered from 1 on.
    ///
    /// # Errors
    /// When there is no such port.
    pub fn port(&self, number: u8) -> Result<Port, VerbsError> {
        Ok(Port::from(&self.port_attributes(number)?))
    }

    fn port_attributes(&self, number: u8) -> Result<ibv_port_attr, VerbsError> {
        let mut attributes = MaybeUninit::<ibv_port_attr>::zeroed();
        // SAFETY: the context is open, and there is room for the answer.
        let errno =
            unsafe { (self.library().query_port)(self.as_ptr(), number, attributes.as_mut_ptr()) };
        self.check("ibv_query_port", &format!("port {number}"), errno)?;
        // SAFETY: the call has filled the attributes, but the last, for which 0 is valid.
        Ok(unsafe { attributes.assume_init() })
    }

    /// The addresses that port `number` answers to, by their indices. A queue pair can choose the first 256.
    ///
    /// # Errors
    /// When the device does not answer.
    pub fn gids(&self, number: u8) -> Result<Vec<GidEntry>, VerbsError> {
        // The library gives the entries of all ports at once.
        let mut room = 0;
        for port in 1..=self.limits()?.ports {
            room += usize::try_from(self.port_attributes(port)?.gid_tbl_len).unwrap_or(0);
        }
        let zero = MaybeUninit::<ibv_gid_entry>::zeroed();
        let mut entries = vec![zero; room];
        // SAFETY: the context is open; there is room for `room` entries of this size; no flags are defined.
        let count = unsafe {
            (self.library().query_gid_table)(
                self.as_ptr(),
                entries.as_mut_ptr().cast(),
                room,
                0,
                size_of::<ibv_gid_entry>(),
            )
        };
        let Ok(count) = usize::try_from(count) else {
            let errno = i32::try_from(count).unwrap_or(i32::MIN);
            return Err(VerbsError::new(
                "ibv_query_gid_table",
                self.name(),
                "",
                errno,
            ));
        };
        let entries = entries.into_iter().take(count);
        // SAFETY: the call has filled this many; each part is a number, so the zeroes were valid, too.
        let entries = entries.map(|entry| unsafe { entry.assume_init() });
        let of_port = entries.filter(|entry| entry.port_num == u32::from(number));
        Ok(of_port
            .filter_map(|entry| GidEntry::from_c(&entry))
            .collect())
    }
}

impl GidEntry {
    /// `None` for an index that no queue pair can choose.
    fn from_c(entry: &ibv_gid_entry) -> Option<GidEntry> {
        Some(GidEntry {
            index: entry.gid_index.try_into().ok()?,
            gid: Gid(entry.gid.raw),
            kind: match entry.gid_type {
                IBV_GID_TYPE_IB => GidType::InfiniBand,
                IBV_GID_TYPE_ROCE_V1 => GidType::RoceV1,
                IBV_GID_TYPE_ROCE_V2 => GidType::RoceV2,
                other => GidType::Other(other),
            },
            interface: entry.ndev_ifindex,
        })
    }
}

impl From<&ibv_port_attr> for Port {
    fn from(attributes: &ibv_port_attr) -> Port {
        Port {
            state: match attributes.state {
                IBV_PORT_DOWN => PortState::Down,
                IBV_PORT_INIT => PortState::Init,
                IBV_PORT_ARMED => PortState::Armed,
                IBV_PORT_ACTIVE => PortState::Active,
                other => PortState::Other(other),
            },
            link_layer: match u32::from(attributes.link_layer) {
                // Providers from before RoCE leave it unspecified.
                0 | IBV_LINK_LAYER_INFINIBAND => LinkLayer::InfiniBand,
                IBV_LINK_LAYER_ETHERNET => LinkLayer::Ethernet,
                _ => LinkLayer::Other(attributes.link_layer),
            },
            active_mtu: Mtu::from_c(attributes.active_mtu),
            max_message: attributes.max_msg_sz,
            lid: attributes.lid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Gid, Mtu};

    #[test]
    fn an_mtu_is_one_of_five_lengths() {
        let bytes: Vec<_> = (1..=5).map(|number| Mtu::from_c(number).bytes()).collect();
        assert_eq!(bytes, [256, 512, 1024, 2048, 4096]);
        assert_eq!(Mtu::new(1024).map(Mtu::to_c), Some(3));
        assert_eq!(Mtu::new(1500), None);
        // What a future library may say.
        assert_eq!(Mtu::from_c(0).bytes(), 256);
        assert_eq!(Mtu::from_c(9).bytes(), 4096);
    }

    #[test]
    fn a_gid_is_written_as_an_ipv6_address() {
        let gid: Gid = "::ffff:10.0.0.1".parse().unwrap();
        assert_eq!(gid.0[10..], [255, 255, 10, 0, 0, 1]);
        assert_eq!(gid.to_string(), "::ffff:10.0.0.1");
        assert!("rxe0".parse::<Gid>().is_err());
    }
}
