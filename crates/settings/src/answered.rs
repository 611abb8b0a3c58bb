//! Parameters of Open MPI that are no settings here, each with the reason, which a job gives as its warning.

use oxmpi_coll::settings::unsupported_hardware;

/// A parameter of Open MPI without a setting here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnsweredName {
    /// Its name there.
    pub name: &'static str,
    /// Why it means nothing, and what to set instead: a clause.
    pub why: &'static str,
}

const ONE_WAY: &str = "messages have one implementation here; `transports` selects networks";

/// All but those of hardware for collectives.
const ANSWERED: &[AnsweredName] = &answers([
    ("pml", ONE_WAY),
    ("mtl", ONE_WAY),
    (
        "osc",
        "one-sided operations have one implementation here; `transports` selects networks",
    ),
    ("scoll", "there is no OpenSHMEM here"),
    ("atomic", "there is no OpenSHMEM here"),
    (
        "pml_ob1_use_early_completion",
        "a send completes when its buffer may be used again, never earlier",
    ),
    (
        "btl_openib_allow_ib",
        "InfiniBand ports are used wherever they are active; `transports` = ^verbs uses none",
    ),
    (
        "btl_openib_cpc_exclude",
        "`verbs_connection` says who connects: oob or rdmacm",
    ),
    (
        "btl_openib_rroce_enable",
        "RoCE v2 is used wherever a port has an address for it; `verbs_gid_index` takes another address",
    ),
    (
        "btl_openib_if_exclude",
        "write network_devices = ^DEVICE,... for it",
    ),
    (
        "btl_openib_btls_per_lid",
        "a rank uses a port once, whatever its LIDs",
    ),
    (
        "btl_openib_have_fork_support",
        "it can only be read: oxmpi info --param btl openib --level 9 --parsable prints it",
    ),
    (
        "btl_openib_max_send_size",
        "the largest buffers of `verbs_receive_queues` are the longest frame",
    ),
    (
        "btl_openib_free_list_max",
        "buffers are those of `verbs_receive_queues` and of eager rings, which are bounded",
    ),
]);

const fn answers<const N: usize>(pairs: [(&'static str, &'static str); N]) -> [AnsweredName; N] {
    let mut all = [AnsweredName { name: "", why: "" }; N];
    let mut at = 0;
    while at < N {
        let (name, why) = pairs[at];
        all[at] = AnsweredName { name, why };
        at += 1;
    }
    all
}

/// The parameters whose names contain `pattern`.
pub fn answered_names(pattern: &str) -> impl Iterator<Item = AnsweredName> {
    let all = ANSWERED.iter().copied();
    all.filter(move |answer| answer.name.contains(pattern))
}

/// Why the parameter `name` means nothing here, where more is known than that it is none.
pub(super) fn why(name: &str) -> Option<&'static str> {
    let answer = ANSWERED.iter().find(|answer| answer.name == name);
    answer
        .map(|answer| answer.why)
        .or_else(|| unsupported_hardware(name))
}
