//! How an endpoint sleeps: on the wait objects of all its transports at once.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use oxmpi_os::pipe::{PollFd, PollFlags, poll};
use oxmpi_shm::transport::ShmSleeper;
use oxmpi_wire::WaitObjects;

/// Longest sleep; then the next poll checks the processes of the ranks of this node.
const LONGEST: Duration = Duration::from_millis(100);

/// Sleeps until the network has an arrival or `doorbell` rings, at most for `limit`, 100 ms, and as long as the network
/// allows. Call it after the network has been armed, and poll afterwards.
///
/// # Cost
/// One system call. The set is made anew for each sleep: a lasting one would cost each arrival some work while
/// the rank is awake.
pub(crate) fn sleep<'a, R>(network: &'a R, doorbell: Option<BorrowedFd<'a>>, limit: Duration)
where
    R: WaitObjects<WaitObject<'a> = BorrowedFd<'a>>,
{
    let limit = limit.min(network.longest_sleep()).min(LONGEST);
    // However the wait ends, the caller polls again.
    let _ = poll(&mut wait_set(network, doorbell), Some(limit));
}

/// Sleeps for an endpoint that another thread may use meanwhile: made by [`LinksRx::arm`](super::LinksRx::arm).
#[derive(Clone, Debug)]
pub(crate) struct LinksSleeper {
    node: ShmSleeper,
    /// Own descriptors of the network's wait objects, so that the endpoint may close its own.
    network: Arc<[OwnedFd]>,
    limit: Duration,
}

impl LinksSleeper {
    /// # Errors
    /// When the system has no descriptors left.
    pub(super) fn new<'a, R>(node: ShmSleeper, network: Option<&'a R>) -> io::Result<Self>
    where
        R: WaitObjects<WaitObject<'a> = BorrowedFd<'a>>,
    {
        let mut objects = Vec::new();
        if let Some(network) = network {
            network.watch(&mut |fd| objects.push(fd.try_clone_to_owned()));
        }
        let limit = network.map_or(LONGEST, |network| network.longest_sleep().min(LONGEST));
        Ok(Self {
            node,
            network: objects.into_iter().collect::<io::Result<_>>()?,
            limit,
        })
    }

    /// Sleeps until a peer's message may have come, or [`LinksSleeper::wake`] is called.
    pub(crate) fn sleep(&self) {
        let Some(doorbell) = self.node.doorbell() else {
            return self.node.sleep(self.limit);
        };
        let descriptors = (self.network.iter().map(AsFd::as_fd)).chain([doorbell]);
        let readable = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
        let mut set: Vec<PollFd<'_>> = descriptors.map(readable).collect();
        // However the wait ends, the caller polls again.
        let _ = poll(&mut set, Some(self.limit));
    }

    /// Wakes the thread that sleeps, or is about to.
    pub(crate) fn wake(&self) {
        self.node.wake();
    }
}

/// What ends a sleep when it becomes readable.
fn wait_set<'a, R>(network: &'a R, doorbell: Option<BorrowedFd<'a>>) -> Vec<PollFd<'a>>
where
    R: WaitObjects<WaitObject<'a> = BorrowedFd<'a>>,
{
    let readable = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
    let mut set: Vec<PollFd<'a>> = doorbell.into_iter().map(readable).collect();
    network.watch(&mut |fd| set.push(readable(fd)));
    set
}

#[cfg(test)]
mod tests {
    use std::io::{self, PipeReader, Read, Write};
    use std::os::fd::AsFd;

    use oxmpi_wire::Sleeper;

    use super::*;

    /// A network with a completion channel for each of its rails.
    struct Rails([PipeReader; 2]);

    impl Sleeper for Rails {
        fn arm(&mut self) -> bool {
            true
        }
    }

    impl WaitObjects for Rails {
        type WaitObject<'a> = BorrowedFd<'a>;

        fn watch<'a>(&'a self, watch: &mut dyn FnMut(BorrowedFd<'a>)) {
            self.0.iter().for_each(|channel| watch(channel.as_fd()));
        }

        fn longest_sleep(&self) -> Duration {
            Duration::MAX
        }
    }

    #[test]
    fn the_doorbell_and_each_channel_end_a_sleep() {
        let [first, second, doorbell] = [(); 3].map(|()| io::pipe().expect("a pipe"));
        let rails = Rails([first.0, second.0]);
        let ready = |rails: &Rails| {
            let mut set = wait_set(rails, Some(doorbell.0.as_fd()));
            poll(&mut set, Some(Duration::ZERO)).expect("a poll")
        };
        assert_eq!(ready(&rails), 0);
        for (count, mut pipe) in (1..).zip([&first.1, &doorbell.1, &second.1]) {
            pipe.write_all(&[1]).expect("room");
            assert_eq!(ready(&rails), count);
        }
        (&rails.0[0]).read_exact(&mut [0]).expect("a byte");
        assert_eq!(ready(&rails), 2);
    }
}
