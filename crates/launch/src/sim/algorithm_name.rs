//! Names of algorithms on the command line: `NAME`, `NAME:RADIX`, each also with `+flags`.

/// The suffix of an algorithm with flags.
const FLAGS: &str = "+flags";

/// An algorithm with its own options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AlgorithmName {
    pub(super) name: String,
    pub(super) own: AlgorithmOptions,
}

/// Options of one algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AlgorithmOptions {
    /// The radix; 0: not set.
    pub(super) radix: u32,
    /// Whether its short messages are flags.
    pub(super) flags: bool,
}

/// Reads one name.
///
/// # Errors
/// A wrong radix.
pub(super) fn parse_name(text: &str) -> Result<AlgorithmName, String> {
    let (text, flags) = match text.strip_suffix(FLAGS) {
        Some(before) => (before, true),
        None => (text, false),
    };
    let (name, number) = match text.split_once(':') {
        Some((name, number)) => (name, radix(number)?),
        None => (text, 0),
    };
    let own = AlgorithmOptions {
        radix: number,
        flags,
    };
    Ok(AlgorithmName {
        name: name.to_owned(),
        own,
    })
}

/// Reads a radix.
///
/// # Errors
/// The range of a radix.
pub(super) fn radix(text: &str) -> Result<u32, &'static str> {
    let number = text.parse().ok().filter(|n| (2..=64).contains(n));
    number.ok_or("a radix is from 2 to 64")
}

impl AlgorithmOptions {
    /// The name of an algorithm with its options, as [`parse_name`] reads it.
    pub(super) fn append_to(self, name: &str) -> String {
        let radix = match self.radix {
            0 => String::new(),
            radix => format!(":{radix}"),
        };
        format!("{name}{radix}{}", if self.flags { FLAGS } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::parse_name;

    #[test]
    fn a_name_survives_a_round_trip() {
        for text in ["ring", "node-aware:6", "node-aware+flags", "a:64+flags"] {
            let read = parse_name(text).expect("a name");
            assert_eq!(read.own.append_to(&read.name), text);
        }
        let read = parse_name("node-aware:6+flags").expect("a name");
        assert_eq!((&*read.name, read.own.radix), ("node-aware", 6));
        assert!(read.own.flags);
        for text in ["ring:", "ring:1", "ring:6+flag", "ring:x"] {
            assert!(parse_name(text).is_err(), "{text}");
        }
    }
}
