//! The types of `infiniband/verbs.h`, by their C names.
//!
//! Enumerations of C are `u32`: a newer library may give values that this list does not have.

use std::ffi::{c_char, c_int, c_void};

/// Defines C types, and for the tests what the C compiler must say about them.
macro_rules! c_types {
    ($($(#[$meta:meta])* $kind:literal $name:ident $size:ident { $($field:ident: $type:ty,)* })*) => {
        $(
            $(#[$meta])*
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub(crate) struct $name {
                $(pub(crate) $field: $type,)*
            }
        )*

        /// Assertions on the C types: see `layouts.c`.
        #[cfg(test)]
        pub(super) fn assertions() -> Vec<String> {
            let mut lines = Vec::new();
            $(
                let name = concat!($kind, " ", stringify!($name));
                if stringify!($size) == "whole" {
                    lines.push(format!("TYPE({name}, {});", size_of::<$name>()));
                }
                $(
                    let (field, offset) = (stringify!($field), std::mem::offset_of!($name, $field));
                    let size = size_of::<$type>();
                    let line = match stringify!($size) {
                        "suffix" => format!("BEFORE({name}, {field}, {}, {size});", size_of::<$name>() - offset),
                        _ => format!("FIELD({name}, {field}, {offset}, {size});"),
                    };
                    // Fields that are only there for the others have other names in C.
                    lines.extend(Some(line).filter(|_| !field.starts_with("_reserved")));
                )*
            )*
            lines
        }
    };
}

// A `whole` type is as long as in C; a `prefix` has the first fields of a type that the library allocates, a `suffix` the last
// ones before the field `context`, which follows it.
c_types! {
    "struct" ibv_device prefix {
        _ops: [Option<unsafe extern "C" fn()>; 2],
        node_type: u32,
        transport_type: u32,
        name: [c_char; 64],
    }
    #[repr(align(8))]
    "union" ibv_gid whole {
        raw: [u8; 16],
    }
    "struct" ibv_gid_entry whole {
        gid: ibv_gid,
        gid_index: u32,
        port_num: u32,
        gid_type: u32,
        ndev_ifindex: u32,
    }
    "struct" ibv_device_attr whole {
        fw_ver: [c_char; 64],
        node_guid: u64,
        sys_image_guid: u64,
        max_mr_size: u64,
        page_size_cap: u64,
        vendor_id: u32,
        vendor_part_id: u32,
        hw_ver: u32,
        max_qp: c_int,
        max_qp_wr: c_int,
        device_cap_flags: u32,
        max_sge: c_int,
        max_sge_rd: c_int,
        max_cq: c_int,
        max_cqe: c_int,
        max_mr: c_int,
        max_pd: c_int,
        max_qp_rd_atom: c_int,
        max_ee_rd_atom: c_int,
        max_res_rd_atom: c_int,
        max_qp_init_rd_atom: c_int,
        max_ee_init_rd_atom: c_int,
        atomic_cap: u32,
        max_ee: c_int,
        max_rdd: c_int,
        max_mw: c_int,
        max_raw_ipv6_qp: c_int,
        max_raw_ethy_qp: c_int,
        max_mcast_grp: c_int,
        max_mcast_qp_attach: c_int,
        max_total_mcast_qp_attach: c_int,
        max_ah: c_int,
        max_fmr: c_int,
        max_map_per_fmr: c_int,
        max_srq: c_int,
        max_srq_wr: c_int,
        max_srq_sge: c_int,
        max_pkeys: u16,
        local_ca_ack_delay: u8,
        phys_port_cnt: u8,
    }
    "struct" ibv_port_attr whole {
        state: u32,
        max_mtu: u32,
        active_mtu: u32,
        gid_tbl_len: c_int,
        port_cap_flags: u32,
        max_msg_sz: u32,
        bad_pkey_cntr: u32,
        qkey_viol_cntr: u32,
        pkey_tbl_len: u16,
        lid: u16,
        sm_lid: u16,
        lmc: u8,
        max_vl_num: u8,
        sm_sl: u8,
        subnet_timeout: u8,
        init_type_reply: u8,
        active_width: u8,
        active_speed: u8,
        phys_state: u8,
        link_layer: u8,
        flags: u8,
        port_cap_flags2: u16,
    }
    "struct" ibv_context_ops whole {
        _compat_query_device: Slot,
        _compat_query_port: Slot,
        _compat_alloc_pd: Slot,
        _compat_dealloc_pd: Slot,
        _compat_reg_mr: Slot,
        _compat_rereg_mr: Slot,
        _compat_dereg_mr: Slot,
        alloc_mw: Slot,
        bind_mw: Slot,
        dealloc_mw: Slot,
        _compat_create_cq: Slot,
        poll_cq: Option<unsafe extern "C" fn(*mut ibv_cq, c_int, *mut ibv_wc) -> c_int>,
        req_notify_cq: Option<unsafe extern "C" fn(*mut ibv_cq, c_int) -> c_int>,
        _compat_cq_event: Slot,
        _compat_resize_cq: Slot,
        _compat_destroy_cq: Slot,
        _compat_create_srq: Slot,
        _compat_modify_srq: Slot,
        _compat_query_srq: Slot,
        _compat_destroy_srq: Slot,
        post_srq_recv: Option<
            unsafe extern "C" fn(*mut ibv_srq, *mut ibv_recv_wr, *mut *mut ibv_recv_wr) -> c_int,
        >,
        _compat_create_qp: Slot,
        _compat_query_qp: Slot,
        _compat_modify_qp: Slot,
        _compat_destroy_qp: Slot,
        post_send: Option<
            unsafe extern "C" fn(*mut ibv_qp, *mut ibv_send_wr, *mut *mut ibv_send_wr) -> c_int,
        >,
        post_recv: Option<
            unsafe extern "C" fn(*mut ibv_qp, *mut ibv_recv_wr, *mut *mut ibv_recv_wr) -> c_int,
        >,
        _compat_create_ah: Slot,
        _compat_destroy_ah: Slot,
        _compat_attach_mcast: Slot,
        _compat_detach_mcast: Slot,
        _compat_async_event: Slot,
    }
    "struct" ibv_context prefix {
        device: *mut ibv_device,
        ops: ibv_context_ops,
        cmd_fd: c_int,
        async_fd: c_int,
        num_comp_vectors: c_int,
    }
    "struct" ibv_pd prefix {
        context: *mut ibv_context,
    }
    "struct" ibv_mr prefix {
        context: *mut ibv_context,
        pd: *mut ibv_pd,
        addr: *mut c_void,
        length: usize,
        handle: u32,
        lkey: u32,
        rkey: u32,
    }
    "struct" ibv_comp_channel prefix {
        context: *mut ibv_context,
        fd: c_int,
    }
    "struct" ibv_cq prefix {
        context: *mut ibv_context,
        channel: *mut ibv_comp_channel,
        cq_context: *mut c_void,
        handle: u32,
        cqe: c_int,
    }
    "struct" ibv_wc whole {
        wr_id: u64,
        status: u32,
        opcode: u32,
        vendor_err: u32,
        byte_len: u32,
        imm_data: u32,
        qp_num: u32,
        src_qp: u32,
        wc_flags: u32,
        pkey_index: u16,
        slid: u16,
        sl: u8,
        dlid_path_bits: u8,
    }
    "struct" ibv_global_route whole {
        dgid: ibv_gid,
        flow_label: u32,
        sgid_index: u8,
        hop_limit: u8,
        traffic_class: u8,
    }
    "struct" ibv_ah_attr whole {
        grh: ibv_global_route,
        dlid: u16,
        sl: u8,
        src_path_bits: u8,
        static_rate: u8,
        is_global: u8,
        port_num: u8,
    }
    "struct" ibv_ah prefix {
        context: *mut ibv_context,
    }
    "struct" ibv_qp_cap whole {
        max_send_wr: u32,
        max_recv_wr: u32,
        max_send_sge: u32,
        max_recv_sge: u32,
        max_inline_data: u32,
    }
    "struct" ibv_qp_init_attr whole {
        qp_context: *mut c_void,
        send_cq: *mut ibv_cq,
        recv_cq: *mut ibv_cq,
        srq: *mut ibv_srq,
        cap: ibv_qp_cap,
        qp_type: u32,
        sq_sig_all: c_int,
    }
    "struct" ibv_qp_attr whole {
        qp_state: u32,
        cur_qp_state: u32,
        path_mtu: u32,
        path_mig_state: u32,
        qkey: u32,
        rq_psn: u32,
        sq_psn: u32,
        dest_qp_num: u32,
        qp_access_flags: u32,
        cap: ibv_qp_cap,
        ah_attr: ibv_ah_attr,
        alt_ah_attr: ibv_ah_attr,
        pkey_index: u16,
        alt_pkey_index: u16,
        en_sqd_async_notify: u8,
        sq_draining: u8,
        max_rd_atomic: u8,
        max_dest_rd_atomic: u8,
        min_rnr_timer: u8,
        port_num: u8,
        timeout: u8,
        retry_cnt: u8,
        rnr_retry: u8,
        alt_port_num: u8,
        alt_timeout: u8,
        rate_limit: u32,
    }
    "struct" ibv_qp prefix {
        context: *mut ibv_context,
        qp_context: *mut c_void,
        pd: *mut ibv_pd,
        send_cq: *mut ibv_cq,
        recv_cq: *mut ibv_cq,
        srq: *mut ibv_srq,
        handle: u32,
        qp_num: u32,
    }
    "struct" ibv_srq_attr whole {
        max_wr: u32,
        max_sge: u32,
        srq_limit: u32,
    }
    "struct" ibv_srq_init_attr whole {
        srq_context: *mut c_void,
        attr: ibv_srq_attr,
    }
    "struct" ibv_srq prefix {
        context: *mut ibv_context,
        srq_context: *mut c_void,
    }
    "struct" ibv_odp_caps whole {
        general_caps: u64,
        // Of RC, UC and UD.
        per_transport_caps: [u32; 3],
    }
    "struct" ibv_device_attr_ex prefix {
        orig_attr: ibv_device_attr,
        comp_mask: u32,
        odp_caps: ibv_odp_caps,
        completion_timestamp_mask: u64,
        hca_core_clock: u64,
        device_cap_flags_ex: u64,
        tso_caps: [u32; 2],
        rss_caps: [u64; 4],
        max_wq_type_rq: u32,
        packet_pacing_caps: [u32; 3],
        raw_packet_caps: u32,
        tm_caps: [u32; 5],
        cq_mod_caps: [u16; 2],
        max_dm_size: u64,
        pci_atomic_caps: [u16; 3],
        xrc_odp_caps: u32,
    }
    "struct" ibv_xrcd prefix {
        context: *mut ibv_context,
    }
    "struct" ibv_xrcd_init_attr whole {
        comp_mask: u32,
        fd: c_int,
        oflags: c_int,
    }
    "struct" ibv_srq_init_attr_ex whole {
        srq_context: *mut c_void,
        attr: ibv_srq_attr,
        comp_mask: u32,
        srq_type: u32,
        pd: *mut ibv_pd,
        xrcd: *mut ibv_xrcd,
        cq: *mut ibv_cq,
        tm_cap: [u32; 2],
    }
    "struct" ibv_qp_init_attr_ex whole {
        qp_context: *mut c_void,
        send_cq: *mut ibv_cq,
        recv_cq: *mut ibv_cq,
        srq: *mut ibv_srq,
        cap: ibv_qp_cap,
        qp_type: u32,
        sq_sig_all: c_int,
        comp_mask: u32,
        pd: *mut ibv_pd,
        xrcd: *mut ibv_xrcd,
        create_flags: u32,
        max_tso_header: u16,
        rwq_ind_tbl: *mut c_void,
        rx_hash_conf: [u64; 3],
        source_qpn: u32,
        send_ops_flags: u64,
    }
    "struct" ibv_qp_open_attr whole {
        comp_mask: u32,
        qp_num: u32,
        xrcd: *mut ibv_xrcd,
        qp_context: *mut c_void,
        qp_type: u32,
    }
    "struct" verbs_context suffix {
        query_device_ex: Option<
            unsafe extern "C" fn(*mut ibv_context, *const c_void, *mut ibv_device_attr_ex, usize) -> c_int,
        >,
        ibv_destroy_flow: Slot,
        _reserved2: Slot,
        ibv_create_flow: Slot,
        _reserved1: Slot,
        open_qp: Option<unsafe extern "C" fn(*mut ibv_context, *mut ibv_qp_open_attr) -> *mut ibv_qp>,
        create_qp_ex: Option<unsafe extern "C" fn(*mut ibv_context, *mut ibv_qp_init_attr_ex) -> *mut ibv_qp>,
        get_srq_num: Option<unsafe extern "C" fn(*mut ibv_srq, *mut u32) -> c_int>,
        create_srq_ex:
            Option<unsafe extern "C" fn(*mut ibv_context, *mut ibv_srq_init_attr_ex) -> *mut ibv_srq>,
        open_xrcd: Option<unsafe extern "C" fn(*mut ibv_context, *mut ibv_xrcd_init_attr) -> *mut ibv_xrcd>,
        close_xrcd: Option<unsafe extern "C" fn(*mut ibv_xrcd) -> c_int>,
        _reserved3: u64,
        sz: usize,
    }
    "struct" ibv_async_event whole {
        element: ibv_async_event_element,
        event_type: u32,
    }
    "struct" ibv_sge whole {
        addr: u64,
        length: u32,
        lkey: u32,
    }
    "struct" ibv_send_wr whole {
        wr_id: u64,
        next: *mut ibv_send_wr,
        sg_list: *mut ibv_sge,
        num_sge: c_int,
        opcode: u32,
        send_flags: u32,
        imm_data: u32,
        wr: ibv_send_wr_wr,
        qp_type: u32,
        bind_mw: [u64; 6],
    }
    "struct" ibv_recv_wr whole {
        wr_id: u64,
        next: *mut ibv_recv_wr,
        sg_list: *mut ibv_sge,
        num_sge: c_int,
    }
}

/// A function of [`ibv_context_ops`] or [`verbs_context`] that is not called.
type Slot = Option<unsafe extern "C" fn()>;

/// What each kind of request needs: `rdma` reads and writes, `ud` datagrams.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) union ibv_send_wr_wr {
    pub(crate) rdma: ibv_rdma,
    pub(crate) ud: ibv_ud,
    /// As long as the longest, which atomics have.
    pub(crate) room: [u64; 4],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ibv_rdma {
    pub(crate) remote_addr: u64,
    pub(crate) rkey: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ibv_ud {
    pub(crate) ah: *mut ibv_ah,
    pub(crate) remote_qpn: u32,
    pub(crate) remote_qkey: u32,
}

/// The object of an event; its type says which member is valid.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) union ibv_async_event_element {
    pub(crate) cq: *mut ibv_cq,
    pub(crate) qp: *mut ibv_qp,
    pub(crate) srq: *mut ibv_srq,
    pub(crate) port_num: c_int,
}
