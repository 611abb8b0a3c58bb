//! XRC: domains that processes share, targets in them, and shared receive queues that requests name by number.

use super::{Device, Pair};
use std::collections::BTreeMap;

/// What tells one domain from another: the device, and the file; without one, the address of the C object.
pub(super) type DomainIdentity = (u8, u64, u64);

/// The domains that are open, by the address of the C object.
#[derive(Default)]
pub(super) struct Domains {
    open: BTreeMap<usize, DomainIdentity>,
    last_queue: u32,
}

/// What a shared receive queue of a domain has beside others.
pub(super) struct ExtendedQueue {
    number: u32,
    domain: DomainIdentity,
    /// The completion queue of its messages.
    completions: usize,
}

impl Device {
    pub(in crate::fake) fn has_xrc(&self) -> bool {
        self.script.is_none_or(|script| script.has_xrc)
    }

    pub(in crate::fake) fn open_domain(
        &mut self,
        domain: usize,
        device: u8,
        file: Option<(u64, u64)>,
    ) {
        let (at, inode) = file.unwrap_or((u64::MAX, domain as u64));
        self.domains.open.insert(domain, (device, at, inode));
    }

    pub(in crate::fake) fn close_domain(&mut self, domain: usize) {
        self.domains.open.remove(&domain);
    }

    /// Adds a queue that was made to the domain `xrc_domain`.
    pub(in crate::fake) fn extend_shared(
        &mut self,
        queue: usize,
        [xrc_domain, completions]: [usize; 2],
    ) {
        self.domains.last_queue += 1;
        let extended = ExtendedQueue {
            number: self.domains.last_queue,
            domain: self.domains.open[&xrc_domain],
            completions,
        };
        let shared = self.shared.get_mut(&queue).expect("a queue");
        shared.extended = Some(extended);
    }

    pub(in crate::fake) fn number_of_shared(&self, queue: usize) -> u32 {
        let extended = self.shared[&queue].extended.as_ref();
        extended.expect("a queue of a domain").number
    }

    /// Makes a target in a domain; returns its number.
    pub(in crate::fake) fn create_target(&mut self, device: u8, domain: usize) -> u32 {
        self.last_pair += 1;
        let target = Pair {
            port: (device, 0),
            target_of: Some(self.domains.open[&domain]),
            users: 1,
            ..Pair::default()
        };
        self.pairs.insert(self.last_pair, target);
        self.last_pair
    }

    /// Opens a target for another process. False: the domain has none of this number.
    pub(in crate::fake) fn open_target(&mut self, number: u32, domain: usize) -> bool {
        let domain = self.domains.open[&domain];
        let target = self.pairs.get_mut(&number);
        let target = target.filter(|pair| pair.target_of == Some(domain));
        target.map(|target| target.users += 1).is_some()
    }

    /// The shared receive queue of a message or an access by which queue pair `number` names the queue `remote`: the address of
    /// its C object; 0 for none.
    pub(super) fn shared_of(&self, number: u32, remote: u32) -> usize {
        let pair = &self.pairs[&number];
        let Some(domain) = pair.target_of else {
            return pair.shared;
        };
        let is_it =
            |extended: &ExtendedQueue| extended.number == remote && extended.domain == domain;
        let mut all = self.shared.iter();
        let found = all.find(|(_, shared)| shared.extended.as_ref().is_some_and(is_it));
        found.map_or(0, |(address, _)| *address)
    }

    /// Where messages of a shared receive queue complete that queue pair `number` takes.
    pub(super) fn completions_of(&self, number: u32, shared: usize) -> usize {
        let shared = self.shared.get(&shared);
        let extended = shared.and_then(|shared| shared.extended.as_ref());
        extended.map_or(self.pairs[&number].receives, |extended| {
            extended.completions
        })
    }

    /// The queue pairs that may take receives of a shared queue.
    pub(super) fn takers_of(&self, queue: usize) -> Vec<u32> {
        let extended = self.shared[&queue].extended.as_ref();
        let domain = extended.map(|extended| extended.domain);
        let takes = |pair: &Pair| match domain {
            None => pair.shared == queue,
            domain => pair.target_of == domain,
        };
        let takers = self.pairs.iter().filter(|(_, pair)| takes(pair));
        takers.map(|(number, _)| *number).collect()
    }
}
