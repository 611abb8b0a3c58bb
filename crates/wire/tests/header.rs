//! Tests of headers: encodings parse back, and errors name the wrong field.

use oxmpi_wire::{Envelope, Flags, Header, HeaderError, Kind};
use proptest::prelude::*;

fn header() -> impl Strategy<Value = Header> {
    let kind = prop::sample::select(Kind::ALL.to_vec());
    (kind, 0..8u8, any::<u32>(), any::<u32>(), any::<u32>()).prop_map(
        |(kind, flags, len, context, tag)| Header {
            kind,
            flags: Flags::from_bits_truncate(flags),
            len,
            envelope: Envelope { context, tag },
        },
    )
}

proptest! {
    #[test]
    fn encoded_bytes_parse_back(head in header(), more in prop::collection::vec(any::<u8>(), 0..9)) {
        let mut bytes = head.bytes().to_vec();
        bytes.extend(more);
        prop_assert_eq!(Header::parse(&bytes), Ok(head));
    }

    #[test]
    fn compact_words_expand_back(head in header()) {
        let head = Header { len: head.len & 0xffff, ..head };
        prop_assert_eq!(Header::expand(head.compact(), head.envelope), Ok(head));
    }

    #[test]
    fn envelopes_are_unpacked(context in any::<u32>(), tag in any::<u32>()) {
        let envelope = Envelope { context, tag };
        prop_assert_eq!(Envelope::unpack(envelope.packed()), envelope);
    }

    #[test]
    fn any_bytes_parse_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
        if let Ok(head) = Header::parse(&bytes) {
            prop_assert_eq!(&head.bytes()[..], &bytes[..Header::LEN]);
        }
    }
}

#[test]
fn the_first_wrong_field_is_named() {
    let good = Header {
        kind: Kind::Eager,
        flags: Flags::SYNC,
        len: 9,
        envelope: Envelope { context: 1, tag: 2 },
    };
    let wrong = |at: usize, value: u8| {
        let mut bytes = good.bytes();
        bytes[at] = value;
        Header::parse(&bytes)
    };
    assert_eq!(
        Header::parse(&good.bytes()[..15]),
        Err(HeaderError::Short(15))
    );
    assert_eq!(wrong(0, 9), Err(HeaderError::Version(9)));
    assert_eq!(wrong(1, 0), Err(HeaderError::Kind(0)));
    assert_eq!(wrong(1, 10), Err(HeaderError::Kind(10)));
    assert_eq!(wrong(2, 8), Err(HeaderError::Flags(8)));
    assert_eq!(wrong(3, 1), Err(HeaderError::Reserved(1)));
}

#[test]
fn every_kind_has_its_code() {
    for kind in Kind::ALL {
        assert_eq!(Kind::from_code(kind as u8), Some(kind));
    }
    let known = (0..=u8::MAX).filter_map(Kind::from_code).count();
    assert_eq!(known, Kind::ALL.len());
}
