//! Tests of a host that is cut off during traffic.
//!
//! They run only where jobs are spread over hosts: in `cargo xtask ci hosts` and `nodes`.

use oxmpi::{Error, Op, Result, World};

use crate::job::{Job, can_cut, cut_last_host};

const RANKS: usize = 8;

/// Number of bytes of a host's name that are compared.
const NAME: usize = 64;

/// Every rank gets an error that names a lost host: on the remaining hosts the one that is cut off, and there
/// another host.
#[test]
fn a_host_that_is_cut_off_is_named() {
    if !can_cut() {
        return;
    }
    let done = Job::of(RANKS).with("OXMPI_TCP_HOST_TIMEOUT", "2s").run(|| {
        let world = World::init()?;
        let (rank, host) = (world.comm().rank(), world.host().to_owned());
        let last = host_of_last_rank(&world)?;
        let Err(error) = exchange_until_error(&world) else {
            return Ok(());
        };
        println!("{rank} on {host}: {error}");
        let Error::Peer { host: lost, .. } = &error else {
            return Err(error);
        };
        let right = (*lost == last) != (host == last);
        if right { Ok(()) } else { Err(error) }
    });
    let said = done.out.lines();
    assert_eq!((done.code, said.count()), (0, RANKS), "{done:?}");
    println!("{}", done.out);
}

fn host_of_last_rank(world: &World) -> Result<String> {
    let mut name = [0u8; NAME];
    for (to, from) in name.iter_mut().zip(world.host().bytes()) {
        *to = from;
    }
    world.comm().bcast_into(&mut name, RANKS - 1)?;
    let name = name.into_iter().take_while(|byte| *byte != 0);
    Ok(String::from_utf8_lossy(&name.collect::<Vec<u8>>()).into_owned())
}

/// All ranks exchange messages without end; in round 3 the last rank cuts off its host.
fn exchange_until_error(world: &World) -> Result<()> {
    let comm = world.comm();
    let mine = vec![comm.rank() as u64; 1000 * comm.size()];
    let mut theirs = mine.clone();
    for round in 0u64.. {
        comm.alltoall_into(&mine, &mut theirs)?;
        comm.allreduce(&round, Op::MAX)?;
        if round == 3 && comm.rank() == RANKS - 1 {
            cut_last_host();
        }
    }
    Ok(())
}
