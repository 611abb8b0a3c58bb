//! The C assertions in `layouts.c` are those of the declarations here.

use super::types::{ibv_send_wr, ibv_send_wr_wr};
use super::{types, values};
use std::mem::offset_of;

const HEADER: &str = include_str!("layouts.c");

/// Everything in `layouts.c` after this line is generated.
const MARK: &str = "/* Generated from types.rs and values.rs. */\n";

#[test]
fn the_c_file_asserts_what_the_declarations_say() {
    let (_, asserted) = HEADER.split_once(MARK).expect("layouts.c has the mark");
    let mut lines = types::assertions();
    let wr = offset_of!(ibv_send_wr, wr);
    for (field, offset, size) in [
        ("remote_addr", offset_of!(ibv_send_wr_wr, remote_addr), 8),
        ("rkey", offset_of!(ibv_send_wr_wr, rkey), 4),
    ] {
        let offset = wr + offset;
        lines.push(format!(
            "FIELD(struct ibv_send_wr, wr.rdma.{field}, {offset}, {size});"
        ));
    }
    lines.extend(values::assertions());
    let declared = lines.join("\n") + "\n";
    assert!(
        declared == asserted,
        "layouts.c must end with these lines:\n{declared}"
    );
}
