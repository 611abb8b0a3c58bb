//! The failure of a rank: its exit code and its message.

use std::fmt;

use oxmpi_os::process::ProcessEnd;
use oxmpi_os::signal;
use oxmpi_wire::pmi::RankState;

/// Why a rank failed, so that the job is ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RankFailure {
    /// A signal killed the rank.
    Killed(i32),
    /// The rank ended with an exit code other than 0.
    Exited(i32),
    /// The rank exited with code 0 after init, without finalize.
    NotFinalized,
    /// The rank called abort.
    Aborted(i32),
    /// The rank broke the PMI protocol.
    ProtocolError(String),
}

impl RankFailure {
    /// The failure of a rank that has ended; `None`: it ended without failure.
    pub(crate) fn of(end: ProcessEnd, standing: RankState) -> Option<Self> {
        match end {
            ProcessEnd::Killed(signal) => Some(Self::Killed(signal)),
            ProcessEnd::Exited(0) if standing == RankState::Outside => None,
            ProcessEnd::Exited(0) => Some(Self::NotFinalized),
            ProcessEnd::Exited(code) => Some(Self::Exited(code)),
        }
    }

    /// The exit code of the job.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Killed(signal) => 128_u8.saturating_add(u8::try_from(*signal).unwrap_or(0)),
            Self::Exited(code) | Self::Aborted(code) => low_byte(*code),
            Self::NotFinalized | Self::ProtocolError(_) => 1,
        }
    }

    /// Order of failures at the same time: the cause, such as a crash, before its consequences.
    pub(crate) fn precedence(&self) -> u8 {
        match self {
            Self::Aborted(_) => 0,
            Self::Killed(_) => 1,
            Self::ProtocolError(_) => 2,
            Self::NotFinalized => 3,
            Self::Exited(_) => 4,
        }
    }
}

/// The low byte of an exit code, as the system keeps it; 1 instead of 0.
fn low_byte(code: i32) -> u8 {
    match code.to_le_bytes()[0] {
        0 => 1,
        byte => byte,
    }
}

impl fmt::Display for RankFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Killed(number) => match signal::name(*number) {
                Some(name) => write!(f, "was killed by signal {number} (SIG{name})"),
                None => write!(f, "was killed by signal {number}"),
            },
            Self::Exited(code) => write!(f, "exited with code {code}"),
            Self::NotFinalized => f.write_str("exited with code 0 without finalize"),
            Self::Aborted(code) => write!(f, "called abort with code {code}"),
            Self::ProtocolError(why) => write!(f, "broke the PMI protocol: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_a_code_and_a_message() {
        let cases = [
            (ProcessEnd::Exited(0), RankState::Outside, None),
            (
                ProcessEnd::Exited(3),
                RankState::Outside,
                Some((3, "exited with code 3")),
            ),
            (
                ProcessEnd::Exited(0),
                RankState::Joined,
                Some((1, "exited with code 0 without finalize")),
            ),
            (
                ProcessEnd::Exited(0),
                RankState::Waiting,
                Some((1, "exited with code 0 without finalize")),
            ),
            (
                ProcessEnd::Killed(9),
                RankState::Joined,
                Some((137, "was killed by signal 9 (SIGKILL)")),
            ),
            (
                ProcessEnd::Killed(40),
                RankState::Joined,
                Some((168, "was killed by signal 40")),
            ),
        ];
        for (end, standing, expected) in cases {
            let failure = RankFailure::of(end, standing);
            assert_eq!(
                failure.as_ref().map(RankFailure::code),
                expected.map(|(code, _)| code)
            );
            if let (Some(failure), Some((_, says))) = (failure, expected) {
                assert!(failure.to_string().starts_with(says), "{failure}");
            }
        }
    }

    #[test]
    fn an_abort_never_has_exit_code_0() {
        let code = |code| RankFailure::Aborted(code).code();
        assert_eq!((code(7), code(0), code(256), code(-1)), (7, 1, 1, 255));
    }
}
