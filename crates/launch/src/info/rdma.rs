//! `oxmpi info --rdma`: the RDMA devices and their ports, limits of memory, and forks; and openib's parameters.

use std::fs;

use oxmpi_os::limit::LockedMemoryLimit;
use oxmpi_os::{adapter, host, interface};
use oxmpi_settings::{Values, answered_names};
use oxmpi_text::Product;
use oxmpi_verbs::{
    Context, ForkSupport, RegistrableWarning, VerbsError, devices, notifier_unavailable,
    probe_fork_support,
};
use oxmpi_wire::transports::Selection;

use super::verbs;

/// What a transport that does not work needs to be looked at: the devices, limits, and whether verbs is used or not.
pub(super) fn text(selection: &Result<Selection, String>) -> String {
    let mut lines = vec![
        format!("host            {}", host::name()),
        format!("locked memory   {}", LockedMemoryLimit::raise()),
        format!("registrations   {}", registrations()),
        format!("fork            {}", fork()),
    ];
    let verbs = verbs(selection);
    let used = if verbs.used { "used" } else { "not used" };
    lines.push(format!("verbs           {used}: {}", verbs.why));
    match devices() {
        Err(why) => lines.push(format!("devices         none: {why}")),
        Ok(all) if all.is_empty() => lines.push("devices         none".into()),
        Ok(all) => {
            for device in all {
                let name = device.name();
                lines.push(format!("device          {name}"));
                let shown = device.open().and_then(|context| ports(&context));
                lines.extend(shown.unwrap_or_else(|why| vec![format!("  {why}")]));
                let warning = RegistrableWarning::of_device(&name);
                lines.extend(warning.map(|warning| format!("  {warning}")));
            }
        }
    }
    lines.join("\n") + "\n"
}

/// [`text`], and what else is needed to compare this host with another one: system, kernel, interfaces.
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
    lines + &text(selection)
}

/// The limits and ports of a device.
fn ports(context: &Context) -> Result<Vec<String>, VerbsError> {
    let limits = context.limits()?;
    let mut lines = vec![format!(
        "  vendor {:#x}, part {}; at most {} queue pairs of {} requests, {} completions a queue, {} regions",
        limits.vendor_id,
        limits.vendor_part_id,
        limits.max_qp,
        limits.max_qp_wr,
        limits.max_cqe,
        limits.max_mr
    )];
    for number in 1..=limits.ports {
        let port = context.port(number)?;
        lines.push(format!(
            "  port {number}: {:?}, {:?}, MTU {}, LID {}",
            port.state,
            port.link_layer,
            port.active_mtu.bytes(),
            port.lid
        ));
        for entry in context.gids(number)? {
            lines.push(format!(
                "    GID {}: {} ({:?})",
                entry.index, entry.gid, entry.kind
            ));
        }
    }
    Ok(lines)
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
