//! Passes a token once around all ranks; each rank adds its rank to it.
//!
//! `oxmpi run -n 4 ring`

use oxmpi::World;

const TOKEN: u32 = 1;

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let (rank, size) = (comm.rank(), comm.size());
    let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);

    let mut token = [0u64];
    if rank == 0 {
        comm.scope(|s| {
            let back = s.irecv(&mut token, left, TOKEN)?;
            s.isend(&[0u64], right, TOKEN)?.wait()?;
            back.wait()?;
            Ok(())
        })?;
        let expected = (size * (size - 1) / 2) as u64;
        println!("the token came back with {}, expected {expected}", token[0]);
        assert_eq!(token[0], expected);
    } else {
        comm.recv(&mut token, left, TOKEN)?;
        token[0] += rank as u64;
        comm.send(&token, right, TOKEN)?;
    }
    Ok(())
}
