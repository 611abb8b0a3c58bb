//! How the device reports that work is done: completions, the queues that hold them, and channels to sleep on.

mod channel;
mod entry;
mod queue;

pub use channel::CompletionChannel;
pub use entry::{Completion, CompletionError};
pub use queue::{CompletionQueue, CompletionQueueOptions};
