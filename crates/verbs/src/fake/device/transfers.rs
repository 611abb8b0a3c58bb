//! Requests of send queues: what they do, and how they end.

use super::{Device, FOR_EVER, Pair, Payload, Script, Send, Span, completion, status};
use crate::ffi::{
    IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE, IBV_QPS_RTR, IBV_SEND_SIGNALED, IBV_WC_RECV,
    IBV_WC_SUCCESS, IBV_WC_WITH_IMM, IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE, IBV_WR_SEND,
    IBV_WR_SEND_WITH_IMM, ibv_wc,
};

/// Whether a request takes a receive.
fn is_message(send: &Send) -> bool {
    matches!(send.opcode, IBV_WR_SEND | IBV_WR_SEND_WITH_IMM)
}

impl Payload {
    fn len(&self) -> u64 {
        match self {
            Self::Inline(bytes) => bytes.len() as u64,
            Self::Segments(spans) => spans.iter().map(|span| span.len as u64).sum(),
        }
    }
}

/// How a request ends: the status of its completion.
type End = Result<(), u32>;

impl Device {
    /// Performs the requests of a queue pair in order, until one waits for a receive of the peer.
    pub(super) fn advance(&mut self, number: u32) {
        while let Some(pair) = self.pairs.get_mut(&number)
            && let Some(send) = pair.waiting.pop_front()
        {
            let waits = self.waits(number, &send);
            let pair = self.pairs.get_mut(&number).expect("looked up above");
            if waits {
                return pair.waiting.push_front(send);
            }
            pair.waited = 0;
            self.perform(number, &send);
        }
    }

    /// Whether a request waits for a receive of the peer: until all retries are done.
    fn waits(&self, number: u32, send: &Send) -> bool {
        let pair = &self.pairs[&number];
        let is_good = !pair.is_broken && pair.failing.is_none() && self.reaches(number);
        let is_good = is_good && !self.is_cut(number);
        let polls = self.script.map_or(0, |script| script.rnr_polls);
        let retries = u32::from(pair.rnr_retry);
        let has_time = pair.rnr_retry == FOR_EVER || pair.waited < polls * (retries + 1);
        if !(is_good && is_message(send) && has_time) {
            return false;
        }
        let queue = self.shared_of(pair.peer, send.remote_queue);
        self.lacks_receive(pair.peer, queue)
    }

    /// Lets time pass for the requests that complete in a queue and wait for a receive.
    pub(super) fn try_again(&mut self, queue: usize) {
        let is_waiting = |pair: &Pair| pair.sends == queue && !pair.waiting.is_empty();
        let waiting = self.pairs.iter().filter(|(_, pair)| is_waiting(pair));
        let waiting: Vec<u32> = waiting.map(|(number, _)| *number).collect();
        for number in waiting {
            self.pairs.get_mut(&number).expect("found above").waited += 1;
            self.advance(number);
        }
    }

    /// Whether a queue pair and its peer are connected with each other.
    fn reaches(&self, number: u32) -> bool {
        let peer = self.pairs.get(&self.pairs[&number].peer);
        peer.is_some_and(|peer| peer.peer == number && peer.state >= IBV_QPS_RTR && !peer.is_broken)
    }

    fn perform(&mut self, number: u32, send: &Send) {
        let (id, flags) = (send.id, send.flags);
        let pair = &self.pairs[&number];
        let peer = pair.peer;
        let end = if pair.is_broken {
            Err(status::WR_FLUSH_ERR)
        } else if let Some(status) = pair.failing {
            Err(status)
        } else if self.is_cut(number) || !self.reaches(number) {
            Err(status::RETRY_EXC_ERR)
        } else if is_message(send) {
            self.message(number, peer, send)
        } else {
            self.access(number, peer, send)
        };
        if end.is_ok() {
            let port = self.pairs[&number].port;
            *self.carried.entry(port).or_default() += send.payload.len();
        }
        if end.is_ok() && flags & IBV_SEND_SIGNALED == 0 {
            let pair = self.pairs.get_mut(&number).expect("looked up above");
            pair.unsignaled += 1;
            return;
        }
        self.complete_send(number, id, end);
        if end.is_err() {
            self.set_broken(number);
            if !self.is_cut(number) {
                self.set_broken(peer);
            }
        }
    }

    /// See [`cut`](crate::fake::cut).
    pub(in crate::fake) fn cut(&mut self, device: u8, port: u8) {
        self.cut.insert((device, port));
        let numbers: Vec<u32> = self.pairs.keys().copied().collect();
        for number in numbers {
            let (queue, is_cut) = (self.pairs[&number].sends, self.is_cut(number));
            let Some(queue) = self.queues.get_mut(&queue).filter(|_| is_cut) else {
                continue;
            };
            let drawn = self.script.as_mut().and_then(Script::draw).unwrap_or(0);
            let kept = drawn as usize % (queue.unanswered(number) + 1);
            if queue.lose_answers(number, kept) {
                self.set_broken(number);
            }
            self.advance(number);
        }
    }

    fn is_cut(&self, number: u32) -> bool {
        self.cut.contains(&self.pairs[&number].port)
    }

    /// Moves a message to the first receive of `peer`.
    fn message(&mut self, number: u32, peer: u32, send: &Send) -> End {
        let bytes = self.gather(number, &send.payload)?;
        let queue = self.shared_of(peer, send.remote_queue);
        if queue == 0 && self.pairs[&peer].target_of.is_some() {
            return Err(status::REM_INV_REQ_ERR);
        }
        let receive = self.take_receive(peer, queue);
        let receive = receive.ok_or(status::RNR_RETRY_EXC_ERR)?;
        let to = &self.pairs[&peer];
        let shared = self.shared.get(&queue);
        let domain = shared.map_or(to.domain, |shared| shared.domain);
        let completions = self.completions_of(peer, queue);
        let mut arrived = completion(peer, receive.id, IBV_WC_SUCCESS);
        if self.memory.scatter(domain, &receive.to, &bytes).is_err() {
            arrived.status = status::LOC_LEN_ERR;
            self.complete_in(completions, (peer, false, arrived));
            return Err(status::REM_INV_REQ_ERR);
        }
        arrived.opcode = IBV_WC_RECV;
        arrived.byte_len = bytes.len() as u32;
        if send.opcode == IBV_WR_SEND_WITH_IMM {
            (arrived.wc_flags, arrived.imm_data) = (IBV_WC_WITH_IMM, send.immediate);
        }
        self.complete_in(completions, (peer, false, arrived));
        Ok(())
    }

    /// Reads or writes memory of `peer`.
    fn access(&mut self, number: u32, peer: u32, send: &Send) -> End {
        let shared = self.shared.get(&self.shared_of(peer, send.remote_queue));
        let peer = &self.pairs[&peer];
        let domain = match (peer.target_of, shared) {
            (None, _) => peer.domain,
            // Of the process that the request names by its queue.
            (Some(_), Some(shared)) => shared.domain,
            (Some(_), None) => return Err(status::REM_INV_REQ_ERR),
        };
        let (address, key) = send.remote;
        let reach = |len: usize, access| {
            let span = Span { address, len, key };
            let allowed = peer.access & access != 0;
            let found = self.memory.find(domain, &span, access).filter(|_| allowed);
            found.ok_or(status::REM_ACCESS_ERR)
        };
        match send.opcode {
            IBV_WR_RDMA_READ => {
                let Payload::Segments(to) = &send.payload else {
                    return Err(status::LOC_PROT_ERR);
                };
                let from = reach(to.iter().map(|span| span.len).sum(), IBV_ACCESS_REMOTE_READ)?;
                let bytes = from.read();
                let domain = self.pairs[&number].domain;
                self.memory
                    .scatter(domain, to, &bytes)
                    .map_err(|()| status::LOC_PROT_ERR)
            }
            IBV_WR_RDMA_WRITE => {
                let bytes = self.gather(number, &send.payload)?;
                if bytes.is_empty() {
                    // Devices check no key then.
                    return Ok(());
                }
                reach(bytes.len(), IBV_ACCESS_REMOTE_WRITE)?.write(&bytes);
                Ok(())
            }
            opcode => panic!("the fake device has no opcode {opcode}"),
        }
    }

    /// The bytes of a request of pair `number`.
    fn gather(&self, number: u32, payload: &Payload) -> Result<Vec<u8>, u32> {
        let domain = self.pairs[&number].domain;
        let mut bytes = Vec::new();
        match payload {
            Payload::Inline(inline) => bytes.extend_from_slice(inline),
            Payload::Segments(segments) => {
                for span in segments {
                    let found = self.memory.find(domain, span, 0);
                    bytes.extend(found.ok_or(status::LOC_PROT_ERR)?.read());
                }
            }
        }
        Ok(bytes)
    }

    /// Ends all requests of a queue pair.
    pub(super) fn set_broken(&mut self, number: u32) {
        let Some(pair) = self.pairs.get_mut(&number).filter(|pair| !pair.is_broken) else {
            return;
        };
        pair.is_broken = true;
        let peer = pair.peer;
        let (receives, sends) = (
            std::mem::take(&mut pair.posted),
            std::mem::take(&mut pair.waiting),
        );
        self.announce_last_receive(number);
        for send in sends {
            self.complete_send(number, send.id, Err(status::WR_FLUSH_ERR));
        }
        for receive in receives {
            self.complete(
                number,
                false,
                completion(number, receive.id, status::WR_FLUSH_ERR),
            );
        }
        self.advance(peer);
    }

    fn complete_send(&mut self, number: u32, id: u64, end: End) {
        if let Some(pair) = self.pairs.get_mut(&number) {
            let before = std::mem::take(&mut pair.unsignaled);
            pair.unsignaled_before.push_back(before);
        }
        self.complete(
            number,
            true,
            completion(number, id, end.err().unwrap_or(IBV_WC_SUCCESS)),
        );
    }

    pub(super) fn complete(&mut self, number: u32, is_send: bool, completion: ibv_wc) {
        let Some(pair) = self.pairs.get(&number) else {
            return;
        };
        let queue = if is_send { pair.sends } else { pair.receives };
        self.complete_in(queue, (number, is_send, completion));
    }

    /// Adds a completion of a queue pair, of its send queue or not, to a completion queue.
    fn complete_in(&mut self, queue: usize, entry: (u32, bool, ibv_wc)) {
        let is_send = entry.1;
        let delay = self
            .script
            .as_mut()
            .map_or(0, |script| script.delay(is_send));
        if let Some(queue) = self.queues.get_mut(&queue) {
            queue.push(entry, delay);
        }
    }
}
