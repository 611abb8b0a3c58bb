//! Rules of which algorithm serves a collective, as JSON: any text is read or refused with a sentence,
//! and rules that were read can be followed.

use oxmpi_coll::catalog::Collective;
use oxmpi_coll::choice::{RULES, read_rules};

/// Reads `data` as a file of rules, if it is text.
///
/// # Panics
/// On an error without a sentence, on more rules than a table has room for, and on a rule that speaks of
/// no size or of no group.
pub fn rules(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let rules = match read_rules(text) {
        Ok(rules) => rules,
        Err(why) => return assert!(!why.to_string().is_empty()),
    };
    for collective in Collective::ALL {
        let of = rules
            .iter()
            .filter(|rule| rule.algorithm.collective() == collective);
        assert!(of.count() <= RULES, "{collective}");
    }
    for rule in rules {
        assert!(rule.bytes.0 <= rule.bytes.1, "{rule:?}");
        assert!(
            1 <= rule.ranks.0 && rule.ranks.0 <= rule.ranks.1,
            "{rule:?}"
        );
    }
}
