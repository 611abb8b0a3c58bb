//! What a peer writes after its greeting, read as frames: the body of a fuzz target.

use oxmpi_tcp::frame::{Arrival, Breach, Control, Inbox};
use oxmpi_wire::Header;

/// Longest body, and longest run of bulk.
const MOST: (u32, u32) = (200, 1000);

/// What a stream was read as.
#[derive(Debug, Default, PartialEq)]
struct Reading {
    frames: Vec<(Header, Vec<u8>)>,
    controls: Vec<(Control, Vec<u8>)>,
    breach: Option<Breach>,
}

/// Reads all of `data` but its first byte as one stream, cut into pieces of as many bytes as that one
/// says, and in one piece.
///
/// # Panics
/// If a part panics, a limit is not kept, or the two readings differ.
pub(crate) fn stream(data: &[u8]) {
    let Some((&piece, stream)) = data.split_first() else {
        return;
    };
    let whole = read(stream, usize::MAX);
    for (head, body) in &whole.frames {
        assert!(head.len <= MOST.0 && body.len() == head.len as usize);
    }
    for (control, bulk) in &whole.controls {
        assert!(control.bulk() <= MOST.1 && bulk.len() <= control.bulk() as usize);
    }
    if let Some(breach) = &whole.breach {
        assert!(breach.to_string().len() < 200 && !breach.rule().is_empty());
    }
    assert_eq!(whole, read(stream, usize::from(piece % 64) + 1));
}

fn read(mut stream: &[u8], piece: usize) -> Reading {
    let (mut inbox, mut reading) = (Inbox::new(MOST.0, MOST.1), Reading::default());
    while !stream.is_empty() {
        let space = inbox.space();
        let count = piece.min(space.len()).min(stream.len());
        assert!(count > 0, "there is room, or something to hand over");
        let (now, later) = stream.split_at(count);
        space[..count].copy_from_slice(now);
        inbox.came(0, count);
        stream = later;
        if let Err(breach) = take(&mut inbox, &mut reading) {
            reading.breach = Some(breach);
            break;
        }
    }
    reading
}

/// Takes all that is whole.
fn take(inbox: &mut Inbox, reading: &mut Reading) -> Result<(), Breach> {
    loop {
        let bulk = inbox.take_bulk();
        if let Some((_, last)) = reading.controls.last_mut() {
            last.extend_from_slice(bulk);
        }
        match inbox.next()? {
            None => return Ok(()),
            Some(Arrival::Frame(head, body)) => reading.frames.push((head, body.to_vec())),
            Some(Arrival::Control(control)) => reading.controls.push((control, Vec::new())),
        }
    }
}
