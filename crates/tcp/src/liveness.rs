//! When a peer's host counts as lost, and when a connection counts as stalled.

use std::time::Duration;

use oxmpi_os::tcp::TcpInfo;

/// Whether the peer's kernel has left segments or probes unanswered for `limit`.
///
/// The kernel answers whatever its processes do: a peer that computes for an hour or is stopped by a
/// debugger is alive, and so is one with a closed window whose probes are answered. TCP_USER_TIMEOUT
/// is of no use: since Linux 5.11 it also ends connections to peers that merely do not read.
///
/// A host that dies while its window is closed is noticed later, since the kernel probes less and less
/// often, in the end every two minutes. An idle connection is probed by keepalive.
#[must_use]
pub fn is_unresponsive(info: &TcpInfo, limit: Duration) -> bool {
    let retransmitted = info.unacked > 0 && info.retransmits > 1;
    let probed = info.probes > 1;
    info.since_last_ack >= limit && (retransmitted || probed)
}

/// Finds connections that bring nothing although the peer is pinged.
///
/// A proxy or firewall between the hosts may acknowledge bytes that it never passes on, so the kernel
/// cannot tell; the peer's process has to answer in the stream. A process that makes no call cannot
/// answer, and counts as lost.
///
/// Time is counted in checks, [`StallDetector::CHECKS`] within the limit: checks that this rank missed while it was
/// busy do not count against the peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StallDetector {
    /// Checks since something arrived.
    quiet: u8,
}

/// What to do about a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StallVerdict {
    /// Nothing.
    Wait,
    /// Ping the peer.
    Ping,
    /// The peer counts as lost: no ping was answered.
    Lost,
}

impl StallDetector {
    /// Checks within the limit.
    pub const CHECKS: u8 = 8;

    /// Something arrived.
    #[inline]
    pub fn received(&mut self) {
        self.quiet = 0;
    }

    /// Checks once more. Between two checks the connection has to be read.
    pub fn check(&mut self) -> StallVerdict {
        self.quiet = self.quiet.saturating_add(1);
        match self.quiet {
            1 => StallVerdict::Ping,
            Self::CHECKS.. => StallVerdict::Lost,
            _ => StallVerdict::Wait,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_without_an_answer_is_lost() {
        let mut stall = StallDetector::default();
        for _ in 0..100 {
            assert_eq!(stall.check(), StallVerdict::Ping);
            for _ in 2..StallDetector::CHECKS {
                assert_eq!(stall.check(), StallVerdict::Wait);
            }
            stall.received();
        }
        for _ in 1..StallDetector::CHECKS {
            assert_ne!(stall.check(), StallVerdict::Lost);
        }
        assert_eq!(stall.check(), StallVerdict::Lost);
    }

    const LIMIT: Duration = Duration::from_secs(20);

    fn info(silence: u64, unacked: u32, retransmits: u8, probes: u8) -> TcpInfo {
        TcpInfo {
            since_last_ack: Duration::from_secs(silence),
            unacked,
            retransmits,
            probes,
        }
    }

    #[test]
    fn only_a_host_that_was_asked_can_be_unresponsive() {
        for (info, expected) in [
            (info(3600, 0, 0, 0), false), // nothing was sent
            (info(19, 5, 6, 0), false),   // it may still answer
            (info(21, 5, 6, 0), true),    // sent again and again in vain
            (info(21, 5, 0, 0), false),   // sent just now, after a long pause
            (info(60, 0, 0, 1), false),   // a closed window, probed just now
            (info(60, 0, 0, 4), true),    // probes in vain
        ] {
            assert_eq!(is_unresponsive(&info, LIMIT), expected, "{info:?}");
        }
    }
}
