//! `oxmpi explain memory`: foretells the memory that a rank registers with an RDMA device.

use std::ffi::OsString;

use oxmpi_os::limit::LockedMemoryLimit;
use oxmpi_settings::Values;
use oxmpi_verbs::{
    DeviceParameters, LeavePinned, RdmaPreference, ReceiveQueue, RegisteredBytes, VerbsOptions,
};

use super::rdma_device::first_device;
use crate::columns::aligned;
use crate::options::*;

#[rustfmt::skip]
const OPTIONS: OptionTable<u64> = OptionTable {
    command: "oxmpi explain memory",
    intro: "\
Usage: oxmpi explain memory [-n RANKS]

Foretells how much memory a rank registers with an RDMA device, by the settings verbs_... and, where this host
has a device, by its parameters. The program's own memory comes on top while it is sent or received.
",
    groups: &[OptionGroup { title: "Options", rows: &[
        value(&["n", "np"], &["RANKS"], "ranks that a rank exchanges messages with by RDMA, itself included; default 2",
            |ranks, v| v.set(ranks, super::ranks)),
        help(),
    ] }],    ..OptionTable::GNU
};

/// The text to print.
///
/// # Errors
/// A wrong argument, or what `values` says.
pub(super) fn run(
    arguments: &[OsString],
    values: impl FnOnce() -> Result<Values, String>,
) -> Result<String, String> {
    let mut ranks = 2;
    if OPTIONS.read(arguments, &mut ranks)? != Parsed::Run(&[]) {
        return Ok(OPTIONS.help());
    }
    let preference = values()?.rdma().map_err(|why| why.to_string())?;
    let (device, parameters) = first_device(&preference);
    let limit = LockedMemoryLimit::raise();
    let peers = u32::try_from(ranks - 1).unwrap_or(u32::MAX);
    let table = table(&preference, &parameters, peers);
    Ok(format!(
        "device         {device}\nlocked memory  {limit}\n{table}"
    ))
}

/// The quantities of openib's table, those of receive queues added.
fn table(preference: &RdmaPreference, device: &DeviceParameters, peers: u32) -> String {
    let options = preference.options(device, LeavePinned::On);
    let bytes = RegisteredBytes::of(&options);
    let VerbsOptions { rings, .. } = &options;
    let ends = rings.peers.min(peers);
    let cap = match preference.caps.bytes {
        0 => "any".to_owned(),
        cap => format!("<= {cap}"),
    };
    let rows = [
        ["memory", "bytes", "amount"].map(String::from),
        [
            "user memory".into(),
            cap,
            "verbs_cache_bytes, 0 for any: what is sent or received, and stays registered; twice with two devices"
                .into(),
        ],
        [
            "shared receive queues".into(),
            bytes.endpoint.to_string(),
            "2 x buffers x (size + overhead) for each S queue: to receive into and to send from"
                .into(),
        ],
        [
            "receive queues of peers".into(),
            (bytes.peer * u64::from(peers)).to_string(),
            format!(
                "2 x (buffers + reserve) x (size + overhead) for each P queue: {} for each of {peers} peers that messages \
                 are exchanged with",
                bytes.peer
            ),
        ],
        [
            "eager rings".into(),
            (bytes.ring * u64::from(ends) * 2).to_string(),
            format!(
                "verbs_ring_slots x (verbs_eager_limit + overhead): {} for each of {ends} rings to this rank, and of {ends} \
                 from it",
                bytes.ring
            ),
        ],
        [
            "completion queue".into(),
            (bytes.endpoint_completions + bytes.peer_completions * u64::from(peers)).to_string(),
            format!(
                "64 x requests in flight: {} for S queues, {} for each of {peers} peers; in the device's memory or the kernel's \
                 on some, and for all ranks of the job where a device cannot resize it",
                bytes.endpoint_completions, bytes.peer_completions
            ),
        ],
        [
            "sum without user memory".into(),
            bytes.total(peers, ends, ends).to_string(),
            "at most, when all peers have sent".into(),
        ],
    ];
    let queues = ReceiveQueue::join_all(&options.receive_queues);
    format!(
        "queues         {queues}\n\n{}",
        aligned(&rows.map(Vec::from))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_the_transport() {
        let device = DeviceParameters {
            use_eager_rdma: Some(true),
            ..DeviceParameters::default()
        };
        let preference = RdmaPreference::default();
        let text = table(&preference, &device, 100);
        let options = preference.options(&device, LeavePinned::On);
        let bytes = RegisteredBytes::of(&options);
        let sum = format!("sum without user memory  {}  ", bytes.total(100, 16, 16));
        assert!(text.contains(&sum), "{text}");
        assert!(
            text.starts_with("queues         P,128,256,192,128"),
            "{text}"
        );
        let rings = format!("eager rings              {}", bytes.ring * 32);
        assert!(text.contains(&rings), "{text}");
        OPTIONS.assert_sound();
    }
}
