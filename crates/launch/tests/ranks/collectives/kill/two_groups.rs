//! Collectives of an intercommunicator of two ranks on each side, for the tests that kill a rank.

use oxmpi::collective::Blocks;
use oxmpi::intercomm::{self, Peer, Root};
use oxmpi::{InterComm, Op, Result, World};

use super::{LONG, RANKS, Round, check_survivors, repeat};
use crate::job::Job;

/// Ranks of one group.
const GROUP: usize = RANKS / 2;

/// An intercommunicator, and this rank's argument for the root, which is the last rank of the first group.
type Groups = (InterComm, Root);

/// Rounds with a root end with a barrier, where the ranks beside the root wait, which take no part in the
/// collective.
const ROUNDS: &[Round<Groups>] = &[
    ("barrier", |(inter, _), _, _| inter.barrier()),
    ("bcast", |(inter, root), _, all| {
        inter.bcast_into(&mut all[..LONG], *root)?;
        inter.barrier()
    }),
    ("gather", |(inter, root), mine, all| {
        let all = (*root == Root::This).then_some(&mut all[..GROUP * LONG]);
        inter.gather_into(&mine[..LONG], all, *root)?;
        inter.barrier()
    }),
    ("gatherv", |(inter, root), mine, all| {
        let all = &mut all[..GROUP * LONG];
        let all = (*root == Root::This).then(|| Blocks::packed(all, &[LONG; GROUP]));
        inter.gatherv(&mine[..LONG], all, *root)?;
        inter.barrier()
    }),
    ("scatter", |(inter, root), mine, all| {
        let mine = (*root == Root::This).then_some(&mine[..GROUP * LONG]);
        inter.scatter_into(mine, &mut all[..LONG], *root)?;
        inter.barrier()
    }),
    ("scatterv", |(inter, root), mine, all| {
        let mine = &mine[..GROUP * LONG];
        let mine = (*root == Root::This).then(|| Blocks::packed(mine, &[LONG; GROUP]));
        inter.scatterv(mine, &mut all[..LONG], *root)?;
        inter.barrier()
    }),
    ("allgather", |(inter, _), mine, all| {
        inter.allgather_into(&mine[..LONG], &mut all[..GROUP * LONG])
    }),
    ("allgatherv", |(inter, _), mine, all| {
        let all = Blocks::packed(&mut all[..GROUP * LONG], &[LONG; GROUP]);
        inter.allgatherv(&mine[..LONG], all)
    }),
    ("alltoall", |(inter, _), mine, all| {
        inter.alltoall_into(&mine[..GROUP * LONG], &mut all[..GROUP * LONG])
    }),
    ("alltoallv", |(inter, _), mine, all| {
        let mine = Blocks::packed(&mine[..GROUP * LONG], &[LONG; GROUP]);
        let all = Blocks::packed(&mut all[..GROUP * LONG], &[LONG; GROUP]);
        inter.alltoallv(mine, all)
    }),
    ("alltoallw", |(inter, _), _, _| {
        let (mine, mut all) = (vec![1; 8 * LONG], vec![0; 8 * GROUP * LONG]);
        let mut all: Vec<_> = all.chunks_mut(8 * LONG).collect();
        inter.alltoallw(&[&mine[..]; GROUP], &mut all)
    }),
    ("reduce", |(inter, root), mine, all| {
        let all = (*root == Root::This).then_some(all);
        inter.reduce_into(mine, all, Op::SUM, *root)?;
        inter.barrier()
    }),
    ("allreduce", |(inter, _), mine, all| {
        inter.allreduce_into(mine, all, Op::SUM)
    }),
    ("reduce_scatter", |(inter, _), mine, all| {
        let mine = &mine[..GROUP * LONG];
        inter.reduce_scatter(mine, &[LONG; GROUP], &mut all[..LONG], Op::SUM)
    }),
    ("reduce_scatter_block", |(inter, _), mine, all| {
        let mine = &mine[..GROUP * LONG];
        inter.reduce_scatter_block_into(mine, &mut all[..LONG], Op::SUM)
    }),
    ("started allreduce", |(inter, _), mine, all| {
        inter.scope(|scope| {
            let sum = scope.start(intercomm::allreduce(mine, all, Op::SUM))?;
            sum.wait().map(drop)
        })
    }),
    ("persistent alltoall", |(inter, _), mine, all| {
        let (mine, all) = (&mine[..GROUP * LONG], &mut all[..GROUP * LONG]);
        let mut exchange = inter.persistent(intercomm::alltoall(mine, all))?;
        (0..2).try_for_each(|_| exchange.run().map(drop))
    }),
];

/// Makes an intercommunicator of the lower and the upper half of the ranks.
fn groups(world: &World) -> Result<Groups> {
    let comm = world.comm();
    let is_first = comm.rank() < GROUP;
    let local = comm.split(Some(u32::from(is_first)), 0)?;
    let local = local.expect("every rank has a colour");
    let peer = (local.rank() == 0).then_some(Peer {
        comm,
        rank: if is_first { GROUP } else { 0 },
        tag: 3,
    });
    let root = match local.rank() {
        last if is_first && last == GROUP - 1 => Root::This,
        _ if is_first => Root::ProcNull,
        _ => Root::Rank(GROUP - 1),
    };
    Ok((local.intercomm(0, peer)?, root))
}

#[test]
fn survivors_get_errors_when_a_rank_is_killed_in_an_intercommunicator_collective() {
    let names: Vec<_> = ROUNDS.iter().map(|round| round.0).collect();
    let rank = |path: &str| repeat(path, ROUNDS, groups);
    check_survivors(" between two groups", &names, || Job::of(RANKS), rank);
}
