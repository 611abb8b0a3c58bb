//! How an endpoint sleeps: on the wait objects of all its transports at once.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use oxmpi_os::pipe::{PollFd, PollFlags, poll};
use oxmpi_wire::WaitObjects;

/// Sleeps until the network has an arrival or `doorbell` rings, at most for `limit` and as long as the network
/// allows. Call it after the network has been armed, and poll afterwards.
///
/// # Cost
/// One system call. The set is made anew for each sleep: a lasting one would cost each arrival some work while
/// the rank is awake.
pub(crate) fn sleep<'a, R>(network: &'a R, doorbell: Option<BorrowedFd<'a>>, limit: Duration)
where
    R: WaitObjects<WaitObject<'a> = BorrowedFd<'a>>,
{
    let readable = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
    let mut set: Vec<PollFd<'a>> = doorbell.into_iter().map(readable).collect();
    network.watch(&mut |fd| set.push(readable(fd)));
    // However the wait ends, the caller polls again.
    let _ = poll(&mut set, Some(limit.min(network.longest_sleep())));
}
