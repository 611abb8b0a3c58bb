//! The settings of networks under the names of Cray's MPI.

use super::given;

/// Every variable of Cray's MPI changes its network parameter, at its limits too.
#[test]
fn crays_names_change_the_network() {
    use oxmpi_wire::paths::network::{ConnectTime, MailboxSharing, NetworkPlan, NetworkSettings};
    use oxmpi_wire::paths::{Path, PathTable};

    let plan = |name: &str, value: &str, ranks: u64| {
        let values = given(&[(name, value)]);
        assert_eq!(values.warnings, [""; 0], "{name}={value}");
        NetworkPlan::new(ranks, values.network())
    };
    let table = |plan: NetworkPlan| PathTable::new(&plan.limits(), &Default::default());
    let path = |plan: NetworkPlan, len| table(plan).path(len);
    let paths = |plan: NetworkPlan, len| (path(plan, len), path(plan, len + 1));

    let small = plan("MPICH_GNI_MAX_VSHORT_MSG_SIZE", "1000", 2);
    assert_eq!(paths(small, 1000), (Path::E0, Path::E1));
    assert!(
        small.memory(1).mailboxes
            < NetworkPlan::new(2, NetworkSettings::default())
                .memory(1)
                .mailboxes
    );

    let eager = plan("MPICH_GNI_MAX_EAGER_MSG_SIZE", "131072", 2);
    assert_eq!(paths(eager, 131_032), (Path::E1, Path::R0));
    let eager = plan("MPICH_GNI_MAX_EAGER_MSG_SIZE", "1040", 2);
    assert_eq!(paths(eager, 1000), (Path::E0, Path::R0));

    let get = plan("MPICH_GNI_NDREG_MAXSIZE", "512K", 2);
    assert_eq!(paths(get, 512 << 10), (Path::R0, Path::R1));
    assert_eq!(table(get).points().chunk, 512 << 10);

    let copies = plan("MPICH_GNI_LMT_PATH", "disabled", 2);
    assert!(!copies.settings.zero_copy);
    assert_eq!(path(copies, 1 << 30), Path::R0);

    let engine = plan("MPICH_GNI_RDMA_THRESHOLD", "65536", 2);
    assert!(engine.by_engine(65_536) && !engine.by_engine(65_535));
    let usual = NetworkPlan::new(2, NetworkSettings::default());
    assert!(usual.by_engine(1024) && !usual.by_engine(1023));
    for path in [Path::E1, Path::R0, Path::R1] {
        let cost = |plan: &NetworkPlan| plan.limits().costs.of(path).ns(2000);
        assert_ne!(cost(&engine), cost(&usual), "{path}");
    }

    let buffers = plan("MPICH_GNI_NUM_BUFS", "128", 2);
    assert_eq!(buffers.memory(0).buffers, 128 * (32 << 10));

    let start = plan("MPICH_GNI_DYNAMIC_CONN", "disabled", 1000);
    assert_eq!(start.settings.connect, ConnectTime::Start);
    assert_eq!(start.memory(0), start.memory(999));

    let block = plan("MPICH_GNI_MBOXES_PER_BLOCK", "1", 1000);
    assert_eq!(block.memory(3).mailboxes, 3 * block.block_bytes());

    let shared = plan("MPICH_GNI_VC_MSG_PROTOCOL", "MSGQ", 1000);
    assert_eq!(shared.settings.sharing, MailboxSharing::Shared);
    assert_eq!(shared.memory(1).mailboxes, shared.memory(999).mailboxes);
}

#[test]
fn crays_limits_are_reported() {
    for (name, value, right) in [
        ("MPICH_GNI_MAX_VSHORT_MSG_SIZE", "8153", "from 64 to 8152"),
        (
            "MPICH_GNI_MAX_EAGER_MSG_SIZE",
            "131073",
            "from 40 to 131072",
        ),
        ("MPICH_GNI_NDREG_MAXSIZE", "4095", "at least 4KiB"),
        ("MPICH_GNI_LMT_PATH", "perhaps", "on"),
        (
            "MPICH_GNI_RDMA_THRESHOLD",
            "65664",
            "from 0 to 65536 in steps of 128",
        ),
        ("MPICH_GNI_RDMA_THRESHOLD", "1000", "in steps of 128"),
        ("MPICH_GNI_NUM_BUFS", "3", "from 4 to 65536"),
        ("MPICH_GNI_DYNAMIC_CONN", "often", "first-use or start"),
        ("MPICH_GNI_MBOXES_PER_BLOCK", "0", "from 1 to 65536"),
        ("MPICH_GNI_VC_MSG_PROTOCOL", "MSG", "peer or shared"),
    ] {
        let values = given(&[(name, value)]);
        let [warning] = values.warnings.as_slice() else {
            panic!("{name}={value} is taken");
        };
        let is_named = warning.contains(name) && warning.contains(right);
        assert!(is_named, "{warning}");
    }
}
