//! [`RdmaPort`]: the port that a rank uses, opened.

use super::fabric::Fabric;
use super::rx::VerbsNetworkRx;
use super::tx::VerbsNetworkTx;
use crate::objects::{Context, PortState, devices};
use crate::preference::RdmaPreference;
use crate::transport::{VerbsEndpoint, VerbsOptions};
use oxmpi_wire::Network;

/// A port of a device, opened for a number of peers.
#[derive(Debug)]
pub struct RdmaPort {
    pub(super) endpoint: VerbsEndpoint,
    pub(super) fabric: Fabric,
    pub(super) warnings: Vec<String>,
}

impl RdmaPort {
    /// Opens the first of `ports`, each `DEVICE:PORT` as in `mlx5_0:1`, that can be used, for `peers` peers, as `preference`
    /// says.
    ///
    /// # Errors
    /// Why none can be used, as a clause for people.
    ///
    /// # Cost
    /// Loads libibverbs.
    pub fn open(ports: &[String], peers: u32, preference: &RdmaPreference) -> Result<Self, String> {
        let devices = devices().map_err(|why| why.to_string())?;
        let mut reasons = Vec::new();
        for name in ports {
            let (device, port) = name.split_once(':').unwrap_or((name, "1"));
            let found = devices.iter().find(|found| found.name() == device);
            let opened = match found {
                Some(found) => (found.open().map_err(|why| why.to_string())).and_then(|context| {
                    Self::on(&context, port.parse().unwrap_or(1), peers, preference)
                }),
                None => Err("libibverbs has no driver (provider) for it".into()),
            };
            match opened {
                Ok(opened) => return Ok(opened),
                Err(why) => reasons.push(format!("{name}: {why}")),
            }
        }
        Err(reasons.join("; "))
    }

    /// Opens port `port` of a device for `peers` peers.
    ///
    /// # Errors
    /// As [`RdmaPort::open`].
    fn on(
        context: &Context,
        port: u8,
        peers: u32,
        preference: &RdmaPreference,
    ) -> Result<Self, String> {
        let at = context.port(port).map_err(|why| why.to_string())?;
        if at.state != PortState::Active {
            return Err(format!("the port is not active but {:?}", at.state));
        }
        let mut gids = context.gids(port).map_err(|why| why.to_string())?;
        if let Some(index) = preference.gid_index {
            gids.retain(|entry| entry.index == index);
        }
        let (fabric, gid) = Fabric::of(at.link_layer, &gids).ok_or_else(|| {
            let which = preference.gid_index.map_or_else(
                || "no address (GID) of it".into(),
                |index| {
                    format!("it has no address (GID) {index}, which verbs_gid_index names, that")
                },
            );
            format!("{which} is InfiniBand's or RoCE's")
        })?;
        let limits = context.limits().map_err(|why| why.to_string())?;
        let (vendor, part) = (limits.vendor_id, limits.vendor_part_id);
        let parameters = preference.parameters(vendor, part);
        if parameters.ignore_device == Some(true) {
            return Err(format!(
                "the table of devices says not to use it (vendor {vendor:#x}, part {part})"
            ));
        }
        let pinned = preference.decide_pinned().map_err(|why| why.to_string())?;
        let warnings = (pinned.is_refusal)
            .then(|| format!("{}: {pinned}", context.name()))
            .into_iter()
            .collect();
        let options = VerbsOptions {
            port,
            gid_index: gid.index,
            ..preference.options(&parameters, pinned.leave_pinned)
        };
        let endpoint =
            VerbsEndpoint::open(context, peers, options).map_err(|why| why.to_string())?;
        Ok(Self {
            endpoint,
            fabric,
            warnings,
        })
    }

    /// Both halves of the network over `control`. `by_verbs` says of each peer whether its messages take the port, as
    /// both sides know; those of the others take the control network.
    pub fn over<C: Network, R>(
        self,
        control: (C, R),
        by_verbs: &[bool],
    ) -> (VerbsNetworkTx<C>, VerbsNetworkRx<C, R>) {
        let (connector, tx, rx) = self.endpoint.into_parts();
        (
            VerbsNetworkTx::new(control.0, tx, connector, by_verbs),
            VerbsNetworkRx::new(control.1, rx),
        )
    }

    /// What of the preference could not be had, and what may fail later: a sentence each.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The fabric that it belongs to.
    #[must_use]
    pub const fn fabric(&self) -> Fabric {
        self.fabric
    }
}
