//! The objects of libibverbs and librdmacm as values: each owns what it was made from, so the C objects are destroyed children
//! first, whatever order Rust drops them in.
//!
//! The unsafe code here rests on three facts. A [`Handle`] holds an object that its creation returned and that
//! nobody else destroys. The fields beside it keep the object's parents alive. And the library's functions may be
//! called by several threads at once.

mod address;
mod address_handle;
mod completion;
mod context;
mod descriptor;
mod device;
mod domain;
mod event;
mod handle;
mod port;
mod queue_pair;
mod rdmacm;
mod receive;
mod region;
mod region_part;
mod shared_queue;
#[cfg(test)]
mod tests;
mod xrc;

pub use address::{AddressVector, GlobalRoute};
pub use address_handle::AddressHandle;
pub use completion::{
    Completion, CompletionChannel, CompletionError, CompletionQueue, CompletionQueueOptions,
};
pub use context::{Context, DeviceLimits, OnDemandPaging};
#[cfg(test)]
pub(crate) use device::devices_of;
pub use device::{Device, devices};
pub use domain::ProtectionDomain;
pub use event::{AsyncEvent, EventSource};
pub use port::{Gid, GidEntry, GidType, LinkLayer, Mtu, Port, PortState};
pub(crate) use queue_pair::WeakInitiator;
pub use queue_pair::{
    Accepting, DatagramAttributes, Destination, Init, InitAttributes, Payload, QueueCapacity,
    QueuePair, QueuePairState, ROUTING_HEADER, ReadyToReceive, ReadyToSend, ReceiveAttributes,
    ReliableConnection, ReliableService, Reset, SendAttributes, SendFlags, TransportService,
    UnreliableDatagram, XrcInitiator, XrcTarget,
};
pub use rdmacm::{CmChannel, CmEvent, CmEventKind, CmFailure, CmIdentifier, CmKey, CmParameters};
pub use region::{Access, MemoryRegion, RemoteAddress, Segment};
pub(crate) use region_part::RegionPart;
pub use shared_queue::SharedReceiveQueue;
pub use xrc::XrcDomain;
