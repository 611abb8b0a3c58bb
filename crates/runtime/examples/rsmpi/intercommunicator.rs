//! The ranks in two groups: the first rank of one sends to the first rank of the other. rsmpi: `spawn`, whose
//! second group are new processes.

use oxmpi::World;
use oxmpi::intercomm::Peer;

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    if comm.size() < 2 {
        return Ok(());
    }
    let odd = comm.rank() % 2;
    let half = comm
        .split(Some(odd as u32), 0)?
        .expect("every rank has a colour");
    let peer = (half.rank() == 0).then_some(Peer {
        comm,
        rank: 1 - odd,
        tag: 0,
    });
    let both = half.intercomm(0, peer)?;
    assert_eq!(both.remote_size(), comm.size() - half.size());
    if half.rank() == 0 {
        let mut got = [0i32];
        both.sendrecv(&[7], 0, 0, &mut got, 0, 0)?;
        assert_eq!(got, [7]);
    }
    Ok(())
}
