//! Messages of windows, from the header on.

use oxmpi_wire::window::WindowMessage;
use oxmpi_wire::{Envelope, Flags, Header, Kind};

/// Parses a frame of a window whose first byte says its code, and whose other bytes are its body.
///
/// # Panics
/// On a finding: a message that takes more bytes than it has words, or that depends on what follows them.
pub fn window_messages(data: &[u8]) {
    let [code, body @ ..] = data else {
        return;
    };
    let envelope = Envelope {
        context: 0,
        tag: u32::from(*code),
    };
    let parse = |mut body: &[u8]| {
        let head = Header::new(Kind::Window, Flags::empty(), body.len() as u32, envelope);
        let message = WindowMessage::parse(&head, &mut body)?;
        Ok::<_, &str>((message, body.len()))
    };
    let Ok((message, left)) = parse(body) else {
        return;
    };
    let taken = body.len() - left;
    assert!(
        taken <= WindowMessage::LEN && taken.is_multiple_of(8),
        "{message:?}"
    );
    assert_eq!(parse(&body[..taken]), Ok((message, 0)));
    assert!(
        (0..taken).all(|len| parse(&body[..len]).is_err()),
        "{message:?}"
    );
}
