//! When a peer's host counts as gone, and when a stream does.

use std::time::Duration;

use oxmpi_os::tcp::Pulse;

/// Whether the other end's host was asked for a sign of life and gave none for `limit`.
///
/// Its kernel answers, whatever its processes do: a peer that computes for an hour, or is stopped by a
/// debugger, is not gone. A closed window is none either, as long as probes of it are answered. This is
/// where the kernel's own limit (TCP_USER_TIMEOUT) is of no use: since Linux 5.11 it also ends
/// connections to those who merely do not read.
///
/// A host that dies while its window has been closed for some time is noticed later: the kernel asks
/// ever more seldom, in the end every two minutes. One that is not spoken to is noticed by keepalive.
#[must_use]
pub fn is_silent(pulse: &Pulse, limit: Duration) -> bool {
    let resent = pulse.unanswered > 0 && pulse.resent > 1;
    let probed = pulse.probes > 1;
    pulse.silent >= limit && (resent || probed)
}

/// Whether a stream still brings what is put into it.
///
/// The kernel's word is that of the next box: a proxy or a firewall that ends connections and makes its
/// own confirms bytes that it never passes on. Only the peer's process knows what came, so it is asked,
/// in the stream itself, once that has been quiet. A process that makes no call cannot answer: who looks
/// this way takes it for lost.
///
/// Time is counted in looks, of which there are [`Stall::LOOKS`] within the limit, and not in seconds: the
/// looks that this process missed while it was busy are nobody's silence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stall {
    /// Looks since something came.
    quiet: u8,
}

/// What to do about a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Wait,
    /// Ask the peer.
    Ask,
    /// Nothing came, for all the asking.
    Lost,
}

impl Stall {
    /// Looks within the limit.
    pub const LOOKS: u8 = 8;

    /// Something came.
    #[inline]
    pub fn heard(&mut self) {
        self.quiet = 0;
    }

    /// Looks once more. Between two looks the stream has to be read.
    pub fn look(&mut self) -> Verdict {
        self.quiet = self.quiet.saturating_add(1);
        match self.quiet {
            1 => Verdict::Ask,
            Self::LOOKS.. => Verdict::Lost,
            _ => Verdict::Wait,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_lost_that_brings_no_answer() {
        let mut stall = Stall::default();
        for _ in 0..100 {
            assert_eq!(stall.look(), Verdict::Ask);
            for _ in 2..Stall::LOOKS {
                assert_eq!(stall.look(), Verdict::Wait);
            }
            stall.heard();
        }
        for _ in 1..Stall::LOOKS {
            assert_ne!(stall.look(), Verdict::Lost);
        }
        assert_eq!(stall.look(), Verdict::Lost);
    }

    const LIMIT: Duration = Duration::from_secs(20);

    fn pulse(silent: u64, unanswered: u32, resent: u8, probes: u8) -> Pulse {
        Pulse {
            silent: Duration::from_secs(silent),
            unanswered,
            resent,
            probes,
        }
    }

    #[test]
    fn only_who_was_asked_can_be_silent() {
        for (pulse, expected) in [
            (pulse(3600, 0, 0, 0), false), // nobody spoke
            (pulse(19, 5, 6, 0), false),   // it may still answer
            (pulse(21, 5, 6, 0), true),    // sent again and again in vain
            (pulse(21, 5, 0, 0), false),   // sent just now, after a long pause
            (pulse(60, 0, 0, 1), false),   // a closed window, probed just now
            (pulse(60, 0, 0, 4), true),    // probes in vain
        ] {
            assert_eq!(is_silent(&pulse, LIMIT), expected, "{pulse:?}");
        }
    }
}
