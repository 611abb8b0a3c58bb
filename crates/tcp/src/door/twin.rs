//! Which of two connections between the same two ranks is kept, when both called at once.

use super::Refusal;

/// How a rank stands with the peer that calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is under way.
    Apart,
    /// This rank's own call is under way, or will be made again. It has not proved who it is, so nobody can have
    /// let it in.
    Calling,
    /// This rank's own call has proved who it is: the peer lets it in, or has.
    Proved,
    /// They are connected.
    Met,
    /// This rank has lost the peer, and told so.
    Lost,
}

/// What to do with the peer's call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It becomes the connection; this rank's own call, if there is one, is dropped.
    Welcome,
    /// It does not, for this reason.
    Refuse(Refusal),
}

/// Judges the call of rank `from` at rank `here`.
///
/// A call that has not proved who it is gives way: nobody has let it in, and nobody will once it is dropped. Of two
/// that have, the lower rank's wins: the lower one refuses, and the higher one drops its own when the lower one's
/// comes. So both sides come to the same choice, and a rank that cannot reach the other, or that nobody answers, keeps
/// out no call of the other. Frames wait with the rank, not with a connection, so none is lost with a call that is
/// dropped. A higher rank that is refused calls again: if the lower one's call fails all the same, it gets through.
///
/// Who has lost the caller says so, and the caller loses it as well.
#[must_use]
pub const fn judge(here: u32, from: u32, standing: Standing) -> Verdict {
    match standing {
        Standing::Apart | Standing::Calling => Verdict::Welcome,
        Standing::Proved if from < here => Verdict::Welcome,
        Standing::Proved | Standing::Met => Verdict::Refuse(Refusal::Twin),
        Standing::Lost => Verdict::Refuse(Refusal::Lost),
    }
}
