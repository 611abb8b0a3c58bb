//! A driver that runs all ranks of a plan on one thread, over in-memory message queues and buffers of
//! words.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use oxmpi_coll::exec::{Driver, Execution, Progress};
use oxmpi_coll::plan::{Buf, CallArrays, Part, Plan, Side};

/// The messages under way, by sender, receiver and tag.
type Queues = Rc<RefCell<HashMap<(u32, u32, u32), VecDeque<Vec<String>>>>>;

/// One rank with its buffers. An element is a string, and a reduction concatenates: it associates but
/// does not commute.
pub(crate) struct TestRank {
    rank: u32,
    queues: Queues,
    pub(crate) input: Vec<String>,
    pub(crate) output: Vec<String>,
    scratch: Vec<String>,
}

impl TestRank {
    fn buf(&mut self, buf: Buf) -> &mut Vec<String> {
        match buf {
            Buf::In => &mut self.input,
            Buf::Out => &mut self.output,
            Buf::Scratch => &mut self.scratch,
            unknown => panic!("no buffer {unknown:?}"),
        }
    }

    fn read(&mut self, part: Part) -> Vec<String> {
        let buf = self.buf(part.buf);
        part.blocks()
            .flat_map(|block| buf[index(block)].to_vec())
            .collect()
    }

    fn write(&mut self, part: Part, words: Vec<String>) {
        assert_eq!(
            part.len(),
            words.len() as u64,
            "sender and receiver disagree on the length"
        );
        let mut words = words.into_iter();
        let buf = self.buf(part.buf);
        for block in part.blocks() {
            buf[index(block)].fill_with(|| words.next().expect("the lengths are equal"));
        }
    }
}

fn index(block: Range<u64>) -> Range<usize> {
    block.start as usize..block.end as usize
}

/// A receive whose message has not arrived yet.
pub(crate) struct PendingReceive {
    from: u32,
    tag: u32,
    into: Part,
}

/// Only receives have tickets: a send completes at once because the queues are unbounded.
impl Driver for TestRank {
    type Request = PendingReceive;
    type Error = std::convert::Infallible;

    fn send(
        &mut self,
        to: u32,
        tag: u32,
        from: Part,
    ) -> Result<Option<PendingReceive>, Self::Error> {
        let words = self.read(from);
        self.queues
            .borrow_mut()
            .entry((self.rank, to, tag))
            .or_default()
            .push_back(words);
        Ok(None)
    }

    fn recv(
        &mut self,
        from: u32,
        tag: u32,
        into: Part,
    ) -> Result<Option<PendingReceive>, Self::Error> {
        Ok(Some(PendingReceive { from, tag, into }))
    }

    fn copy(&mut self, from: Part, into: Part) -> Result<(), Self::Error> {
        let words = self.read(from);
        self.write(into, words);
        Ok(())
    }

    fn reduce(&mut self, from: Part, into: Part, side: Side) -> Result<(), Self::Error> {
        let pairs = self.read(from).into_iter().zip(self.read(into));
        let words = pairs.map(|(from, into)| match side {
            Side::Left => from + &into,
            Side::Right => into + &from,
        });
        let words = words.collect();
        self.write(into, words);
        Ok(())
    }

    fn done(&mut self, request: &mut PendingReceive) -> Result<bool, Self::Error> {
        let key = (request.from, self.rank, request.tag);
        let message = self
            .queues
            .borrow_mut()
            .get_mut(&key)
            .and_then(VecDeque::pop_front);
        let Some(words) = message else {
            return Ok(false);
        };
        self.write(request.into, words);
        Ok(true)
    }
}

/// Runs one plan per rank, each with its input and output buffers, round-robin until every rank is done.
pub(crate) fn run<P: Plan>(ranks: Vec<(P, Vec<String>, Vec<String>)>) -> Vec<TestRank> {
    let queues = Queues::default();
    let mut running: Vec<_> = (0..)
        .zip(ranks)
        .map(|(rank, (plan, input, output))| {
            let execution = Execution::new(plan);
            let scratch = vec![String::new(); execution.scratch(CallArrays::NOTHING) as usize];
            (
                execution,
                TestRank {
                    rank,
                    queues: Rc::clone(&queues),
                    input,
                    output,
                    scratch,
                },
            )
        })
        .collect();
    for _ in 0..100_000 {
        let mut done = 0;
        for (execution, end) in &mut running {
            match execution.advance(CallArrays::NOTHING, end) {
                Ok(Progress::Done) => done += 1,
                Ok(Progress::Pending) => {}
                Err(error) => panic!("{error}"),
            }
        }
        if done == running.len() {
            assert!(
                queues.borrow().values().all(VecDeque::is_empty),
                "a message was never received"
            );
            return running.into_iter().map(|(_, end)| end).collect();
        }
    }
    panic!("the ranks are deadlocked");
}
