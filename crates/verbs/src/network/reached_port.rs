//! [`ReachedPort`]: by which address peers reach a port, and how they connect to it.

use super::fabric::Fabric;
use super::no_rdma_port::NoRdmaPort;
use super::rdmacm::CmListener;
use crate::objects::{CmChannel, Context, Gid, GidEntry, LinkLayer};
use crate::preference::RdmaPreference;
use oxmpi_os::interface::{self, Interface};
use std::net::{IpAddr, Ipv6Addr};

/// By which address peers reach a port, and how they connect to it.
pub(super) struct ReachedPort {
    pub(super) fabric: Fabric,
    /// Of the address; 0 on iWARP, which has none.
    pub(super) gid_index: u8,
    /// The listener for connections by rdmacm, and where its events come; `None`: by the control network.
    pub(super) rdmacm: Option<(CmChannel, CmListener)>,
}

impl ReachedPort {
    /// Chooses the address of a port of this link layer, and listens there if rdmacm is to connect: events come by `channel`,
    /// or a new one.
    ///
    /// # Errors
    /// When the port has no address that the preference allows, or rdmacm does not reach it.
    pub(super) fn of(
        context: &Context,
        port: u8,
        layer: LinkLayer,
        channel: Option<&CmChannel>,
        preference: &RdmaPreference,
    ) -> Result<Self, NoRdmaPort> {
        let is_iwarp = context.is_iwarp();
        let by_rdmacm = preference.by_rdmacm(is_iwarp, layer);
        if is_iwarp && !by_rdmacm {
            let why = "it is an iWARP device, whose connections only rdmacm makes, and verbs_connection says oob";
            return Err(NoRdmaPort::new(why));
        }
        let mut gids = match is_iwarp {
            true => Vec::new(),
            false => allowed(context.gids(port)?, layer, preference),
        };
        let mut rdmacm = None;
        if by_rdmacm {
            let channel = match channel {
                Some(channel) => channel.clone(),
                None => CmChannel::create()?,
            };
            let interfaces = interface::list().map_err(NoRdmaPort::new)?;
            let addresses = addresses(&interfaces, preference.addresses.as_deref());
            let wanted = (context.name(), port);
            let is_taken = |gid| is_iwarp || gids.iter().any(|entry| entry.gid == gid);
            let found = CmListener::listen(&channel, wanted, &addresses, is_taken)?;
            gids.retain(|entry| entry.gid == found.gid());
            rdmacm = Some((channel, found));
        }
        if is_iwarp {
            return Ok(Self {
                fabric: Fabric::Iwarp,
                gid_index: 0,
                rdmacm,
            });
        }
        let (fabric, gid) = Fabric::of(layer, &gids).ok_or_else(|| none(preference))?;
        let fabric = match fabric {
            Fabric::InfiniBand(_) if preference.crosses_subnets && by_rdmacm => {
                Fabric::RoutedInfiniBand
            }
            fabric => fabric,
        };
        Ok(Self {
            fabric,
            gid_index: gid.index,
            rdmacm,
        })
    }
}

/// The addresses of a port that the preference allows. One on Ethernet tells its VLAN from others by its IP address.
fn allowed(
    mut gids: Vec<GidEntry>,
    layer: LinkLayer,
    preference: &RdmaPreference,
) -> Vec<GidEntry> {
    if let Some(index) = preference.gid_index {
        gids.retain(|entry| entry.index == index);
    }
    if let Some(allowed) = &preference.addresses
        && layer == LinkLayer::Ethernet
    {
        gids.retain(|entry| allowed.contains(&address(entry.gid)));
    }
    gids
}

/// The IP address that a GID on Ethernet is made of.
fn address(gid: Gid) -> IpAddr {
    IpAddr::from(Ipv6Addr::from(gid.0)).to_canonical()
}

/// Why no address is left.
fn none(preference: &RdmaPreference) -> NoRdmaPort {
    let mut which = match preference.gid_index {
        Some(index) => format!("no address (GID) {index}, which verbs_gid_index names,"),
        None => "no address (GID) of it".to_owned(),
    };
    if preference.addresses.is_some() {
        which += " that verbs_include and verbs_exclude allow";
    }
    NoRdmaPort::new(format!("{which} is InfiniBand's or RoCE's"))
}

/// The addresses by which peers may reach this host, those first that reach farthest.
fn addresses(interfaces: &[Interface], allowed: Option<&[IpAddr]>) -> Vec<IpAddr> {
    let is_local = |address: &IpAddr| match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    let usable = interfaces.iter().filter(|of| of.up && !of.loopback);
    let usable = usable.map(|of| of.address.to_canonical());
    let mut usable: Vec<IpAddr> = usable
        .filter(|address| !is_local(address))
        .filter(|address| allowed.is_none_or(|allowed| allowed.contains(address)))
        .collect();
    usable.sort_by_key(IpAddr::is_ipv6);
    usable
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::GidType;

    #[test]
    fn an_allowed_address_selects_the_vlan() {
        let entry = |index, gid: &str| GidEntry {
            index,
            gid: gid.parse().expect("a GID"),
            kind: GidType::RoceV2,
            interface: 0,
        };
        // Of eth0 and of its VLAN eth0.13.
        let gids = vec![
            entry(0, "fe80::1"),
            entry(1, "::ffff:10.0.0.1"),
            entry(2, "::ffff:13.0.0.1"),
        ];
        let indices = |preference: &RdmaPreference, layer| {
            let left = allowed(gids.clone(), layer, preference);
            left.iter().map(|entry| entry.index).collect::<Vec<_>>()
        };
        let default = RdmaPreference::default();
        assert_eq!(indices(&default, LinkLayer::Ethernet), [0, 1, 2]);
        let vlan = RdmaPreference {
            addresses: Some(vec!["13.0.0.1".parse().expect("an address")]),
            ..default.clone()
        };
        assert_eq!(indices(&vlan, LinkLayer::Ethernet), [2]);
        assert_eq!(indices(&vlan, LinkLayer::InfiniBand), [0, 1, 2]);
        let both = RdmaPreference {
            gid_index: Some(1),
            ..vlan
        };
        assert_eq!(indices(&both, LinkLayer::Ethernet), [0; 0]);
        let why = none(&both).to_string();
        assert!(
            why.contains("verbs_gid_index") && why.contains("verbs_include"),
            "{why}"
        );
    }

    #[test]
    fn a_rank_listens_where_peers_reach_it() {
        let of = |address: &str, up, loopback| Interface {
            name: "eth0".into(),
            address: address.parse().expect("an address"),
            prefix: 24,
            up,
            loopback,
        };
        let interfaces = [
            of("127.0.0.1", true, true),
            of("fe80::1", true, false),
            of("fd00::1", true, false),
            of("10.0.0.1", true, false),
            of("10.1.0.1", false, false),
        ];
        let texts = |allowed| {
            let found = addresses(&interfaces, allowed);
            found.iter().map(IpAddr::to_string).collect::<Vec<_>>()
        };
        assert_eq!(texts(None), ["10.0.0.1", "fd00::1"]);
        let six = ["fd00::1".parse().expect("an address")];
        assert_eq!(texts(Some(&six)), ["fd00::1"]);
        assert_eq!(texts(Some(&[])), [""; 0]);
    }
}
