//! Tests of collectives of ranks on several hosts: the algorithm used, and the results for any placement.
//!
//! They run only where jobs are spread over hosts: in `cargo xtask ci hosts`.

use std::collections::BTreeSet;

use oxmpi::{Comm, Error, Result, Single};
use oxmpi_coll::catalog::Collective;
use oxmpi_coll::placement::{Order, Placement};
use oxmpi_coll::sim::Workload;
use oxmpi_core::{Communicator, Job as CoreJob};
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
            let (mut job, comm) = join()?;
            for (work, bytes) in calls() {
                let call = work.call(job.rank()).expect("a call of each rank");
                let choice = comm.choice(&call, comm.group().nodes().placement())?;
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
            job.leave(&comm)
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

/// Joins the job without the Rust face, which shows neither algorithms nor placements.
fn join() -> Result<(CoreJob, Communicator<Single>)> {
    let policy = || {
        let policy = oxmpi_settings::job_policy(Vec::new());
        policy.map_err(|bad| Error::Setting(bad.to_string()))
    };
    CoreJob::join(policy, &mut |warning| eprintln!("{warning}"))
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
    // A rank answers for calls that do not use the memory that ranks share.
    command.env("OXMPI_SHM_COLLECTIVES", "off");
    let output = command.args(["--placement", placement]).output();
    let output = output.expect("oxmpi starts");
    let read: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let chosen = &read["chosen"];
    let of = |name: &str| chosen["parameters"][name].as_u64().unwrap_or(0);
    format!(
        "{collective} of {bytes} B: {}, radix {}, {} blocks, {} a node",
        chosen["algorithm"].as_str().expect("a name"),
        of("radix"),
        of("blocks"),
        of("per_node")
    )
}

/// Ranks of a job with three on each host.
const PLACED: usize = 12;

/// Communicators of its ranks, and their placements.
struct PlacedRanks {
    /// Its ranks in their order.
    members: Vec<usize>,
    placement: Placement,
}

/// All ranks in several orders, and parts: whole hosts, parts of several hosts, different numbers of ranks on
/// each.
fn placed_ranks() -> impl Iterator<Item = PlacedRanks> {
    let block = |size, ranks| Placement::new(Order::Block, size, ranks);
    let all = |key: fn(usize) -> usize| {
        let mut members: Vec<_> = (0..PLACED).collect();
        members.sort_by_key(|&rank| key(rank));
        members
    };
    let lists = [
        (all(|rank| rank), block(12, 3)),
        (all(|rank| 11 - rank), block(12, 3)),
        (
            all(|rank| rank % 3 * 4 + rank / 3),
            Placement::new(Order::Cyclic, 12, 3),
        ),
        // An order that is neither block nor cyclic.
        (all(|rank| rank * 5 % 12), block(12, 1)),
        (vec![3, 4, 5], block(3, 3)),
        (vec![0, 1, 2, 3], block(4, 3)),
        (vec![0, 3, 4, 5], block(4, 1)),
        (vec![1, 2, 3, 4], block(4, 2)),
        (vec![0, 3, 6, 9], block(4, 1)),
        (vec![0, 3, 1, 4, 2, 5], Placement::new(Order::Cyclic, 6, 3)),
        (vec![11, 0, 1, 10, 4, 7, 2], block(7, 1)),
    ];
    lists
        .into_iter()
        .map(|(members, placement)| PlacedRanks { members, placement })
}

impl PlacedRanks {
    /// The colour and the key by which `rank` joins them in a split.
    fn colour_and_key(&self, rank: usize) -> (Option<u32>, i32) {
        let at = self.members.iter().position(|&member| member == rank);
        (at.map(|_| 0), at.unwrap_or(0) as i32)
    }
}

/// Ranks recognise the placement of a communicator.
#[test]
fn ranks_know_their_placement() {
    if !over_hosts() {
        return;
    }
    let done = Job::of(PLACED).run(|| {
        let (mut job, comm) = join()?;
        for placed in placed_ranks() {
            let (colour, key) = placed.colour_and_key(job.rank() as usize);
            if let Some(part) = comm.split(colour, key)? {
                assert_eq!(part.group().nodes().placement(), placed.placement);
            }
        }
        job.leave(&comm)
    });
    assert_eq!(done.code, 0, "{}", done.err);
}

/// All collectives are right on communicators of every placement.
#[test]
fn results_are_right_for_every_placement() {
    if !over_hosts() {
        return;
    }
    Job::of(PLACED).succeed(|world| {
        let comm = world.comm();
        for placed in placed_ranks() {
            let (colour, key) = placed.colour_and_key(comm.rank());
            if let Some(part) = comm.split(colour, key)? {
                everything(&part)?;
            }
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
