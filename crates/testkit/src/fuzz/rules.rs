//! Fuzz body of the JSON rules that select algorithms of collectives: a text is parsed or refused with a
//! message, and parsed rules can be applied.

use oxmpi_coll::catalog::Collective;
use oxmpi_coll::choice::{ChoiceTable, RULES, Rule, Rules, Tuning, read_rules};
use oxmpi_coll::sim::Workload;

/// Largest group and length to which rules are applied.
const MANY: u32 = 4096;

/// Parses `data` as a file of rules, if it is UTF-8.
///
/// # Panics
/// On an error without a message, on more rules than a table has room for, on a rule for no size or no group,
/// and on a choice of the table without a plan.
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

/// Makes the table for the first group of each rule, and the plan of each choice in it.
fn followed(rules: &Rules) {
    let tuning = Tuning {
        rules: rules.clone(),
        ..Tuning::default()
    };
    for rule in rules.iter().filter(|rule| rule.ranks.0 <= MANY) {
        let (size, bytes) = (rule.ranks.0, rule.bytes.0.min(u64::from(MANY)));
        let work = Workload::new(rule.algorithm.collective(), size, bytes);
        let Some(call) = work.call(0) else { continue };
        let Ok(table) = ChoiceTable::new(&call, &tuning) else {
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

/// Whether an earlier rule applies to the first calls of this one.
fn is_later(rule: &Rule, rules: &Rules) -> bool {
    let collective = rule.algorithm.collective();
    let before = rules.iter().take_while(|one| *one != rule);
    before
        .filter(|one| one.covers(collective, rule.ranks.0))
        .any(|one| {
            !collective.has_known_length() || (one.bytes.0..=one.bytes.1).contains(&rule.bytes.0)
        })
}
