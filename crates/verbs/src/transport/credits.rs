//! Flow control of a connection whose ends have a [`PerPeerQueue`] each: [`Credits`], without any input or output.
//!
//! A credit stands for a posted buffer of the peer, or for one of the peer's share of a queue that all share. A frame takes one; a credit message, which only returns credits,
//! takes one of those for credit messages. Both carry back all credits that their sender owes. A credit message is sent
//! as soon as `window` credits for frames are owed.
//!
//! # Why nobody waits for ever
//! Let a rank have no credits for frames, and let everything that was sent have arrived.
//!
//! - Its peer owes it all of them, as many as were posted again: at least `window`, since all are posted when
//!   `low_mark` are left, and `window <= low_mark + 1` and `window <= buffers`.
//! - The peer can send a credit message: each gives at least one credit for frames, so a rank without any has sent a
//!   frame after the last one that it got, and that frame returned the credits of all credit messages before.
//!
//! So the peer sends one. The model below tries all orders of events for small queues.

use super::receive_queues::PerPeerQueue;

/// Credits on their way back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Grant {
    /// For frames.
    pub(super) frames: u16,
    /// For credit_messages.
    pub(super) credit_messages: u16,
}

/// What one end of a connection may send and owes. Both ends have the same queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Credits {
    queue: PerPeerQueue,
    /// Frames and credit messages that this rank may send.
    frames: u32,
    credit_messages: u32,
    /// Credits of the peer whose buffers are posted again.
    owed: Grant,
    /// Buffers of frames that are not posted again.
    empty: u32,
}

impl Credits {
    /// Those of a new connection: all buffers of both ends are posted.
    pub(super) const fn new(queue: PerPeerQueue) -> Self {
        Self {
            queue,
            frames: queue.buffers,
            credit_messages: queue.reserve,
            owed: Grant {
                frames: 0,
                credit_messages: 0,
            },
            empty: 0,
        }
    }

    /// Whether a frame may be sent.
    #[inline]
    pub(super) const fn has_frame(&self) -> bool {
        self.frames > 0
    }

    /// Counts a frame that is sent, and returns what it carries back.
    ///
    /// # Panics
    /// In debug builds, without [`Credits::has_frame`].
    #[inline]
    pub(super) fn send_frame(&mut self) -> Grant {
        debug_assert!(self.has_frame());
        self.frames -= 1;
        std::mem::take(&mut self.owed)
    }

    /// Whether it is time for a credit message.
    #[inline]
    pub(super) const fn is_message_due(&self) -> bool {
        self.owed.frames as u32 >= self.queue.window && self.credit_messages > 0
    }

    /// Counts a credit message that is sent, if it is time for one, and returns what it carries back.
    #[inline]
    pub(super) fn send_credit_message(&mut self) -> Option<Grant> {
        if !self.is_message_due() {
            return None;
        }
        self.credit_messages -= 1;
        Some(std::mem::take(&mut self.owed))
    }

    /// Takes what a message of the peer has carried back.
    ///
    /// # Errors
    /// The rule that the peer broke.
    #[inline(always)]
    pub(super) fn take(&mut self, grant: Grant) -> Result<(), &'static str> {
        self.frames += u32::from(grant.frames);
        self.credit_messages += u32::from(grant.credit_messages);
        if self.frames > self.queue.buffers || self.credit_messages > self.queue.reserve {
            return Err("it returned credits that it did not have");
        }
        Ok(())
    }

    /// Counts frames that have arrived and whose buffers are free again, of which there were at most
    /// [`frames_until_due`](Self::frames_until_due). Returns the number of buffers to post now; they count as posted.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(super) fn frames_arrived(&mut self, count: u32) -> Result<u32, &'static str> {
        self.empty += count;
        if self.empty + u32::from(self.owed.frames) > self.queue.buffers {
            return Err("it sent a frame without a credit");
        }
        if self.posted() > self.queue.low_mark {
            return Ok(0);
        }
        self.owed.frames += self.empty as u16;
        Ok(std::mem::take(&mut self.empty))
    }

    /// Frames after which buffers have to be posted, or the peer has broken a rule: 1 at least. Meanwhile nothing has to be
    /// done after a frame.
    pub(super) fn frames_until_due(&self) -> u32 {
        let until_post = self.posted().saturating_sub(self.queue.low_mark);
        let held = self.empty + u32::from(self.owed.frames);
        let until_wrong = self.queue.buffers.saturating_sub(held) + 1;
        until_post.min(until_wrong).max(1)
    }

    /// Buffers of frames that are posted.
    fn posted(&self) -> u32 {
        self.queue.buffers.saturating_sub(self.empty)
    }

    /// Counts a credit message that has arrived, and whose buffer is posted again now.
    ///
    /// # Errors
    /// The rule that the peer broke.
    #[inline]
    pub(super) fn credit_message_arrived(&mut self) -> Result<(), &'static str> {
        self.owed.credit_messages += 1;
        match u32::from(self.owed.credit_messages) > self.queue.reserve {
            true => Err("it sent a credit message without a credit"),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{HashSet, VecDeque};

    fn queue(text: &str) -> Option<PerPeerQueue> {
        match text.parse() {
            Ok(super::super::ReceiveQueue::PerPeer(queue)) => Some(queue),
            _ => None,
        }
    }

    /// A message in flight.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    struct Message {
        is_credit_message: bool,
        grant: Grant,
    }

    /// Two ends, and what is in flight to each.
    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    struct World {
        ends: [Credits; 2],
        /// Frames that have arrived since some were counted for the last time, and how many may.
        uncounted: [[u32; 2]; 2],
        flight: [VecDeque<Message>; 2],
    }

    impl World {
        fn new(queue: PerPeerQueue) -> Self {
            Self {
                ends: [Credits::new(queue); 2],
                uncounted: [[0, 1]; 2],
                flight: [VecDeque::new(), VecDeque::new()],
            }
        }

        fn frame(&self, from: usize) -> Option<Self> {
            let mut next = self.clone();
            next.ends[from].has_frame().then(|| {
                let grant = next.ends[from].send_frame();
                next.flight[1 - from].push_back(Message {
                    is_credit_message: false,
                    grant,
                });
                next
            })
        }

        fn credit_message(&self, from: usize) -> Option<Self> {
            let mut next = self.clone();
            let grant = next.ends[from].send_credit_message()?;
            next.flight[1 - from].push_back(Message {
                is_credit_message: true,
                grant,
            });
            Some(next)
        }

        /// Frames that carry nothing back are counted together, when it is time or one `is_counted` for another reason.
        fn arrival(&self, at: usize, is_counted: bool) -> Option<Self> {
            let mut next = self.clone();
            let message = next.flight[at].pop_front()?;
            let end = &mut next.ends[at];
            assert_eq!(end.take(message.grant), Ok(()));
            if message.is_credit_message {
                assert_eq!(end.credit_message_arrived(), Ok(()));
                return Some(next);
            }
            let [count, until_due] = &mut next.uncounted[at];
            *count += 1;
            if is_counted || message.grant != Grant::default() || count == until_due {
                assert!(end.frames_arrived(std::mem::take(count)).is_ok());
                *until_due = end.frames_until_due();
            }
            Some(next)
        }

        /// The messages in flight have buffers: those that are posted.
        fn check(&self) {
            for at in [0, 1] {
                let queue = self.ends[at].queue;
                let (credit_messages, frames): (Vec<Message>, Vec<Message>) = self.flight[at]
                    .iter()
                    .copied()
                    .partition(|message| message.is_credit_message);
                let [uncounted, _] = self.uncounted[at];
                let empty = self.ends[at].empty + uncounted;
                assert!(frames.len() as u32 + empty <= queue.buffers, "{self:?}");
                assert!(credit_messages.len() as u32 <= queue.reserve, "{self:?}");
            }
        }

        /// When all has arrived and all credit messages are sent, both can send a frame.
        fn settles(mut self) -> bool {
            loop {
                let steps = [
                    self.arrival(0, false),
                    self.arrival(1, false),
                    self.credit_message(0),
                    self.credit_message(1),
                ];
                match steps.into_iter().flatten().next() {
                    Some(next) => self = next,
                    None => return self.ends.iter().all(Credits::has_frame),
                }
            }
        }
    }

    /// Tries all orders of events from the start on; returns the number of states.
    fn explore(queue: PerPeerQueue) -> usize {
        let start = World::new(queue);
        let mut seen = HashSet::from([start.clone()]);
        let mut open = vec![start];
        while let Some(world) = open.pop() {
            world.check();
            assert!(world.clone().settles(), "both wait: {world:?}");
            let arrivals = |at| [false, true].map(|is_counted| world.arrival(at, is_counted));
            let steps = [0, 1].map(|at| {
                let [batched, counted] = arrivals(at);
                [world.frame(at), world.credit_message(at), batched, counted]
            });
            for next in steps.into_iter().flatten().flatten() {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        seen.len()
    }

    #[test]
    fn two_ranks_with_two_credits_never_wait_for_each_other() {
        let mut tried = 0;
        for text in [
            "P,128,1",
            "P,128,2",
            "P,128,2,2",
            "P,128,2,2,2",
            "P,128,2,1,2",
            "P,128,3,1,2",
            "P,128,3,2,2",
        ] {
            for reserve in [1, 2] {
                let mut queue = queue(text).expect(text);
                queue.reserve = reserve;
                tried += explore(queue);
            }
        }
        assert!(tried > 1000, "{tried} states are hardly all");
    }

    /// The rule of `PerPeerQueue::check` is needed: without it the model finds the wait.
    #[test]
    #[should_panic(expected = "both wait")]
    fn a_window_that_is_never_reached_is_found() {
        let wrong = PerPeerQueue {
            size: 128,
            buffers: 3,
            low_mark: 1,
            window: 3,
            reserve: 1,
        };
        explore(wrong);
    }

    proptest! {
        /// Any order of events of any queue: nothing arrives without a buffer, and nobody waits for ever.
        #[test]
        fn queues_of_any_size_go_on(
            (buffers, low, window) in (1..40u32, 1..40u32, 1..40u32),
            reserve in 1..5u32,
            steps in prop::collection::vec(0..8u8, 0..400),
        ) {
            let text = format!("P,128,{buffers},{low},{window},{reserve}");
            let Some(queue) = queue(&text) else { return Ok(()); };
            let mut world = World::new(queue);
            for step in steps {
                let at = usize::from(step % 2);
                let next = match step / 2 {
                    0 => world.frame(at),
                    1 => world.credit_message(at),
                    step => world.arrival(at, step == 2),
                };
                world = next.unwrap_or(world);
                world.check();
            }
            prop_assert!(world.settles());
        }
    }

    #[test]
    fn messages_without_credits_are_refused() {
        let mut credits = Credits::new(queue("P,128,4,2,2,3").unwrap());
        let frames = (0..).find(|_| credits.frames_arrived(1).is_err());
        let credit_messages = (0..).find(|_| credits.credit_message_arrived().is_err());
        assert_eq!((frames, credit_messages), (Some(4), Some(3)));
    }

    #[test]
    fn credits_that_nobody_had_are_refused() {
        for grant in [
            Grant {
                frames: 1,
                credit_messages: 0,
            },
            Grant {
                frames: 0,
                credit_messages: 1,
            },
        ] {
            assert!(Credits::new(queue("P,128").unwrap()).take(grant).is_err());
        }
    }
}
