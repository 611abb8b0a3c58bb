//! The settings of RDMA under the names of Open MPI's openib and of UCX.

use oxmpi_text::Product;
use oxmpi_verbs::{ConnectionMethod, ReceiveQueue, TransferFlags};

use super::{files, given, typed};
use crate::{TABLE, answered_names, resolve};

const NAMES: &str = include_str!("openfabrics_names.txt");

/// Each is a setting of ours, or gives one warning that says why it is none and what to do.
#[test]
fn every_name_of_the_faq_is_mapped_or_answered() {
    let names = NAMES.lines().filter(|line| !line.starts_with('#'));
    for name in names.clone() {
        let (product, variable) = match name.starts_with("UCX_") {
            true => (Product::Ucx, name.to_owned()),
            false => (Product::OpenMpi, format!("OMPI_MCA_{name}")),
        };
        let found = TABLE.find_alias(product, name);
        let values = given(&[(&variable, "1")]);
        match (found, &values.warnings[..]) {
            (Some((row, _)), []) => assert!(!row.short.starts_with("unused"), "{name}: {row:?}"),
            // 1 is no value of the setting.
            (Some((row, _)), [warning]) => {
                assert!(
                    (row.check)("1").is_err() && warning.contains(&variable),
                    "{warning}"
                );
            }
            (None, [warning]) => {
                assert!(
                    warning.starts_with(&format!("ignored: {variable}: ")),
                    "{warning}"
                );
                assert!(
                    !warning.contains("has no meaning here"),
                    "{name} has no answer"
                );
            }
            (found, warnings) => panic!("{name}: {found:?} {warnings:?}"),
        }
    }
    assert_eq!(names.count(), 46);
    for answer in answered_names("") {
        let row = TABLE.find_alias(Product::OpenMpi, answer.name);
        assert!(row.is_none(), "{} is mapped and answered", answer.name);
        for named in answer.why.split('`').skip(1).step_by(2) {
            let name = named.split(' ').next().unwrap_or(named);
            assert!(TABLE.find(name).is_some(), "{}: {named}", answer.name);
        }
    }
}

#[test]
fn openibs_names_change_the_transport() {
    let rdma = |name: &str, value: &str| {
        let values = given(&[(name, value)]);
        assert_eq!(values.warnings, [""; 0], "{name}={value}");
        values.rdma().expect("no file is named")
    };
    let plain = given(&[]).rdma().unwrap();
    assert_eq!(plain, oxmpi_verbs::RdmaPreference::default());
    assert_eq!(plain.eager_limit, 12 << 10, "openib's");
    for (value, bits) in [
        ("1", 1),
        ("2", 2),
        ("3", 3),
        ("4", 4),
        ("5", 5),
        ("6", 6),
        ("7", 7),
        ("310", 6),
    ] {
        let flags = rdma("OMPI_MCA_btl_openib_flags", value).long.flags;
        assert_eq!(flags, TransferFlags::from_bits_truncate(bits), "{value}");
    }
    let eager = rdma("OMPI_MCA_btl_openib_eager_limit", "4096");
    assert_eq!((eager.eager_limit, eager.rings.size), (4096, 4096));
    let queues = "P,128,256,128,16:S,1024,256,128,32";
    let said = rdma("OMPI_MCA_btl_openib_receive_queues", queues).receive_queues;
    assert_eq!(said, Some(ReceiveQueue::parse_all(queues).unwrap()));
    let rings = |name: &str, value: &str| rdma(&format!("OMPI_MCA_btl_openib_{name}"), value);
    assert_eq!(rings("user_eager_rdma", "0").use_rings, Some(false));
    assert_eq!(rings("use_eager_rdma", "1").use_rings, Some(true));
    assert_eq!(rings("use_eager_rdma", "-1").use_rings, None);
    // Entry 25 of the FAQ holds; its entry 21 swaps these two.
    assert_eq!(rings("max_eager_rdma", "3").rings.peers, 3);
    assert_eq!(rings("eager_rdma_num", "3").rings.slots, 3);
    assert_eq!(rings("eager_rdma_threshhold", "3").rings.threshold, 3);
    assert_eq!(
        rings("rdma_pipeline_frag_size", "64K").long.fragment,
        64 << 10
    );
    assert_eq!(rings("rndv_eager_limit", "5000").long.first, Some(5000));
    assert_eq!(rings("rdma_pipeline_send_length", "0").long.last, 0);
    assert_eq!(rings("min_rdma_pipeline_size", "1").long.min_rdma_size, 1);
    assert_eq!(rings("want_fork_support", "1").want_fork_support, 1);
    assert_eq!(rings("gid_index", "1").gid_index, Some(1));
    assert_eq!(rings("max_btls", "-1").rails, 8);
    assert_eq!(rdma("UCX_MAX_RNDV_RAILS", "2").rails, 2);
    assert!(!rings("warn_default_gid_prefix", "0").warn_default_prefix);
    assert_eq!(
        rings("cpc_include", "rdmacm").connects,
        Some(ConnectionMethod::Rdmacm)
    );
    assert_eq!(
        rings("cpc_include", "udcm").connects,
        Some(ConnectionMethod::OutOfBand)
    );
    assert!(rings("allow_different_subnets", "1").crosses_subnets);
    let by_path = rings("ib_path_record_service_level", "1").connection;
    assert!(by_path.by_path_record);
    let loopback = rings("ipaddr_include", "127.0.0.0/8").addresses;
    assert_eq!(loopback, Some(vec!["127.0.0.1".parse().unwrap()]));
    let none = rings("ipaddr_exclude", "0.0.0.0/0,::/0").addresses;
    assert_eq!(none, Some(vec![]));
    assert_eq!(rings("ib_service_level", "15").connection.service_level, 15);
    assert_eq!(rdma("UCX_IB_SL", "3").connection.service_level, 3);
    assert_eq!(rdma("UCX_IB_GID_INDEX", "2").gid_index, Some(2));
    for name in ["rcache", "cache"] {
        let name = format!("OMPI_MCA_mpool_rdma_{name}_size_limit");
        assert_eq!(rdma(&name, "1000").caps.bytes, 1000);
    }
}

#[test]
fn leave_pinned_is_not_read_from_files() {
    let said = given(&[("OMPI_MCA_mpi_leave_pinned", "-1")]);
    let pinned = said.rdma().unwrap().pinned;
    assert_eq!(pinned.direct.map(|setting| setting.value), Some(-1));
    assert_eq!(pinned.pipeline, None, "the default is not -1 that is said");
    let values = resolve(TABLE, &files(&["verbs_leave_pinned_pipeline = 1"])).unwrap();
    let why = values.rdma().unwrap_err().to_string();
    assert!(
        why.starts_with("file0:1: mpi_leave_pinned_pipeline = 1 in file0:1: "),
        "{why}"
    );
    assert!(
        why.contains("OMPI_MCA_mpi_leave_pinned_pipeline=1"),
        "{why}"
    );
}

#[test]
fn addresses_that_are_no_list_are_an_error_with_their_origin() {
    let values = given(&[("OMPI_MCA_btl_openib_ipaddr_include", "10.0.0.0/40")]);
    let why = values.rdma().unwrap_err().to_string();
    assert!(why.contains("OMPI_MCA_btl_openib_ipaddr_include"), "{why}");
    assert!(why.contains("10.0.0.0/40"), "{why}");
}

#[test]
fn a_file_of_devices_that_cannot_be_read_is_an_error() {
    let option = (
        "--mca",
        Some(Product::OpenMpi),
        "btl_openib_device_param_files",
        "/none.ini",
    );
    let values = resolve(TABLE, &typed(option)).unwrap();
    let why = values.rdma().unwrap_err().to_string();
    assert!(
        why.starts_with("--mca btl_openib_device_param_files: /none.ini: "),
        "{why}"
    );
}
