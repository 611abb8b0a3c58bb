//! The names of transports in the settings, also those of Open MPI (BTLs), UCX (transports) and libfabric (providers).
//!
//! Sources: the help of Open MPI 4 and 5 for `btl`, of UCX 1.18 for `UCX_TLS`, the manual pages
//! fi_provider(7).

use super::Transport;

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Messages of a rank to itself, which need no transport.
    Own,
    /// A transport of this library.
    Ours(Transport),
    /// The fastest network.
    Network,
    /// A transport that this library has no driver for: its description.
    Absent(&'static str),
}

const INFINIBAND: &str = "InfiniBand and RoCE adapters by verbs";
const GPU: &str = "the memory of GPUs";
const CRAY: &str = "Cray's networks";
const OMNI_PATH: &str = "Omni-Path and PSM";

/// Every name with its meaning. The first name of a transport is this library's.
const NAMES: &[(&str, Meaning)] = &[
    ("sm", Meaning::Ours(Transport::Shared)),
    ("tcp", Meaning::Ours(Transport::Tcp)),
    ("self", Meaning::Own),
    ("shm", Meaning::Ours(Transport::Shared)),
    ("vader", Meaning::Ours(Transport::Shared)),
    ("mm", Meaning::Ours(Transport::Shared)),
    ("posix", Meaning::Ours(Transport::Shared)),
    ("sysv", Meaning::Ours(Transport::Shared)),
    ("cma", Meaning::Ours(Transport::Shared)),
    ("knem", Meaning::Ours(Transport::Shared)),
    ("xpmem", Meaning::Ours(Transport::Shared)),
    ("sockets", Meaning::Ours(Transport::Tcp)),
    ("ofi", Meaning::Network),
    ("uct", Meaning::Network),
    ("ucx", Meaning::Network),
    ("openib", Meaning::Absent(INFINIBAND)),
    ("verbs", Meaning::Absent(INFINIBAND)),
    ("mlx", Meaning::Absent(INFINIBAND)),
    ("mlx5", Meaning::Absent(INFINIBAND)),
    ("ib", Meaning::Absent(INFINIBAND)),
    ("rc", Meaning::Absent(INFINIBAND)),
    ("rc_v", Meaning::Absent(INFINIBAND)),
    ("rc_x", Meaning::Absent(INFINIBAND)),
    ("rc_verbs", Meaning::Absent(INFINIBAND)),
    ("rc_mlx5", Meaning::Absent(INFINIBAND)),
    ("ud", Meaning::Absent(INFINIBAND)),
    ("ud_v", Meaning::Absent(INFINIBAND)),
    ("ud_x", Meaning::Absent(INFINIBAND)),
    ("ud_verbs", Meaning::Absent(INFINIBAND)),
    ("ud_mlx5", Meaning::Absent(INFINIBAND)),
    ("dc", Meaning::Absent(INFINIBAND)),
    ("dc_x", Meaning::Absent(INFINIBAND)),
    ("dc_mlx5", Meaning::Absent(INFINIBAND)),
    ("rdmacm", Meaning::Absent(INFINIBAND)),
    ("srd", Meaning::Absent("Amazon's EFA")),
    ("efa", Meaning::Absent("Amazon's EFA")),
    ("usnic", Meaning::Absent("Cisco's usNIC")),
    ("ugni", Meaning::Absent(CRAY)),
    ("gni", Meaning::Absent(CRAY)),
    ("cxi", Meaning::Absent(CRAY)),
    ("portals4", Meaning::Absent("Portals 4")),
    ("psm", Meaning::Absent(OMNI_PATH)),
    ("psm2", Meaning::Absent(OMNI_PATH)),
    ("psm3", Meaning::Absent(OMNI_PATH)),
    ("opx", Meaning::Absent(OMNI_PATH)),
    ("smcuda", Meaning::Absent(GPU)),
    ("cuda", Meaning::Absent(GPU)),
    ("cuda_copy", Meaning::Absent(GPU)),
    ("cuda_ipc", Meaning::Absent(GPU)),
    ("gdr_copy", Meaning::Absent(GPU)),
    ("rocm", Meaning::Absent(GPU)),
    ("rocm_copy", Meaning::Absent(GPU)),
    ("rocm_ipc", Meaning::Absent(GPU)),
    ("ze_copy", Meaning::Absent(GPU)),
    ("ze_ipc", Meaning::Absent(GPU)),
];

/// The meaning of `name`, whose case does not matter; `None` if it is not a name of a transport.
pub(super) fn meaning(name: &str) -> Option<Meaning> {
    let named = NAMES
        .iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(name));
    named.map(|(_, meaning)| *meaning)
}

/// All names, as suggestions for a mistyped one.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(word, _)| *word)
}
