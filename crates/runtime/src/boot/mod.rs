//! How the ranks of a job find each other.
//!
//! Rank 0 binds a socket with a name that nobody can guess and makes the name known; the others
//! connect to it, both ends check who the other is, and all map one shared memory segment.

mod invitation;
mod manager;
mod pmi;
mod pmix;

use std::time::Duration;

use oxmpi_shm::heap::Wish;
use oxmpi_shm::{Host, JoinError, Layout, Node};

pub(crate) use invitation::Invitation;
pub(crate) use manager::Manager;

use crate::error::{Error, Result};

/// The key under which rank 0 publishes its invitation.
const KEY: &str = "oxmpi-node";

/// How long ranks wait for each other to join. A rank that dies meanwhile is noticed at once; this
/// bounds the wait for one that never starts.
const PATIENCE: Duration = Duration::from_secs(60);

/// Rank 0 before the others have come.
pub(crate) struct Door {
    host: Host,
    key: [u8; 16],
}

/// Meets all ranks of the job, with memory that they allocate as in `heap`.
///
/// # Errors
/// When a rank is on another host, or does not come.
pub(crate) fn meet(manager: &mut Manager, layout: Layout, heap: Wish) -> Result<Node> {
    let (rank, size) = (manager.rank(), manager.size());
    if rank == 0 {
        let (door, invitation) = invite()?;
        manager.put(KEY, &invitation.to_string())?;
        manager.barrier()?;
        return admit(door, layout, Some(heap));
    }
    manager.barrier()?;
    let text = manager.get(0, KEY)?.ok_or_else(|| {
        Error::start(
            "looking for rank 0",
            format_args!("it has published no {KEY}: is it an oxmpi program of this version?"),
        )
    })?;
    accept(&Invitation::decode(&text)?, rank, size)
}

/// Opens a door for other ranks. This is rank 0 of those who are to meet.
pub(crate) fn invite() -> Result<(Door, Invitation)> {
    let host = Host::bind().map_err(failed)?;
    let key = oxmpi_os::host::random().map_err(|why| Error::start("making the job's key", why))?;
    let invitation = Invitation {
        socket: host.name().to_owned(),
        key,
        boot: boot_id(),
        host: oxmpi_os::host::name(),
    };
    Ok((Door { host, key }, invitation))
}

/// Waits at the door until all ranks of `layout` have met.
pub(crate) fn admit(door: Door, layout: Layout, heap: Option<Wish>) -> Result<Node> {
    let Door { host, key } = door;
    let node = match (layout.ranks, heap) {
        (1, None) => Node::alone(layout),
        (1, Some(wish)) => Node::alone(layout).map(|node| node.with_heap(wish)),
        (_, None) => host.serve(layout, key, PATIENCE),
        (_, Some(wish)) => host.with_heap(wish).serve(layout, key, PATIENCE),
    };
    node.map_err(failed)
}

/// Goes where rank 0 waits.
pub(crate) fn accept(invitation: &Invitation, rank: u32, size: u32) -> Result<Node> {
    if invitation.boot != boot_id() {
        return Err(Error::start(
            "meeting the other ranks",
            format_args!(
                "rank 0 is on {} and rank {rank} on {}; ranks meet through shared memory, on one \
                 host, until there is a network transport",
                invitation.host,
                oxmpi_os::host::name()
            ),
        ));
    }
    Node::join(&invitation.socket, rank, size, invitation.key, PATIENCE).map_err(failed)
}

/// Names this boot of this machine; where the system does not tell, the host's name must do.
fn boot_id() -> String {
    oxmpi_os::host::boot_id().unwrap_or_else(|_| oxmpi_os::host::name())
}

fn failed(why: JoinError) -> Error {
    Error::start("meeting the other ranks", why)
}

#[cfg(test)]
mod tests {
    use super::{accept, invite};

    #[test]
    fn a_rank_on_another_machine_gets_an_error_that_names_both() {
        let (_door, mut invitation) = invite().expect("a door");
        invitation.boot = "another boot".into();
        invitation.host = "far-away".into();
        let error = accept(&invitation, 1, 2).expect_err("it is elsewhere");
        let here = oxmpi_os::host::name();
        let says = format!("rank 0 is on far-away and rank 1 on {here}");
        assert!(error.to_string().contains(&says), "{error}");
    }
}
