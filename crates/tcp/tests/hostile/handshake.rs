//! Random bytes as a handshake, for either side: the body of a fuzz target.

use oxmpi_tcp::handshake::{ClientHandshake, HandshakeError, JobKey, RankPair, ServerHandshake};
use oxmpi_tcp::{BusinessCard, InterfaceFilter};

/// The end of a handshake: bytes that the tested side sent, and the error.
type End = (usize, Option<HandshakeError>);

/// Reads `data` as what a client sends to a server, as what a server sends to a client, and as the texts of
/// business cards and address lists.
///
/// # Panics
/// If a part panics, a side without the key is accepted, or it matters how the stream was cut.
pub(crate) fn handshake(data: &[u8]) {
    let Some((&piece, sent)) = data.split_first() else {
        return;
    };
    let piece = usize::from(piece % 64) + 1;
    assert_eq!(server(sent, piece), server(sent, usize::MAX));
    assert_eq!(client(sent, piece), client(sent, usize::MAX));
    if let Ok(text) = std::str::from_utf8(data) {
        texts(text);
    }
}

fn server(sent: &[u8], piece: usize) -> End {
    let mut server = ServerHandshake::new(JobKey::new(b"fuzz"), 1, 4, [5; 16]);
    let (mut rest, mut answered) = (sent, 0);
    while !rest.is_empty() {
        let input = server.input();
        let count = piece.min(input.len()).min(rest.len());
        assert!(count > 0, "the server waits for no bytes and has not ended");
        input[..count].copy_from_slice(&rest[..count]);
        rest = &rest[count..];
        let result = server.received(count);
        answered += server.output().len();
        server.sent(server.output().len());
        match result {
            Ok(ranks) => assert_eq!(ranks, None, "a proof cannot be guessed"),
            Err(why) => return (answered, Some(why)),
        }
    }
    (answered, None)
}

fn client(sent: &[u8], piece: usize) -> End {
    let ranks = RankPair { from: 2, to: 1 };
    let mut client = ClientHandshake::new(JobKey::new(b"fuzz"), ranks, [6; 16]);
    let mut rest = sent;
    while !rest.is_empty() {
        let input = client.input();
        let count = piece.min(input.len()).min(rest.len());
        assert!(count > 0, "the client waits for no bytes and has not ended");
        input[..count].copy_from_slice(&rest[..count]);
        rest = &rest[count..];
        match client.received(count) {
            Ok(welcome) => assert!(!welcome, "a proof cannot be guessed"),
            Err(why) => return (client.output().len(), Some(why)),
        }
    }
    (client.output().len(), None)
}

/// A valid card is printed as it was read; an invalid text gives an error of bounded length.
fn texts(text: &str) {
    match text.parse::<BusinessCard>() {
        Ok(card) => assert_eq!(card.to_string().parse(), Ok(card)),
        Err(why) => assert!(why.to_string().len() < 500),
    }
    match InterfaceFilter::new(text, "") {
        Ok(filter) => assert!(!filter.to_string().is_empty()),
        Err(why) => assert!(why.show(text).to_string().contains('^') || text.is_empty()),
    }
}
