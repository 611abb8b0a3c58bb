//! Counts the messages and bytes between nodes in the plans that the choice picks for node-aware calls.

use std::convert::Infallible;

use oxmpi_coll::catalog::{Algorithm, Call, Collective, Parameters};
use oxmpi_coll::choice::{Tuning, choose};
use oxmpi_coll::exec::{Driver, Execution, Progress};
use oxmpi_coll::nodes::Nodes;
use oxmpi_coll::placement::{Order, Placement};
use oxmpi_coll::plan::{CallArrays, Part, Plan, Side};

const RANKS: u32 = 8;

/// A driver that completes every act at once and counts what its rank sends to other nodes.
struct Counter<'a> {
    rank: u32,
    nodes: &'a Nodes,
    messages: u64,
    bytes: u64,
}

impl Driver for Counter<'_> {
    type Request = ();
    type Error = Infallible;

    fn send(&mut self, to: u32, _: u32, part: Part) -> Result<Option<()>, Infallible> {
        if self.nodes.node(to) != self.nodes.node(self.rank) {
            self.messages += 1;
            self.bytes += part.len();
        }
        Ok(None)
    }

    fn recv(&mut self, _: u32, _: u32, _: Part) -> Result<Option<()>, Infallible> {
        Ok(None)
    }

    fn copy(&mut self, _: Part, _: Part) -> Result<(), Infallible> {
        Ok(())
    }

    fn reduce(&mut self, _: Part, _: Part, _: Side) -> Result<(), Infallible> {
        Ok(())
    }

    fn done(&mut self, (): &mut ()) -> Result<bool, Infallible> {
        Ok(true)
    }
}

fn call(collective: Collective, rank: u32, bytes: u64) -> Call {
    let mut call = Call::barrier(rank, RANKS);
    (call.collective, call.count) = (collective, bytes);
    call
}

/// The messages and bytes that all ranks of one call send between nodes.
fn crossings(
    collective: Collective,
    bytes: u64,
    tuning: &Tuning,
    place: Placement,
) -> (&'static str, u64, u64) {
    let choice =
        choose(&call(collective, 0, bytes), tuning).expect("some algorithm supports the call");
    let plan = |rank| choice.plan(&call(collective, rank, bytes)).expect("a plan");
    let (messages, all) = counted(plan, &place.into(), place.size());
    (choice.algorithm.name(), messages, all)
}

/// The messages and bytes that the plans of all ranks send between nodes.
pub(crate) fn counted<P: Plan>(plan: impl Fn(u32) -> P, nodes: &Nodes, size: u32) -> (u64, u64) {
    let (mut messages, mut all) = (0, 0);
    for rank in 0..size {
        let mut counter = Counter {
            rank,
            nodes,
            messages: 0,
            bytes: 0,
        };
        let ended = Execution::new(plan(rank)).advance(CallArrays::NOTHING, &mut counter);
        assert_eq!(ended.expect("a counter cannot fail"), Progress::Done);
        messages += counter.messages;
        all += counter.bytes;
    }
    (messages, all)
}

/// The traffic between four nodes of two ranks: with block placement, with cyclic placement, and with
/// block placement that the choice does not know of.
fn between(collective: Collective, bytes: u64) -> [(&'static str, u64, u64); 3] {
    let [block, cyclic] = [Order::Block, Order::Cyclic].map(|o| Placement::new(o, RANKS, 2));
    let inputs = |place| {
        let tuning = Tuning::default().placed(place);
        crossings(collective, bytes, &tuning, place)
    };
    let unknown = crossings(collective, bytes, &Tuning::default(), block);
    [inputs(block), inputs(cyclic), unknown]
}

#[test]
fn node_aware_choices_send_few_messages_between_nodes() {
    let expected = [
        (Collective::Barrier, [8, 12, 28]),
        (Collective::Bcast, [3, 3, 6]),
        (Collective::Reduce, [3, 3, 6]),
        (Collective::Allreduce, [12, 12, 24]),
        (Collective::Gather, [3, 6, 6]),
        (Collective::Scatter, [3, 6, 5]),
        (Collective::Allgather, [16, 24, 28]),
        (Collective::Alltoall, [12, 24, 28]),
    ];
    let found = expected.map(|(one, _)| (one, between(one, 8).map(|traffic| traffic.1)));
    assert_eq!(found, expected);
}

/// In KiB, for vectors and blocks of 64 KiB. The minimum is 3 vectors in bcast and reduce, 6 blocks in
/// gather and scatter, 24 in allgather and 48 in alltoall. The bcast in block placement sends an eighth
/// more, as a ring allgathers its pieces.
#[test]
fn node_aware_choices_send_few_bytes_between_nodes() {
    let expected = [
        (Collective::Bcast, [216, 192, 384]),
        (Collective::Reduce, [192, 192, 364]),
        (Collective::Allreduce, [768, 768, 832]),
        (Collective::Gather, [384, 384, 512]),
        (Collective::Scatter, [384, 384, 384]),
        (Collective::Allgather, [1536, 1536, 3072]),
        (Collective::Alltoall, [3072, 3072, 3072]),
    ];
    let found =
        expected.map(|(one, _)| (one, between(one, 64 << 10).map(|traffic| traffic.2 >> 10)));
    assert_eq!(found, expected);
}

/// Also with partly filled nodes, multirail algorithms send the minimum between nodes, and rail
/// algorithms send a vector into each node once.
#[test]
fn on_partly_filled_nodes_no_byte_crosses_twice() {
    let bytes = 5;
    for (size, most) in (1..=40).flat_map(|size| [1, 2, 3, 7, 16].map(|most| (size, most))) {
        let place = Placement::new(Order::Block, size, most);
        let nodes = 0..place.nodes();
        let missing = nodes.map(|node| u64::from(size - place.ranks_on(node)));
        let blocks = missing.sum::<u64>() * bytes;
        let vectors = u64::from(place.nodes() - 1) * bytes;
        let cut = Call::allreduce(0, size, u64::from(size) * bytes, 1);
        for (algorithm, call, least) in [
            (
                Algorithm::AllgatherNodeAware,
                Call::allgather(0, size, bytes),
                blocks,
            ),
            (
                Algorithm::ReduceScatterBlockNodeAware,
                Call::reduce_scatter_block(0, size, bytes, 1),
                blocks,
            ),
            (Algorithm::AllreduceMultirail, cut, 2 * blocks),
            (
                Algorithm::BcastRailKnomial,
                Call::bcast(0, size, size / 2, bytes),
                vectors,
            ),
            (
                Algorithm::BcastRailChain,
                Call::bcast(0, size, size - 1, bytes),
                vectors,
            ),
            (
                Algorithm::BcastRailCirculant,
                Call::bcast(0, size, 0, bytes),
                vectors,
            ),
        ] {
            for parts in [1, 2, 64] {
                let parameters = Parameters::NONE
                    .with_radix(3)
                    .with_blocks(parts)
                    .with_per_node(most);
                let plan = |rank| {
                    let mut call = call;
                    call.rank = rank;
                    algorithm.plan(&call, &parameters).expect("a plan")
                };
                let (_, crossed) = counted(plan, &place.into(), size);
                assert_eq!(crossed, least, "{algorithm}, {place:?}, {parts} parts");
            }
        }
    }
}
