//! The address by which a queue pair reaches a port.

use super::port::Gid;
use crate::ffi::{ibv_ah_attr, ibv_gid, ibv_global_route};
use std::fmt;

/// How packets reach a port: by its LID within an InfiniBand subnet, and by its GID across subnets and on Ethernet.
///
/// Source: ibv_modify_qp(3), `struct ibv_ah_attr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressVector {
    /// The port of this device that sends them.
    pub port: u8,
    /// The LID of the port to reach; 0 on Ethernet.
    pub lid: u16,
    /// The service level, 0 to 15.
    pub service_level: u8,
    /// The header that Ethernet needs always, and InfiniBand between subnets.
    pub route: Option<GlobalRoute>,
}

/// The global routing header of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GlobalRoute {
    /// The port to reach.
    pub destination: Gid,
    /// The index of the sending port's own address in its table.
    pub source_index: u8,
    /// How many routers a packet may pass.
    pub hop_limit: u8,
    /// The traffic class, which RoCE v2 writes to the IP header.
    pub traffic_class: u8,
    /// The label by which routers keep packets in order; 0 for none.
    pub flow_label: u32,
}

impl GlobalRoute {
    /// A route to `destination` from the address at `source_index`, by as many routers as there may be.
    #[must_use]
    pub fn new(destination: Gid, source_index: u8) -> GlobalRoute {
        GlobalRoute {
            destination,
            source_index,
            hop_limit: u8::MAX,
            traffic_class: 0,
            flow_label: 0,
        }
    }
}

impl AddressVector {
    /// Reaches a port on Ethernet (RoCE) from `port` of this device.
    #[must_use]
    pub fn global(port: u8, route: GlobalRoute) -> AddressVector {
        AddressVector {
            port,
            lid: 0,
            service_level: 0,
            route: Some(route),
        }
    }

    pub(super) fn to_c(self) -> ibv_ah_attr {
        let route = self.route.map(|route| ibv_global_route {
            dgid: ibv_gid {
                raw: route.destination.0,
            },
            flow_label: route.flow_label,
            sgid_index: route.source_index,
            hop_limit: route.hop_limit,
            traffic_class: route.traffic_class,
        });
        let none = ibv_global_route {
            dgid: ibv_gid { raw: [0; 16] },
            flow_label: 0,
            sgid_index: 0,
            hop_limit: 0,
            traffic_class: 0,
        };
        ibv_ah_attr {
            grh: route.unwrap_or(none),
            dlid: self.lid,
            sl: self.service_level,
            src_path_bits: 0,
            static_rate: 0,
            is_global: u8::from(route.is_some()),
            port_num: self.port,
        }
    }
}

impl fmt::Display for AddressVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AddressVector {
            port,
            lid,
            service_level,
            route,
        } = self;
        write!(f, "port {port}, LID {lid}, service level {service_level}")?;
        match route {
            None => Ok(()),
            Some(route) => write!(
                f,
                ", GID index {}, to GID {}, hop limit {}, traffic class {}, flow label {}",
                route.source_index,
                route.destination,
                route.hop_limit,
                route.traffic_class,
                route.flow_label
            ),
        }
    }
}
