//! [`RdmaPort`]: the port that a rank uses, opened.

use super::fabric::Fabric;
use super::no_rdma_port::NoRdmaPort;
use super::rx::VerbsNetworkRx;
use super::tx::VerbsNetworkTx;
use crate::objects::{Context, PortState, devices};
use crate::preference::RdmaPreference;
use crate::registration::RegistrableWarning;
use crate::transport::{FittedQueues, VerbsEndpoint, VerbsOptions};
use oxmpi_os::limit::LockedMemoryLimit;
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
    /// Why none can be used.
    ///
    /// # Cost
    /// Loads libibverbs.
    pub fn open(
        ports: &[String],
        peers: u32,
        preference: &RdmaPreference,
    ) -> Result<Self, NoRdmaPort> {
        let devices = devices()?;
        let mut none = NoRdmaPort::default();
        for name in ports {
            let (device, port) = name.split_once(':').unwrap_or((name, "1"));
            let found = devices.iter().find(|found| found.name() == device);
            let opened = match found {
                Some(found) => (found.open().map_err(NoRdmaPort::from)).and_then(|context| {
                    Self::on(&context, port.parse().unwrap_or(1), peers, preference)
                }),
                None => Err(NoRdmaPort::new(
                    "libibverbs has no driver (provider) for it",
                )),
            };
            match opened {
                Ok(opened) => return Ok(opened),
                Err(why) => none.add(name, why),
            }
        }
        Err(none)
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
    ) -> Result<Self, NoRdmaPort> {
        let at = context.port(port)?;
        if at.state != PortState::Active {
            let why = format!("the port is not active but {:?}", at.state);
            return Err(NoRdmaPort::new(why));
        }
        let mut gids = context.gids(port)?;
        if let Some(index) = preference.gid_index {
            gids.retain(|entry| entry.index == index);
        }
        let (fabric, gid) = Fabric::of(at.link_layer, &gids).ok_or_else(|| {
            let which = preference.gid_index.map_or_else(
                || "no address (GID) of it".to_owned(),
                |index| format!("no address (GID) {index}, which verbs_gid_index names,"),
            );
            NoRdmaPort::new(format!("{which} is InfiniBand's or RoCE's"))
        })?;
        let limits = context.limits()?;
        let (vendor, part) = (limits.vendor_id, limits.vendor_part_id);
        let parameters = preference.parameters(vendor, part);
        if parameters.ignore_device == Some(true) {
            let why = format!(
                "the table of devices says not to use it (vendor {vendor:#x}, part {part})"
            );
            return Err(NoRdmaPort::new(why));
        }
        let pinned = preference.decide_pinned()?;
        let options = VerbsOptions {
            port,
            gid_index: gid.index,
            ..preference.options(&parameters, pinned.leave_pinned)
        };
        let fitted = FittedQueues::of(&options, LockedMemoryLimit::raise().bytes());
        let endpoint = VerbsEndpoint::open(context, peers, options)?;
        let refused = pinned.is_refusal.then(|| pinned.to_string());
        let shrunk = fitted.ok().and_then(FittedQueues::warning);
        let own = refused.into_iter().chain(shrunk);
        let own = own.map(|warning| format!("{}: {warning}", context.name()));
        let registrable = RegistrableWarning::of_device(context.name());
        let registrable = registrable.map(|warning| warning.to_string());
        Ok(Self {
            endpoint,
            fabric,
            warnings: own.chain(registrable).collect(),
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
