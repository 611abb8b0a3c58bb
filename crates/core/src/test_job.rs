//! Ranks that are threads of the test.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::Duration;

use oxmpi_coll::nodes::Nodes;
use oxmpi_os::fork::ForkGuard;
use oxmpi_shm::heap::{HeapPreference, HeapSize, PagePreference};

use crate::boot::{self, EndpointAddress};
use crate::error::Result;
use crate::placement::on_one_node;
use crate::{Communicator, Endpoint, EndpointCell, EndpointPolicy, Group, Single};

/// How long a rank may take for one job.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Memory that ranks allocate where the others reach it.
const HEAP: HeapPreference = HeapPreference {
    size: HeapSize::Bytes(16 << 20),
    pages: PagePreference::Small,
};

/// Runs `rank` as each of `size` ranks, each on a thread and an endpoint of its own.
pub(crate) fn job(size: u32, rank: impl Fn(&Communicator<Single>) + Sync) {
    job_placed(on_one_node(size), rank);
}

/// As [`job`], with ranks that are taken to be on nodes so: all of them share memory, but only those of one
/// node know it.
pub(crate) fn job_placed(nodes: impl Into<Nodes>, rank: impl Fn(&Communicator<Single>) + Sync) {
    job_with(nodes, &EndpointPolicy::default(), rank);
}

/// As [`job_placed`], with this policy.
pub(crate) fn job_with(
    nodes: impl Into<Nodes>,
    policy: &EndpointPolicy,
    rank: impl Fn(&Communicator<Single>) + Sync,
) {
    let nodes = nodes.into();
    let size = nodes.size();
    let address = OnceLock::new();
    let (done, watch) = channel();
    let all_done = Barrier::new(size as usize);
    thread::scope(|scope| {
        for number in 0..size {
            let (done, rank, address) = (done.clone(), &rank, &address);
            let nodes = &nodes;
            let all_done = &all_done;
            scope.spawn(move || {
                let comm = join(nodes, policy, number, address).expect("the ranks connect");
                let ended = catch_unwind(AssertUnwindSafe(|| rank(&comm)));
                done.send(number).expect("the test waits");
                // No rank leaves while another may still be in a collective that fails.
                all_done.wait();
                if let Err(panic) = ended {
                    resume_unwind(panic);
                }
            });
        }
        drop(done);
        for _ in 0..size {
            if watch.recv_timeout(TIMEOUT) == Err(RecvTimeoutError::Timeout) {
                eprintln!("a job of {size} ranks hangs");
                std::process::abort();
            }
        }
    });
}

/// The communicator of all ranks.
fn join(
    nodes: &Nodes,
    policy: &EndpointPolicy,
    rank: u32,
    address: &OnceLock<String>,
) -> Result<Communicator<Single>> {
    let size = nodes.size();
    let node = if rank == 0 {
        let (acceptor, text) = boot::open_acceptor(true)?;
        address.set(text.to_string()).expect("set once");
        boot::accept_ranks(acceptor, policy.start.layout(size), Some(HEAP))?
    } else {
        boot::join_node(&EndpointAddress::decode(address.wait())?, rank, size)?
    };
    let fork = ForkGuard::new().expect("a guard");
    let endpoint = Single::new(EndpointCell::new(Endpoint::new(
        node.into(),
        policy.clone(),
        fork,
    )?)?);
    Ok(Communicator::new(
        endpoint,
        Endpoint::FIRST_CONTEXT,
        match nodes.count() {
            1 => Group::all(size, rank),
            _ => Group::listed((0..size).collect(), size, rank, nodes.clone()),
        },
    ))
}
