//! What devices say without a request: of ports, queue pairs and themselves.
//!
//! | event | what follows |
//! |---|---|
//! | a shared queue runs short | it is filled, see [`SharedReceives`](super::SharedReceives) |
//! | a port has lost its link | its rail is left for another one; a peer without another is lost when all retries are over, unless the link is back |
//! | a queue pair, a completion queue or the device has failed | the rails are left at once, and what was not confirmed goes by others; a peer without another rail is lost |
//! | a queue pair takes no more from a shared queue | it is destroyed when its completions are taken |
//!
//! A rank reads them before it sleeps, and now and then while it polls in vain: most failures are completions, too.

use super::VerbsRx;
use crate::error::VerbsError;
use crate::objects::{AsyncEvent, EventSource};
use crate::transport::open_device::OpenDevice;
use crate::transport::tx::VerbsTx;
use std::time::{Duration, Instant};

/// Polls in vain between two looks at the events, each of which is a system call.
const POLLS: u32 = 1024;

/// Something that has happened, with the rails that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Incident {
    /// Of a port, whose link is lost or back.
    Link { rail: u8, is_up: bool },
    /// A queue pair of this number has failed.
    QueuePair { rails: Vec<u8>, number: u32 },
    /// It has given back what it took from a shared queue.
    LastReceive { rails: Vec<u8>, number: u32 },
    /// The device has failed, or gives no completions.
    Device { rails: Vec<u8> },
}

/// Events on their way to the sending half.
#[derive(Debug)]
pub(super) struct Events {
    incidents: Vec<Incident>,
    /// Rails without a link, and when their peers are lost.
    down: Vec<(u8, Instant)>,
    /// Queue pairs to destroy, with the rails of their device.
    ended: Vec<(Vec<u8>, u32)>,
    /// How long all retries of a request take; `None`: for ever.
    patience: Option<Duration>,
    polls: u32,
}

impl Events {
    pub(super) const fn new(patience: Option<Duration>) -> Self {
        Self {
            incidents: Vec::new(),
            down: Vec::new(),
            ended: Vec::new(),
            patience,
            polls: 0,
        }
    }

    /// Whether there is something to do for a poll.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        !self.incidents.is_empty() || !self.down.is_empty() && self.is_over()
    }

    fn is_over(&self) -> bool {
        let now = Instant::now();
        self.down.iter().any(|(_, end)| *end <= now)
    }

    /// How long a rank may sleep.
    pub(super) fn longest_sleep(&self) -> Duration {
        let first = self.down.iter().map(|(_, end)| *end).min();
        first.map_or(Duration::MAX, |end| {
            end.saturating_duration_since(Instant::now())
        })
    }

    /// Counts a poll in vain. True if it is time to read events.
    pub(super) const fn count(&mut self) -> bool {
        self.polls = (self.polls + 1) % POLLS;
        self.polls == 0
    }

    /// Whether queue pairs wait for their completions to be taken.
    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    fn add(&mut self, device: &OpenDevice, event: &AsyncEvent) {
        let rails = || device.rails.iter().map(|(rail, _)| *rail).collect();
        let incident = match event.source {
            EventSource::Port(number) => {
                let is_up = event.is_link_up();
                let of_port = device.rails.iter().filter(|(_, port)| *port == number);
                if is_up || event.is_link_down() {
                    let link = |(rail, _): &(u8, u8)| Incident::Link { rail: *rail, is_up };
                    self.incidents.extend(of_port.map(link));
                }
                return;
            }
            EventSource::QueuePair(number) if event.is_last_receive() => Incident::LastReceive {
                rails: rails(),
                number,
            },
            EventSource::QueuePair(number) if event.is_failure() => Incident::QueuePair {
                rails: rails(),
                number,
            },
            EventSource::Device
            | EventSource::CompletionQueue(_)
            | EventSource::SharedReceiveQueue(_)
                if event.is_failure() =>
            {
                Incident::Device { rails: rails() }
            }
            _ => return,
        };
        self.incidents.push(incident);
    }
}

impl VerbsRx {
    /// Takes the events of the devices, and asks for the next ones of shared queues.
    ///
    /// # Errors
    /// When a device gives no events.
    pub(super) fn take_events(&mut self) -> Result<(), VerbsError> {
        for device in [&self.device].into_iter().chain(&self.others) {
            while let Some(event) = device.context.next_event(Instant::now())? {
                tracing::debug!(%event, "an event of the device");
                if let EventSource::SharedReceiveQueue(queue) = event.source
                    && event.is_limit_reached()
                    && let Some(Some(shared)) = self.shared.get_mut(queue as usize)
                {
                    shared.limit_reached();
                }
                self.events.add(device, &event);
            }
        }
        let mut shared = self.shared.iter_mut().flatten();
        shared.try_for_each(|shared| shared.arm_limit())
    }

    /// Acts on what has happened.
    #[cold]
    pub(super) fn act_on_events(&mut self, tx: &mut VerbsTx) {
        for incident in std::mem::take(&mut self.events.incidents) {
            match &incident {
                Incident::Link { is_up: true, .. } | Incident::LastReceive { .. } => {
                    tracing::debug!(?incident, "an RDMA device reports");
                }
                _ => tracing::warn!(?incident, "an RDMA device reports"),
            }
            match incident {
                Incident::Link { rail, is_up } => {
                    self.events.down.retain(|(down, _)| *down != rail);
                    if !is_up {
                        tx.rail_failed(rail, false);
                        let end = self
                            .events
                            .patience
                            .map(|patience| Instant::now() + patience);
                        self.events.down.extend(end.map(|end| (rail, end)));
                    }
                }
                Incident::QueuePair { rails, number } => {
                    let own = tx.of_number(&rails, number);
                    if own.is_empty() {
                        self.target_failed(&rails, number, tx);
                    }
                    for (peer, queue) in own {
                        tx.queue_pair_failed(peer, queue);
                    }
                }
                Incident::LastReceive { rails, number } => self.events.ended.push((rails, number)),
                Incident::Device { rails } => tx.device_gone(&rails),
            }
        }
        let now = Instant::now();
        for (rail, _) in self.events.down.extract_if(.., |(_, end)| *end <= now) {
            tx.rail_failed(rail, true);
        }
    }

    /// Acts on the failure of a target: no message of its peer comes any more.
    fn target_failed(&self, rails: &[u8], number: u32, tx: &mut VerbsTx) {
        let mut all = self.by_number.iter();
        let is_it = |(queue, of): &(u8, u32)| *of == number && rails.contains(&tx.rail_of(*queue));
        if let Some(((queue, _), peer)) = all.find(|(key, _)| is_it(key)) {
            tx.target_failed(*peer, *queue);
        }
    }

    /// Destroys the queue pairs of the polled device that have ended, whose completions are all taken.
    #[cold]
    pub(super) fn destroy_ended(&mut self, tx: &mut VerbsTx) {
        let here: Vec<u8> = self.device.rails.iter().map(|(rail, _)| *rail).collect();
        self.events
            .ended
            .retain(|(rails, number)| *rails != here || !tx.destroy_retired(rails, *number));
    }
}
