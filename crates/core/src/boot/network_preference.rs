//! [`NetworkPreference`]: which transports are selected, and how the network is used.

#[cfg(feature = "tcp")]
use oxmpi_tcp::{InterfaceFilter, TcpOptions};
#[cfg(feature = "verbs")]
use oxmpi_verbs::RdmaPreference;
use oxmpi_wire::transports::{Selection, Verdict};

use crate::error::Error;

/// What is being done here, for error messages.
pub(super) const STEP: &str = "listening for the ranks of other nodes";

/// Which transports are selected, and how the network is used.
#[derive(Clone, Debug)]
pub struct NetworkPreference {
    /// The transports and devices that are used, and why.
    pub selection: Selection,
    /// The network interfaces, only those of the selection.
    #[cfg(feature = "tcp")]
    pub(super) filter: InterfaceFilter,
    /// How TCP connects and waits.
    #[cfg(feature = "tcp")]
    pub(super) options: TcpOptions,
    /// How an RDMA port is used.
    #[cfg(feature = "verbs")]
    pub(super) rdma: RdmaPreference,
}

impl NetworkPreference {
    /// The transports of this selection; no interface, and the default of each option.
    #[must_use]
    pub fn new(selection: Selection) -> Self {
        Self {
            selection,
            #[cfg(feature = "tcp")]
            filter: InterfaceFilter::all().restrict_to(Vec::new()),
            #[cfg(feature = "tcp")]
            options: TcpOptions::default(),
            #[cfg(feature = "verbs")]
            rdma: RdmaPreference::default(),
        }
    }

    /// With the interfaces of `filter`, which are those of the selection, and with these options.
    #[cfg(feature = "tcp")]
    #[must_use]
    pub fn with_tcp(self, filter: InterfaceFilter, options: TcpOptions) -> Self {
        Self {
            filter,
            options,
            ..self
        }
    }

    /// With an RDMA port used so.
    #[cfg(feature = "verbs")]
    #[must_use]
    pub fn with_rdma(self, rdma: RdmaPreference) -> Self {
        Self { rdma, ..self }
    }

    /// The error where ranks are on other nodes and TCP is not selected.
    pub(super) fn refusal(&self) -> Error {
        let selection = &self.selection;
        let devices = selection.devices.iter();
        let devices = devices.filter(|_| selection.lacks_interfaces);
        let not_taken = |verdict: &&Verdict| !verdict.taken;
        let reasons = selection.transports.iter().chain(devices).filter(not_taken);
        let reasons: Vec<String> = reasons.map(|v| format!("{}: {}", v.name, v.why)).collect();
        let host = oxmpi_os::host::name();
        let why = format!(
            "{host} has no transport to ranks of other nodes ({}); with `transports=auto` and an \
             interface that is up, tcp is taken: see `oxmpi explain transports`",
            reasons.join("; ")
        );
        Error::start(STEP, why)
    }
}
