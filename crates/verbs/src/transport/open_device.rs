//! [`OpenDevice`]: a device with what all its ports have in common.

use super::frame_head::MAX_INLINE;
use super::growing_queue::{CompletionNeeds, GrowingQueue};
use super::initiators::{ExtendedDomain, initiator_capacity};
use super::options::{VerbsOptions, VerbsTransportError};
use super::queue_sizes::QueueSizes;
use super::rail::Rail;
use super::receive_queues::ReceiveQueue;
use super::tx::Registrations;
use super::{CONFIRMATIONS, OPERATIONS};
use crate::objects::{
    CompletionChannel, CompletionQueue, Context, ProtectionDomain, QueueCapacity,
};
use crate::registration::{
    BouncePool, Keeper, LeavePinned, MEMORY_DEVICES, MemoryNotifier, RegistrationCache,
    RegistrationOptions,
};

/// A device with what all its ports have in common.
#[derive(Debug)]
pub(super) struct OpenDevice {
    pub(super) context: Context,
    pub(super) domain: ProtectionDomain,
    pub(super) channel: CompletionChannel,
    pub(super) queue: CompletionQueue,
    /// With receive queues of kind `X`.
    pub(super) extended: Option<ExtendedDomain>,
    /// The same, to make it longer.
    pub(super) growing: GrowingQueue,
    /// Its rails, and the port of each.
    pub(super) rails: Vec<(u8, u8)>,
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
        let needs = completions(options, sizes);
        let needs = CompletionNeeds {
            of_peer: needs.of_peer * ports,
            of_all: needs.of_all * ports,
        };
        let most = context.limits()?.max_cqe;
        if needs.with(peers.max(1)) > most {
            return Err(VerbsTransportError::TooManyPeers {
                device: context.name().to_owned(),
                peers,
                most: most.saturating_sub(needs.of_all) / needs.of_peer,
                receive_queues: ReceiveQueue::join_all(&options.receive_queues),
            });
        }
        let growing = GrowingQueue::new(context, &channel, needs, peers)?;
        let file = options.xrc_file.as_deref();
        let extended = is_extended(options).then(|| ExtendedDomain::open(context, file));
        Ok(Self {
            context: context.clone(),
            domain,
            channel,
            queue: growing.queue.clone(),
            extended: extended.transpose()?,
            growing,
            rails: Vec::new(),
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
            let of = places.last().map_or(0, |place| *place);
            let at = places.len() as u8 - 1;
            devices[of].rails.push((at, rail.port));
        }
        Ok((devices, places))
    }

    /// Bytes inline that the queue pair of the first receive queue is asked for, and those that the device grants then.
    ///
    /// # Errors
    /// When the device makes no queue pair.
    ///
    /// # Cost
    /// Makes a queue pair and destroys it; more if the device refuses what it does not grant, as soft-iWARP does.
    pub(super) fn inline(
        &self,
        options: &VerbsOptions,
        sizes: &QueueSizes,
        peers: u32,
    ) -> Result<[u32; 2], VerbsTransportError> {
        let mut capacity = match is_extended(options) {
            true => initiator_capacity(&self.context, options, peers)?.0,
            false => capacity(&options.receive_queues[0], sizes, 0, options),
        };
        let queue = &self.queue;
        loop {
            let asked = capacity.max_inline_data;
            let granted = match is_extended(options) {
                true => (self.domain.create_initiator(queue, capacity)).map(|pair| pair.capacity()),
                false => (self.domain.create_queue_pair(queue, queue, capacity))
                    .map(|pair| pair.capacity()),
            };
            match granted {
                Ok(granted) => {
                    let granted = granted.max_inline_data;
                    return Ok([asked, granted.min(MAX_INLINE as u32)]);
                }
                Err(why) if asked == 0 => return Err(why.into()),
                Err(_) => capacity.max_inline_data = asked / 2,
            }
        }
    }
}

impl OpenDevice {
    /// Where registrations of memory with the first of `devices` come from, as `options` says.
    pub(super) fn registrations(devices: &[Self], options: &VerbsOptions) -> Registrations {
        let RegistrationOptions {
            leave_pinned,
            caps,
            copied,
            ..
        } = options.registration;
        let devices = &devices[..devices.len().min(MEMORY_DEVICES)];
        let domains = |of: &[Self]| of.iter().map(|device| device.domain.clone()).collect();
        let kept = match leave_pinned {
            LeavePinned::Off => None,
            _ => Self::keeper(devices, options),
        };
        Registrations {
            cache: kept.map(|(keeper, by)| RegistrationCache::new(domains(by), keeper, caps)),
            kept: None,
            buffers: BouncePool::new(domains(devices)),
            domains: domains(devices),
            leave_pinned,
            pipeline: options.pipeline(),
            copied,
        }
    }
}

impl OpenDevice {
    /// Who keeps registrations right that are cached, and with which devices they are: the notifier, or where the process has
    /// none the devices, the first one among them.
    fn keeper<'a>(devices: &'a [Self], options: &VerbsOptions) -> Option<(Keeper, &'a [Self])> {
        if options.registration.uses_notifier {
            match MemoryNotifier::of_process() {
                Ok(notifier) => return Some((Keeper::notifier(notifier), devices)),
                Err(why) => tracing::debug!(%why, "nothing tells of memory that goes"),
            }
        }
        let pages = |device: &&Self| pages_on_demand(&device.context, options);
        let paging = devices.iter().take_while(pages).count();
        tracing::debug!(
            paging,
            "registrations are cached only where the device pages on demand"
        );
        (paging > 0).then(|| (Keeper::Device, &devices[..paging]))
    }
}

/// Whether connections with these options reach memory that is registered on demand.
pub(crate) fn pages_on_demand(context: &Context, options: &VerbsOptions) -> bool {
    let paging = context.on_demand_paging();
    match is_extended(options) {
        true => paging.extended,
        false => paging.reliable,
    }
}

/// Whether the receive queues are of kind `X`.
fn is_extended(options: &VerbsOptions) -> bool {
    let queues = &options.receive_queues;
    matches!(queues.first(), Some(ReceiveQueue::Extended(_)))
}

/// What the queue pair of receive queue `number` holds: frames and credit messages in flight, the rank's operations, and
/// confirmations.
pub(super) fn capacity(
    queue: &ReceiveQueue,
    sizes: &QueueSizes,
    number: u8,
    options: &VerbsOptions,
) -> QueueCapacity {
    let VerbsOptions { inline, rings, .. } = options;
    let accesses = match number == sizes.of_accesses() {
        // Of a ring, its frames and words.
        true => OPERATIONS as u32 + rings.slots,
        false => CONFIRMATIONS,
    };
    let receives = if queue.is_shared() {
        0
    } else {
        queue.buffers()
    };
    QueueCapacity {
        max_inline_data: (*inline).min(MAX_INLINE as u32),
        ..QueueCapacity::new(queue.sends() + accesses, receives)
    }
}

/// The most completions that nobody has polled: of a peer, and of the receives of all.
pub(super) fn completions(options: &VerbsOptions, sizes: &QueueSizes) -> CompletionNeeds {
    let (mut of_peer, mut of_all) = (0, 0);
    for (queue, number) in options.receive_queues.iter().zip(0..) {
        let capacity = capacity(queue, sizes, number, options);
        of_peer += capacity.max_send_wr + capacity.max_recv_wr;
        if queue.is_shared() {
            of_all += queue.buffers();
        }
    }
    CompletionNeeds { of_peer, of_all }
}
