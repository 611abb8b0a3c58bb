//! Fuzz body of the address exchange: messages of an untrusted leader.

use oxmpi_wire::exchange::{
    AddressDirectory, AddressExchange, ExchangeStep, NodeAddressTable, RankAddress,
};

/// Decodes `data` as an address table, as a message among up to seven nodes, and as the message with all
/// tables.
///
/// # Panics
/// If a part panics, a decoded table has another encoding, a directory lacks a rank, or a leader changes its
/// state by a message that it refused.
pub fn exchange(data: &[u8]) {
    let Some((&first, said)) = data.split_first() else {
        return;
    };
    if let Ok(table) = NodeAddressTable::decode(0, said) {
        assert_eq!(table.encode(), said);
    }
    let (nodes, ranks) = (u32::from(first % 7) + 1, u32::from(first / 7));
    match AddressDirectory::read(ranks, nodes, said) {
        Ok(all) => assert!((0..ranks).all(|rank| all.locate(rank).is_some())),
        Err(why) => assert!(why.to_string().len() < 500),
    }
    let own = NodeAddressTable {
        common: "node0".into(),
        ranks: vec![RankAddress {
            rank: 0,
            pid: 1,
            port: 1,
        }],
    };
    let mut leader = AddressExchange::new(0, nodes, &own);
    for from in 0..nodes {
        let before = leader.next_step();
        if leader.receive(from, said).is_err() {
            assert_eq!(leader.next_step(), before);
        }
        if let ExchangeStep::GetCard { .. } = leader.next_step() {
            leader.card_received(true).expect("it is there");
            assert!(matches!(leader.next_step(), ExchangeStep::Send { .. }));
        }
    }
}
