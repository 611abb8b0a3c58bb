//! [`OpenDevice`]: a device with what all its ports have in common.

use super::OPERATIONS;
use super::frame_head::MAX_INLINE;
use super::options::{VerbsOptions, VerbsTransportError};
use super::queue_sizes::QueueSizes;
use super::rail::Rail;
use super::receive_queues::ReceiveQueue;
use super::tx::Registrations;
use crate::objects::{
    CompletionChannel, CompletionQueue, CompletionQueueOptions, Context, ProtectionDomain,
    QueueCapacity,
};
use crate::registration::{BouncePool, MemoryNotifier, RegistrationCache, RegistrationOptions};

/// A device with what all its ports have in common.
#[derive(Debug)]
pub(super) struct OpenDevice {
    pub(super) context: Context,
    pub(super) domain: ProtectionDomain,
    pub(super) channel: CompletionChannel,
    pub(super) queue: CompletionQueue,
    /// Entries of the completion queue.
    pub(super) depth: u32,
}

impl OpenDevice {
    /// Makes the domain and a completion queue of the device `context` for `peers` peers by each of `ports` ports.
    ///
    /// # Errors
    /// When the device has no queue that is long enough, or a call fails.
    pub(super) fn new(
        context: &Context,
        ports: u32,
        peers: u32,
        options: &VerbsOptions,
        sizes: &QueueSizes,
    ) -> Result<Self, VerbsTransportError> {
        let domain = context.alloc_pd()?;
        let channel = context.create_completion_channel()?;
        let [of_peer, of_all] = completions(options, sizes).map(|count| count * ports);
        let depth = of_peer.saturating_mul(peers.max(1)).saturating_add(of_all);
        let most = context.limits()?.max_cqe;
        if depth > most {
            return Err(VerbsTransportError::TooManyPeers {
                device: context.name().to_owned(),
                peers,
                most: most.saturating_sub(of_all) / of_peer,
                receive_queues: ReceiveQueue::join_all(&options.receive_queues),
            });
        }
        let queue = context.create_completion_queue(CompletionQueueOptions {
            channel: Some((&channel, 0)),
            ..CompletionQueueOptions::polled(depth)
        })?;
        Ok(Self {
            context: context.clone(),
            domain,
            channel,
            queue,
            depth,
        })
    }

    /// The devices of `rails`, each once, and the place of the device of each rail.
    ///
    /// # Errors
    /// As [`OpenDevice::new`].
    pub(super) fn of_rails(
        rails: &[Rail],
        peers: u32,
        options: &VerbsOptions,
        sizes: &QueueSizes,
    ) -> Result<(Vec<Self>, Vec<usize>), VerbsTransportError> {
        let (mut devices, mut places) = (Vec::<Self>::new(), Vec::new());
        for rail in rails {
            let is_of = |context: &Context| context.name() == rail.context.name();
            let found = devices.iter().position(|device| is_of(&device.context));
            places.push(found.unwrap_or(devices.len()));
            if found.is_none() {
                let ports = rails.iter().filter(|rail| is_of(&rail.context)).count();
                let device = Self::new(&rail.context, ports as u32, peers, options, sizes)?;
                devices.push(device);
            }
        }
        Ok((devices, places))
    }

    /// Bytes inline that it grants the queue pair of the first receive queue, which is made and destroyed.
    ///
    /// # Errors
    /// When the device makes no queue pair.
    pub(super) fn inline(
        &self,
        options: &VerbsOptions,
        sizes: &QueueSizes,
    ) -> Result<u32, VerbsTransportError> {
        let capacity = capacity(&options.receive_queues[0], sizes, 0, options);
        let trial = (self.domain).create_queue_pair(&self.queue, &self.queue, capacity)?;
        Ok(trial.capacity().max_inline_data.min(MAX_INLINE as u32))
    }
}

impl OpenDevice {
    /// Where registrations of memory come from, as `options` says.
    pub(super) fn registrations(&self, options: &RegistrationOptions) -> Registrations {
        let notifier = (options.leave_pinned).then(MemoryNotifier::of_process);
        let cache = notifier.and_then(|notifier| match notifier {
            Ok(notifier) => Some(RegistrationCache::new(
                self.domain.clone(),
                notifier,
                options.caps,
            )),
            Err(why) => {
                tracing::debug!(%why, "no registration is cached");
                None
            }
        });
        Registrations {
            cache,
            buffers: BouncePool::new(self.domain.clone()),
            copied: options.copied,
        }
    }
}

/// What the queue pair of receive queue `number` holds: frames and credit messages in flight, and the rank's
/// operations.
pub(super) fn capacity(
    queue: &ReceiveQueue,
    sizes: &QueueSizes,
    number: u8,
    options: &VerbsOptions,
) -> QueueCapacity {
    let VerbsOptions { inline, rings, .. } = options;
    let mut sends = queue.sends();
    if number == sizes.of_accesses() {
        // Of a ring, its frames and words.
        sends += OPERATIONS as u32 + rings.slots;
    }
    let receives = if queue.is_shared() {
        0
    } else {
        queue.buffers()
    };
    QueueCapacity {
        max_inline_data: (*inline).min(MAX_INLINE as u32),
        ..QueueCapacity::new(sends, receives)
    }
}

/// The most completions that nobody has polled: of a peer, and of the receives of all.
fn completions(options: &VerbsOptions, sizes: &QueueSizes) -> [u32; 2] {
    let (mut of_peer, mut of_all) = (0, 0);
    for (queue, number) in options.receive_queues.iter().zip(0..) {
        let capacity = capacity(queue, sizes, number, options);
        of_peer += capacity.max_send_wr + capacity.max_recv_wr;
        if queue.is_shared() {
            of_all += queue.buffers();
        }
    }
    [of_peer, of_all]
}
