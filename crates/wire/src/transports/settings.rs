//! The settings `transports` and `network_devices`.

use oxmpi_text::{Alias, Level, Product, Setting};

use super::TransportList;

/// libfabric's providers as lists. They concern the network only: shared memory stays in use.
const PROVIDERS: &[(&str, &str)] = &[
    ("tcp", "sm,tcp"),
    ("sockets", "sm,tcp"),
    ("tcp;ofi_rxm", "sm,tcp"),
    ("verbs", "sm,verbs"),
    ("verbs;ofi_rxm", "sm,verbs"),
    ("mlx", "sm,mlx"),
    ("psm2", "sm,psm2"),
    ("psm3", "sm,psm3"),
    ("opx", "sm,opx"),
    ("efa", "sm,efa"),
    ("cxi", "sm,cxi"),
];

/// The rows of the settings table that are about transports.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "transports",
        aliases: &[
            Alias::new(Product::OpenMpi, "btl"),
            Alias::new(Product::Ucx, "UCX_TLS"),
            Alias {
                product: Product::IntelMpi,
                name: "I_MPI_FABRICS",
                values: &[("shm:ofi", "auto"), ("shm", "sm"), ("ofi", "tcp")],
            },
            Alias {
                product: Product::IntelMpi,
                name: "I_MPI_OFI_PROVIDER",
                values: PROVIDERS,
            },
            Alias {
                product: Product::IntelMpi,
                name: "FI_PROVIDER",
                values: PROVIDERS,
            },
        ],
        default: "auto",
        kind: "list",
        level: Level::Basic,
        short: "transports to use, or with ^ those not to use",
        long: "`auto`: shared memory inside a node and the fastest usable network between nodes; nothing \
               needs to be disabled by hand. `sm,tcp` allows only these, `^tcp` all but this. A name is a \
               transport (sm, verbs, tcp; those of Open MPI, UCX and libfabric are known, too) or a device: \
               `sm,eth0`, `^docker0`, `mlx5_0:1` for a port. Messages of a rank to itself always \
               work. verbs is RDMA; TCP connects its ranks, and is used between two of which one has no RDMA device. \
               A name that this host does not have gives a warning, and the next transport is used. \
               `oxmpi explain transports` gives the reason for each.",
        check: |text| TransportList::parse(text).map(drop),
    },
    Setting {
        name: "network_devices",
        aliases: &[
            Alias::new(Product::Ucx, "UCX_NET_DEVICES"),
            Alias::new(Product::OpenMpi, "btl_openib_if_include"),
        ],
        default: "auto",
        kind: "list",
        level: Level::Basic,
        short: "network devices to use, or with ^ those not to use",
        long: "`auto`: all that are up. `eth0,ib0` allows only these, `^docker0` all but this; \
               `mlx5_0:1` is a port of an adapter, and means its network interfaces. `tcp_include` and \
               `tcp_exclude` select devices by ranges of addresses.",
        check: |text| TransportList::parse(text).map(drop),
    },
];
