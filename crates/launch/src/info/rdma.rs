//! `oxmpi info --rdma`: the RDMA devices and their ports, limits of memory, and forks; and openib's parameters.

use std::fs;

use oxmpi_os::limit::LockedMemoryLimit;
use oxmpi_os::{adapter, host, interface};
use oxmpi_settings::{Values, answered_names};
use oxmpi_text::Product;
use oxmpi_verbs::{
    Context, Device, DeviceLimits, ForkSupport, GidEntry, Port, RegistrableWarning, VerbsError,
    devices, notifier_unavailable, probe_fork_support,
};
use oxmpi_wire::transports::Selection;
use serde_json::{Value, json};

use super::verbs;

/// What a transport that does not work needs to be looked at.
pub(super) struct RdmaInfo {
    pub(super) host: String,
    pub(super) locked_memory: String,
    pub(super) registrations: String,
    pub(super) fork: String,
    /// Whether verbs is used, and why.
    pub(super) verbs: (bool, String),
    /// An error if this process cannot use RDMA.
    pub(super) devices: Result<Vec<DeviceInfo>, String>,
}

/// A device.
pub(super) struct DeviceInfo {
    pub(super) name: String,
    /// An error if it cannot be opened.
    pub(super) opened: Result<(DeviceLimits, Vec<PortInfo>), String>,
    /// What of its memory may be short.
    pub(super) warning: Option<String>,
}

/// A port of a device, and its addresses.
pub(super) struct PortInfo {
    pub(super) number: u8,
    pub(super) port: Port,
    pub(super) gids: Vec<GidEntry>,
}

impl RdmaInfo {
    /// That of this host.
    pub(super) fn collect(selection: &Result<Selection, String>) -> Self {
        let verbs = verbs(selection);
        let device = |device: Device| DeviceInfo {
            name: device.name(),
            opened: (device.open())
                .and_then(|context| open(&context))
                .map_err(|why| why.to_string()),
            warning: RegistrableWarning::of_device(&device.name()).map(|why| why.to_string()),
        };
        let devices = devices().map_err(|why| why.to_string());
        Self {
            host: host::name(),
            locked_memory: LockedMemoryLimit::raise().to_string(),
            registrations: registrations(),
            fork: fork(),
            verbs: (verbs.used, verbs.why),
            devices: devices.map(|all| all.into_iter().map(device).collect()),
        }
    }

    /// The text.
    pub(super) fn text(&self) -> String {
        let used = if self.verbs.0 { "used" } else { "not used" };
        let mut lines = vec![
            format!("host            {}", self.host),
            format!("locked memory   {}", self.locked_memory),
            format!("registrations   {}", self.registrations),
            format!("fork            {}", self.fork),
            format!("verbs           {used}: {}", self.verbs.1),
        ];
        match &self.devices {
            Err(why) => lines.push(format!("devices         none: {why}")),
            Ok(all) if all.is_empty() => lines.push("devices         none".into()),
            Ok(all) => lines.extend(all.iter().flat_map(DeviceInfo::lines)),
        }
        lines.join("\n") + "\n"
    }

    /// The format `oxmpi-rdma` of docs/formats.md.
    pub(super) fn json(&self) -> String {
        let (devices, error) = match &self.devices {
            Ok(devices) => (devices.as_slice(), None),
            Err(why) => (&[][..], Some(why)),
        };
        let whole = json!({
            "format": "oxmpi-rdma",
            "version": 1,
            "host": self.host,
            "locked_memory": self.locked_memory,
            "registrations": self.registrations,
            "fork": self.fork,
            "used": self.verbs.0,
            "why": self.verbs.1,
            "devices_error": error,
            "devices": devices.iter().map(DeviceInfo::json).collect::<Vec<_>>(),
        });
        format!("{whole:#}\n")
    }
}

impl DeviceInfo {
    fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("device          {}", self.name)];
        match &self.opened {
            Err(why) => lines.push(format!("  {why}")),
            Ok((limits, ports)) => {
                lines.push(format!(
                    "  vendor {:#x}, part {}; at most {} queue pairs of {} requests, {} completions a queue, {} regions",
                    limits.vendor_id,
                    limits.vendor_part_id,
                    limits.max_qp,
                    limits.max_qp_wr,
                    limits.max_cqe,
                    limits.max_mr
                ));
                for PortInfo { number, port, gids } in ports {
                    lines.push(format!(
                        "  port {number}: {:?}, {:?}, MTU {}, LID {}",
                        port.state,
                        port.link_layer,
                        port.active_mtu.bytes(),
                        port.lid
                    ));
                    lines.extend(gids.iter().map(|entry| {
                        format!("    GID {}: {} ({:?})", entry.index, entry.gid, entry.kind)
                    }));
                }
            }
        }
        lines.extend(self.warning.iter().map(|warning| format!("  {warning}")));
        lines
    }

    fn json(&self) -> Value {
        let gid = |entry: &GidEntry| {
            json!({
                "index": entry.index,
                "gid": entry.gid.to_string(),
                "kind": format!("{:?}", entry.kind),
            })
        };
        let port = |info: &PortInfo| {
            json!({
                "port": info.number,
                "state": format!("{:?}", info.port.state),
                "link_layer": format!("{:?}", info.port.link_layer),
                "mtu": info.port.active_mtu.bytes(),
                "lid": info.port.lid,
                "gids": info.gids.iter().map(gid).collect::<Vec<_>>(),
            })
        };
        let opened = self.opened.as_ref().ok();
        json!({
            "name": self.name,
            "error": self.opened.as_ref().err(),
            "warning": self.warning,
            "limits": opened.map(|(limits, _)| json!({
                "vendor": limits.vendor_id,
                "part": limits.vendor_part_id,
                "queue_pairs": limits.max_qp,
                "requests": limits.max_qp_wr,
                "completions": limits.max_cqe,
                "regions": limits.max_mr,
            })),
            "ports": opened.map_or(Vec::new(), |(_, ports)| ports.iter().map(port).collect()),
        })
    }
}

/// [`RdmaInfo::text`], and what else is needed to compare this host with another one: system, kernel, interfaces.
pub(super) fn report(selection: &Result<Selection, String>) -> String {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let release = read("/etc/os-release");
    let system = release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let kernel = read("/proc/sys/kernel/osrelease");
    let mut lines = format!(
        "oxmpi           {}\nsystem          {}\nkernel          {}\n",
        env!("CARGO_PKG_VERSION"),
        system.unwrap_or("unknown").trim_matches('"'),
        kernel.trim(),
    );
    for one in interface::list().unwrap_or_default() {
        let state = if one.up { "up" } else { "down" };
        lines += &format!("interface       {} {state} {}\n", one.name, one.address);
    }
    for port in adapter::list() {
        let speed = port.megabits_per_second.unwrap_or(0);
        let interfaces = port.interfaces.join(",");
        lines += &format!(
            "adapter         {}:{} {speed} Mb/s, interfaces {interfaces}\n",
            port.device, port.port
        );
    }
    lines + &RdmaInfo::collect(selection).text()
}

/// The limits and ports of an open device.
fn open(context: &Context) -> Result<(DeviceLimits, Vec<PortInfo>), VerbsError> {
    let limits = context.limits()?;
    let port = |number| {
        Ok(PortInfo {
            number,
            port: context.port(number)?,
            gids: context.gids(number)?,
        })
    };
    let ports = (1..=limits.ports).map(port);
    Ok((limits, ports.collect::<Result<_, VerbsError>>()?))
}

fn registrations() -> String {
    match notifier_unavailable() {
        None => "memory may stay registered after its use".into(),
        Some(why) => format!("none is kept: {why}"),
    }
}

fn fork() -> String {
    match probe_fork_support() {
        Ok(ForkSupport::Copied) => {
            "a child may use its memory: the kernel copies registered pages".into()
        }
        Ok(ForkSupport::KeptFromChild) => {
            "a child must not touch registered memory before it starts another program".into()
        }
        Ok(ForkSupport::None) => "not supported with registered memory".into(),
        Err(why) => format!("no RDMA: {why}"),
    }
}

/// Openib's parameters as pairs: those that are settings here, and whether forks are supported.
pub(super) fn openib(values: &Values) -> Vec<(&'static str, String)> {
    let of_openib = |name: &str| name.starts_with("btl_openib_");
    let settings = values.all.iter().flat_map(|value| {
        let aliases = value.setting.aliases.iter();
        let named =
            aliases.filter(|alias| alias.product == Product::OpenMpi && of_openib(alias.name));
        named.map(|alias| (alias.name, value.text.clone()))
    });
    let has_forks = probe_fork_support().is_ok_and(ForkSupport::is_there);
    let read_only = answered_names("btl_openib_have_fork_support");
    let forks = read_only.map(|answer| (answer.name, u8::from(has_forks).to_string()));
    let mut all: Vec<_> = settings.chain(forks).collect();
    all.sort_unstable();
    all
}
