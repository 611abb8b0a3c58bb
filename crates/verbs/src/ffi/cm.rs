//! The types of `rdma/rdma_cma.h`, by their C names.

use super::types::{ibv_context, ibv_gid, ibv_qp};
use std::ffi::{c_int, c_void};

c_types! {
    "struct" rdma_ib_addr whole {
        sgid: ibv_gid,
        dgid: ibv_gid,
        pkey: u16,
    }
    // Each of its fields is a union; these are the longest members.
    "struct" rdma_addr whole {
        src_storage: [u64; 16],
        dst_storage: [u64; 16],
        addr: rdma_ib_addr,
    }
    "struct" rdma_route whole {
        addr: rdma_addr,
        path_rec: *mut c_void,
        num_paths: c_int,
    }
    "struct" rdma_event_channel whole {
        fd: c_int,
    }
    "struct" rdma_cm_id prefix {
        verbs: *mut ibv_context,
        channel: *mut rdma_event_channel,
        context: *mut c_void,
        qp: *mut ibv_qp,
        route: rdma_route,
        ps: u32,
        port_num: u8,
    }
    "struct" rdma_conn_param whole {
        private_data: *const c_void,
        private_data_len: u8,
        responder_resources: u8,
        initiator_depth: u8,
        flow_control: u8,
        retry_count: u8,
        rnr_retry_count: u8,
        srq: u8,
        qp_num: u32,
    }
    "struct" rdma_cm_event whole {
        id: *mut rdma_cm_id,
        listen_id: *mut rdma_cm_id,
        event: u32,
        status: c_int,
        param: rdma_cm_event_param,
    }
}

/// What an event says beside its kind: `conn` of reliable connections.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) union rdma_cm_event_param {
    pub(crate) conn: rdma_conn_param,
    /// As long as the longest, which datagrams have.
    pub(crate) room: [u64; 7],
}
