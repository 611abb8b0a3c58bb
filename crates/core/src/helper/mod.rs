//! The helper thread of a process, `oxmpi-progress`: it carries on communication while the program computes.
//!
//! A call that leaves something under way offers its endpoint, by the [latch](oxmpi_shm::ring::Latch) that every call looks at
//! anyway. The helper takes an offered endpoint for one bounded pass, and the next call takes it back, or waits for the end of
//! the pass. Endpoints that threads share it takes by their lock, where nobody has it. It runs functions of the program in
//! started collectives only, without the endpoint; a panic there is the error of the request.
//!
//! While something is under way and waits for a peer, the helper polls on a processor of its own, and else sleeps as a waiting
//! rank does: until a peer rings. When nothing is, it sleeps until a call offers something.

mod access;
mod offered;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use oxmpi_os::affinity;
use oxmpi_os::clock;
use oxmpi_os::scheduler::ask_for_slices;
use oxmpi_os::signal::BlockedSignals;

use self::offered::{OfferedEndpoint, Pass};
use super::async_progress;
use super::ownership::{latches, shared_endpoints};
use super::policy::AsyncProgress;
use crate::error::{Error, Result};

/// The helper of this process.
static HELPER: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// Whether the helper is to end.
static ENDS: AtomicBool = AtomicBool::new(false);

/// The slice that a helper on a shared processor asks for: about a pass, so that it is let in soon.
const SLICE: Duration = Duration::from_micros(100);

/// The shortest nap of the helper where nobody wakes it.
const NAP: Duration = Duration::from_micros(100);

/// Naps in which nothing is offered, before the helper sleeps until a call offers something.
const NAPS: u32 = 8;

/// A longer nap lasts at most one part in so many of the wait so far, and no longer than this.
const NAP_SHARE: u32 = 8;
const LONGEST_NAP: Duration = Duration::from_millis(5);

fn helper() -> MutexGuard<'static, Option<JoinHandle<()>>> {
    HELPER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the helper, if there is none, of the rank with this number on its node.
///
/// # Errors
/// When the system gives no thread, or not the processor that `policy` names for it.
pub(crate) fn start(policy: &AsyncProgress, node_rank: u32) -> Result<()> {
    let mut helper = helper();
    if helper.is_some() {
        return Ok(());
    }
    ENDS.store(false, Ordering::Relaxed);
    let refused = |why| Error::start("starting the helper thread of async_progress", why);
    let cpu = policy
        .cpus
        .get(node_rank as usize % policy.cpus.len().max(1));
    let poll = match cpu {
        Some(cpu) if !is_allowed(*cpu) => Duration::MAX,
        _ => policy.poll,
    };
    let (placed, place) = mpsc::sync_channel(1);
    let cpu = cpu.copied();
    let run = move || {
        let place = match cpu {
            Some(cpu) => affinity::set_current(&affinity::mask([cpu])),
            None => Ok(()),
        };
        let poll = if place.is_ok() { poll } else { Duration::ZERO };
        // The receiver waits for it.
        let _ = placed.send(place);
        // Where the kernel refuses, the helper waits longer for a shared processor.
        let _ = ask_for_slices(SLICE);
        run(poll);
    };
    let blocked = BlockedSignals::all().map_err(refused)?;
    let thread = thread::Builder::new().name("oxmpi-progress".into());
    *helper = Some(thread.spawn(run).map_err(refused)?);
    drop(blocked);
    async_progress::set_on(true);
    match place.recv() {
        Ok(Err(why)) => {
            let cpu = cpu.unwrap_or_default();
            let why = format!("processor {cpu}: {why}");
            Err(Error::start(
                "placing the helper thread of async_progress",
                why,
            ))
        }
        _ => Ok(()),
    }
}

/// Whether the calling thread may run on this processor.
fn is_allowed(cpu: usize) -> bool {
    affinity::current().is_ok_and(|mask| affinity::cpus(&mask).any(|allowed| allowed == cpu))
}

/// Ends the helper, if there is one, after its pass.
pub(crate) fn stop() {
    let Some(thread) = helper().take() else {
        return;
    };
    ENDS.store(true, Ordering::Relaxed);
    async_progress::announce();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
    async_progress::set_on(false);
}

/// What the helper does until it ends; `poll` is how long it polls before it sleeps.
fn run(poll: Duration) {
    let mut idle_since = None;
    let mut empty = 0;
    loop {
        let seen = async_progress::announced();
        if ENDS.load(Ordering::Relaxed) {
            return;
        }
        let endpoints = endpoints();
        let passes: Vec<Pass> = endpoints.iter().map(OfferedEndpoint::pass).collect();
        if passes.contains(&Pass::Moved) {
            (idle_since, empty) = (None, 0);
            continue;
        }
        let mut waiting =
            (endpoints.iter().zip(&passes)).filter(|(_, pass)| **pass != Pass::Nothing);
        let (first, others) = (waiting.next(), waiting.count());
        let Some((endpoint, pass)) = first else {
            // Calls may have the endpoints: they offer them soon, and need not wake the helper then.
            empty += 1;
            match empty < NAPS {
                true => thread::sleep(NAP),
                false => async_progress::sleep(seen),
            }
            idle_since = None;
            continue;
        };
        empty = 0;
        let waited = clock::since(*idle_since.get_or_insert_with(clock::now));
        if waited < poll {
            std::hint::spin_loop();
        } else if others == 0 && *pass == Pass::Idle {
            endpoint.sleep(seen);
        } else {
            // It cannot sleep for all of them at once, or a thread has one.
            thread::sleep((waited / NAP_SHARE).clamp(NAP, LONGEST_NAP));
        }
    }
}

/// All endpoints of this process that a call may have offered.
fn endpoints() -> Vec<OfferedEndpoint> {
    let latched = latches().into_iter().map(OfferedEndpoint::Latched);
    let locked = shared_endpoints().into_iter().map(OfferedEndpoint::Locked);
    latched.chain(locked).collect()
}
