//! The names of transports in the settings, also those of Open MPI (BTLs), UCX (transports) and libfabric
//! (providers).
//!
//! Sources: the help of Open MPI 4 and 5 for `btl`, of UCX 1.18 for `UCX_TLS`, the manual pages
//! fi_provider(7).

use super::Transport;

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameMeaning {
    /// Messages of a rank to itself, which need no transport.
    Own,
    /// A transport of this library.
    Ours(Transport),
    /// The fastest network: verbs, or TCP.
    Network,
    /// A transport that this library has no driver for: its description. The fastest network is used instead.
    Absent(&'static str),
}

const DC: &str = "dynamic connections of Mellanox's adapters";
const MELLANOX: &str = "Mellanox's library MXM";
const GPU: &str = "the memory of GPUs";
const CRAY: &str = "Cray's networks";
const OMNI_PATH: &str = "Omni-Path and PSM";

/// Every meaning with its names. The first name of a transport is this library's.
const NAMES: &[(&[&str], NameMeaning)] = &[
    (
        &[
            "sm", "shm", "vader", "mm", "posix", "sysv", "cma", "knem", "xpmem",
        ],
        NameMeaning::Ours(Transport::Shared),
    ),
    (&["tcp", "sockets"], NameMeaning::Ours(Transport::Tcp)),
    (&["self"], NameMeaning::Own),
    (&["ofi", "uct", "ucx"], NameMeaning::Network),
    (
        &[
            "verbs", "openib", "mlx", "mlx5", "ib", "rc", "rc_v", "rc_x", "rc_verbs", "rc_mlx5",
            "ud", "ud_v", "ud_x", "ud_verbs", "ud_mlx5", "rdmacm",
        ],
        NameMeaning::Ours(Transport::Verbs),
    ),
    (&["dc", "dc_x", "dc_mlx5"], NameMeaning::Absent(DC)),
    (
        &["mvapi"],
        NameMeaning::Absent("Mellanox's interface VAPI, which verbs has replaced"),
    ),
    (&["mxm", "yalla"], NameMeaning::Absent(MELLANOX)),
    (&["srd", "efa"], NameMeaning::Absent("Amazon's EFA")),
    (&["usnic"], NameMeaning::Absent("Cisco's usNIC")),
    (&["ugni", "gni", "cxi"], NameMeaning::Absent(CRAY)),
    (&["portals4"], NameMeaning::Absent("Portals 4")),
    (
        &["psm", "psm2", "psm3", "opx"],
        NameMeaning::Absent(OMNI_PATH),
    ),
    (
        &[
            "smcuda",
            "cuda",
            "cuda_copy",
            "cuda_ipc",
            "gdr_copy",
            "rocm",
            "rocm_copy",
            "rocm_ipc",
            "ze_copy",
            "ze_ipc",
        ],
        NameMeaning::Absent(GPU),
    ),
];

/// The meaning of `name`, whose case does not matter; `None` if it is not a name of a transport.
pub(super) fn meaning(name: &str) -> Option<NameMeaning> {
    let is_name = |word: &&str| word.eq_ignore_ascii_case(name);
    let named = NAMES.iter().find(|(words, _)| words.iter().any(is_name));
    named.map(|(_, meaning)| *meaning)
}

/// All names, as suggestions for a mistyped one.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    NAMES.iter().flat_map(|(words, _)| words.iter().copied())
}
