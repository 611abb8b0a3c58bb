//! Each rank passes a number to the next one, then a vector of another length to rank 0, then passes its number
//! back in place. rsmpi: `send_receive`.

use oxmpi::{Source, World};

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let (rank, size) = (comm.rank(), comm.size());
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);

    let mut got = [0];
    comm.sendrecv(&[rank], previous, 0, &mut got, next, 0)?;
    println!("rank {rank} got {}", got[0]);
    assert_eq!(got[0], next);

    if rank > 0 {
        comm.send(&[rank, rank + 1, rank - 1], 0, 1)?;
    } else {
        for _ in 1..size {
            let (values, status) = comm.recv_vec::<usize>(Source::Any, 1)?;
            let from = status.source;
            assert_eq!(values, [from, from + 1, from - 1]);
        }
    }

    let mut token = [rank];
    comm.sendrecv_replace(&mut token, next, 2, previous, 2)?;
    assert_eq!(token[0], previous);
    Ok(())
}
