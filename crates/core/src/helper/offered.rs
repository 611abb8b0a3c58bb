//! The endpoints that the helper thread carries on: [`OfferedEndpoint`].

use std::sync::Arc;

use super::super::async_progress;
use super::super::collective::drive_these;
use super::super::collective_state::WhichCollectives;
use super::super::endpoint::Endpoint;
use super::super::ownership::{EndpointLatch, Multi};
use super::super::threading::Threading;
use super::access::HelperAccess;

/// What the helper found in a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// Nothing is under way, or a call has the endpoint, and offers it when it ends.
    Nothing,
    /// Another thread has the endpoint, whatever is under way.
    Locked,
    /// Something is under way, and waits for a peer.
    Idle,
    /// Something moved.
    Moved,
}

/// An endpoint of this process.
pub(super) enum OfferedEndpoint {
    /// One thread uses it, and offers it when a call ends.
    Latched(Arc<EndpointLatch>),
    /// Threads share it by a lock.
    Locked(Multi),
}

impl OfferedEndpoint {
    /// Makes a bounded pass, if no call has the endpoint.
    pub(super) fn pass(&self) -> Pass {
        match self {
            Self::Latched(latch) => pass_latched(latch),
            Self::Locked(multi) => pass_locked(multi),
        }
    }

    /// Sleeps until a peer's message may have come for the endpoint, or something is announced after `seen`; not where a pass
    /// would bring something, or a call has the endpoint.
    pub(super) fn sleep(&self, seen: u64) {
        let begin = |endpoint: &mut Endpoint| {
            let sleeper = endpoint.begin_sleep()?;
            if !async_progress::begin_sleep(seen, &sleeper) {
                endpoint.end_sleep();
                return None;
            }
            Some(sleeper)
        };
        let sleeper = match self {
            Self::Latched(latch) => {
                let access = HelperAccess::of_offered(Arc::clone(latch));
                access.take(|access| with(access, begin)).flatten()
            }
            Self::Locked(multi) => (multi.try_lock()).and_then(|mut endpoint| begin(&mut endpoint)),
        };
        match sleeper {
            Some(sleeper) => sleeper.sleep(),
            None => std::thread::yield_now(),
        }
    }
}

fn with<A: Threading, R>(access: &A, work: impl FnOnce(&mut Endpoint) -> R) -> R {
    access.with(work)
}

fn pass_latched(latch: &Arc<EndpointLatch>) -> Pass {
    let access = HelperAccess::of_offered(Arc::clone(latch));
    let pass = access.take(|held| {
        let pass = with(held, first_part);
        if pass == Pass::Nothing || held.is_wanted() {
            return (pass, false);
        }
        let before = with(held, |endpoint| endpoint.completed());
        drive_these(held, WhichCollectives::WithoutProgram);
        with(held, |endpoint| {
            let has_others = endpoint.collectives.count(WhichCollectives::ByProgram) != 0;
            (pass.or_moved(endpoint.completed() != before), has_others)
        })
    });
    match pass {
        Some((pass, true)) if latch.calls_program() => {
            drive_these(&access, WhichCollectives::ByProgram);
            pass
        }
        Some((pass, _)) => pass,
        None => Pass::Nothing,
    }
}

fn pass_locked(multi: &Multi) -> Pass {
    let Some(mut endpoint) = multi.try_lock() else {
        return Pass::Locked;
    };
    let pass = first_part(&mut endpoint);
    let (before, collectives) = (endpoint.completed(), endpoint.collectives.are_open());
    drop(endpoint);
    if pass == Pass::Nothing || !collectives {
        return pass;
    }
    drive_these(multi, WhichCollectives::All);
    let after = with(multi, |endpoint| endpoint.completed());
    pass.or_moved(after != before)
}

/// The part of a pass that advances no collective.
fn first_part(endpoint: &mut Endpoint) -> Pass {
    if endpoint.check().is_err() || !endpoint.has_open() {
        return Pass::Nothing;
    }
    match endpoint.pass() {
        true => Pass::Moved,
        false => Pass::Idle,
    }
}

impl Pass {
    fn or_moved(self, moved: bool) -> Self {
        match moved {
            true => Self::Moved,
            false => self,
        }
    }
}
