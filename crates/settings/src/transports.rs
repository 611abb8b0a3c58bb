//! Selects the transports of this process, by its settings and the devices of its host.
//!
//! [`oxmpi_wire::transports`] decides; this module asks the system.

use oxmpi_core::{open_transports, probe_verbs};
use oxmpi_os::interface::Interface;
use oxmpi_os::{adapter, host, interface};
#[cfg(not(feature = "tcp"))]
use oxmpi_wire::transports::Transport;
use oxmpi_wire::transports::{
    Device, DeviceKind, Selection, TransportList, TransportPreference, select,
};

#[cfg(not(feature = "tcp"))]
use crate::BadSetting;
use crate::Values;
use crate::network_preference::network_preference;

/// The transports that `values` ask for and the devices of this host allow.
///
/// # Cost
/// A few system calls and small files for each network device.
#[must_use]
pub fn selection(values: &Values) -> Selection {
    let settings = ["transports", "network_devices"].map(|name| {
        let value = values.get(name);
        format!("{name} = {} ({})", value.text, value.origin)
    });
    let asked = |name: &str, by| TransportPreference {
        list: TransportList::parse(&values.get(name).text)
            .unwrap_or_else(|error| panic!("{name} was accepted and is not understood: {error}")),
        by,
    };
    let [transports, devices] = &settings;
    select(
        &host::name(),
        asked("transports", transports),
        asked("network_devices", devices),
        &all_devices(values),
    )
}

/// As [`selection`], without transports that do not open here: the next one is selected then, with a warning.
///
/// # Cost
/// That of [`selection`] and some system calls.
#[must_use]
pub fn opened(values: &Values) -> Selection {
    let mut selection = selection(values);
    let shared = open_transports(&mut selection, values.layout(2));
    selection.warnings.extend(shared);
    match network_preference(values, selection.clone()) {
        Ok(mut preference) => {
            let verbs = probe_verbs(&mut preference);
            preference.selection.warnings.extend(verbs);
            preference.selection
        }
        Err(why) => {
            selection.warnings.push(why.to_string());
            selection
        }
    }
}

/// The network interfaces and adapters of this host.
fn all_devices(values: &Values) -> Vec<Device> {
    let (allows, exclusion) = interface_filter(values);
    let interfaces = interface::list().unwrap_or_default();
    let mut devices: Vec<Device> = Vec::new();
    for interface in &interfaces {
        if devices.iter().all(|device| device.name != interface.name) {
            let addresses = interfaces.iter().filter(|one| one.name == interface.name);
            devices.push(device(addresses, &allows, &exclusion));
        }
    }
    devices.extend(adapter::list().into_iter().map(|port| Device {
        name: port.device,
        kind: DeviceKind::Adapter {
            port: port.port,
            interfaces: port.interfaces,
        },
        up: port.up,
        speed: port.megabits_per_second,
        left_out: no_verbs(),
    }));
    devices
}

/// Why no adapter is used in this build.
fn no_verbs() -> Option<String> {
    let is_built_in = cfg!(feature = "verbs");
    (!is_built_in).then(|| "the program was built without the feature `verbs` of oxmpi".into())
}

/// Whether TCP may use an address, and why it uses no others.
#[cfg(feature = "tcp")]
fn interface_filter(values: &Values) -> (impl Fn(&Interface) -> bool, String) {
    let text = |name: &str| values.get(name).text.as_str();
    let (include, exclude) = (text("tcp_include"), text("tcp_exclude"));
    let filter = values.tcp_filter();
    let exclusion = format!("tcp_include = {include:?} and tcp_exclude = {exclude:?} leave it out");
    (move |one: &Interface| filter.allows(one), exclusion)
}

/// No address, and why.
#[cfg(not(feature = "tcp"))]
fn interface_filter(_: &Values) -> (impl Fn(&Interface) -> bool, String) {
    let none = |_: &Interface| false;
    (
        none,
        "the program was built without the feature `tcp` of oxmpi".to_owned(),
    )
}

/// Refuses a list of transports that names TCP.
///
/// # Errors
/// Says which feature is off.
#[cfg(not(feature = "tcp"))]
pub(crate) fn refuse_tcp(values: &Values) -> Result<(), BadSetting> {
    let value = values.get("transports");
    let names_tcp = values.parse("transports", |text| {
        let list = TransportList::parse(text)?;
        Ok(!list.excludes()
            && list
                .entries()
                .any(|entry| entry.name == Transport::Tcp.name()))
    });
    if !names_tcp {
        return Ok(());
    }
    Err(BadSetting {
        origin: value.origin.clone(),
        why: format!(
            "transports = {}, and the program was built without the feature `tcp` of oxmpi: build it with that \
             feature, or leave tcp out of the list",
            value.text
        ),
    })
}

/// The network interface with these addresses.
fn device<'a>(
    addresses: impl Iterator<Item = &'a Interface> + Clone,
    allows: &impl Fn(&Interface) -> bool,
    exclusion: &str,
) -> Device {
    let name = addresses.clone().next().map_or("", |one| &one.name);
    let is_loopback = addresses.clone().any(|one| one.loopback);
    let is_allowed = addresses.clone().any(allows);
    Device {
        name: name.to_owned(),
        kind: if is_loopback {
            DeviceKind::Loopback
        } else {
            DeviceKind::Interface
        },
        up: addresses.clone().any(|one| one.up),
        speed: interface::speed(name),
        left_out: (!is_allowed).then(|| exclusion.to_owned()),
    }
}

#[cfg(all(test, feature = "tcp"))]
mod tests {
    use super::*;
    use crate::{Sources, TABLE, resolve};

    fn chosen(variables: &[(&str, &str)]) -> Selection {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let sources = Sources {
            environment: variables.iter().map(owned).collect(),
            ..Sources::default()
        };
        selection(&resolve(TABLE, &sources).unwrap())
    }

    fn of_loopback(selection: &Selection) -> (bool, &str) {
        let verdict = selection
            .devices
            .iter()
            .find(|verdict| verdict.name == "lo");
        verdict.map(|v| (v.taken, v.why.as_str())).unwrap()
    }

    #[test]
    fn names_of_other_products_choose_among_what_this_host_has() {
        // Every host has this interface.
        let network = ("OXMPI_NETWORK_DEVICES", "lo");
        let usual = chosen(&[network]);
        let is_usual = usual.shared && usual.tcp && usual.warnings.is_empty();
        assert!(is_usual, "{usual:?}");
        for (variable, value, shared, tcp) in [
            ("OMPI_MCA_btl", "self,vader", true, false),
            ("OMPI_MCA_btl", "^openib", true, true),
            ("OMPI_MCA_btl", "tcp,self", false, true),
            ("UCX_TLS", "self,sm", true, false),
            ("UCX_TLS", "^tcp", true, false),
            ("I_MPI_FABRICS", "shm", true, false),
            ("I_MPI_FABRICS", "shm:ofi", true, true),
            ("I_MPI_FABRICS", "ofi", false, true),
            ("I_MPI_OFI_PROVIDER", "tcp", true, true),
            ("OXMPI_TRANSPORTS", "sm", true, false),
        ] {
            let found = chosen(&[network, (variable, value)]);
            let taken = (found.shared, found.tcp);
            assert_eq!(taken, (shared, tcp), "{variable}={value}");
            assert!(found.warnings.is_empty(), "{found:?}");
        }
    }

    #[test]
    fn devices_are_chosen_by_name_and_by_range() {
        let by_name = chosen(&[("UCX_NET_DEVICES", "lo")]);
        assert_eq!(by_name.interfaces, ["lo"]);
        let by_range = chosen(&[("OMPI_MCA_btl_tcp_if_exclude", "127.0.0.0/8,::1")]);
        let (taken, why) = of_loopback(&by_range);
        assert!(!taken && why.contains("127.0.0.0/8"), "{why}");
        let unknown = chosen(&[("UCX_NET_DEVICES", "mlx5_77:1")]);
        let [warning] = &unknown.warnings[..] else {
            panic!("{unknown:?}");
        };
        assert!(warning.contains("no device mlx5_77:1 here"), "{warning}");
    }
}
