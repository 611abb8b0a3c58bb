//! How a rank leaves in order: it sends [`Control::Leave`] to every peer and waits until the kernel has all bytes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use oxmpi_os::pipe::{PollFd, PollFlags, poll};
use oxmpi_wire::Bytes;

use super::TcpTx;
use crate::frame::Control;

/// Longest wait of a rank that leaves.
const TIMEOUT: Duration = Duration::from_secs(5);

impl<B: Bytes> Drop for TcpTx<B> {
    /// Announces to every peer that this rank leaves, and waits up to five seconds until the kernel has
    /// all sent bytes. A peer that does not read for that long loses the rest.
    fn drop(&mut self) {
        let until = Instant::now() + TIMEOUT;
        let mut first = true;
        while !self.send_leave(first) {
            first = false;
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let streams: Vec<_> = self.open().map(|(_, stream)| Arc::clone(stream)).collect();
            let mut fds: Vec<_> = streams
                .iter()
                .map(|stream| PollFd::new(&**stream, PollFlags::OUT))
                .collect();
            if poll(&mut fds, Some(left)).is_err() {
                break;
            }
        }
        for (_, stream) in self.open() {
            // With unread bytes the close would be a reset, which drops bytes that the peer has not read yet.
            let _ = stream.finish();
            let mut space = [0; 4096];
            while stream
                .read(&mut space, &mut [])
                .is_ok_and(|count| count > 0)
            {}
        }
    }
}

impl<B: Bytes> TcpTx<B> {
    /// Queues the announcement at the `first` call, and writes. True: the kernel has all bytes.
    fn send_leave(&mut self, first: bool) -> bool {
        let mut done = true;
        for peer in 0..self.peers.len() as u32 {
            let Some(half) = &mut self.peers[peer as usize] else {
                continue;
            };
            if half.stream.is_none() {
                continue;
            }
            if first {
                half.replies.push_back(Control::Leave);
            }
            half.writable = true;
            self.pump(peer);
            done &= self.half(peer).is_done();
        }
        done
    }
}
