//! Registered memory: what of the user's memory stays registered after its use, and what goes through buffers.
//!
//! ```text
//!  range_cache   which ranges are registered        no system calls
//!  event_log     which memory has gone              no system calls
//!  notifier      the thread that learns it; a device that pages on demand needs none
//!  kept_memory   memory whose owner tells what has gone
//!  cache         regions of the devices, by range
//!  bounce_pool   registered buffers for the rest
//!  device_regions the same memory as a region of several devices
//!
//!  leave_pinned  whether anything is cached         decisions
//!  fork_support  whether the process may fork
//!  locked_memory queues that fit a limit, remedies
//!  registrable   what a device can register
//! ```

mod bounce_pool;
mod cache;
mod device_regions;
mod event_log;
mod fork_support;
mod kept_memory;
mod leave_pinned;
mod locked_memory;
mod notifier;
mod range_cache;
mod registrable;

pub(crate) use bounce_pool::BouncePool;
pub use cache::CacheCounts;
pub(crate) use cache::{Keeper, Placed, RegistrationCache};
pub(crate) use device_regions::{DeviceRegions, MEMORY_DEVICES};
pub use event_log::{EventLog, LogMemory, LogPosition, LogReading, LogWords, LogWriter};
pub use fork_support::{
    ForkStatus, ForkSupport, NoForkSupport, calls_fork_init, fork_support, probe_fork_support,
};
pub(crate) use fork_support::{is_forked_child, prepare as prepare_for_forks};
pub use kept_memory::KeptMemory;
pub use leave_pinned::{
    LeavePinned, PinnedDecision, PinnedFromFile, PinnedSetting, PinnedSettings, SettingOrigin,
};
pub use locked_memory::{
    LOCKED_MEMORY_REMEDIES, LockedMemoryShortage, QueueNeeds, explain_failure,
};
pub(crate) use notifier::MemoryNotifier;
pub use notifier::{NotifierUnavailable, notifier_unavailable};
pub use range_cache::RegistrationCaps;
pub use registrable::{
    RegistrableWarning, TranslationTable, recommended_log_num_mtt, registrable_bytes,
};

/// What of the user's memory stays registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegistrationOptions {
    /// What stays registered after its use, where there is a notifier ([`notifier_unavailable`]), or the device pages on demand
    /// ([`OnDemandPaging`](crate::OnDemandPaging)).
    pub leave_pinned: LeavePinned,
    /// Whether the notifier is used where there is one.
    pub uses_notifier: bool,
    /// The most that stays registered.
    pub caps: RegistrationCaps,
    /// Bytes of the longest memory that peers only read and that is copied through a registered buffer rather than
    /// registered for one use.
    pub copied: u64,
}

impl Default for RegistrationOptions {
    /// All stays registered; what cannot is copied up to 64 KiB.
    fn default() -> Self {
        Self {
            leave_pinned: LeavePinned::On,
            uses_notifier: true,
            caps: RegistrationCaps::default(),
            copied: 64 << 10,
        }
    }
}
