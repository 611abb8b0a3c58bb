//! Completions that no request in flight is behind.

use super::{RequestId, Step};
use crate::fake::Script;
use crate::objects::Completion;
use crate::transport::tests::pair;
use oxmpi_testkit::conformance::{EventLog, eager};
use oxmpi_wire::{Fault, Peer, Slot, Tx};

/// The first message of a connection by iWARP, which is flushed with the requests behind it, ends none of these.
#[test]
fn a_flushed_opening_ends_no_request() {
    const FLUSHED: u32 = 5;
    for is_lost in [false, true] {
        let [(mut tx, mut rx), _other] = pair(Script::GOOD);
        let mut log = EventLog::default();
        let frame = tx.frame(Peer(1), &eager(0, 0), 0).expect("room");
        frame.send();
        if is_lost {
            tx.give_up(Peer(1), Fault::PeerDead);
        }
        let before = tx.has_unsent();
        let mut flushed = Completion::default().into_c();
        flushed.wr_id = RequestId::Opening { queue: 0 }.word();
        flushed.status = FLUSHED;
        let step = rx.handle_otherwise(Completion::from_c(flushed), &mut tx, &mut log);
        assert!(step == Step::Other && tx.is_lost(1) == is_lost);
        assert_eq!(tx.has_unsent(), before);
    }
}
