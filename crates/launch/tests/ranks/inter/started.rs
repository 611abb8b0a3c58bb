//! Tests of nonblocking and persistent intercommunicator collectives.

use oxmpi::collective::Blocks;
use oxmpi::{Op, intercomm};

use super::{SIZES, groups, name, names, seen};
use crate::job::Job;

/// All collectives of an intercommunicator are pending at once, beside a bcast of the local group that ranks
/// start before or after them.
#[test]
fn all_collectives_are_pending_at_once() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let inter = groups(world)?;
            let me = name(world.comm(), inter.local());
            let (size, others) = (inter.local().size(), names(me < 100, inter.remote_size()));
            let total: u64 = others.iter().sum();
            let ones = vec![1; others.len()];
            let mine_for: Vec<u64> = others.iter().map(|&to| me * 1000 + to).collect();
            let bytes = vec![[me as u8]; others.len()];
            let given: Vec<&[u8]> = bytes.iter().map(|one| &one[..]).collect();
            let mut got = vec![[0_u8]; others.len()];
            let mut bytes_room: Vec<&mut [u8]> = got.iter_mut().map(|one| &mut one[..]).collect();
            // The last rank of the first group is the root.
            let first = inter.local().size() + inter.remote_size();
            let last = (first / 3).max(1) - 1;
            let root = seen(&inter, me >= 100, last);
            let is_root = root == intercomm::Root::This;

            let mut value = [me];
            let vector: Vec<u64> = vec![me; size * others.len()];
            let share = others.len();
            let [mut gathered, mut blocks] = [0; 2].map(|_| is_root.then(|| vec![0; others.len()]));
            let [mut part, mut block] = [[0]; 2];
            let [mut all, mut all_blocks] = [vec![0; others.len()], vec![0; others.len()]];
            let [mut swapped, mut swapped_blocks] = [all.clone(), all.clone()];
            let mut sum = is_root.then_some([0]);
            let mut sums = [0];
            let [mut reduced, mut reduced_block] = [vec![0; share], vec![0; share]];
            let (mine, counts) = ([me], vec![share; size]);
            let mut beside = [me];

            inter.local().scope(|local| {
                let is_first = inter.local().rank() % 2 == 0;
                let mut bcast = Some(oxmpi::collective::bcast(&mut beside, 0));
                if let Some(bcast) = bcast.take_if(|_| is_first) {
                    local.start(bcast)?;
                }
                inter.scope(|s| {
                    let barrier = s.start(intercomm::barrier())?;
                    s.start(intercomm::bcast(&mut value, root))?;
                    s.start(intercomm::gather(&mine, gathered.as_deref_mut(), root))?;
                    let room = blocks.as_deref_mut().map(|all| Blocks::packed(all, &ones));
                    s.start(intercomm::gatherv(&mine, room, root))?;
                    let parts = is_root.then_some(&others[..]);
                    s.start(intercomm::scatter(parts, &mut part, root))?;
                    let parts = parts.map(|all| Blocks::packed(all, &ones));
                    s.start(intercomm::scatterv(parts, &mut block, root))?;
                    s.start(intercomm::allgather(&mine, &mut all))?;
                    let room = Blocks::packed(&mut all_blocks[..], &ones);
                    s.start(intercomm::allgatherv(&mine, room))?;
                    s.start(intercomm::alltoall(&mine_for, &mut swapped))?;
                    let room = Blocks::packed(&mut swapped_blocks[..], &ones);
                    s.start(intercomm::alltoallv(
                        Blocks::packed(&mine_for[..], &ones),
                        room,
                    ))?;
                    s.start(intercomm::alltoallw(&given, &mut bytes_room))?;
                    let result = sum.as_mut().map(|sum| &mut sum[..]);
                    s.start(intercomm::reduce(&mine, result, Op::SUM, root))?;
                    let last = s.start(intercomm::allreduce(&mine, &mut sums, Op::SUM))?;
                    s.start(intercomm::reduce_scatter(
                        &vector,
                        &counts,
                        &mut reduced,
                        Op::SUM,
                    ))?;
                    s.start(intercomm::reduce_scatter_block(
                        &vector,
                        &mut reduced_block,
                        Op::SUM,
                    ))?;
                    last.wait()?;
                    barrier.wait().map(drop)
                })?;
                bcast.map_or(Ok(()), |bcast| local.start(bcast).map(drop))
            })?;

            let is_there = matches!(root, intercomm::Root::Rank(_));
            let root_name = names(true, last + 1)[last];
            assert_eq!(value, [if is_there { root_name } else { me }]);
            assert!(
                [gathered, blocks]
                    .into_iter()
                    .flatten()
                    .all(|got| got == others)
            );
            assert_eq!([part, block], [[if is_there { me } else { 0 }]; 2]);
            assert!(all == others && all_blocks == others);
            let wanted: Vec<u64> = others.iter().map(|&from| from * 1000 + me).collect();
            assert!(swapped == wanted && swapped_blocks == wanted);
            assert!(
                got.iter()
                    .zip(&others)
                    .all(|(got, &from)| *got == [from as u8])
            );
            assert!(sum.is_none_or(|sum| sum == [total]));
            assert_eq!(sums, [total]);
            assert!(
                reduced
                    .iter()
                    .chain(&reduced_block)
                    .all(|&sum| sum == total)
            );
            let leader = names(me >= 100, 1)[0];
            assert_eq!(beside, [leader]);
            Ok(())
        });
    }
}

#[test]
fn persistent_collectives_run_again_with_new_values() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let inter = groups(world)?;
            let me = name(world.comm(), inter.local());
            let others = names(me < 100, inter.remote_size());
            let counts = vec![1; others.len()];
            let (mut mine, mut sums) = ([0], [0]);
            let (mut given, mut all) = ([0], vec![0; others.len()]);
            let mut sum = inter.persistent(intercomm::allreduce(&mut mine, &mut sums, Op::SUM))?;
            let room = Blocks::packed(&mut all[..], &counts);
            let mut gather = inter.persistent(intercomm::allgatherv(&mut given, room))?;
            for run in 0..4 {
                sum.buffers().0[0] = me + run;
                gather.buffers().0[0] = me * 10 + run;
                match run % 2 {
                    0 => {
                        sum.run()?;
                        gather.run()?;
                    }
                    // Both are pending at once; even and odd ranks start them in different order.
                    _ => inter.scope(|s| {
                        if inter.local().rank() % 2 == 0 {
                            let sum = s.restart(&mut sum)?;
                            s.restart(&mut gather)?;
                            sum.wait().map(drop)
                        } else {
                            s.restart(&mut gather)?;
                            s.restart(&mut sum).map(drop)
                        }
                    })?,
                }
                let total: u64 = others.iter().map(|other| other + run).sum();
                assert_eq!(sum.buffers().1, &[total]);
                let wanted = others.iter().map(|other| other * 10 + run);
                assert!(wanted.eq(gather.buffers().1.iter().copied()));
            }
            Ok(())
        });
    }
}

/// Rank 4 leaves while the other ranks wait for it; in both groups they get an error that names a rank.
#[test]
fn waiting_for_a_rank_that_leaves_is_an_error() {
    let job = Job::of(5);
    let done = job.run(|| {
        let world = oxmpi::World::init()?;
        let inter = groups(&world)?;
        inter.barrier()?;
        if world.comm().rank() == 4 {
            return Ok(());
        }
        let (mine, mut sums) = ([1_u64], [0]);
        let result = inter.scope(|s| {
            s.start(intercomm::allreduce(&mine, &mut sums, Op::SUM))
                .map(drop)
        });
        let error = result.expect_err("one rank is missing").to_string();
        assert!(error.contains("rank"), "{error}");
        Ok::<_, oxmpi::Error>(())
    });
    assert_eq!(done.code, 0, "{}", done.err);
}
