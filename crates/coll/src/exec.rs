//! Runs one rank's plan without doing any IO: the caller's [`Driver`] binds acts to messages and
//! memory.
//!
//! The same [`Execution`] serves a blocking call (advance until done), a nonblocking one (advance
//! whenever the communicator makes progress) and a persistent one ([`Execution::restart`]). It
//! allocates nothing, and nothing in it is called through a pointer.

use thiserror::Error;

use crate::plan::{ACTS, Act, Acts, Known, Part, Plan, Side};

/// The most messages that one execution has under way.
pub const IN_FLIGHT: usize = 2 * ACTS;

/// What the runtime does for a plan.
///
/// Parts count elements; the driver knows how large an element is and where the buffers are. It
/// stamps every message with the number of the collective and the act's tag, so that two
/// collectives on one communicator never mix.
pub trait Driver {
    /// Names a message under way.
    type Ticket;
    /// Why something could not be done.
    type Error;

    /// Tells that a step starts, before its acts: for drivers that trace or measure.
    fn starting(&mut self, step: u32, needs: u32) {
        let _ = (step, needs);
    }

    /// Starts sending `from` to rank `to`. `None`: it is done already, and the part may be written
    /// again.
    ///
    /// # Errors
    ///
    /// When the message cannot be started; the collective then fails.
    fn send(&mut self, to: u32, tag: u32, from: Part) -> Result<Option<Self::Ticket>, Self::Error>;

    /// Starts receiving from rank `from` into `into`. `None`: the message was there and is now in
    /// place.
    ///
    /// # Errors
    ///
    /// When the receive cannot be started; the collective then fails.
    fn recv(
        &mut self,
        from: u32,
        tag: u32,
        into: Part,
    ) -> Result<Option<Self::Ticket>, Self::Error>;

    /// Copies elements; done on return.
    ///
    /// # Errors
    ///
    /// When a part lies outside its buffer.
    fn copy(&mut self, from: Part, into: Part) -> Result<(), Self::Error>;

    /// Combines elements with the caller's operation; done on return.
    ///
    /// # Errors
    ///
    /// When a part lies outside its buffer, or the operation fails.
    fn reduce(&mut self, from: Part, into: Part, side: Side) -> Result<(), Self::Error>;

    /// Whether the message is done: sent, so that the part may be written again, or received. Once
    /// it has answered `true` or an error, the ticket is not asked for again.
    ///
    /// # Errors
    ///
    /// When the message failed, came too long or too short, or the peer is lost.
    fn done(&mut self, ticket: &mut Self::Ticket) -> Result<bool, Self::Error>;
}

/// Why an execution stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Failure<E> {
    /// The driver refused an act or saw a message fail.
    #[error(transparent)]
    Driver(#[from] E),
    /// The plan waits for a length, and nothing is under way that could bring it: the plan is
    /// broken.
    #[error("step {step} of the plan waits for a length that no message under way brings")]
    Stuck {
        /// The step.
        step: u32,
    },
}

/// How far an execution is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Progress {
    /// Messages are under way: advance again later.
    Pending,
    /// Every step is done.
    Done,
}

/// A message under way and the step it belongs to.
#[derive(Clone, Copy, Debug)]
struct Message<T> {
    step: u32,
    ticket: T,
}

/// One run of one rank's plan.
///
/// `T` is the driver's ticket. Steps start in order, as many at once as their needs and
/// [`IN_FLIGHT`] allow.
#[derive(Clone, Debug)]
pub struct Execution<P, T> {
    plan: P,
    /// The step that starts next.
    next: u32,
    /// What it needs, once the plan has been asked; its acts are then in `acts`.
    needs: Option<u32>,
    acts: Acts,
    messages: heapless::Vec<Message<T>, IN_FLIGHT>,
}

impl<P: Plan, T> Execution<P, T> {
    /// Prepares a run; nothing starts before [`Execution::advance`].
    pub const fn new(plan: P) -> Self {
        Execution {
            plan,
            next: 0,
            needs: None,
            acts: Acts::new(),
            messages: heapless::Vec::new(),
        }
    }

    /// The plan that is run.
    pub const fn plan(&self) -> &P {
        &self.plan
    }

    /// The elements of scratch that the driver must have ready. `counts` as for
    /// [`Execution::advance`].
    pub fn scratch(&self, counts: &[u64]) -> u64 {
        self.plan.scratch(&Known::new(counts))
    }

    /// Notes what is done and starts what can start. `counts` are the caller's counts, where the
    /// collective has them, else empty.
    ///
    /// # Errors
    ///
    /// When the driver reports an error, or the plan is broken. The collective has then failed:
    /// nothing more may be started, and [`Execution::abandon`] gives back the tickets of what is
    /// still under way.
    ///
    /// # Cost
    ///
    /// One question to the driver for each message under way, and one to the plan for each step
    /// that starts.
    #[inline]
    pub fn advance<D>(
        &mut self,
        counts: &[u64],
        driver: &mut D,
    ) -> Result<Progress, Failure<D::Error>>
    where
        D: Driver<Ticket = T>,
    {
        self.collect(driver)?;
        while self.next < self.plan.steps() {
            let Some(needs) = self.look_ahead(counts) else {
                return if self.messages.is_empty() {
                    Err(Failure::Stuck { step: self.next })
                } else {
                    Ok(Progress::Pending)
                };
            };
            let room = IN_FLIGHT - self.messages.len();
            if needs > self.done_below() || room < self.acts.len() {
                return Ok(Progress::Pending);
            }
            self.start(needs, driver)?;
        }
        if self.messages.is_empty() {
            Ok(Progress::Done)
        } else {
            Ok(Progress::Pending)
        }
    }

    /// Prepares the same plan to run once more.
    ///
    /// # Panics
    ///
    /// In debug builds, when messages are still under way.
    pub fn restart(&mut self) {
        debug_assert!(
            self.messages.is_empty(),
            "an execution is restarted when it is done or abandoned"
        );
        self.next = 0;
        self.needs = None;
    }

    /// Gives up: returns the tickets of the messages still under way, one by one, for the driver's
    /// owner to cancel or wait for. When it returns `None` the execution is as new.
    pub fn abandon(&mut self) -> Option<T> {
        let message = self.messages.pop();
        if message.is_none() {
            self.restart();
        }
        message.map(|message| message.ticket)
    }

    /// Forgets the messages that are done.
    fn collect<D: Driver<Ticket = T>>(&mut self, driver: &mut D) -> Result<(), D::Error> {
        let mut at = 0;
        while at < self.messages.len() {
            match driver.done(&mut self.messages[at].ticket) {
                Ok(false) => at += 1,
                Ok(true) => drop(self.messages.swap_remove(at)),
                Err(error) => {
                    self.messages.swap_remove(at);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// All steps with a number below this one are done.
    fn done_below(&self) -> u32 {
        self.messages
            .iter()
            .map(|message| message.step)
            .min()
            .unwrap_or(self.next)
    }

    /// Asks the plan for the next step, once, and returns what it needs.
    fn look_ahead(&mut self, counts: &[u64]) -> Option<u32> {
        if self.needs.is_none() {
            self.acts.clear();
            self.needs = self
                .plan
                .step(self.next, &Known::new(counts), &mut self.acts);
        }
        self.needs
    }

    /// Starts the acts of the next step.
    fn start<D: Driver<Ticket = T>>(&mut self, needs: u32, driver: &mut D) -> Result<(), D::Error> {
        let step = self.next;
        driver.starting(step, needs);
        for act in self.acts.iter() {
            let ticket = match *act {
                Act::Send { to, tag, from } => driver.send(to, tag, from)?,
                Act::Recv { from, tag, into } => driver.recv(from, tag, into)?,
                Act::Copy { from, into } => driver.copy(from, into).map(|()| None)?,
                Act::Reduce { from, into, side } => {
                    driver.reduce(from, into, side).map(|()| None)?
                }
            };
            if let Some(ticket) = ticket {
                let kept = self.messages.push(Message { step, ticket });
                debug_assert!(
                    kept.is_ok(),
                    "a step starts only when there is room for all its acts"
                );
            }
        }
        self.next += 1;
        self.needs = None;
        Ok(())
    }
}
