//! Tests of the address exchange: all leaders of jobs of many sizes, wrong messages, and the model against
//! the machine.

use std::string::ToString as _;
use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::ExchangeStep::{Done, GetCard, Receive, Send};
use super::model::{WireUpCosts, WireUpJob, counting, exchange, from_one_server, largest};
use super::*;

fn address(rank: u32) -> RankAddress {
    RankAddress {
        rank,
        pid: 7000 + rank,
        port: (rank % 60_000) as u16 + 1,
    }
}

/// The tables of nodes with so many ranks each, where no node has consecutive ranks.
fn job(per_node: &[u32]) -> Vec<NodeAddressTable> {
    let mut left = per_node.to_vec();
    let mut tables: Vec<NodeAddressTable> = (0..per_node.len())
        .map(|node| NodeAddressTable {
            common: std::format!("node{node},10.0.0.{node}/16"),
            ranks: Vec::new(),
        })
        .collect();
    let mut rank = 0;
    while left.iter().any(|left| *left > 0) {
        for (node, left) in left.iter_mut().enumerate().filter(|(_, left)| **left > 0) {
            tables[node].ranks.push(address(rank));
            *left -= 1;
            rank += 1;
        }
    }
    tables
}

/// Runs all leaders; `order` selects the message that is delivered next. Returns the leaders and the gets of
/// each.
fn run(
    tables: &[NodeAddressTable],
    mut order: impl FnMut(usize) -> usize,
) -> Vec<(AddressExchange, u32)> {
    let nodes = tables.len() as u32;
    let start = |(me, own)| (AddressExchange::new(me, nodes, own), 0);
    let mut leaders: Vec<(AddressExchange, u32)> = (0..).zip(tables).map(start).collect();
    let mut in_flight: Vec<(u32, u32, Vec<u8>)> = Vec::new();
    let advance = |leaders: &mut Vec<(AddressExchange, u32)>, me: usize, out: &mut Vec<_>| {
        let (leader, gets) = &mut leaders[me];
        loop {
            match leader.next_step() {
                GetCard { node } => {
                    assert!(node < nodes && node != me as u32);
                    *gets += 1;
                    leader.card_received(true).unwrap();
                }
                Send { node, bytes } => out.push((me as u32, node, bytes)),
                Receive { .. } | Done => break,
            }
        }
    };
    for me in 0..tables.len() {
        advance(&mut leaders, me, &mut in_flight);
    }
    while !in_flight.is_empty() {
        let next = order(in_flight.len()) % in_flight.len();
        let (from, to, bytes) = in_flight.swap_remove(next);
        leaders[to as usize].0.receive(from, &bytes).unwrap();
        advance(&mut leaders, to as usize, &mut in_flight);
    }
    leaders
}

fn check(per_node: &[u32], order: impl FnMut(usize) -> usize) {
    let tables = job(per_node);
    let leaders = run(&tables, order);
    let whole = leaders[0].0.encode_all();
    for (me, (mut leader, gets)) in leaders.into_iter().enumerate() {
        assert_eq!(leader.next_step(), Done, "node {me} of {}", tables.len());
        assert_eq!(gets, rounds(tables.len() as u32));
        assert!(
            leader.encode_all() == whole,
            "node {me} of {}",
            tables.len()
        );
    }
    let ranks = per_node.iter().sum();
    let directory = AddressDirectory::read(ranks, tables.len() as u32, &whole).unwrap();
    for (node, table) in (0..).zip(&tables) {
        for &RankAddress { rank, pid, port } in &table.ranks {
            let common = table.common.as_str();
            let place = RankLocation {
                node,
                common,
                pid,
                port,
            };
            assert_eq!(directory.locate(rank), Some(place));
        }
    }
    assert_eq!(directory.locate(ranks), None);
}

#[test]
fn every_number_of_nodes_up_to_200() {
    for nodes in 1..=200 {
        let sizes: Vec<u32> = (0..nodes as u32).map(|node| 1 + node % 3).collect();
        check(&sizes, |count| nodes % count.min(7));
    }
}

#[test]
fn gets_and_messages_grow_by_the_logarithm() {
    for (nodes, expected) in [
        (1, 0),
        (2, 1),
        (3, 2),
        (4, 2),
        (5, 3),
        (1563, 11),
        (100_000, 17),
    ] {
        assert_eq!(rounds(nodes), expected, "{nodes}");
        let brought: u32 = (0..expected)
            .map(|round| tables_in_round(nodes, round))
            .sum();
        assert_eq!(brought + 1, nodes, "nothing comes twice");
    }
    let edge = u32::MAX;
    assert_eq!(rounds(edge), 32);
    assert_eq!(round_source(round_target(3, edge, 31), edge, 31), 3);
}

/// The leader of node 0 of four nodes, while it waits for its first message, from node 1.
fn waiting() -> (AddressExchange, Vec<NodeAddressTable>) {
    let tables = job(&[1, 2, 1, 1]);
    let mut leader = AddressExchange::new(0, 4, &tables[0]);
    leader.card_received(true).unwrap();
    assert!(matches!(leader.next_step(), Send { node: 3, .. }));
    assert_eq!(leader.next_step(), Receive { node: 1 });
    (leader, tables)
}

#[test]
fn wrong_messages_are_refused() {
    let (leader, tables) = waiting();
    let encoded: Vec<message::EncodedTable> = tables.iter().map(|s| s.encode().into()).collect();
    let error_of =
        |from, bytes: &[u8]| leader.clone().receive(from, bytes).unwrap_err().to_string();
    let right = message::write(4, 1, &encoded[1..2]);
    assert_eq!(leader.clone().receive(1, &right), Ok(()));

    for end in 0..right.len() {
        let text = error_of(1, &right[..end]);
        assert!(text.contains("node 1") && text.contains("bytes"), "{text}");
    }
    let mut long = right.clone();
    long.push(0);
    assert!(error_of(1, &long).contains("end at byte"));
    for (from, bytes, expected) in [
        (
            3,
            &right,
            "node 3 sent address tables, expected messages of 2 other nodes only",
        ),
        (
            2,
            &right,
            "1 tables from node 1 on, of 4 nodes, expected 2 tables from node 2 on",
        ),
        (
            1,
            &message::write(5, 1, &encoded[1..2]),
            "of 5 nodes, expected 1 tables from node 1 on, of 4 nodes",
        ),
        (1, &message::write(4, 2, &encoded[1..2]), "from node 2 on"),
        (1, &message::write(4, 1, &encoded[1..3]), "2 tables"),
        (
            1,
            &b"GET / HTTP/1.1".to_vec(),
            "not an address exchange message",
        ),
    ] {
        let text = error_of(from, bytes);
        assert!(text.contains(expected), "{text}");
    }
    let mut leader = leader;
    leader.receive(1, &right).unwrap();
    let text = leader.receive(1, &right).unwrap_err().to_string();
    assert!(text.contains("address tables again"), "{text}");
    assert_eq!(
        leader.card_received(false),
        Err(ExchangeError::NoCard { node: 2 })
    );
}

#[test]
fn tables_that_contradict_each_other_are_refused() {
    let error_of = |ranks: u32, nodes: &[NodeAddressTable]| {
        let encoded: Vec<_> = nodes.iter().map(|s| s.encode().into()).collect();
        let whole = message::write(nodes.len() as u32, 0, &encoded);
        let read = AddressDirectory::read(ranks, nodes.len() as u32, &whole);
        read.map(drop).map_err(|wrong| wrong.to_string())
    };
    let good = job(&[2, 1]);
    assert_eq!(error_of(3, &good), Ok(()));
    let error = |ranks, nodes: &[NodeAddressTable], expected: &str| {
        let text = error_of(ranks, nodes).unwrap_err();
        assert!(text.contains(expected), "{text}");
    };
    let mut twice = good.clone();
    twice[1].ranks[0].rank = 2;
    error(3, &twice, "node 0 and node 1 both have rank 2");
    error(4, &good, "rank 3 is in no address table");
    error(2, &good, "node 0 has rank 2, but the job has 2 ranks");
    let mut empty = good;
    empty[1].ranks.clear();
    error(
        3,
        &empty,
        "the address table of node 1 is malformed: it has no ranks",
    );
    let long = NodeAddressTable {
        common: "é".repeat(MAX_NODE_TEXT),
        ranks: vec![address(0)],
    };
    assert_eq!(
        NodeAddressTable::decode(0, &long.encode())
            .unwrap()
            .common
            .len(),
        MAX_NODE_TEXT
    );
}

#[test]
fn the_model_counts_what_the_machine_does() {
    for (ranks, per_node) in [(1, 1), (2, 1), (7, 1), (24, 4), (25, 4), (200, 3)] {
        let job = WireUpJob {
            ranks,
            per_node,
            common: 20,
        };
        let nodes = job.nodes();
        let table = |node: u32| NodeAddressTable {
            common: "c".repeat(20),
            ranks: (node * per_node..ranks.min((node + 1) * per_node))
                .map(address)
                .collect(),
        };
        let tables: Vec<NodeAddressTable> = (0..nodes).map(table).collect();
        let mut bytes = 0;
        let mut messages = 0;
        for (mut leader, _) in run(&tables, |_| 0) {
            assert_eq!(leader.next_step(), Done);
            bytes += leader.encode_all().len() as u64;
            messages += u64::from(rounds(nodes));
        }
        let time = exchange(&job, &WireUpCosts::ETHERNET);
        assert_eq!((time.messages, time.gets), (messages, messages), "{job:?}");
        // Every leader ends with all tables in one message; it received these and the head of each round's
        // message.
        let own: u64 = tables.iter().map(|s| s.encode().len() as u64 + 4).sum();
        let heads = 20 * messages;
        let whole = 20 + own;
        assert_eq!(bytes, u64::from(nodes) * whole);
        assert_eq!(time.bytes, heads + u64::from(nodes) * own - own, "{job:?}");
        assert_eq!(largest(&job).len() as u32, rounds(nodes));
    }
}

/// Two leaders: the server answers the second one after the first, and its message is the last to arrive.
#[test]
fn the_model_adds_up_the_costs_of_a_round() {
    let job = WireUpJob {
        ranks: 2,
        per_node: 1,
        common: 20,
    };
    let costs = WireUpCosts::ETHERNET;
    let rtt = 2 * costs.latency;
    let card = rtt + 2 * costs.serve;
    let connection = 3 * rtt + costs.handshake;
    let bytes = largest(&job)[0] * 1000 / costs.network;
    let message = costs.overhead + bytes + costs.latency + costs.overhead;
    let time = exchange(&job, &costs);
    assert_eq!(time.leaders, card + connection + message);
    assert_eq!(time.all, time.leaders, "each rank is a leader");

    // One name, 3 lists of at most 32 entries; 9 requests of each rank and 2 of each leader.
    let time = counting(&job, &costs);
    assert_eq!(time.gets, 4 + 22);
    assert_eq!(time.all, 4 * 45_000 + 22 * 5_000 + 4 * rtt);
    let more = counting(&WireUpJob { ranks: 33, ..job }, &costs);
    assert_eq!(more.gets, 32 + 5 + 9 * 33 + 2 * 33);
}

#[test]
fn rounds_grow_slowly_and_gets_from_one_server_do_not() {
    let at = |ranks| WireUpJob {
        ranks,
        per_node: 64,
        common: 60,
    };
    let costs = WireUpCosts::ETHERNET;
    let (small, large) = (exchange(&at(1000), &costs), exchange(&at(100_000), &costs));
    assert!(large.all < 200 * small.all, "{small:?} {large:?}");
    let server = from_one_server(&at(100_000), &costs);
    assert!(server.all > 1000 * large.all, "{server:?} {large:?}");
    let bound = u64::from(rounds(at(100_000).nodes())) * (8 * costs.latency + costs.handshake);
    assert!(
        large.leaders > bound,
        "a round is a get, three round trips and a message"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any sizes of nodes and any order of messages.
    #[test]
    fn every_rank_learns_all_addresses(
        per_node in prop::collection::vec(1u32..9, 1..60),
        picks in prop::collection::vec(any::<usize>(), 1..40),
    ) {
        let mut picks = picks.into_iter().cycle();
        check(&per_node, |_| picks.next().unwrap());
    }

    /// Decoded bytes encode to the same, and no bytes panic.
    #[test]
    fn encoded_tables_decode_to_the_same(
        common in "\\PC{0,80}",
        ranks in prop::collection::vec(any::<(u32, u32, u16)>(), 1..20),
        noise in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let ranks = ranks.into_iter().map(|(rank, pid, port)| RankAddress { rank, pid, port });
        let table = NodeAddressTable { common, ranks: ranks.collect() };
        prop_assert_eq!(NodeAddressTable::decode(7, &table.encode()), Ok(table));
        if let Ok(read) = NodeAddressTable::decode(7, &noise) {
            prop_assert_eq!(read.encode(), noise);
        }
    }
}
