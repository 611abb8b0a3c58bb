//! Two queue pairs of this process that are connected with each other.

use oxmpi_verbs::{
    Access, AddressVector, Completion, CompletionChannel, CompletionQueue, CompletionQueueOptions,
    Context, GlobalRoute, Init, InitAttributes, MemoryRegion, ProtectionDomain, QueueCapacity,
    QueuePair, ReadyToSend, ReceiveAttributes, SendAttributes, devices,
};
use std::error::Error;
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The key of the connection's completion queue.
pub(super) const KEY: u64 = 0x0123_4567_89ab_cdef;

/// Busy machines need this long.
const WATCHDOG: Duration = Duration::from_secs(120);

/// The device to test and the index of its GID.
pub(super) fn device() -> Option<(String, u8)> {
    let named = std::env::var("OXMPI_TEST_RDMA").ok()?;
    let (name, index) = named
        .split_once(' ')
        .expect("OXMPI_TEST_RDMA is DEVICE GID_INDEX");
    Some((name.into(), index.parse().expect("a GID index")))
}

/// The device of this name, opened.
pub(super) fn context(name: &str) -> Result<Context> {
    let found = devices()?.into_iter().find(|device| device.name() == name);
    Ok(found.ok_or("no such device")?.open()?)
}

/// Queue pair `number` of the tested device as a peer, which is reached from the GID at `index`.
pub(super) fn peer(context: &Context, index: u8, number: u32) -> Result<ReceiveAttributes> {
    let (_, own) = device().ok_or("no device")?;
    let gids = context.gids(1)?;
    let gid = gids
        .iter()
        .find(|entry| entry.index == own)
        .ok_or("no such GID index")?
        .gid;
    let address = AddressVector::global(1, GlobalRoute::new(gid, index));
    Ok(ReceiveAttributes::new(
        address,
        number,
        0,
        context.port(1)?.active_mtu,
    ))
}

/// Connects two queue pairs of the tested device with each other, from the GID at `index`.
pub(super) fn connect(
    context: &Context,
    index: u8,
    one: QueuePair<Init>,
    two: QueuePair<Init>,
    send: SendAttributes,
) -> Result<(QueuePair<ReadyToSend>, QueuePair<ReadyToSend>)> {
    let (to_one, to_two) = (
        peer(context, index, one.number())?,
        peer(context, index, two.number())?,
    );
    let one = one.ready_to_receive(to_two)?.ready_to_send(send)?;
    let two = two.ready_to_receive(to_one)?.ready_to_send(send)?;
    Ok((one, two))
}

/// The next completion of a queue, without its channel.
pub(super) fn spin(queue: &CompletionQueue) -> Result<Completion> {
    let deadline = Instant::now() + WATCHDOG;
    let mut room = [Completion::default()];
    while Instant::now() < deadline {
        if let [completion] = queue.poll(&mut room)? {
            return Ok(*completion);
        }
        std::thread::yield_now();
    }
    Err("no completion".into())
}

/// Two queue pairs, the region that both use, and their common completion queue.
pub(super) struct Connection {
    pub(super) receiver: QueuePair<ReadyToSend>,
    pub(super) sender: QueuePair<ReadyToSend>,
    pub(super) region: MemoryRegion,
    pub(super) completions: Completions,
}

/// A completion queue with its channel, and the domain that was made with them.
pub(super) struct Completions {
    queue: CompletionQueue,
    channel: CompletionChannel,
    domain: ProtectionDomain,
}

impl Connection {
    /// Opens the tested device anew; `None` if there is none to test.
    pub(super) fn open(capacity: QueueCapacity) -> Result<Option<Connection>> {
        Connection::with(capacity, SendAttributes::new(0))
    }

    /// As [`Connection::open`], with other attributes of both sides.
    pub(super) fn with(
        capacity: QueueCapacity,
        send: SendAttributes,
    ) -> Result<Option<Connection>> {
        let Some((name, index)) = device() else {
            return Ok(None);
        };
        let context = context(&name)?;
        let domain = context.alloc_pd()?;
        let access = Access::LOCAL_WRITE | Access::REMOTE_READ | Access::REMOTE_WRITE;
        let region = domain.register(4096, access)?;
        let channel = context.create_completion_channel()?;
        let queue = context.create_completion_queue(CompletionQueueOptions {
            channel: Some((&channel, KEY)),
            ..CompletionQueueOptions::polled(64)
        })?;
        let init = InitAttributes {
            port: 1,
            pkey_index: 0,
            access,
        };
        let new = || {
            domain
                .create_queue_pair(&queue, &queue, capacity)?
                .init(init)
        };
        let (receiver, sender) = connect(&context, index, new()?, new()?, send)?;
        Ok(Some(Connection {
            receiver,
            sender,
            region,
            completions: Completions {
                queue,
                channel,
                domain,
            },
        }))
    }

    pub(super) fn domain(&self) -> ProtectionDomain {
        self.completions.domain.clone()
    }

    /// The next completion.
    pub(super) fn completion(&self) -> Result<Completion> {
        self.completions.next()
    }

    /// The next completion of the sender and of the receiver, in whatever order they come.
    pub(super) fn two_completions(&self) -> Result<[Completion; 2]> {
        let (one, two) = (self.completion()?, self.completion()?);
        Ok(if one.queue_pair() == self.sender.number() {
            [one, two]
        } else {
            [two, one]
        })
    }
}

impl Completions {
    pub(super) fn queue(&self) -> &CompletionQueue {
        &self.queue
    }

    pub(super) fn channel(&self) -> &CompletionChannel {
        &self.channel
    }

    /// The next completion.
    pub(super) fn next(&self) -> Result<Completion> {
        let deadline = Instant::now() + WATCHDOG;
        let mut room = [Completion::default()];
        loop {
            self.queue.arm()?;
            if let [completion] = self.queue.poll(&mut room)? {
                return Ok(*completion);
            }
            self.channel.wait(deadline)?.ok_or("no completion")?;
        }
    }
}
