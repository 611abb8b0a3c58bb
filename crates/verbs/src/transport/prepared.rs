//! [`Prepared`]: what an endpoint has before it registers memory.

use super::fitted_queues::FittedQueues;
use super::open_device::OpenDevice;
use super::options::{VerbsOptions, VerbsTransportError};
use super::queue_sizes::QueueSizes;
use super::rail::{MOST_RAILS, Rail};
use super::receive_queues::ReceiveQueue;
use crate::registration::prepare_for_forks;
use oxmpi_os::limit::LockedMemoryLimit;

/// Devices on which an endpoint can be opened, and what is known of it then.
pub(super) struct Prepared {
    pub(super) sizes: QueueSizes,
    pub(super) piece: u32,
    pub(super) fitted: FittedQueues,
    pub(super) devices: Vec<OpenDevice>,
    /// The place of the device of each rail.
    pub(super) places: Vec<usize>,
    /// Bytes inline that queue pairs are asked for, and that all devices grant then.
    pub(super) inline: [u32; 2],
}

impl Prepared {
    /// As [`VerbsEndpoint::open_rails`](super::VerbsEndpoint::open_rails), but nothing is registered.
    pub(super) fn new(
        rails: &[Rail],
        peers: u32,
        options: &VerbsOptions,
    ) -> Result<Self, VerbsTransportError> {
        assert!((1..=MOST_RAILS).contains(&rails.len()), "1 to 8 rails");
        let first = &rails[0].context;
        let queues = &options.receive_queues;
        ReceiveQueue::check_all(queues)?;
        let is_extended = |queue: &ReceiveQueue| matches!(queue, ReceiveQueue::Extended(_));
        for Rail { context, .. } in rails.iter().filter(|_| queues.iter().any(is_extended)) {
            if !context.limits()?.has_xrc {
                return Err(VerbsTransportError::NoExtended {
                    device: context.name().to_owned(),
                    receive_queues: ReceiveQueue::join_all(queues),
                });
            }
        }
        let sizes = QueueSizes::new(queues);
        let mut piece = options.piece;
        for rail in rails {
            piece = piece.min(rail.context.port(rail.port)?.max_message);
        }
        let piece = piece.max(1);
        // Before anything is registered.
        let locked = LockedMemoryLimit::raise();
        tracing::debug!(%locked, "memory that may be locked");
        let of_each = (locked.bytes()).map(|bytes| bytes / rails.len().max(1) as u64);
        let fitted = FittedQueues::of(options, of_each)?;
        if rails.iter().any(|rail| rail.context.is_iwarp()) {
            fitted.check_iwarp(queues, peers)?;
        }
        prepare_for_forks(first.library(), options.want_fork_support)?;
        let (devices, places) = OpenDevice::of_rails(rails, peers, options, &sizes)?;
        let mut inline = [options.inline, u32::MAX];
        for device in &devices {
            let [asked, granted] = device.inline(options, &sizes, peers)?;
            inline = [inline[0].min(asked), inline[1].min(granted)];
        }
        Ok(Self {
            sizes,
            piece,
            fitted,
            devices,
            places,
            inline,
        })
    }
}
