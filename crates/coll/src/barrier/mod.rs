//! Barrier: no rank leaves before every rank has entered (MPI 5.0, section 6.3). No buffer is used.

mod dissemination;
mod knomial;
mod signals;

pub(crate) use dissemination::Dissemination;
pub(crate) use knomial::BarrierKnomial;
pub(crate) use signals::Signals;
