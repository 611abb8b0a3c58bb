//! Tests of offers whose two sides disagree, and of the choice of protocols.

use std::vec::Vec;

use oxmpi_os::RawBytes;
use oxmpi_wire::regions::Region;
use oxmpi_wire::{
    Access, Fault, Key, Layout, Local, Memory, Peer, Remote, Rma, Sleeper, Token, Tx,
};

use super::{Rank, put, ranks};
use crate::ring::{BulkOffer, MappedWords, OfferStage, OwnerProgress, STRIDE};
use crate::segment::SegmentLayout;
use crate::segment::area::{FIFOS, WINDOWS_PER_PAIR};
use crate::transport::offer_key::OfferKey;
use crate::transport::{BulkPreference, BulkProtocol};

const LEN: usize = 300_000;

/// Pieces of a get of [`LEN`] bytes by `CmaBoth`.
const PIECES: u64 = 2;

/// Two ranks of a node in this process.
fn two() -> [Rank; 2] {
    let ranks = ranks(SegmentLayout::new(2));
    ranks.try_into().ok().expect("two ranks")
}

impl Rank {
    fn poll_often(&mut self) {
        for _ in 0..20 {
            self.poll();
        }
    }

    fn register(&mut self, body: &mut [u8], access: Access) -> Region {
        // SAFETY: every test keeps its bytes until it ends, and looks at them between polls.
        let bytes = unsafe { RawBytes::new(body.as_mut_ptr(), body.len()) };
        self.tx.register(bytes, access, Peer(0)).unwrap()
    }

    /// Offers `body` to rank 1.
    fn offer_to_one(&mut self, body: &mut [u8]) -> Key {
        let region = self.register(body, Access::READ);
        self.tx.expose(&region, Peer(1))
    }

    /// Starts operation `token`: gets the bytes of `key`, of rank `of`.
    fn get_from(&mut self, of: u32, key: &Key, body: &mut [u8], token: u64) {
        let region = &self.register(body, Access::WRITE);
        let (at, len) = (0, body.len() as u64);
        let (remote, local) = (Remote { key, at, len }, Local { region, at, len });
        let started = self.tx.get(Peer(of), remote, local, Token(token));
        started.unwrap();
    }

    /// Starts operation 1: gets the bytes of `key`, of rank 0, by `protocol`.
    fn get(&mut self, key: &Key, body: &mut [u8], protocol: BulkProtocol) {
        self.prefer(protocol);
        self.get_from(0, key, body, 1);
    }

    fn prefer(&mut self, protocol: BulkProtocol) {
        let (protocol, chunk) = (Some(protocol), None);
        self.tx
            .set_bulk_preference(BulkPreference { protocol, chunk });
    }

    /// Keys of so many messages for rank 1.
    fn offer_all(&mut self, bodies: &mut [Vec<u8>]) -> Vec<Key> {
        let bodies = bodies.iter_mut();
        bodies.map(|body| self.offer_to_one(body)).collect()
    }

    /// Starts to get them from rank 0 by any protocol; tokens count from 0.
    fn get_all(&mut self, keys: &[Key], bodies: &mut [Vec<u8>]) {
        for (token, (key, body)) in (0..).zip(keys.iter().zip(bodies)) {
            self.get_from(0, key, body, token);
        }
    }

    /// The first offer of rank 0 to rank 1.
    fn offer(&self) -> BulkOffer<MappedWords<'_>> {
        self.segment.area().unwrap().offer(0, 1, 0)
    }
}

fn single_copy() -> bool {
    oxmpi_os::probe::process_vm_readv().is_ok()
}

#[test]
fn bytes_of_a_peer_that_has_given_up_do_not_count() {
    const WHY: Fault = Fault::Refused("the test says so");
    let [mut owner, mut claimer] = two();
    let (mut from, mut to) = (vec![1; 20_000], vec![0; 20_000]);
    let region = owner.register(&mut from, Access::READ);
    let key = owner.tx.expose(&region, Peer(1));
    owner.poll_often();
    claimer.get(&key, &mut to, BulkProtocol::Copy);
    owner.tx.give_up(Peer(1), WHY);
    owner.poll_often();
    owner.tx.release(region, Token(2));
    owner.poll_often();
    assert_eq!(owner.log.done, [(Token(2), Ok(()))]);
    claimer.poll_often();
    let given_up = Fault::Refused("the peer has given this rank up");
    assert_eq!(claimer.log.done, [(Token(1), Err(given_up))]);
    assert_eq!(claimer.log.lost, [(Peer(0), given_up)]);
}

#[test]
fn no_get_waits_for_a_peer_that_has_given_up() {
    let [mut owner, mut claimer] = two();
    let (mut from, mut to) = (vec![1; LEN], vec![0; LEN]);
    let key = owner.offer_to_one(&mut from);
    claimer.get(&key, &mut to, BulkProtocol::Copy);
    claimer.poll_often();
    assert!(!claimer.rx.arm(), "what it waits for is to be noted");
    claimer.poll_often();
    assert!(claimer.rx.arm(), "nothing has come");
    owner
        .tx
        .give_up(Peer(1), Fault::Refused("the test says so"));
    owner.poll();
    assert!(!claimer.rx.arm(), "a sleeper is woken");
    claimer.poll_often();
    let given_up = Fault::Refused("the peer has given this rank up");
    assert_eq!(claimer.log.done, [(Token(1), Err(given_up))]);
    assert_eq!(claimer.log.lost, [(Peer(0), given_up)]);
}

#[test]
fn an_offer_that_changes_under_its_claimer_gives_the_owner_up() {
    let [mut owner, mut claimer] = two();
    let (mut from, mut to) = (vec![1; LEN], vec![0; LEN]);
    let key = owner.offer_to_one(&mut from);
    claimer.get(&key, &mut to, BulkProtocol::Copy);
    let offer = owner.offer();
    let (words, state) = (*offer.words(), offer.state_word());
    let generation = OfferKey::of_key(&key).generation;
    put(words, state, OfferStage::Open.word(generation));
    claimer.poll_often();
    let why = Fault::Protocol("an offer changed under its claimer");
    assert_eq!(claimer.log.lost, [(Peer(0), why)]);
}

#[test]
fn a_region_is_offered_to_one_peer() {
    let rank = &mut ranks(SegmentLayout::new(3))[0];
    let mut bodies = [[1; 10_000], [2; 10_000]];
    let [one, other] = bodies
        .each_mut()
        .map(|body| rank.register(body, Access::READ));
    let mut offered = |region, to| OfferKey::of_key(&rank.tx.expose(region, Peer(to)));
    let first = offered(&one, 1);
    assert_eq!((first.place, first.generation), (Some(0), 1));
    let second = offered(&other, 2);
    assert_eq!((second.place, second.generation), (Some(0), 1));
    assert_eq!(offered(&one, 1), first);
    assert_eq!(offered(&one, 2), OfferKey::default(), "not that of `other`");
}

#[test]
fn a_piece_count_that_repeats_gives_the_owner_up() {
    let [mut owner, mut claimer] = two();
    let (mut from, mut to) = (vec![1; LEN], vec![0; LEN]);
    let key = owner.offer_to_one(&mut from);
    // A rank with an address-space id has mapped its area.
    assert!(owner.segment.area().is_some());
    if !single_copy() {
        return;
    }
    claimer.get(&key, &mut to, BulkProtocol::CmaBoth);
    let next = STRIDE / 2 + 3;
    for _ in 0..PIECES + 1 {
        put(*owner.offer().words(), next, 0);
        claimer.poll();
    }
    put(*owner.offer().words(), next, PIECES);
    claimer.poll_often();
    let why = Fault::Protocol("more pieces than the message has");
    assert_eq!(claimer.log.lost, [(Peer(0), why)]);
}

#[test]
fn gets_end_in_the_order_in_which_they_began() {
    let [mut owner, mut claimer] = two();
    let mut from = vec![vec![7; 20_000]; FIFOS];
    let mut to = vec![vec![0; 20_000]; FIFOS];
    let keys = owner.offer_all(&mut from);
    claimer.get_all(&keys, &mut to);
    owner.poll_often();
    claimer.poll_often();
    let ended: Vec<u64> = claimer.log.done.iter().map(|(token, _)| token.0).collect();
    assert_eq!(ended, Vec::from_iter(0..FIFOS as u64));
    assert!(to == from);
}

/// Where the owner has no FIFO left, the bytes come through the link's buffers. That time is a sample of the
/// protocol's cost, or it would be tried first for ever.
#[test]
fn gets_without_a_fifo_succeed_and_count() {
    const IN_SEQUENCE: usize = WINDOWS_PER_PAIR / 2;
    const WITHOUT: usize = 4;
    const NO_WINDOW: u64 = u64::MAX;
    let [mut owner, mut claimer] = two();
    // The ping-pong windows go to messages of another size class.
    let lens = [100_000; IN_SEQUENCE]
        .into_iter()
        .chain([20_000; FIFOS + WITHOUT]);
    let mut from: Vec<Vec<u8>> = (1..).zip(lens).map(|(fill, len)| vec![fill; len]).collect();
    let mut to: Vec<Vec<u8>> = from.iter().map(|body| vec![0; body.len()]).collect();
    let keys = owner.offer_all(&mut from);
    claimer.get_all(&keys, &mut to);
    owner.poll();
    let area = claimer.segment.area().unwrap();
    let granted = (0..keys.len()).map(|place| area.offer(0, 1, place).granted());
    assert_eq!(granted.filter(|&word| word == NO_WINDOW).count(), WITHOUT);
    for _ in 0..100 {
        owner.poll_often();
        claimer.poll_often();
    }
    assert_eq!(claimer.log.done.len(), keys.len());
    assert!(claimer.log.done.iter().all(|(_, result)| *result == Ok(())));
    assert!(to == from);
    let rows = claimer.tx.bulk_choices(Peer(0));
    let row = rows
        .iter()
        .find(|row| (row.min_len..=row.max_len).contains(&20_000));
    let copy = row.and_then(|row| row.costs.iter().find(|cost| cost.0 == BulkProtocol::Copy));
    let times = copy.map(|&(_, _, times)| times as usize);
    // The second get in a row by one protocol does not count.
    assert_eq!(times, Some(FIFOS + WITHOUT - 1), "{rows:?}");
}

/// The owner may be about to write a piece, which must not land after another protocol has moved the bytes.
#[test]
fn a_failed_shared_get_waits_for_the_pieces_of_the_owner() {
    let [mut owner, mut claimer] = two();
    let (mut from, mut to) = (vec![1; LEN], vec![0; LEN]);
    let mut key = owner.offer_to_one(&mut from);
    let generation = OfferKey::of_key(&key).generation;
    let right = from.as_ptr().addr().to_ne_bytes();
    let place = key.0.windows(8).position(|bytes| bytes == right).unwrap();
    key.0[place..place + 8].copy_from_slice(&8u64.to_ne_bytes());
    if !single_copy() {
        return;
    }
    claimer.get(&key, &mut to, BulkProtocol::CmaBoth);
    assert_eq!(owner.offer().take(PIECES), Some(0));
    claimer.poll_often();
    let protocol = BulkProtocol::CmaBoth.code();
    assert_eq!(
        owner.offer().stage(generation),
        OfferStage::Claimed { protocol }
    );
    assert_eq!(owner.offer().take(PIECES), None);
    owner.offer().share(OwnerProgress::Pieces(1));
    claimer.poll_often();
    assert!(matches!(
        owner.offer().stage(generation),
        OfferStage::Done { .. }
    ));
    for _ in 0..100 {
        owner.poll_often();
        claimer.poll_often();
    }
    assert_eq!(claimer.log.done, [(Token(1), Ok(()))]);
    assert!(to == from);
}

/// An offer by rank 0 of bytes with gaps, and its message.
fn offer_gaps(owner: &mut Rank, memory: &mut [u8]) -> (Key, Vec<u8>) {
    let layout = Layout::strided(2000, 3000, (LEN / 2000) as u32).unwrap();
    // SAFETY: the test keeps the memory until it ends.
    let bytes = unsafe { RawBytes::with_layout(memory.as_mut_ptr(), layout) };
    let region = owner.tx.register(bytes, Access::READ, Peer(0)).unwrap();
    let ranges = memory.chunks(3000).map(|range| &range[..2000]);
    let message = ranges.flatten().copied().collect();
    (owner.tx.expose(&region, Peer(1)), message)
}

/// The owner of bytes with gaps, which alone could write them, does not write its own process.
#[test]
fn an_owner_that_cannot_write_says_so() {
    let [mut owner, mut claimer] = two();
    let (mut from, mut to) = (
        (0..LEN / 2 * 3).map(|i| (i / 7) as u8).collect::<Vec<_>>(),
        vec![0; LEN],
    );
    let (key, message) = offer_gaps(&mut owner, &mut from);
    if !single_copy() {
        return;
    }
    claimer.get(&key, &mut to, BulkProtocol::Cma);
    claimer.poll_often();
    assert_eq!(owner.offer().shared(), OwnerProgress::Pieces(0));
    assert!(claimer.log.done.is_empty(), "nobody has written yet");
    owner.poll();
    assert_eq!(owner.offer().shared(), OwnerProgress::Failed);
    for _ in 0..100 {
        owner.poll_often();
        claimer.poll_often();
    }
    assert_eq!(claimer.log.done, [(Token(1), Ok(()))]);
    assert!(to == message);
}

/// The claimer joins after its claim, and the owner may sleep in between.
#[test]
fn an_owner_does_not_sleep_while_its_claimer_waits_for_pieces() {
    let [mut owner, claimer] = two();
    let mut from = vec![1; LEN / 2 * 3];
    let (key, _) = offer_gaps(&mut owner, &mut from);
    let offer = claimer.offer();
    let generation = OfferKey::of_key(&key).generation;
    assert!(offer.claim(generation, BulkProtocol::Cma.code()));
    owner.poll_often();
    assert!(!owner.rx.arm(), "what it waits for is to be noted");
    owner.poll_often();
    assert!(owner.rx.arm(), "nothing has come");
    offer.join([8, LEN as u64]);
    assert!(!owner.rx.arm(), "the claimer waits for pieces");
}

#[test]
fn an_owner_that_writes_too_many_pieces_is_given_up() {
    let [mut owner, mut claimer] = two();
    let (mut from, mut to) = (vec![1; LEN / 2 * 3], vec![0; LEN]);
    let (key, _) = offer_gaps(&mut owner, &mut from);
    if !single_copy() {
        return;
    }
    claimer.get(&key, &mut to, BulkProtocol::Cma);
    owner.offer().share(OwnerProgress::Pieces(PIECES + 1));
    claimer.poll_often();
    let why = Fault::Protocol("more pieces than the message has");
    assert_eq!(claimer.log.lost, [(Peer(0), why)]);
}

#[test]
fn a_claimer_cannot_make_the_owner_write_its_own_memory() {
    let [mut owner, claimer] = two();
    let (mut from, mut own) = (vec![1; LEN], vec![0u8; LEN]);
    let key = owner.offer_to_one(&mut from);
    let offer = claimer.offer();
    assert!(offer.claim(
        OfferKey::of_key(&key).generation,
        BulkProtocol::CmaBoth.code()
    ));
    offer.join([own.as_mut_ptr().expose_provenance() as u64, LEN as u64]);
    owner.poll_often();
    assert_eq!(offer.shared(), OwnerProgress::Pieces(0));
    assert!(own.iter().all(|&byte| byte == 0));
}

/// One message of `LEN` bytes; ranks 0 and 1.
fn pass(from: (&mut Rank, u32), to: (&mut Rank, u32)) {
    let ((owner, owner_number), (claimer, claimer_number)) = (from, to);
    let (mut out, mut into) = (vec![1; LEN], vec![0; LEN]);
    let source = owner.register(&mut out, Access::READ);
    let key = owner.tx.expose(&source, Peer(claimer_number));
    claimer.get_from(owner_number, &key, &mut into, 1);
    let start = std::time::Instant::now();
    while claimer.log.done.pop() != Some((Token(1), Ok(()))) {
        owner.poll_often();
        claimer.poll_often();
        assert!(
            start.elapsed().as_secs() < 120,
            "a message that never comes"
        );
    }
    owner.tx.release(source, Token(2));
    owner.poll_often();
    assert_eq!(into, out);
}

#[test]
fn one_rank_chooses_for_both_directions() {
    let [mut low, mut high] = two();
    low.prefer(BulkProtocol::Copy);
    for _ in 0..20 {
        pass((&mut high, 1), (&mut low, 0));
        pass((&mut low, 0), (&mut high, 1));
    }
    let taken = |rank: &Rank| {
        let costs = rank.tx.bulk_choices(Peer(0))[0].costs.into_iter();
        let taken = costs.filter(|cost| cost.2 > 0);
        taken
            .map(|(protocol, _, times)| (protocol, times))
            .collect::<Vec<_>>()
    };
    // A protocol has no samples before a rank has chosen one.
    assert!(high.tx.bulk_choices(Peer(0)).is_empty(), "it never chose");
    for _ in 0..20 {
        pass((&mut low, 0), (&mut high, 1));
    }
    assert!(taken(&high).len() > 1, "a stream's receiver finds out");
}
