//! Tests of collectives of ranks on several hosts: the algorithm used, and the results for any placement.
//!
//! They run only where jobs are spread over hosts: in `cargo xtask ci hosts`.

use std::collections::BTreeSet;

use oxmpi::{Comm, Error, Result, World};
use oxmpi_coll::catalog::Collective;
use oxmpi_coll::placement::{Order, Placement};
use oxmpi_coll::sim::Workload;
use serde_json::Value;

use super::algorithms::{all_operations, bcast_and_reduce, in_order};
use super::blocks::{allgatherv, alltoallv, gatherv_and_scatterv, lengths, reduce_scatter};
use super::exchanges::{allgather_and_alltoall, gather_and_scatter};
use super::reductions::{scans, scattered};
use crate::common::oxmpi;
use crate::job::{Job, over_hosts};

/// Ranks of the job: two on each host.
const RANKS: usize = 8;

/// Message sizes of the calls in bytes.
const BYTES: [u64; 4] = [8, 1 << 10, 64 << 10, 1 << 20];

/// The calls for which ranks and `oxmpi explain` name an algorithm.
fn calls() -> impl Iterator<Item = (Workload, u64)> {
    let known = Collective::ALL.into_iter().filter(|one| {
        let work = Workload::new(*one, RANKS as u32, 0);
        work.call(0).is_some()
    });
    known.flat_map(|one| {
        let sizes = match one {
            Collective::Barrier => &BYTES[..1],
            _ => &BYTES,
        };
        let work = move |&bytes| (Workload::new(one, RANKS as u32, bytes), bytes);
        sizes.iter().map(work)
    })
}

/// Every rank of a job chooses the algorithms that `oxmpi explain` names for the same placement.
#[test]
fn ranks_choose_the_algorithms_that_explain_names() {
    if !over_hosts() {
        return;
    }
    for placement in ["block", "cyclic"] {
        let job = match placement {
            "block" => Job::of(RANKS),
            _ => Job::of(RANKS).cyclic(),
        };
        let done = job.run(|| {
            let world = World::init()?;
            let comm = world.comm();
            for (work, bytes) in calls() {
                let call = work.call(comm.rank() as u32).expect("a call of each rank");
                let choice = comm.algorithm(&call)?;
                let taken = choice.parameters.over(choice.algorithm.row());
                println!(
                    "{} of {bytes} B: {}, radix {}, {} blocks, {} a node",
                    call.collective,
                    choice.algorithm.name(),
                    taken.radix,
                    taken.blocks,
                    taken.per_node
                );
            }
            Ok::<_, Error>(())
        });
        assert_eq!(done.code, 0, "{}", done.err);
        let ran: BTreeSet<&str> = done.out.lines().collect();
        let said: BTreeSet<String> = calls()
            .map(|(work, bytes)| explained(work.collective(), bytes, placement))
            .collect();
        assert!(ran.iter().copied().eq(&said), "{ran:#?}\n{said:#?}");
        let by_leaders = done.out.contains("bcast of 8 B: node-aware");
        assert!(by_leaders || placement == "cyclic", "{ran:#?}");
    }
}

/// The algorithm and parameters that `oxmpi explain` prints for a call of ranks of which two are on each
/// host.
fn explained(collective: Collective, bytes: u64, placement: &str) -> String {
    let (size, ranks) = (bytes.to_string(), RANKS.to_string());
    let mut command = oxmpi(&["explain", collective.name()]);
    if collective != Collective::Barrier {
        command.arg(size);
    }
    command.args(["-n", &ranks, "--per-node", "2", "--json"]);
    let output = command.args(["--placement", placement]).output();
    let output = output.expect("oxmpi starts");
    let read: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    // A rank answers for started calls, which do not use the memory that ranks share.
    let chosen = match &read["started"] {
        Value::Null => &read["chosen"],
        started => started,
    };
    let of = |name: &str| chosen["parameters"][name].as_u64().unwrap_or(0);
    format!(
        "{collective} of {bytes} B: {}, radix {}, {} blocks, {} a node",
        chosen["algorithm"].as_str().expect("a name"),
        of("radix"),
        of("blocks"),
        of("per_node")
    )
}

/// All collectives are right on communicators of all ranks in several orders, and of parts: whole hosts,
/// parts of several hosts, different numbers of ranks on each.
#[test]
fn results_are_right_for_every_placement() {
    if !over_hosts() {
        return;
    }
    // Three ranks on each host.
    Job::of(12).succeed(|world| {
        let comm = world.comm();
        let (rank, new) = (comm.rank(), Placement::new);
        let block = |size, ranks| new(Order::Block, size, ranks);
        let cyclic = |rank: usize| rank % 3 * 4 + rank / 3;
        let orders: [(&dyn Fn(usize) -> usize, Placement); 4] = [
            (&|rank| rank, block(12, 3)),
            (&|rank| 11 - rank, block(12, 3)),
            (&cyclic, new(Order::Cyclic, 12, 3)),
            // An order that is neither block nor cyclic.
            (&|rank| rank * 5 % 12, block(12, 1)),
        ];
        for (key, place) in orders {
            let ordered = comm.split(Some(0), key(rank) as i32)?.expect("a colour");
            assert_eq!(ordered.placement(), place);
            everything(&ordered)?;
        }
        let parts: [(&[usize], Placement); 7] = [
            (&[3, 4, 5], block(3, 3)),
            (&[0, 1, 2, 3], block(4, 3)),
            (&[0, 3, 4, 5], block(4, 1)),
            (&[1, 2, 3, 4], block(4, 2)),
            (&[0, 3, 6, 9], block(4, 1)),
            (&[0, 3, 1, 4, 2, 5], new(Order::Cyclic, 6, 3)),
            (&[11, 0, 1, 10, 4, 7, 2], block(7, 1)),
        ];
        for (members, place) in parts {
            let at = members.iter().position(|&member| member == rank);
            let colour = at.map(|_| 0);
            let Some(part) = comm.split(colour, at.unwrap_or(0) as i32)? else {
                continue;
            };
            assert_eq!(part.placement(), place);
            everything(&part)?;
        }
        comm.barrier()
    });
}

/// Runs all collectives with short and long messages.
fn everything(comm: &Comm) -> Result<()> {
    let last = comm.size() - 1;
    for len in [0, 1, 700, 9000] {
        comm.barrier()?;
        all_operations(comm, len)?;
        scans(comm, len)?;
        scattered(comm, len)?;
        in_order(comm, len)?;
        allgather_and_alltoall(comm, len)?;
        for root in [0, last / 2, last] {
            bcast_and_reduce(comm, root, len)?;
            gather_and_scatter(comm, root, len)?;
        }
    }
    for kind in 0..3 {
        let counts = lengths(kind, comm.size());
        gatherv_and_scatterv(comm, last, &counts)?;
        allgatherv(comm, &counts)?;
        alltoallv(comm, kind)?;
        reduce_scatter(comm, &counts)?;
    }
    Ok(())
}
