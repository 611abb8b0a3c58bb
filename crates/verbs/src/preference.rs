//! [`RdmaPreference`]: how a rank wants to use whichever device it finds.

use crate::device_parameters::{DeviceParameters, DeviceTable};
use crate::objects::LinkLayer;
use crate::registration::{
    LeavePinned, PinnedDecision, PinnedFromFile, PinnedSettings, RegistrationCaps,
    RegistrationOptions, notifier_unavailable,
};
use crate::transport::{
    ConnectionOptions, EagerRings, LongMessages, MOST_RAILS, ReceiveQueue, VerbsOptions,
};
use std::fmt::Display;
use std::net::IpAddr;
use std::time::Duration;

/// Who connects queue pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionMethod {
    /// Ranks exchange their addresses over the control network (openib: out of band).
    OutOfBand,
    /// rdmacm does, which finds ports by their IP addresses.
    Rdmacm,
}

/// How a rank wants to use whichever device it finds. `None` leaves it to the table of devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RdmaPreference {
    /// The receive queues; all ranks of a job need the same.
    pub receive_queues: Option<Vec<ReceiveQueue>>,
    /// Bytes that are sent inline.
    pub inline: Option<u32>,
    /// As [`VerbsOptions::eager_limit`].
    pub eager_limit: u32,
    /// How longer messages go.
    pub long: LongMessages,
    /// Whether there are eager rings.
    pub use_rings: Option<bool>,
    /// Their numbers; `size` is [`eager_limit`](Self::eager_limit).
    pub rings: EagerRings,
    /// What stays registered.
    pub pinned: PinnedSettings,
    /// The most that does.
    pub caps: RegistrationCaps,
    /// As [`VerbsOptions::want_fork_support`].
    pub want_fork_support: i32,
    /// The index of this rank's address; `None`: the one that reaches farthest.
    pub gid_index: Option<u8>,
    /// Ports of a rank at most, 1 to 8.
    pub rails: usize,
    /// Whether to warn of several ports with the default subnet prefix.
    pub warn_default_prefix: bool,
    /// The addresses of this host that ports may be used by; `None`: all.
    pub addresses: Option<Vec<IpAddr>>,
    /// Who connects; `None`: rdmacm where only it can.
    pub connects: Option<ConnectionMethod>,
    /// How long rdmacm may take to resolve an address, and a route.
    pub resolve_timeout: Duration,
    /// Ranks on other InfiniBand subnets are reached, by routers.
    pub crosses_subnets: bool,
    /// What connections have in common.
    pub connection: ConnectionOptions,
    /// Parameters of devices, over those that are shipped.
    pub devices: DeviceTable,
}

impl Default for RdmaPreference {
    fn default() -> Self {
        let VerbsOptions {
            registration,
            want_fork_support,
            eager_limit,
            long,
            rings,
            connection,
            ..
        } = VerbsOptions::default();
        Self {
            receive_queues: None,
            inline: None,
            eager_limit,
            long,
            use_rings: None,
            rings,
            pinned: PinnedSettings::default(),
            caps: registration.caps,
            want_fork_support,
            gid_index: None,
            rails: MOST_RAILS,
            warn_default_prefix: true,
            addresses: None,
            connects: None,
            resolve_timeout: Duration::from_secs(30),
            crosses_subnets: false,
            connection,
            devices: DeviceTable::default(),
        }
    }
}

impl RdmaPreference {
    /// The parameters of a device by its vendor and part.
    #[must_use]
    pub fn parameters(&self, vendor: u32, part: u32) -> DeviceParameters {
        let table = DeviceTable::shipped().overridden(self.devices.clone());
        table.find(vendor, part)
    }

    /// Whether connections on such a network are made by rdmacm: iWARP has no others, and on InfiniBand it alone knows
    /// routes.
    #[must_use]
    pub fn by_rdmacm(&self, is_iwarp: bool, layer: LinkLayer) -> bool {
        let needs_route = self.connection.by_path_record || self.crosses_subnets;
        let is_needed = is_iwarp || needs_route && layer == LinkLayer::InfiniBand;
        (self.connects).map_or(is_needed, |method| method == ConnectionMethod::Rdmacm)
    }

    /// The options of the transport on a device with these parameters, if the memory that stays registered is
    /// `leave_pinned`.
    #[must_use]
    pub fn options(&self, device: &DeviceParameters, leave_pinned: LeavePinned) -> VerbsOptions {
        let of_device = device.options();
        let has_rings = self.use_rings.unwrap_or(of_device.rings != EagerRings::OFF);
        let rings = EagerRings {
            size: self.eager_limit,
            ..self.rings
        };
        VerbsOptions {
            receive_queues: (self.receive_queues.clone()).unwrap_or(of_device.receive_queues),
            inline: self.inline.unwrap_or(of_device.inline),
            registration: RegistrationOptions {
                leave_pinned,
                caps: self.caps,
                ..of_device.registration
            },
            want_fork_support: self.want_fork_support,
            eager_limit: self.eager_limit,
            long: self.long,
            rings: match has_rings {
                true => rings,
                false => EagerRings::OFF,
            },
            connection: self.connection,
            ..VerbsOptions::default()
        }
    }

    /// What stays registered in this process, which has a device, that `pages_on_demand` or does not.
    ///
    /// # Errors
    /// A setting is in a file.
    ///
    /// # Cost
    /// That of [`notifier_unavailable`].
    pub fn decide_pinned(&self, pages_on_demand: bool) -> Result<PinnedDecision, PinnedFromFile> {
        let missing = notifier_unavailable().map(|why| why as &dyn Display);
        self.pinned
            .decide(true, missing.filter(|_| !pages_on_demand))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_decide_over_the_table_of_devices() {
        let device = DeviceTable::shipped().find(0x5076, 0);
        let default = RdmaPreference::default();
        let options = default.options(&device, LeavePinned::On);
        assert_eq!(options.receive_queues, device.options().receive_queues);
        assert_eq!(options.inline, 0);
        assert_eq!(options.rings, EagerRings::default());
        let queues = ReceiveQueue::parse_all("P,4096").unwrap();
        let said = RdmaPreference {
            receive_queues: Some(queues.clone()),
            inline: Some(64),
            eager_limit: 1000,
            use_rings: Some(false),
            ..default.clone()
        };
        let options = said.options(&device, LeavePinned::Off);
        assert_eq!(options.receive_queues, queues);
        assert_eq!((options.inline, options.eager_limit), (64, 1000));
        assert_eq!(options.rings, EagerRings::OFF);
        assert_eq!(options.registration.leave_pinned, LeavePinned::Off);
        let unknown = DeviceParameters::default();
        let rings = RdmaPreference {
            use_rings: Some(true),
            ..said
        };
        let options = rings.options(&unknown, LeavePinned::On);
        assert_eq!(options.rings.size, 1000, "the device says nothing of rings");
    }

    #[test]
    fn rdmacm_connects_where_only_it_can() {
        let default = RdmaPreference::default();
        let by = |preference: &RdmaPreference| {
            [
                (true, LinkLayer::Ethernet),
                (false, LinkLayer::Ethernet),
                (false, LinkLayer::InfiniBand),
            ]
            .map(|(is_iwarp, layer)| preference.by_rdmacm(is_iwarp, layer))
        };
        assert_eq!(by(&default), [true, false, false]);
        let mut routed = default.clone();
        routed.connection.by_path_record = true;
        assert_eq!(by(&routed), [true, false, true]);
        let crossing = RdmaPreference {
            crosses_subnets: true,
            ..default.clone()
        };
        assert_eq!(by(&crossing), [true, false, true]);
        let said = |connects| RdmaPreference {
            connects: Some(connects),
            ..routed.clone()
        };
        assert_eq!(by(&said(ConnectionMethod::Rdmacm)), [true; 3]);
        assert_eq!(by(&said(ConnectionMethod::OutOfBand)), [false; 3]);
    }
}
