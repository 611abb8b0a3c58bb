//! The C assertions in `layouts.c` are those of the declarations here.

use super::cm::{rdma_cm_event, rdma_conn_param};
use super::types::{ibv_rdma, ibv_send_wr, ibv_ud};
use super::{cm, types, values};
use std::mem::offset_of;

const HEADER: &str = include_str!("layouts.c");

/// Everything in `layouts.c` after this line is generated.
const MARK: &str = "/* Generated from types.rs, cm.rs and values.rs. */\n";

#[test]
fn the_c_file_asserts_what_the_declarations_say() {
    let (_, asserted) = HEADER.split_once(MARK).expect("layouts.c has the mark");
    let mut lines = types::assertions();
    let wr = offset_of!(ibv_send_wr, wr);
    for (field, offset, size) in [
        ("rdma.remote_addr", offset_of!(ibv_rdma, remote_addr), 8),
        ("rdma.rkey", offset_of!(ibv_rdma, rkey), 4),
        ("ud.ah", offset_of!(ibv_ud, ah), size_of::<usize>()),
        ("ud.remote_qpn", offset_of!(ibv_ud, remote_qpn), 4),
        ("ud.remote_qkey", offset_of!(ibv_ud, remote_qkey), 4),
    ] {
        let offset = wr + offset;
        lines.push(format!(
            "FIELD(struct ibv_send_wr, wr.{field}, {offset}, {size});"
        ));
    }
    lines.extend(cm::assertions());
    let of_request = offset_of!(rdma_cm_event, param) + offset_of!(rdma_conn_param, qp_num);
    lines.push(format!(
        "FIELD(struct rdma_cm_event, param.conn.qp_num, {of_request}, 4);"
    ));
    lines.extend(values::assertions());
    let declared = lines.join("\n") + "\n";
    assert!(
        declared == asserted,
        "layouts.c must end with these lines:\n{declared}"
    );
}
