use oxmpi_testkit::conformance::eager;
use oxmpi_wire::{Flags, Header, HeaderError, Kind, Put, Slot};
use proptest::prelude::*;

use super::*;

const MAX: u32 = 300;
const MAX_BULK: u32 = 900;
const ROOM: usize = 2 * frame_len(MAX as usize);

/// What one side sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamItem {
    Frame(u32),
    Bulk(u32),
}

fn item() -> impl Strategy<Value = StreamItem> {
    prop_oneof![
        (0..=MAX).prop_map(StreamItem::Frame),
        (1..=MAX_BULK).prop_map(StreamItem::Bulk),
    ]
}

fn byte(item: usize, at: usize) -> u8 {
    (item * 31 + at * 7) as u8
}

fn bytes(item: usize, len: u32) -> Vec<u8> {
    (0..len as usize).map(|at| byte(item, at)).collect()
}

/// Puts `item` into the buffer; false if it has no room.
fn put(buffer: &mut SendBuffer, number: usize, item: StreamItem) -> bool {
    match item {
        StreamItem::Frame(len) => {
            let (head, body) = (eager(number as u32, len as usize), bytes(number, len));
            if buffer.is_empty() && number.is_multiple_of(2) {
                // As if nothing of it had been written.
                buffer.keep([&head.bytes(), &body]);
                return true;
            }
            let Some(mut draft) = buffer.begin(&head) else {
                return false;
            };
            let (first, second) = body.split_at(body.len() / 2);
            draft.put(first);
            draft.put(second);
            draft.send();
            true
        }
        StreamItem::Bulk(len) => {
            let control = Control::Data {
                id: OperationId(number as u64),
                at: 0,
                len,
            };
            buffer.announce(&control.header(), &control.bytes())
        }
    }
}

/// Writes at most `most` bytes of what waits to `stream`. `bulk`: which item's bulk is under way, and
/// how much of it is written.
fn write(buffer: &mut SendBuffer, bulk: &mut (usize, usize), most: usize, stream: &mut Vec<u8>) {
    let left = buffer.bulk() as usize;
    let run = (0..left).map(|at| byte(bulk.0, bulk.1 + at));
    let all: Vec<u8> = buffer.head().iter().copied().chain(run).collect();
    let all = [&all[..], buffer.tail()].concat();
    let count = most.min(all.len());
    stream.extend_from_slice(&all[..count]);
    bulk.1 += buffer.sent(count as u64) as usize;
}

/// Moves everything that is whole in `buffer` to `got`; bulk grows as it arrives.
fn read(buffer: &mut ReceiveBuffer, got: &mut Vec<(StreamItem, Vec<u8>)>) {
    loop {
        let bulk = buffer.take_bulk();
        if let (Some((_, last)), false) = (got.last_mut(), bulk.is_empty()) {
            last.extend_from_slice(bulk);
        }
        let number = got.len();
        match buffer.next().expect("a sound stream") {
            None => return,
            Some(Inbound::Frame(head, body)) => {
                assert_eq!(head.envelope.tag as usize, number);
                got.push((StreamItem::Frame(head.len), body.to_vec()));
            }
            Some(Inbound::Control(Control::Data { id, len, .. })) => {
                assert_eq!(id.0 as usize, number);
                got.push((StreamItem::Bulk(len), Vec::new()));
            }
            Some(other) => panic!("{other:?} was not sent"),
        }
    }
}

fn expected(items: &[StreamItem]) -> Vec<(StreamItem, Vec<u8>)> {
    let body = |(number, item): (usize, &StreamItem)| match *item {
        StreamItem::Frame(len) | StreamItem::Bulk(len) => (*item, bytes(number, len)),
    };
    items.iter().enumerate().map(body).collect()
}

/// A stream of `items`, in one piece.
fn stream(items: &[StreamItem]) -> Vec<u8> {
    let (mut buffer, mut stream) = (SendBuffer::new(ROOM), Vec::new());
    for (number, &item) in items.iter().enumerate() {
        assert!(put(&mut buffer, number, item));
        write(&mut buffer, &mut (number, 0), usize::MAX, &mut stream);
        assert!(buffer.is_empty());
    }
    stream
}

fn feed(
    buffer: &mut ReceiveBuffer,
    piece: &[u8],
    direct: bool,
    got: &mut Vec<(StreamItem, Vec<u8>)>,
) {
    let mut piece = piece;
    while !piece.is_empty() {
        if direct && buffer.bulk() > 0 && !buffer.has_bytes() {
            let (now, later) = piece.split_at(piece.len().min(buffer.bulk() as usize));
            got.last_mut()
                .expect("bulk follows its control")
                .1
                .extend_from_slice(now);
            buffer.received(now.len() as u64, 0);
            piece = later;
        } else {
            let space = buffer.space();
            let (now, later) = piece.split_at(piece.len().min(space.len()));
            assert!(!now.is_empty(), "there is always room to read into");
            space[..now.len()].copy_from_slice(now);
            buffer.received(0, now.len());
            piece = later;
        }
        read(buffer, got);
    }
}

#[test]
fn a_stream_may_be_cut_anywhere() {
    let items = [
        StreamItem::Frame(0),
        StreamItem::Bulk(40),
        StreamItem::Frame(17),
        StreamItem::Bulk(1),
        StreamItem::Frame(MAX),
    ];
    let stream = stream(&items);
    for direct in [false, true] {
        for first in 0..=stream.len() {
            let second = first + (stream.len() - first) / 3;
            let (mut buffer, mut got) = (ReceiveBuffer::new(MAX, MAX_BULK), Vec::new());
            for piece in [&stream[..first], &stream[first..second], &stream[second..]] {
                feed(&mut buffer, piece, direct, &mut got);
            }
            assert!(got == expected(&items), "cut at {first} and {second}");
            assert!(buffer.is_empty());
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
        let (mut sender, mut receiver) = (SendBuffer::new(ROOM), ReceiveBuffer::new(MAX, MAX_BULK));
        let (mut sent, mut bulk) = (0, (0, 0));
        let (mut in_flight, mut got) = (Vec::new(), Vec::new());
        let mut cuts = cuts.into_iter().cycle();
        while got.len() < items.len() || !receiver.is_empty() {
            let (written, taken, direct) = cuts.next().expect("it goes round");
            while sent < items.len() {
                let was_idle = !sender.has_bulk();
                if !put(&mut sender, sent, items[sent]) {
                    break;
                }
                if was_idle && sender.has_bulk() {
                    bulk = (sent, 0);
                }
                sent += 1;
            }
            write(&mut sender, &mut bulk, written, &mut in_flight);
            let piece: Vec<u8> = in_flight.drain(..taken.min(in_flight.len())).collect();
            feed(&mut receiver, &piece, direct, &mut got);
        }
        prop_assert!(got == expected(&items));
        prop_assert!(sender.is_empty() && in_flight.is_empty());
    }

    /// Random bytes give frames or a violation: no panic, and no frame beyond the limits.
    #[test]
    fn any_bytes_are_frames_or_a_violation(
        noise in prop::collection::vec(any::<u8>(), 0..2000),
        header in any::<bool>(),
        at in 1usize..500,
    ) {
        let mut stream = noise;
        if header {
            stream.splice(0..0, eager(1, 5).bytes());
        }
        let mut buffer = ReceiveBuffer::new(MAX, MAX_BULK);
        'stream: for piece in stream.chunks(at) {
            let mut piece = piece;
            while !piece.is_empty() {
                let space = buffer.space();
                prop_assert!(!space.is_empty());
                let (now, later) = piece.split_at(piece.len().min(space.len()));
                space[..now.len()].copy_from_slice(now);
                buffer.received(0, now.len());
                piece = later;
                loop {
                    buffer.take_bulk();
                    match buffer.next() {
                        Err(violation) => {
                            prop_assert!(!violation.rule().is_empty());
                            break 'stream;
                        }
                        Ok(None) => break,
                        Ok(Some(Inbound::Frame(head, body))) => {
                            prop_assert!(head.len <= MAX && body.len() == head.len as usize);
                        }
                        Ok(Some(Inbound::Control(control))) => {
                            prop_assert!(control.bulk() <= MAX_BULK);
                        }
                    }
                }
            }
        }
    }
}

fn parsed(head: Header, then: &[u8]) -> Result<(), ProtocolViolation> {
    let mut buffer = ReceiveBuffer::new(MAX, MAX_BULK);
    let stream = [&head.bytes(), then].concat();
    buffer.space()[..stream.len()].copy_from_slice(&stream);
    buffer.received(0, stream.len());
    buffer.next().map(drop)
}

/// The length is checked when the header has arrived: the receiver waits for no body that cannot come.
#[test]
fn an_invalid_header_is_an_error_at_once() {
    let violation = parsed(eager(1, MAX as usize + 1), &[]).unwrap_err();
    let (len, max) = (MAX + 1, MAX);
    assert_eq!(violation, ProtocolViolation::Length { len, max });
    let text = "a frame with a body of 301 B; the longest has 300 B";
    assert_eq!(violation.to_string(), text);

    let own = Header {
        kind: Kind::Transport,
        ..eager(0, Control::LEN + MAX_BULK as usize + 1)
    };
    let read = parsed(own, &[]);
    assert!(matches!(read, Err(ProtocolViolation::Length { .. })));
    let own = Header {
        kind: Kind::Transport,
        ..eager(0, 3)
    };
    assert!(parsed(own, &[7; Control::LEN]).is_err());
    let marked = Header {
        flags: Flags::SYNC,
        ..Control::Leave.header()
    };
    let flagged = ProtocolViolation::Control("flags in its header");
    assert_eq!(parsed(marked, &Control::Leave.bytes()), Err(flagged));

    let mut buffer = ReceiveBuffer::new(MAX, MAX_BULK);
    buffer.space()[..16].copy_from_slice(&[9; 16]);
    buffer.received(0, 16);
    let violation = buffer.next().unwrap_err();
    let version = HeaderError::Version(9);
    assert_eq!(violation, ProtocolViolation::Header(version));
    assert_eq!(violation.rule(), "a frame of another version");
}

/// A full buffer takes no more, and after half of it is written it does.
#[test]
fn a_send_buffer_is_bounded() {
    let mut buffer = SendBuffer::new(ROOM);
    let mut frames = 0;
    while put(&mut buffer, 0, StreamItem::Frame(84)) {
        frames += 1;
    }
    assert_eq!(frames, ROOM / 100);
    assert!(!buffer.has_room(84) && buffer.begin(&eager(0, MAX as usize)).is_none());
    buffer.sent(ROOM as u64 / 2);
    assert!(buffer.has_room(84), "what waits moves to the front");
    buffer.clear();
    assert!(buffer.is_empty() && buffer.has_room(ROOM - 16) && !buffer.has_room(ROOM - 15));
}

#[test]
fn a_dropped_frame_slot_leaves_nothing() {
    let mut buffer = SendBuffer::new(ROOM);
    buffer.begin(&eager(1, 9)).expect("room").put(&[1; 9]);
    assert!(buffer.is_empty() && buffer.head().is_empty());
}

/// Frames that are sent while bulk is under way come after it.
#[test]
fn one_chunk_of_bulk_at_a_time() {
    let mut buffer = SendBuffer::new(ROOM);
    assert!(put(&mut buffer, 0, StreamItem::Bulk(10)));
    assert!(
        !put(&mut buffer, 1, StreamItem::Bulk(10)),
        "one is under way"
    );
    assert!(put(&mut buffer, 1, StreamItem::Frame(5)));
    let head = frame_len(Control::LEN);
    let lens = |buffer: &SendBuffer| (buffer.head().len(), buffer.bulk(), buffer.tail().len());
    assert_eq!(lens(&buffer), (head, 10, frame_len(5)));
    assert_eq!(buffer.sent(head as u64 + 4), 4);
    assert_eq!(lens(&buffer), (0, 6, frame_len(5)));
    assert_eq!(buffer.sent(6 + frame_len(5) as u64), 6);
    assert!(buffer.is_empty() && put(&mut buffer, 2, StreamItem::Bulk(10)));
}
