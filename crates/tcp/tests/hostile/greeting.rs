//! What a stranger says at the door, to either side: the body of a fuzz target.

use oxmpi_tcp::door::{Caller, Host, JobKey, Turned, Who};
use oxmpi_tcp::{Card, Filter};

/// How a conversation ended: so much was said, and this came of it.
type Ended = (usize, Option<Turned>);

/// Reads `data` as what a caller says to a host, a host to a caller, and as what people and process
/// managers say of addresses.
///
/// # Panics
/// If a part panics, somebody is let in who does not know the key, or it matters how the stream was cut.
pub(crate) fn greeting(data: &[u8]) {
    let Some((&piece, said)) = data.split_first() else {
        return;
    };
    let piece = usize::from(piece % 64) + 1;
    assert_eq!(host(said, piece), host(said, usize::MAX));
    assert_eq!(caller(said, piece), caller(said, usize::MAX));
    if let Ok(text) = std::str::from_utf8(data) {
        texts(text);
    }
}

fn host(said: &[u8], piece: usize) -> Ended {
    let mut host = Host::new(JobKey::new(b"fuzz"), 1, 4, [5; 16]);
    let (mut rest, mut answered) = (said, 0);
    while !rest.is_empty() {
        let input = host.input();
        let count = piece.min(input.len()).min(rest.len());
        input[..count].copy_from_slice(&rest[..count]);
        rest = &rest[count..];
        let heard = host.came(count);
        answered += host.output().len();
        host.wrote(host.output().len());
        match heard {
            Ok(who) => assert_eq!(who, None, "nobody can guess a proof"),
            Err(why) => return (answered, Some(why)),
        }
    }
    (answered, None)
}

fn caller(said: &[u8], piece: usize) -> Ended {
    let who = Who { from: 2, to: 1 };
    let mut caller = Caller::new(JobKey::new(b"fuzz"), who, [6; 16]);
    let mut rest = said;
    while !rest.is_empty() {
        let input = caller.input();
        let count = piece.min(input.len()).min(rest.len());
        input[..count].copy_from_slice(&rest[..count]);
        rest = &rest[count..];
        match caller.came(count) {
            Ok(welcome) => assert!(!welcome, "nobody can guess a proof"),
            Err(why) => return (caller.output().len(), Some(why)),
        }
    }
    (caller.output().len(), None)
}

/// A card that is understood is printed as it was read, and a wrong text gives an error of bounded size.
fn texts(text: &str) {
    match text.parse::<Card>() {
        Ok(card) => assert_eq!(card.to_string().parse(), Ok(card)),
        Err(why) => assert!(why.to_string().len() < 500),
    }
    match Filter::new(text, "") {
        Ok(filter) => assert!(!filter.to_string().is_empty()),
        Err(why) => assert!(why.show(text).to_string().contains('^') || text.is_empty()),
    }
}
