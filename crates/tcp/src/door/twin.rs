//! Which of two connections between the same two ranks is kept, when both called at once.

/// How a rank stands with the peer that calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is under way.
    Apart,
    /// This rank's own call is under way, or will be made again.
    Calling,
    /// They are connected, or were.
    Met,
}

/// What to do with the peer's call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It becomes the connection; this rank's own call, if there is one, is dropped.
    Welcome,
    /// This rank's own call goes before it.
    Refuse,
}

/// Judges the call of rank `from` at rank `here`.
///
/// The call of the lower rank wins. Both sides come to the same choice, since the lower one refuses
/// while its own call is under way, and the higher one drops its own when the lower one's comes. Frames
/// wait with the rank, not with a connection, so none is lost with a call that is dropped. A higher rank
/// that is refused calls again: if the lower one's call fails, it gets through.
#[must_use]
pub const fn judge(here: u32, from: u32, standing: Standing) -> Verdict {
    match standing {
        Standing::Apart => Verdict::Welcome,
        Standing::Calling if from < here => Verdict::Welcome,
        Standing::Calling | Standing::Met => Verdict::Refuse,
    }
}
