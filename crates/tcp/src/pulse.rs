//! When a peer's host counts as gone.

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

#[cfg(test)]
mod tests {
    use super::*;

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
