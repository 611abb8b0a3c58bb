use oxmpi_wire::{Envelope, Flags, Header, HeaderError, Kind, Put, Slot};
use proptest::prelude::*;

use super::*;

const MOST: u32 = 300;
const MOST_BULK: u32 = 900;
const ROOM: usize = 2 * framed(MOST as usize);

fn eager(tag: u32, len: u32) -> Header {
    Header {
        kind: Kind::Eager,
        flags: Flags::empty(),
        len,
        envelope: Envelope { context: 3, tag },
    }
}

/// What one side sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Frame(u32),
    Bulk(u32),
}

fn item() -> impl Strategy<Value = Item> {
    prop_oneof![
        (0..=MOST).prop_map(Item::Frame),
        (1..=MOST_BULK).prop_map(Item::Bulk),
    ]
}

fn byte(item: usize, at: usize) -> u8 {
    (item * 31 + at * 7) as u8
}

fn bytes(item: usize, len: u32) -> Vec<u8> {
    (0..len as usize).map(|at| byte(item, at)).collect()
}

/// Puts `item` into the outbox; false if it has no room.
fn put(outbox: &mut Outbox, number: usize, item: Item) -> bool {
    match item {
        Item::Frame(len) => {
            let (head, body) = (eager(number as u32, len), bytes(number, len));
            if outbox.is_empty() && number.is_multiple_of(2) {
                // As if nothing of it had been written.
                outbox.keep([&head.bytes(), &body]);
                return true;
            }
            let Some(mut draft) = outbox.begin(&head) else {
                return false;
            };
            let (first, second) = body.split_at(body.len() / 2);
            draft.put(first);
            draft.put(second);
            draft.send();
            true
        }
        Item::Bulk(len) => {
            let control = Control::Data {
                id: Id(number as u64),
                at: 0,
                len,
            };
            outbox.announce(&control.header(), &control.bytes())
        }
    }
}

/// Writes at most `most` bytes of what waits to `stream`. `bulk`: which item's bulk is under way, and
/// how much of it is written.
fn write(outbox: &mut Outbox, bulk: &mut (usize, usize), most: usize, stream: &mut Vec<u8>) {
    let left = outbox.bulk() as usize;
    let run = (0..left).map(|at| byte(bulk.0, bulk.1 + at));
    let all: Vec<u8> = outbox.head().iter().copied().chain(run).collect();
    let all = [&all[..], outbox.tail()].concat();
    let count = most.min(all.len());
    stream.extend_from_slice(&all[..count]);
    bulk.1 += outbox.wrote(count as u64) as usize;
}

/// Everything that is whole in `inbox` goes to `got`; a run of bulk grows as it comes.
fn read(inbox: &mut Inbox, got: &mut Vec<(Item, Vec<u8>)>) {
    loop {
        let bulk = inbox.take_bulk();
        if let (Some((_, last)), false) = (got.last_mut(), bulk.is_empty()) {
            last.extend_from_slice(bulk);
        }
        let number = got.len();
        match inbox.next().expect("a sound stream") {
            None => return,
            Some(Arrival::Frame(head, body)) => {
                assert_eq!(head.envelope.tag as usize, number);
                got.push((Item::Frame(head.len), body.to_vec()));
            }
            Some(Arrival::Control(Control::Data { id, len, .. })) => {
                assert_eq!(id.0 as usize, number);
                got.push((Item::Bulk(len), Vec::new()));
            }
            Some(other) => panic!("{other:?} was not sent"),
        }
    }
}

fn expected(items: &[Item]) -> Vec<(Item, Vec<u8>)> {
    let body = |(number, item): (usize, &Item)| match *item {
        Item::Frame(len) | Item::Bulk(len) => (*item, bytes(number, len)),
    };
    items.iter().enumerate().map(body).collect()
}

/// A stream of `items`, in one piece.
fn stream(items: &[Item]) -> Vec<u8> {
    let (mut outbox, mut stream) = (Outbox::new(ROOM), Vec::new());
    for (number, &item) in items.iter().enumerate() {
        assert!(put(&mut outbox, number, item));
        write(&mut outbox, &mut (number, 0), usize::MAX, &mut stream);
        assert!(outbox.is_empty());
    }
    stream
}

fn feed(inbox: &mut Inbox, piece: &[u8], straight: bool, got: &mut Vec<(Item, Vec<u8>)>) {
    let mut piece = piece;
    while !piece.is_empty() {
        if straight && inbox.bulk() > 0 && !inbox.has_bytes() {
            let (now, later) = piece.split_at(piece.len().min(inbox.bulk() as usize));
            got.last_mut()
                .expect("bulk follows its control")
                .1
                .extend_from_slice(now);
            inbox.came(now.len() as u64, 0);
            piece = later;
        } else {
            let space = inbox.space();
            let (now, later) = piece.split_at(piece.len().min(space.len()));
            assert!(!now.is_empty(), "there is always room to read into");
            space[..now.len()].copy_from_slice(now);
            inbox.came(0, now.len());
            piece = later;
        }
        read(inbox, got);
    }
}

#[test]
fn a_stream_may_be_cut_anywhere() {
    let items = [
        Item::Frame(0),
        Item::Bulk(40),
        Item::Frame(17),
        Item::Bulk(1),
        Item::Frame(MOST),
    ];
    let stream = stream(&items);
    for straight in [false, true] {
        for first in 0..=stream.len() {
            let second = first + (stream.len() - first) / 3;
            let (mut inbox, mut got) = (Inbox::new(MOST, MOST_BULK), Vec::new());
            for piece in [&stream[..first], &stream[first..second], &stream[second..]] {
                feed(&mut inbox, piece, straight, &mut got);
            }
            assert!(got == expected(&items), "cut at {first} and {second}");
            assert!(inbox.is_empty());
        }
    }
}

proptest! {
    /// Whatever is sent, however little is written and read at a time, arrives as it was sent.
    #[test]
    fn frames_and_bulk_arrive_in_order(
        items in prop::collection::vec(item(), 1..60),
        cuts in prop::collection::vec((1usize..400, 1usize..400, any::<bool>()), 1..40),
    ) {
        let (mut outbox, mut inbox) = (Outbox::new(ROOM), Inbox::new(MOST, MOST_BULK));
        let (mut sent, mut bulk) = (0, (0, 0));
        let (mut on_the_way, mut got) = (Vec::new(), Vec::new());
        let mut cuts = cuts.into_iter().cycle();
        while got.len() < items.len() || !inbox.is_empty() {
            let (written, taken, straight) = cuts.next().expect("it goes round");
            while sent < items.len() {
                let was_idle = !outbox.has_bulk();
                if !put(&mut outbox, sent, items[sent]) {
                    break;
                }
                if was_idle && outbox.has_bulk() {
                    bulk = (sent, 0);
                }
                sent += 1;
            }
            write(&mut outbox, &mut bulk, written, &mut on_the_way);
            let piece: Vec<u8> = on_the_way.drain(..taken.min(on_the_way.len())).collect();
            feed(&mut inbox, &piece, straight, &mut got);
        }
        prop_assert!(got == expected(&items));
        prop_assert!(outbox.is_empty() && on_the_way.is_empty());
    }

    /// A stream of anything gives frames or a breach: no panic, and no frame beyond the limits.
    #[test]
    fn whatever_comes_is_judged(
        noise in prop::collection::vec(any::<u8>(), 0..2000),
        header in any::<bool>(),
        at in 1usize..500,
    ) {
        let mut stream = noise;
        if header {
            stream.splice(0..0, eager(1, 5).bytes());
        }
        let mut inbox = Inbox::new(MOST, MOST_BULK);
        'stream: for piece in stream.chunks(at) {
            let mut piece = piece;
            while !piece.is_empty() {
                let space = inbox.space();
                prop_assert!(!space.is_empty());
                let (now, later) = piece.split_at(piece.len().min(space.len()));
                space[..now.len()].copy_from_slice(now);
                inbox.came(0, now.len());
                piece = later;
                loop {
                    inbox.take_bulk();
                    match inbox.next() {
                        Err(breach) => {
                            prop_assert!(!breach.rule().is_empty());
                            break 'stream;
                        }
                        Ok(None) => break,
                        Ok(Some(Arrival::Frame(head, body))) => {
                            prop_assert!(head.len <= MOST && body.len() == head.len as usize);
                        }
                        Ok(Some(Arrival::Control(control))) => {
                            prop_assert!(control.bulk() <= MOST_BULK);
                        }
                    }
                }
            }
        }
    }
}

fn judged(head: Header, then: &[u8]) -> Result<(), Breach> {
    let mut inbox = Inbox::new(MOST, MOST_BULK);
    let stream = [&head.bytes(), then].concat();
    inbox.space()[..stream.len()].copy_from_slice(&stream);
    inbox.came(0, stream.len());
    inbox.next().map(drop)
}

/// A length is judged when the header is here: nobody waits for what can never come.
#[test]
fn a_wrong_header_is_told_at_once() {
    let breach = judged(eager(1, MOST + 1), &[]).unwrap_err();
    assert_eq!(
        breach,
        Breach::Length {
            len: MOST + 1,
            most: MOST
        }
    );
    assert_eq!(
        breach.to_string(),
        "a frame with a body of 301 B; the longest has 300 B"
    );

    let own = Header {
        kind: Kind::Transport,
        ..eager(0, Control::LEN as u32 + MOST_BULK + 1)
    };
    assert!(matches!(judged(own, &[]), Err(Breach::Length { .. })));
    let own = Header {
        kind: Kind::Transport,
        ..eager(0, 3)
    };
    assert!(judged(own, &[7; Control::LEN]).is_err());
    let marked = Header {
        flags: Flags::SYNC,
        ..Control::Leave.header()
    };
    assert_eq!(
        judged(marked, &Control::Leave.bytes()),
        Err(Breach::Control("marks in its header"))
    );

    let mut inbox = Inbox::new(MOST, MOST_BULK);
    inbox.space()[..16].copy_from_slice(&[9; 16]);
    inbox.came(0, 16);
    let breach = inbox.next().unwrap_err();
    assert_eq!(breach, Breach::Header(HeaderError::Version(9)));
    assert_eq!(breach.rule(), "a frame of another version");
}

/// A full outbox takes no more, and after half of it is written it does.
#[test]
fn an_outbox_is_bounded() {
    let mut outbox = Outbox::new(ROOM);
    let mut frames = 0;
    while put(&mut outbox, 0, Item::Frame(84)) {
        frames += 1;
    }
    assert_eq!(frames, ROOM / 100);
    assert!(!outbox.has_room(84) && outbox.begin(&eager(0, MOST)).is_none());
    outbox.wrote(ROOM as u64 / 2);
    assert!(outbox.has_room(84), "what waits moves to the front");
    outbox.clear();
    assert!(outbox.is_empty() && outbox.has_room(ROOM - 16) && !outbox.has_room(ROOM - 15));
}

#[test]
fn a_dropped_draft_leaves_nothing() {
    let mut outbox = Outbox::new(ROOM);
    outbox.begin(&eager(1, 9)).expect("room").put(&[1; 9]);
    assert!(outbox.is_empty() && outbox.head().is_empty());
}

/// Frames that are sent while bulk is under way come after it.
#[test]
fn one_run_of_bulk_at_a_time() {
    let mut outbox = Outbox::new(ROOM);
    assert!(put(&mut outbox, 0, Item::Bulk(10)));
    assert!(!put(&mut outbox, 1, Item::Bulk(10)), "one is under way");
    assert!(put(&mut outbox, 1, Item::Frame(5)));
    let head = framed(Control::LEN);
    assert_eq!(
        (outbox.head().len(), outbox.bulk(), outbox.tail().len()),
        (head, 10, framed(5))
    );
    assert_eq!(outbox.wrote(head as u64 + 4), 4);
    assert_eq!(
        (outbox.head().len(), outbox.bulk(), outbox.tail().len()),
        (0, 6, framed(5))
    );
    assert_eq!(outbox.wrote(6 + framed(5) as u64), 6);
    assert!(outbox.is_empty() && put(&mut outbox, 2, Item::Bulk(10)));
}
