//! The exchange of node address tables between leaders that are threads, over the loopback interface.

use std::net::TcpStream;
use std::sync::Barrier;
use std::thread;

use oxmpi_tcp::{BusinessCard, InterfaceFilter, JobKey, PassiveEndpoint, TcpOptions};
use oxmpi_wire::exchange::{AddressDirectory, NodeAddressTable, RankAddress};

use super::*;

/// The time limit of tests that are not about waiting; long, for a loaded machine.
const TIMEOUT: Duration = Duration::from_secs(120);

fn site() -> PassiveEndpoint {
    let loopback = InterfaceFilter::new("127.0.0.0/8", "").expect("a range");
    PassiveEndpoint::open(JobKey::new(b"test"), &loopback, TcpOptions::default()).expect("a port")
}

/// Two ranks a node, the leader first.
fn node_address_table(node: u32) -> NodeAddressTable {
    let address = |rank: u32| RankAddress {
        rank,
        pid: 100 + rank,
        port: 1,
    };
    NodeAddressTable {
        common: format!("node{node}"),
        ranks: vec![address(2 * node), address(2 * node + 1)],
    }
}

/// Runs the exchange of the leader of `node` of `nodes`, where leaders listen at `cards`.
fn lead(
    node: u32,
    nodes: u32,
    site: PassiveEndpoint,
    cards: &[BusinessCard],
    timeout: Duration,
) -> Result<(AddressExchange, NetworkEnds, ExchangeTraffic)> {
    let ends = site
        .join_without_cards(2 * node, 2 * nodes)
        .expect("an epoll");
    let mut exchange = AddressExchange::new(node, nodes, &node_address_table(node));
    let (ends, traffic) = run(&mut exchange, ends, timeout, |node, with_card| {
        let card = with_card.then(|| cards[node as usize].to_string());
        Ok(LeaderAddress {
            rank: 2 * node,
            card,
        })
    })?;
    Ok((exchange, ends, traffic))
}

fn error_of(result: Result<(AddressExchange, NetworkEnds, ExchangeTraffic)>) -> String {
    match result {
        Ok(_) => panic!("the leader completed without the other tables"),
        Err(why) => why.to_string(),
    }
}

#[test]
fn leaders_learn_all_in_rounds() {
    for (nodes, rounds) in [(2, 1), (3, 2), (7, 3)] {
        let sites: Vec<PassiveEndpoint> = (0..nodes).map(|_| site()).collect();
        let cards: Vec<BusinessCard> = sites.iter().map(|site| site.card().clone()).collect();
        // A process that is not of the job connects too.
        let _stranger = TcpStream::connect(("127.0.0.1", cards[0].port)).expect("a listener");
        // As in a job: no leader leaves before all have what they need.
        let all = Barrier::new(nodes as usize);
        thread::scope(|scope| {
            for (node, site) in (0..).zip(sites) {
                let (cards, all) = (&cards, &all);
                scope.spawn(move || {
                    let led = lead(node, nodes, site, cards, TIMEOUT);
                    all.wait();
                    let (exchange, _ends, traffic) = led.expect("all tables");
                    assert_eq!(traffic.messages, rounds);
                    let directory =
                        AddressDirectory::read(2 * nodes, nodes, &exchange.encode_all());
                    let directory = directory.expect("all ranks");
                    for rank in 0..2 * nodes {
                        let place = directory.locate(rank).expect("it is of the job");
                        assert_eq!((place.node, place.pid), (rank / 2, 100 + rank));
                    }
                });
            }
        });
    }
}

#[test]
fn a_table_longer_than_a_frame_arrives_whole() {
    let (one, two) = (site(), site());
    let cards = [one.card().clone(), two.card().clone()];
    let long: Vec<u8> = (0..200_000_u32).map(|at| (at % 251) as u8).collect();
    let start = |rank: u32, site: PassiveEndpoint| {
        let mut ends: NetworkEnds = site.join_without_cards(rank, 2).expect("an epoll");
        let card = cards[1 - rank as usize].to_string();
        (ends.0.introduce(&card, &[(Peer(1 - rank), None)])).expect("a card");
        LeaderMessages::new(ends, TIMEOUT)
    };
    let both_know = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut mail = start(0, one);
            let sent = mail.send(1, &long).and_then(|()| mail.finish());
            both_know.wait();
            let (_, traffic) = sent.expect("a peer that reads");
            assert_eq!((traffic.messages, traffic.bytes), (1, 200_000));
        });
        scope.spawn(|| {
            let mut mail = start(1, two);
            let came = mail.receive(0);
            both_know.wait();
            assert!(came.expect("a message") == long);
        });
    });
}

#[test]
fn a_silent_leader_is_named_in_time() {
    let (one, silent) = (site(), site());
    let cards = [one.card().clone(), silent.card().clone()];
    let short = Duration::from_millis(200);
    // Rank 2's kernel accepts the connection; this leader waits for its table.
    let why = error_of(lead(0, 2, one, &cards, short));
    assert!(why.contains("rank 2, which leads its node"), "{why}");
    assert!(why.contains("0.2 s; tried "), "{why}");
    assert!(why.contains(&format!(" port {}", cards[1].port)), "{why}");
}

#[test]
fn a_wait_for_a_leader_of_unknown_address_says_where_this_rank_listens() {
    let one = site();
    let own = one.card().to_string();
    let ends = one.join_without_cards(0, 2).expect("an epoll");
    let mut mail = LeaderMessages::new(ends, Duration::from_millis(50));
    let why = mail.receive(1).expect_err("no rank sends").to_string();
    let expected = format!("; this rank waits for its connection at {own}");
    assert!(why.contains(&expected), "{why}");
}

#[test]
fn a_leader_that_ends_is_named() {
    let one = site();
    // The connection fails as if the process had ended. A port that was given back may belong to another
    // process by now; the system gives port 1 to nobody, and no service listens there.
    let ended = BusinessCard {
        port: 1,
        ..one.card().clone()
    };
    let cards = [one.card().clone(), ended];
    let why = error_of(lead(0, 2, one, &cards, TIMEOUT));
    assert!(why.contains("lost rank 2"), "{why}");
    assert!(why.contains("; tried ") && why.contains(" port 1"), "{why}");
}

#[test]
fn a_leader_of_another_version_is_reported() {
    let (one, other) = (site(), site());
    let cards = [one.card().clone(), other.card().clone()];
    let done = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut ends: NetworkEnds = other.join_without_cards(2, 4).expect("an epoll");
            let card = cards[0].to_string();
            (ends.0.introduce(&card, &[(Peer(0), None)])).expect("a card");
            let mut mail = LeaderMessages::new(ends, TIMEOUT);
            let sent = mail.send(0, b"oxmpiX\x02\0 what only the next version knows");
            // Whether it notices the other's end meanwhile is left open.
            let _ended = mail.finish();
            done.wait();
            sent.expect("a peer");
        });
        let led = lead(0, 2, one, &cards, TIMEOUT);
        done.wait();
        let why = error_of(led);
        assert!(why.contains("of this version"), "{why}");
    });
}

#[test]
fn a_node_without_a_business_card_is_reported() {
    let ends = site().join_without_cards(0, 4).expect("an epoll");
    let mut exchange = AddressExchange::new(0, 2, &node_address_table(0));
    let address = |rank| LeaderAddress { rank, card: None };
    let no_card = |node, _| Ok(address(2 * node));
    let ran = run(&mut exchange, ends, TIMEOUT, no_card);
    let why = ran.err().map(|why| why.to_string()).unwrap_or_default();
    let expected = "the leader of node 1 has put no business card";
    assert!(why.contains(expected), "{why}");
}
