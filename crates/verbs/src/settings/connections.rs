//! Rows: devices, addresses and connections.

use oxmpi_text::{Alias, Level, Product, Setting, duration, switch};

use super::{
    AUTO, auto_or, connects, gid_index, openib, pkey_index, rails, retries, service_level, timeout,
    ucx,
};

/// The rows of the settings table about RDMA devices and connections.
pub const CONNECTIONS: &[Setting] = &[
    Setting {
        name: "verbs_device_files",
        aliases: &[openib("btl_openib_device_param_files")],
        default: "",
        kind: "files",
        level: Level::Expert,
        short: "files of parameters of RDMA devices, joined by `:`, in the format of openib",
        long: "As `mca-btl-openib-device-params.ini`: sections with vendor_id, vendor_part_id and mtu, use_eager_rdma, \
               receive_queues, max_inline_data or ignore_device. A later file decides, and each decides over what is \
               shipped.",
        check: |_| Ok(()),
    },
    Setting {
        name: "verbs_gid_index",
        aliases: &[openib("btl_openib_gid_index"), ucx("UCX_IB_GID_INDEX")],
        default: AUTO,
        kind: "number",
        level: Level::Tuning,
        short: "index of the address (GID) of the RDMA port that is used",
        long: "`auto`: on Ethernet RoCE v2 over IPv4 if the port has such an address, else v2 over IPv6, else one that does not \
               leave the network. An address of a VLAN selects the VLAN. `oxmpi info --rdma` lists them.",
        check: |text| auto_or(text, gid_index).map(drop),
    },
    Setting {
        name: "verbs_rails",
        aliases: &[
            Alias {
                product: Product::OpenMpi,
                name: "btl_openib_max_btls",
                values: &[("-1", "8")],
            },
            ucx("UCX_MAX_RNDV_RAILS"),
        ],
        default: "8",
        kind: "count",
        level: Level::Tuning,
        short: "RDMA ports that a rank uses at most, 1 to 8",
        long: "Active ports of all devices, those nearest to the rank first. Ports of two ranks on one fabric are assigned one \
               to one; peers are dealt to them in turn. When one fails, messages take the others.",
        check: |text| rails(text).map(drop),
    },
    Setting {
        name: "verbs_warn_default_prefix",
        aliases: &[openib("btl_openib_warn_default_gid_prefix")],
        default: "on",
        kind: "switch",
        level: Level::Tuning,
        short: "warn of several InfiniBand ports with the default subnet prefix",
        long: "Ports of one prefix count as one fabric. Networks that are separate need different prefixes.",
        check: |text| switch(text).map(drop),
    },
    Setting {
        name: "verbs_include",
        aliases: &[openib("btl_openib_ipaddr_include")],
        default: "",
        kind: "list",
        level: Level::Tuning,
        short: "IP addresses by which RDMA ports may be used: interfaces and address ranges",
        long: "As `tcp_include`. On Ethernet the address, and with it the VLAN, of a port is one of these; rdmacm listens at one \
               of these. InfiniBand ports that rdmacm does not connect have no IP address.",
        check: |_| Ok(()),
    },
    Setting {
        name: "verbs_exclude",
        aliases: &[openib("btl_openib_ipaddr_exclude")],
        default: "",
        kind: "list",
        level: Level::Tuning,
        short: "IP addresses by which RDMA ports may not be used: interfaces and address ranges",
        long: "As `verbs_include`; an address in both lists is not used.",
        check: |_| Ok(()),
    },
    Setting {
        name: "verbs_connection",
        aliases: &[Alias {
            product: Product::OpenMpi,
            name: "btl_openib_cpc_include",
            values: &[("udcm", "oob"), ("xoob", "oob"), ("rdmacm,oob", "rdmacm")],
        }],
        default: AUTO,
        kind: "choice",
        level: Level::Tuning,
        short: "who connects queue pairs: oob (ranks, over tcp) or rdmacm",
        long: "rdmacm finds ports by their IP addresses, and routes by the subnet manager. It needs librdmacm, the kernel module \
               rdma_ucm, an IP address of the port, and a first receive queue of kind P. All ranks of a job need the same. `auto`: \
               rdmacm where only it can, on iWARP, and on InfiniBand with `verbs_path_record_service_level` or \
               `verbs_different_subnets`.",
        check: |text| auto_or(text, connects).map(drop),
    },
    Setting {
        name: "verbs_resolve_timeout",
        aliases: &[],
        default: "30s",
        kind: "duration",
        level: Level::Expert,
        short: "how long rdmacm may take to resolve a peer's address, and the route to it",
        long: "Then messages to the peer take tcp, if that is allowed.",
        check: |text| duration(text).map(drop),
    },
    Setting {
        name: "verbs_different_subnets",
        aliases: &[openib("btl_openib_allow_different_subnets")],
        default: "off",
        kind: "switch",
        level: Level::Expert,
        short: "whether ranks on other InfiniBand subnets are reached by RDMA, through routers",
        long: "Needs connections by rdmacm, which alone knows such routes. Without it tcp reaches them. Ethernet needs no setting: \
               RoCE v2 and iWARP cross subnets by IP.",
        check: |text| switch(text).map(drop),
    },
    Setting {
        name: "verbs_path_record_service_level",
        aliases: &[openib("btl_openib_ib_path_record_service_level")],
        default: "off",
        kind: "switch",
        level: Level::Tuning,
        short: "whether the InfiniBand service level of each peer is that of the route to it",
        long: "As torus networks need. The subnet manager knows it, which rdmacm asks. `verbs_service_level` then means nothing.",
        check: |text| switch(text).map(drop),
    },
    Setting {
        name: "verbs_service_level",
        aliases: &[openib("btl_openib_ib_service_level"), ucx("UCX_IB_SL")],
        default: "0",
        kind: "number",
        level: Level::Tuning,
        short: "InfiniBand service level of all messages, 0 to 15",
        long: "The subnet manager configures the quality of service of each. 0 leaves it to the route where rdmacm connects.",
        check: |text| service_level(text).map(drop),
    },
    Setting {
        name: "verbs_pkey_index",
        aliases: &[],
        default: "0",
        kind: "number",
        level: Level::Expert,
        short: "index of the partition key in the table of an InfiniBand port",
        long: "Ports exchange messages only inside a partition. 0 but in partitioned subnets.",
        check: |text| pkey_index(text).map(drop),
    },
    Setting {
        name: "verbs_timeout",
        aliases: &[openib("btl_openib_ib_timeout")],
        default: "18",
        kind: "number",
        level: Level::Expert,
        short: "how long a device waits for an answer before it tries again: 4.096 us times 2 to this power",
        long: "1 to 31; 18 is 1.1 s. After `verbs_retry_count` retries the peer is lost.",
        check: |text| timeout(text).map(drop),
    },
    Setting {
        name: "verbs_retry_count",
        aliases: &[
            openib("btl_openib_ib_retry_count"),
            ucx("UCX_RC_RETRY_COUNT"),
        ],
        default: "6",
        kind: "count",
        level: Level::Expert,
        short: "how often a device tries again without an answer, 0 to 7",
        long: "Then the peer is lost. Soft-RoCE takes 7 for ever.",
        check: |text| retries(text).map(drop),
    },
];
