//! Tests of wrong collective calls: wrong arguments are an error before the rank sends anything; calls that
//! differ between ranks fail the communicator.

use oxmpi::collective::Blocks;
use oxmpi::{Error, Op, Result, World, collective};

use crate::job::Job;

/// The error of `result`, as text.
fn text<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Buffers of wrong lengths on one rank are an error; the communicator still works.
#[test]
fn buffers_of_wrong_lengths_are_refused() {
    Job::of(3).succeed(|world| {
        let comm = world.comm();
        let me = comm.rank();
        let count = |what, has, needs| {
            text::<()>(Err(Error::Count {
                rank: me,
                what,
                has,
                needs,
            }))
        };
        let (mine, mut eight) = ([1u16; 2], [0u16; 8]);
        let result = count("the result", 8, 6);
        assert_eq!(text(comm.allgather_into(&mine, &mut eight)), result);
        assert_eq!(text(comm.gather_into(&mine, Some(&mut eight), me)), result);
        let values = count("the root's values", 8, 6);
        assert_eq!(
            text(comm.scatter_into(Some(&eight), &mut [0; 2], me)),
            values
        );
        let values = count("the values", 8, 6);
        assert_eq!(text(comm.alltoall_into(&eight, &mut [0; 8])), values);
        assert_eq!(text(comm.alltoall_in_place(&mut eight)), values);
        let result = count("the result", 8, 6);
        assert_eq!(text(comm.allgather_in_place(&mut eight)), result);
        let result = count("the result", 8, 2);
        assert_eq!(text(comm.scan_into(&mine, &mut eight, Op::SUM)), result);
        assert_eq!(
            text(comm.allreduce_into(&mine, &mut eight, Op::SUM)),
            result
        );
        let room = Some(&mut eight[..]);
        assert_eq!(text(comm.reduce_into(&mine, room, Op::SUM, me)), result);
        let values = count("the values", 2, 24);
        assert_eq!(
            text(comm.reduce_scatter_block_into(&mine, &mut eight, Op::SUM)),
            values
        );
        let counts = count("the list of counts", 2, 3);
        assert_eq!(
            text(comm.reduce_scatter(&mine, &[1, 1], &mut eight, Op::SUM)),
            counts
        );
        let list = count("the list of values", 1, 3);
        assert_eq!(
            text(comm.alltoallw(&[&[0]], &mut [&mut [0; 0][..]; 0])),
            list
        );
        comm.barrier()
    });
}

#[test]
fn wrong_blocks_are_refused() {
    Job::of(3).succeed(|world| {
        let comm = world.comm();
        let me = comm.rank();
        let wrong = |what, why: &str| {
            text::<()>(Err(Error::Blocks {
                rank: me,
                what,
                why: why.to_owned(),
            }))
        };
        let (mine, mut all) = ([1u8; 2], [0u8; 6]);
        let missing = Blocks::packed(&mut all[..], &[2, 2]);
        let why = wrong("the result", "there are 2 counts for 3 blocks");
        assert_eq!(text(comm.allgatherv(&mine, missing)), why);
        let beyond = Blocks::packed(&mut all[..], &[2, 2, 3]);
        let why = "block 2 has 3 elements from index 4 on, and the buffer has 6";
        assert_eq!(
            text(comm.allgatherv(&mine, beyond)),
            wrong("the result", why)
        );
        let shared = || [0, 1, 4];
        let why = wrong(
            "the result",
            "blocks 0 and 1 both have the element at index 1",
        );
        let starts = shared();
        let overlap = Blocks::at(&mut all[..], &[2, 2, 2], &starts);
        assert_eq!(text(comm.gatherv(&mine, Some(overlap), me)), why);
        let overlap = Blocks::at(&mut all[..], &[2, 2, 2], &starts);
        let given = Blocks::packed(&mine[..], &[1, 1, 0]);
        assert_eq!(text(comm.alltoallv(given, overlap)), why);
        // Blocks that are only read may overlap; here the receive buffer has the wrong length.
        let given = Blocks::at(&mine[..], &[2, 2, 2], &[0, 0, 0]);
        let room = text::<()>(Err(Error::Count {
            rank: me,
            what: "this rank's room",
            has: 1,
            needs: 2,
        }));
        assert_eq!(text(comm.scatterv(Some(given), &mut [0], me)), room);
        comm.barrier()
    });
}

#[test]
fn wrong_arguments_of_the_root_are_refused() {
    Job::of(3).succeed(|world| {
        let comm = world.comm();
        let (me, other) = (comm.rank(), (comm.rank() + 1) % comm.size());
        let says = |why: String| format!("a collective on rank {me}: {why}");
        let missing = |what| says(format!("this rank is the root and does not give {what}"));
        let given = |what| {
            says(format!(
                "this rank gives {what}, which only the root has, rank {other}"
            ))
        };
        let (mine, mut all) = ([1u8; 2], [0u8; 6]);
        assert_eq!(
            text(comm.gather_into(&mine, None, me)),
            missing("room for the result")
        );
        assert_eq!(
            text(comm.gather_into(&mine, Some(&mut all), other)),
            given("room for the result")
        );
        assert_eq!(
            text(comm.gatherv(&mine, None, me)),
            missing("room for the result")
        );
        assert_eq!(
            text(comm.reduce_into(&mine, None, Op::SUM, me)),
            missing("room for the result")
        );
        let nothing = comm.scatter_into(None, &mut [0u8; 2], me);
        assert_eq!(text(nothing), missing("values for all ranks"));
        let something = comm.scatter_into(Some(&all), &mut [0; 2], other);
        assert_eq!(text(something), given("values for all ranks"));
        let wrong = format!("rank {me} named rank 3, but the communicator has ranks 0 to 2");
        assert_eq!(text(comm.gather_into(&mine, None, 3)), wrong);
        assert_eq!(text(comm.scatterv(None, &mut [0u8; 2], 3)), wrong);
        assert_eq!(text(comm.reduce_in_place(&mut [0u8; 2], Op::SUM, 3)), wrong);
        comm.barrier()
    });
}

/// Ranks call with different lengths: an error names both lengths, no rank hangs, and later collectives on
/// the communicator fail.
#[test]
fn different_lengths_fail_the_communicator() {
    for collective in 0..8 {
        let job = Job::of(2).with("COLLECTIVE", &collective.to_string());
        let done = job.run(|| {
            let world = World::init()?;
            let comm = world.comm().dup()?;
            let collective = std::env::var("COLLECTIVE").expect("set");
            // 24 bytes on rank 0, 40 on rank 1.
            let mut mine = vec![1u64; 3 + 2 * comm.rank()];
            let mut all = [0; 10];
            let all = &mut all[..2 * mine.len()];
            let wide = all.to_vec();
            let at_root = (comm.rank() == 0).then_some(&mut *all);
            let result = match collective.as_str() {
                "0" => comm.bcast_into(&mut mine, 0),
                "1" => comm.gather_into(&mine, at_root, 0),
                "2" => comm.scatter_into(at_root.as_deref(), &mut mine, 0),
                "3" => comm.allgather_into(&mine, all),
                "4" => comm.alltoall_into(&wide, all),
                "5" => comm.allreduce_in_place(&mut mine, Op::SUM),
                "6" => comm.reduce_in_place(&mut mine, Op::SUM, 0),
                _ => comm.scan_in_place(&mut mine, Op::SUM),
            };
            let Err(error) = result else {
                // This rank only sends, so it need not notice.
                return Ok(());
            };
            println!("{error}");
            let after = text(comm.barrier());
            assert!(after.contains("an earlier one failed"), "{after}");
            Ok::<_, Error>(())
        });
        assert_eq!(done.code, 0, "{}", done.err);
        let both = done.out.contains("24 B") && done.out.contains("40 B");
        // Ranks that share memory compare their calls first; that error does not name the lengths.
        let named = both || done.out.contains("the ranks do not agree on the call");
        assert!(named, "collective {collective}: {}", done.out);
    }
}

/// With `coll_check` ranks compare their calls, and all get the same error when they differ, also of started
/// collectives.
#[test]
fn coll_check_reports_different_calls_on_all_ranks() {
    for mistake in ["roots", "collectives", "lengths", "started", "none"] {
        let job = Job::of(3)
            .with("OXMPI_COLL_CHECK", "on")
            .with("MISTAKE", mistake);
        job.succeed(|world| {
            let comm = world.comm().dup()?;
            let odd = comm.rank() == 1;
            let mistake = std::env::var("MISTAKE").expect("set");
            let mut mine = vec![1_u64; if odd && mistake == "lengths" { 0 } else { 2 }];
            let root = usize::from(odd);
            let [one, other] = match mistake.as_str() {
                "roots" | "started" => ["bcast with root 0 of 16 B", "bcast with root 1 of 16 B"],
                "collectives" => ["barrier", "allreduce of 16 B"],
                _ => ["bcast with root 0 of 16 B", "bcast with root 0 of 0 B"],
            };
            let result = match mistake.as_str() {
                "roots" => comm.bcast_into(&mut mine, root),
                "started" => comm.scope(|s| {
                    s.start(collective::bcast(&mut mine, root))?
                        .wait()
                        .map(drop)
                }),
                "collectives" if odd => comm.allreduce_in_place(&mut mine, Op::SUM),
                "collectives" => comm.barrier(),
                "lengths" => comm.bcast_into(&mut mine, 0),
                _ => {
                    comm.bcast_into(&mut mine, 0)?;
                    let blocks = Blocks::packed(&mine[..], &[0, 1, 1]);
                    let given = (comm.rank() == 0).then_some(blocks);
                    let mut part = vec![0; usize::from(comm.rank() > 0)];
                    comm.scatterv(given, &mut part, 0)?;
                    let mut sum =
                        comm.persistent(collective::allreduce_in_place(&mut part, Op::SUM));
                    let lengths_differ = sum.as_mut().map_or(Ok(()), |sum| sum.run().map(drop));
                    assert!(text(lengths_differ).contains("do not agree"));
                    return Ok(());
                }
            };
            let wanted = format!("rank 0 calls {one}, and rank 1 calls {other}");
            let error = text(result);
            assert!(error.ends_with(&wanted), "{error}");
            assert!(text(comm.barrier()).contains("an earlier one failed"));
            Ok(())
        });
    }
}
