//! Runs one rank's plan without IO of its own: the caller's [`Driver`] binds acts to messages and memory.
//!
//! The same [`Execution`] serves a blocking call (advance until done), a nonblocking one (advance
//! whenever the communicator makes progress) and a persistent one ([`Execution::restart`]). It
//! allocates nothing and calls nothing through a pointer.

use thiserror::Error;

use crate::plan::{
    ACTS, Act, Acts, CallArrays, IntraNodeOp, LearnedLengths, Part, Plan, PlanInputs, Side,
};

/// The most messages of one execution under way at a time.
pub const IN_FLIGHT: usize = 2 * ACTS;

/// What the runtime does for a plan.
///
/// Parts count elements; the driver knows the size of an element and where the buffers are. It
/// labels every message with the sequence number of the collective and the act's tag, so that two
/// collectives on one communicator never mix.
pub trait Driver {
    /// A message or an intra-node operation under way.
    type Request;
    /// Why an act failed.
    type Error;

    /// Called when a step starts, before its acts; for tracing and measurement.
    fn starting(&mut self, step: u32, needs: u32) {
        let _ = (step, needs);
    }

    /// Starts sending `from` to rank `to`. `None`: the send is complete, and the part may be written again.
    ///
    /// # Errors
    ///
    /// When the message cannot be started; the collective then fails.
    fn send(&mut self, to: u32, tag: u32, from: Part)
    -> Result<Option<Self::Request>, Self::Error>;

    /// Starts receiving from rank `from` into `into`. `None`: the message has already been received.
    ///
    /// # Errors
    ///
    /// When the receive cannot be started; the collective then fails.
    fn recv(
        &mut self,
        from: u32,
        tag: u32,
        into: Part,
    ) -> Result<Option<Self::Request>, Self::Error>;

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

    /// The length in elements of the next message from rank `from` with the tag, once it is announced; it
    /// remains to be received. The executor asks until it gets an answer. A driver with this default cannot
    /// run plans with [`Act::Size`].
    ///
    /// # Errors
    ///
    /// When the message failed or the peer is lost.
    fn size(&mut self, from: u32, tag: u32) -> Result<MessageSize, Self::Error> {
        let _ = (from, tag);
        Ok(MessageSize::Unsupported)
    }

    /// The sum of the 8-byte little-endian numbers in the part. `None`, the default: the driver cannot
    /// run plans with [`Act::Learn`].
    ///
    /// # Errors
    ///
    /// When the part lies outside its buffer, or the sum overflows 64 bits.
    fn sum(&mut self, from: Part) -> Result<Option<u64>, Self::Error> {
        let _ = from;
        Ok(None)
    }

    /// Does or starts an intra-node operation. A driver may wait here for the other ranks; acts that were
    /// started before go on meanwhile. A driver with this default cannot run plans with [`Act::IntraNode`].
    ///
    /// # Errors
    ///
    /// When a part lies outside its buffer, the operation fails, another rank is lost, or another rank does a
    /// different operation.
    fn intra_node(
        &mut self,
        act: &IntraNodeOp,
    ) -> Result<IntraNodeStart<Self::Request>, Self::Error> {
        let _ = act;
        Ok(IntraNodeStart::Unsupported)
    }

    /// Enlarges scratch to `elements`, keeping its content. No message is under way.
    /// `false`, the default: the driver cannot run plans whose scratch grows.
    ///
    /// # Errors
    ///
    /// When there is no memory.
    fn grow(&mut self, elements: u64) -> Result<bool, Self::Error> {
        let _ = elements;
        Ok(false)
    }

    /// Whether a send, a receive or an intra-node operation is complete; after a send its part may be written
    /// again. Once it returns `true` or an error, it is not called again with the request.
    ///
    /// # Errors
    ///
    /// When the message failed or has the wrong length, or the peer is lost.
    fn done(&mut self, request: &mut Self::Request) -> Result<bool, Self::Error>;
}

/// Answer of [`Driver::size`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageSize {
    /// The message is not announced yet.
    Pending,
    /// The message has this many elements.
    Elements(u64),
    /// The driver cannot probe.
    Unsupported,
}

/// Answer of [`Driver::intra_node`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntraNodeStart<T> {
    /// The operation is complete.
    Done,
    /// Other ranks have not come yet; no further act of the plan starts until they have.
    Pending(T),
    /// The driver has no intra-node operations.
    Unsupported,
}

/// Why an execution stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Failure<E> {
    /// The driver refused an act or saw a message fail.
    #[error(transparent)]
    Driver(#[from] E),
    /// The plan waits for a length, and no message under way can bring it: the plan is broken.
    #[error("step {step} of the plan waits for a length that no message in flight brings")]
    Stuck {
        /// The step.
        step: u32,
    },
    /// The plan learns lengths, grows scratch or has an intra-node operation, and the driver does not support
    /// that.
    #[error(
        "step {step} of the plan probes lengths, grows scratch or has an intra-node operation; this driver supports none of these"
    )]
    Unsupported {
        /// The step.
        step: u32,
    },
    /// The plan learns more lengths than there are slots: the plan is broken.
    #[error("step {step} of the plan learns more lengths than there is room for")]
    Slots {
        /// The step.
        step: u32,
    },
}

/// The state of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Progress {
    /// Messages are under way: advance again later.
    Pending,
    /// Every step is done.
    Done,
}

/// What is awaited, and the step that it belongs to.
#[derive(Clone, Copy, Debug)]
struct Open<T> {
    step: u32,
    awaited: Awaited<T>,
}

/// A message, an intra-node operation, or the length of a message.
#[derive(Clone, Copy, Debug)]
enum Awaited<T> {
    Message(T),
    IntraNode(T),
    Size { from: u32, tag: u32, slot: u8 },
}

/// One run of one rank's plan.
///
/// `T` is the driver's request type. Steps start in order, as many at once as their needs and
/// [`IN_FLIGHT`] allow.
#[derive(Clone, Debug)]
pub struct Execution<P, T> {
    plan: P,
    /// The next step to start.
    next: u32,
    /// The steps that it needs, once the plan has been asked; its acts are then in `acts`.
    needs: Option<u32>,
    acts: Acts,
    open: heapless::Vec<Open<T>, IN_FLIGHT>,
    learned: LearnedLengths,
    /// Whether a length was learned since scratch was last sized.
    has_new_length: bool,
    /// Whether an intra-node operation is pending; no act starts meanwhile.
    joined: bool,
}

impl<P: Plan, T> Execution<P, T> {
    /// Prepares a run; nothing starts before [`Execution::advance`].
    pub const fn new(plan: P) -> Self {
        Execution {
            plan,
            next: 0,
            needs: None,
            acts: Acts::new(),
            open: heapless::Vec::new(),
            learned: LearnedLengths::new(),
            has_new_length: false,
            joined: false,
        }
    }

    /// The plan.
    pub const fn plan(&self) -> &P {
        &self.plan
    }

    /// The lengths that this run has learned.
    pub const fn learned(&self) -> &LearnedLengths {
        &self.learned
    }

    /// The elements of scratch that the driver must provide at the start; [`Driver::grow`] asks for more.
    /// `given` as for [`Execution::advance`].
    pub fn scratch(&self, given: CallArrays<'_>) -> u64 {
        self.plan.scratch(&PlanInputs::new(given, &self.learned))
    }

    /// Collects what is done and starts what can start. `given` are the caller's arrays, the same in each
    /// call.
    ///
    /// # Errors
    ///
    /// When the driver reports an error, or the plan is broken. The collective has then failed:
    /// nothing more may be started, and [`Execution::abandon`] returns the requests that are still pending.
    ///
    /// # Cost
    ///
    /// One call of the driver for each message under way, and one of the plan for each step that starts.
    #[inline]
    pub fn advance<D>(
        &mut self,
        given: CallArrays<'_>,
        driver: &mut D,
    ) -> Result<Progress, Failure<D::Error>>
    where
        D: Driver<Request = T>,
    {
        self.collect(driver)?;
        while self.next < self.plan.steps() && !self.joined {
            let Some(needs) = self.look_ahead(given) else {
                return if self.open.is_empty() {
                    Err(Failure::Stuck { step: self.next })
                } else {
                    Ok(Progress::Pending)
                };
            };
            let room = IN_FLIGHT - self.open.len();
            if needs > self.done_below() || room < self.acts.len() {
                return Ok(Progress::Pending);
            }
            if self.has_new_length && needs == self.next {
                self.grow(given, driver)?;
            }
            self.start(needs, driver)?;
        }
        if self.open.is_empty() {
            Ok(Progress::Done)
        } else {
            Ok(Progress::Pending)
        }
    }

    /// Prepares the same plan to run again.
    ///
    /// # Panics
    ///
    /// In debug builds, when messages are still under way.
    pub fn restart(&mut self) {
        debug_assert!(
            self.open.is_empty(),
            "an execution is restarted when it is done or abandoned"
        );
        self.next = 0;
        self.needs = None;
        self.learned.clear();
        self.has_new_length = false;
        self.joined = false;
    }

    /// Gives up: returns the pending requests one by one, for the caller to cancel or wait for. When it
    /// returns `None`, the execution is as new.
    pub fn abandon(&mut self) -> Option<T> {
        while let Some(open) = self.open.pop() {
            if let Awaited::Message(request) | Awaited::IntraNode(request) = open.awaited {
                return Some(request);
            }
        }
        self.restart();
        None
    }

    /// Removes what is done.
    fn collect<D: Driver<Request = T>>(&mut self, driver: &mut D) -> Result<(), Failure<D::Error>> {
        let mut at = 0;
        while at < self.open.len() {
            let Open { step, awaited } = &mut self.open[at];
            let done = match awaited {
                Awaited::Message(request) => driver.done(request).map_err(Failure::Driver),
                Awaited::IntraNode(request) => {
                    let done = driver.done(request).map_err(Failure::Driver);
                    self.joined = matches!(done, Ok(false));
                    done
                }
                &mut Awaited::Size { from, tag, slot } => {
                    let step = *step;
                    self.look(step, from, tag, slot, driver)
                }
            };
            match done {
                Ok(false) => at += 1,
                Ok(true) => drop(self.open.swap_remove(at)),
                Err(error) => {
                    self.open.swap_remove(at);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Asks the driver for the length of a message, and notes it.
    #[cold]
    fn look<D: Driver<Request = T>>(
        &mut self,
        step: u32,
        from: u32,
        tag: u32,
        slot: u8,
        driver: &mut D,
    ) -> Result<bool, Failure<D::Error>> {
        match driver.size(from, tag)? {
            MessageSize::Pending => Ok(false),
            MessageSize::Elements(elements) => self.learn(step, slot, elements).map(|()| true),
            MessageSize::Unsupported => Err(Failure::Unsupported { step }),
        }
    }

    /// Sets a slot.
    fn learn<E>(&mut self, step: u32, slot: u8, value: u64) -> Result<(), Failure<E>> {
        self.has_new_length = true;
        if self.learned.set(slot, value) {
            Ok(())
        } else {
            Err(Failure::Slots { step })
        }
    }

    /// Enlarges scratch according to the lengths learned.
    #[cold]
    fn grow<D: Driver<Request = T>>(
        &mut self,
        given: CallArrays<'_>,
        driver: &mut D,
    ) -> Result<(), Failure<D::Error>> {
        self.has_new_length = false;
        let before = self
            .plan
            .scratch(&PlanInputs::new(given, &LearnedLengths::new()));
        let elements = self.scratch(given);
        if elements > before && !driver.grow(elements)? {
            return Err(Failure::Unsupported { step: self.next });
        }
        Ok(())
    }

    /// The number below which all steps are done.
    fn done_below(&self) -> u32 {
        let steps = self.open.iter().map(|open| open.step);
        steps.min().unwrap_or(self.next)
    }

    /// Asks the plan for the next step, once, and returns the steps that it needs.
    fn look_ahead(&mut self, given: CallArrays<'_>) -> Option<u32> {
        if self.needs.is_none() {
            self.acts.clear();
            let inputs = PlanInputs::new(given, &self.learned);
            self.needs = self.plan.step(self.next, &inputs, &mut self.acts);
        }
        self.needs
    }

    /// Starts the acts of the next step.
    fn start<D: Driver<Request = T>>(
        &mut self,
        needs: u32,
        driver: &mut D,
    ) -> Result<(), Failure<D::Error>> {
        let step = self.next;
        driver.starting(step, needs);
        for at in 0..self.acts.len() {
            let awaited = match self.acts[at] {
                Act::Send { to, tag, from } => driver.send(to, tag, from)?.map(Awaited::Message),
                Act::Recv { from, tag, into } => {
                    driver.recv(from, tag, into)?.map(Awaited::Message)
                }
                Act::Copy { from, into } => driver.copy(from, into).map(|()| None)?,
                Act::Reduce { from, into, side } => {
                    driver.reduce(from, into, side).map(|()| None)?
                }
                Act::Size { from, tag, slot } => {
                    let inputs = self.look(step, from, tag, slot, driver)?;
                    (!inputs).then_some(Awaited::Size { from, tag, slot })
                }
                Act::Learn { from, slot } => {
                    let sum = driver.sum(from)?.ok_or(Failure::Unsupported { step })?;
                    self.learn(step, slot, sum)?;
                    None
                }
                Act::IntraNode(act) => match driver.intra_node(&act)? {
                    IntraNodeStart::Done => None,
                    IntraNodeStart::Pending(request) => {
                        self.joined = true;
                        Some(Awaited::IntraNode(request))
                    }
                    IntraNodeStart::Unsupported => return Err(Failure::Unsupported { step }),
                },
            };
            if let Some(awaited) = awaited {
                let kept = self.open.push(Open { step, awaited });
                debug_assert!(
                    kept.is_ok(),
                    "a step starts only when there is room for all its acts"
                );
            }
        }
        self.next = self.acts.after(step);
        self.needs = None;
        Ok(())
    }
}
