//! Tests of messages to and from `PROC_NULL`, the rank of no process.

use oxmpi::{Error, Grid, MAX_TAG, Op, PROC_NULL, Request, Source, Status, Tag};

use crate::job::Job;

/// Every send completes, and every receive and probe gives the status of the standard at once and leaves its
/// buffer alone. `None` names no process too.
#[test]
fn messages_of_no_process_complete_at_once() {
    for ranks in [1, 2] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (mut room, long) = ([7u64; 2], vec![1u8; 4 << 20]);
            for nobody in [Some(PROC_NULL), None] {
                comm.send(&[1u8], nobody, 1)?;
                comm.send(&long, nobody, 1)?;
                comm.ssend(&[1u8], nobody, 1)?;
                comm.rsend(&[1u8], nobody, 1)?;
                comm.bsend(&[1u8], nobody, MAX_TAG)?;
                let no_message = Status::PROC_NULL;
                assert_eq!((no_message.source, no_message.bytes), (PROC_NULL, 0));
                assert_eq!(comm.recv(&mut room, nobody, 1)?, no_message);
                assert_eq!(comm.recv(&mut room, nobody, Tag::Any)?, no_message);
                assert_eq!(comm.probe(nobody, 1)?, no_message);
                assert_eq!(comm.iprobe(nobody, 1)?, Some(no_message));
                assert_eq!(comm.recv_vec::<u64>(nobody, 1)?, (vec![], no_message));
                let message = comm.mprobe(nobody, 1)?;
                assert_eq!(message.recv(&mut room)?, no_message);
                let message = comm.improbe(nobody, 1)?.expect("there at once");
                assert_eq!(
                    (message.status(), message.recv_vec::<u8>()?.0),
                    (no_message, vec![])
                );
                assert_eq!(
                    comm.irecv_owned::<u8>(9, nobody, 1)?.wait()?,
                    (vec![], no_message)
                );
                comm.isend_owned(vec![1u8], nobody, 1)?.wait()?;
                comm.scope(|s| {
                    let all = vec![
                        s.irecv(&mut room, nobody, 1)?.any(),
                        s.isend(&long, nobody, 1)?.any(),
                        s.issend(&long, nobody, 1)?.any(),
                        s.irsend(&[1u8], nobody, 1)?.any(),
                    ];
                    assert_eq!(Request::wait_all(all)?.len(), 4);
                    Ok(())
                })?;
                assert_eq!(room, [7; 2]);
            }
            assert_eq!(comm.iprobe(Source::Any, Tag::Any)?, None);
            let wrong = comm
                .send(&[1u8], PROC_NULL, MAX_TAG + 1)
                .expect_err("a wrong tag");
            assert!(matches!(wrong, Error::Tag { .. }), "{wrong}");
            let wrong = comm
                .recv(&mut room, PROC_NULL, MAX_TAG + 1)
                .expect_err("a wrong tag");
            assert!(matches!(wrong, Error::Tag { .. }), "{wrong}");
            Ok(())
        });
    }
}

/// A shift along a line without a ring: what `Cart::shift` gives goes into `sendrecv`, and on parts too, whose
/// ranks have other numbers than their links.
#[test]
fn shifts_end_at_the_edges() {
    for ranks in [1, 2, 4] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let back = comm
                .split(Some(0), -(comm.rank() as i32))?
                .expect("a colour");
            for comm in [comm, &back] {
                let (rank, size) = (comm.rank(), comm.size());
                let line = comm.cart(Grid::new(&[size], &[false]))?.expect("a place");
                for by in [1, -1, 2, size as isize] {
                    let [from, to] = line.shift(0, by);
                    let mut got = [u64::MAX];
                    let status = line.sendrecv(&[rank as u64], to, 3, &mut got, from, 3)?;
                    match from {
                        Some(from) => assert_eq!((status.source, got), (from, [from as u64])),
                        None => assert_eq!((status, got), (Status::PROC_NULL, [u64::MAX])),
                    }
                }
                assert_eq!(line.allreduce(&1u32, Op::SUM)? as usize, size);
            }
            Ok(())
        });
    }
}
