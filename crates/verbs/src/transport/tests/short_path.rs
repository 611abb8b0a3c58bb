//! The path of a short message, for a count of its instructions.

use super::{HeapMemory, connected};
use crate::fake::Script;
use crate::transport::{EagerRings, VerbsOptions, VerbsTx};
use oxmpi_testkit::conformance::{TestMemory, eager};
use oxmpi_wire::{Fault, Header, Peer, Rx, Sink, Take, Token, Tx};

/// The sum of the first bytes of all messages.
#[derive(Default)]
struct Sum(u64);

impl Sink<VerbsTx> for Sum {
    fn frame(&mut self, _: &mut VerbsTx, _: Peer, _: &Header, body: &mut impl Take) {
        self.0 += u64::from_le_bytes(body.take_exact());
    }

    fn done(&mut self, _: &mut VerbsTx, _: Token, _: Result<(), Fault>) {}

    fn room(&mut self, _: &mut VerbsTx, _: Peer) {}

    fn lost(&mut self, _: &mut VerbsTx, _: Peer, why: Fault) {
        panic!("{why}");
    }
}

/// Two ends play ping-pong with 8 bytes. `cargo xtask long instructions` runs it with numbers of rounds in
/// `OXMPI_TEST_ROUNDS` under callgrind.
#[test]
fn short_messages() {
    let rounds = std::env::var("OXMPI_TEST_ROUNDS").ok();
    let rounds = rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(100);
    let options = VerbsOptions {
        rings: EagerRings::OFF,
        ..VerbsOptions::default()
    };
    let [mut near, mut far] = <[_; 2]>::try_from(connected(2, Script::GOOD, &options))
        .expect("two ends")
        .map(|(tx, rx)| (tx, rx, Sum::default()));
    let header = eager(0, 8);
    let one = HeapMemory::new(u64::to_le_bytes(1).to_vec());
    let body = one.bytes();
    for _ in 0..rounds {
        near.0.short(Peer(1), &header, &body).expect("room");
        far.1.poll(&mut far.0, 1, &mut far.2);
        far.0.short(Peer(0), &header, &body).expect("room");
        near.1.poll(&mut near.0, 1, &mut near.2);
    }
    assert_eq!([near.2.0, far.2.0], [rounds; 2]);
}
