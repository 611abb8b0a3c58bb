//! The info keys of windows (MPI 5.0, sections 12.2.1 to 12.2.3): [`Hints`].

use crate::info_pairs::Pairs;

/// The keys that a window knows, with their defaults. It tells them all.
const KEYS: [(&str, &str); 7] = [
    ("no_locks", "false"),
    ("accumulate_ordering", "rar,raw,war,waw"),
    ("accumulate_ops", "same_op_no_op"),
    ("mpi_accumulate_granularity", "0"),
    ("same_size", "false"),
    ("same_disp_unit", "false"),
    ("alloc_shared_noncontig", "false"),
];

/// The hints of a window. All but `no_locks` and `alloc_shared_noncontig` allow what is not made use of: accumulates are
/// atomic and ordered whatever they promise.
#[derive(Debug)]
pub(crate) struct Hints(Pairs);

impl Hints {
    /// The defaults, but for what the program has given. Unknown keys and values that a key cannot have are ignored, as the
    /// standard asks.
    pub(crate) fn new(given: &Pairs) -> Self {
        let defaults = KEYS.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let mut hints = Self(Pairs(defaults.into()));
        hints.change(given);
        hints
    }

    /// Changes those that the program gives.
    pub(crate) fn change(&mut self, given: &Pairs) {
        for (key, _) in KEYS {
            if let Some(value) = given.get(key).filter(|value| is_valid(key, value)) {
                self.0.set(key.to_owned(), value.to_owned());
            }
        }
    }

    /// Whether a key is `true`.
    pub(crate) fn is_set(&self, key: &str) -> bool {
        self.0.get(key) == Some("true")
    }

    /// All of them.
    pub(crate) fn pairs(&self) -> Pairs {
        self.0.clone()
    }
}

fn is_valid(key: &str, value: &str) -> bool {
    match key {
        "accumulate_ordering" => {
            let orders = ["rar", "raw", "war", "waw"];
            value == "none" || value.split(',').all(|order| orders.contains(&order))
        }
        "accumulate_ops" => ["same_op", "same_op_no_op"].contains(&value),
        "mpi_accumulate_granularity" => value.parse::<u64>().is_ok(),
        _ => ["true", "false"].contains(&value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_defaults_and_values_of_their_own() {
        let given = [
            ("no_locks", "true"),
            ("same_size", "maybe"),
            ("accumulate_ordering", "rar,waw"),
            ("accumulate_ops", "other"),
            ("unknown", "1"),
        ];
        let pairs = |given: &[(&str, &str)]| {
            let owned = given
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            Pairs(owned.collect())
        };
        let mut hints = Hints::new(&pairs(&given));
        assert!(hints.is_set("no_locks") && !hints.is_set("same_size"));
        hints.change(&pairs(&[("no_locks", "false"), ("same_size", "true")]));
        assert!(!hints.is_set("no_locks") && hints.is_set("same_size"));
        let all = hints.pairs();
        assert_eq!(all.0.len(), KEYS.len());
        assert_eq!(all.get("accumulate_ordering"), Some("rar,waw"));
        assert_eq!(all.get("accumulate_ops"), Some("same_op_no_op"));
    }
}
