//! Random bytes after a handshake, read as frames: the body of a fuzz target.

use oxmpi_tcp::frame::{Control, Inbound, ProtocolViolation, ReceiveBuffer};
use oxmpi_wire::Header;

/// Longest body, and most bulk of a frame.
const MAX: (u32, u32) = (200, 1000);

/// The frames that a stream was read as.
#[derive(Debug, Default, PartialEq)]
struct Reading {
    frames: Vec<(Header, Vec<u8>)>,
    controls: Vec<(Control, Vec<u8>)>,
    violation: Option<ProtocolViolation>,
}

/// Reads `data` but its first byte as one stream twice: in pieces, whose length the first byte sets, and
/// in one piece.
///
/// # Panics
/// If a part panics, a limit is not kept, or the two readings differ.
pub(crate) fn stream(data: &[u8]) {
    let Some((&piece, stream)) = data.split_first() else {
        return;
    };
    let whole = read(stream, usize::MAX);
    for (head, body) in &whole.frames {
        assert!(head.len <= MAX.0 && body.len() == head.len as usize);
    }
    for (control, bulk) in &whole.controls {
        assert!(control.bulk() <= MAX.1 && bulk.len() <= control.bulk() as usize);
    }
    if let Some(violation) = &whole.violation {
        assert!(violation.to_string().len() < 200 && !violation.rule().is_empty());
    }
    assert_eq!(whole, read(stream, usize::from(piece % 64) + 1));
}

fn read(mut stream: &[u8], piece: usize) -> Reading {
    let (mut buffer, mut reading) = (ReceiveBuffer::new(MAX.0, MAX.1), Reading::default());
    while !stream.is_empty() {
        let space = buffer.space();
        let count = piece.min(space.len()).min(stream.len());
        assert!(count > 0, "there is room, or something to hand over");
        let (now, later) = stream.split_at(count);
        space[..count].copy_from_slice(now);
        buffer.received(0, count);
        stream = later;
        if let Err(violation) = take(&mut buffer, &mut reading) {
            reading.violation = Some(violation);
            break;
        }
    }
    reading
}

/// Takes all frames and bulk that have arrived.
fn take(buffer: &mut ReceiveBuffer, reading: &mut Reading) -> Result<(), ProtocolViolation> {
    loop {
        let bulk = buffer.take_bulk();
        if let Some((_, last)) = reading.controls.last_mut() {
            last.extend_from_slice(bulk);
        }
        match buffer.next()? {
            None => return Ok(()),
            Some(Inbound::Frame(head, body)) => reading.frames.push((head, body.to_vec())),
            Some(Inbound::Control(control)) => reading.controls.push((control, Vec::new())),
        }
    }
}
