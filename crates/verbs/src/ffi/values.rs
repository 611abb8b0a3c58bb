//! The constants of `infiniband/verbs.h` and `rdma/rdma_cma.h`, by their C names.

/// Defines constants, and for the tests what the C compiler must say about them.
macro_rules! c_values {
    ($($name:ident = $value:expr;)*) => {
        $(pub(crate) const $name: u32 = $value;)*

        /// Assertions on the C constants: see `layouts.c`.
        #[cfg(test)]
        pub(super) fn assertions() -> Vec<String> {
            vec![$(format!("VALUE({}, {});", stringify!($name), $name)),*]
        }
    };
}

c_values! {
    IBV_GID_TYPE_IB = 0;
    IBV_GID_TYPE_ROCE_V1 = 1;
    IBV_GID_TYPE_ROCE_V2 = 2;

    IBV_TRANSPORT_IWARP = 1;

    IBV_PORT_DOWN = 1;
    IBV_PORT_INIT = 2;
    IBV_PORT_ARMED = 3;
    IBV_PORT_ACTIVE = 4;

    IBV_LINK_LAYER_INFINIBAND = 1;
    IBV_LINK_LAYER_ETHERNET = 2;

    IBV_MTU_256 = 1;
    IBV_MTU_4096 = 5;

    IBV_ACCESS_LOCAL_WRITE = 1;
    IBV_ACCESS_REMOTE_WRITE = 1 << 1;
    IBV_ACCESS_REMOTE_READ = 1 << 2;
    IBV_ACCESS_ON_DEMAND = 1 << 6;
    IBV_ODP_SUPPORT = 1;
    IBV_ODP_SUPPORT_WRITE = 1 << 2;
    IBV_ODP_SUPPORT_READ = 1 << 3;

    IBV_QPT_RC = 2;
    IBV_QPT_UD = 4;
    IBV_QPT_XRC_SEND = 9;
    IBV_QPT_XRC_RECV = 10;

    IBV_DEVICE_XRC = 1 << 20;
    IBV_XRCD_INIT_ATTR_FD = 1;
    IBV_XRCD_INIT_ATTR_OFLAGS = 1 << 1;
    IBV_SRQT_XRC = 1;
    IBV_SRQ_INIT_ATTR_TYPE = 1;
    IBV_SRQ_INIT_ATTR_PD = 1 << 1;
    IBV_SRQ_INIT_ATTR_XRCD = 1 << 2;
    IBV_SRQ_INIT_ATTR_CQ = 1 << 3;
    IBV_QP_INIT_ATTR_XRCD = 1 << 1;
    IBV_QP_OPEN_ATTR_NUM = 1;
    IBV_QP_OPEN_ATTR_XRCD = 1 << 1;
    IBV_QP_OPEN_ATTR_TYPE = 1 << 3;

    IBV_QPS_INIT = 1;
    IBV_QPS_RTR = 2;
    IBV_QPS_RTS = 3;
    IBV_QPS_ERR = 6;

    IBV_QP_STATE = 1;
    IBV_QP_ACCESS_FLAGS = 1 << 3;
    IBV_QP_PKEY_INDEX = 1 << 4;
    IBV_QP_PORT = 1 << 5;
    IBV_QP_QKEY = 1 << 6;
    IBV_QP_AV = 1 << 7;
    IBV_QP_PATH_MTU = 1 << 8;
    IBV_QP_TIMEOUT = 1 << 9;
    IBV_QP_RETRY_CNT = 1 << 10;
    IBV_QP_RNR_RETRY = 1 << 11;
    IBV_QP_RQ_PSN = 1 << 12;
    IBV_QP_MAX_QP_RD_ATOMIC = 1 << 13;
    IBV_QP_MIN_RNR_TIMER = 1 << 15;
    IBV_QP_SQ_PSN = 1 << 16;
    IBV_QP_MAX_DEST_RD_ATOMIC = 1 << 17;
    IBV_QP_DEST_QPN = 1 << 20;

    IBV_SRQ_LIMIT = 1 << 1;

    IBV_EVENT_CQ_ERR = 0;
    IBV_EVENT_QP_FATAL = 1;
    IBV_EVENT_QP_REQ_ERR = 2;
    IBV_EVENT_QP_ACCESS_ERR = 3;
    IBV_EVENT_PATH_MIG_ERR = 7;
    IBV_EVENT_DEVICE_FATAL = 8;
    IBV_EVENT_PORT_ACTIVE = 9;
    IBV_EVENT_PORT_ERR = 10;
    IBV_EVENT_SM_CHANGE = 13;
    IBV_EVENT_SRQ_ERR = 14;
    IBV_EVENT_SRQ_LIMIT_REACHED = 15;
    IBV_EVENT_QP_LAST_WQE_REACHED = 16;
    IBV_EVENT_CLIENT_REREGISTER = 17;
    IBV_EVENT_GID_CHANGE = 18;

    IBV_WR_RDMA_WRITE = 0;
    IBV_WR_RDMA_WRITE_WITH_IMM = 1;
    IBV_WR_SEND = 2;
    IBV_WR_SEND_WITH_IMM = 3;
    IBV_WR_RDMA_READ = 4;

    IBV_SEND_FENCE = 1;
    IBV_SEND_SIGNALED = 1 << 1;
    IBV_SEND_SOLICITED = 1 << 2;
    IBV_SEND_INLINE = 1 << 3;

    IBV_WC_SUCCESS = 0;
    IBV_WC_RECV = 1 << 7;
    IBV_WC_WITH_IMM = 1 << 1;

    RDMA_PS_TCP = 0x106;

    RDMA_CM_EVENT_ADDR_RESOLVED = 0;
    RDMA_CM_EVENT_ROUTE_RESOLVED = 2;
    RDMA_CM_EVENT_CONNECT_REQUEST = 4;
    RDMA_CM_EVENT_CONNECT_RESPONSE = 5;
    RDMA_CM_EVENT_ESTABLISHED = 9;
    RDMA_CM_EVENT_DISCONNECTED = 10;
    RDMA_CM_EVENT_TIMEWAIT_EXIT = 15;
}
