//! Rules of which algorithm serves a collective, as JSON: any text is read or refused with a sentence,
//! and rules that were read can be followed.

use oxmpi_coll::catalog::Collective;
use oxmpi_coll::choice::{RULES, Rule, Rules, Table, Tuning, read_rules};
use oxmpi_coll::sim::Workload;

/// Groups and lengths up to this are followed.
const MANY: u32 = 4096;

/// Reads `data` as a file of rules, if it is text.
///
/// # Panics
/// On an error without a sentence, on more rules than a table has room for, and on a rule that speaks of
/// no size or of no group; and when a choice that a table made of them gives has no plan.
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
    for rule in rules.iter() {
        assert!(rule.bytes.0 <= rule.bytes.1, "{rule:?}");
        assert!(
            1 <= rule.ranks.0 && rule.ranks.0 <= rule.ranks.1,
            "{rule:?}"
        );
    }
    followed(&rules);
}

/// Makes the table of each group that a rule begins with, and the plan of each choice in it.
fn followed(rules: &Rules) {
    let tuning = Tuning {
        rules: rules.clone(),
        ..Tuning::default()
    };
    for rule in rules.iter().filter(|rule| rule.ranks.0 <= MANY) {
        let (size, bytes) = (rule.ranks.0, rule.bytes.0.min(u64::from(MANY)));
        let work = Workload::new(rule.algorithm.collective(), size, bytes);
        let Some(call) = work.call(0) else { continue };
        let Ok(table) = Table::new(&call, &tuning) else {
            continue;
        };
        let served = table.choice(rule.bytes.0).algorithm;
        assert!(
            served == rule.algorithm
                || rule.algorithm.suits(&call).is_err()
                || is_later(rule, rules),
            "{rule:?} is served by {served:?}"
        );
        for step in table.steps() {
            let choice = step.choice;
            let plan = choice.algorithm.plan(&call, &choice.parameters);
            assert!(plan.is_ok(), "{choice:?}: {:?}", plan.err());
        }
    }
}

/// Whether a rule before this one speaks of its first calls.
fn is_later(rule: &Rule, rules: &Rules) -> bool {
    let collective = rule.algorithm.collective();
    let before = rules.iter().take_while(|one| *one != rule);
    before
        .filter(|one| one.speaks_of(collective, rule.ranks.0))
        .any(|one| {
            !collective.has_known_length() || (one.bytes.0..=one.bytes.1).contains(&rule.bytes.0)
        })
}
