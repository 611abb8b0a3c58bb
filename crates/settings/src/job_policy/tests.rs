//! Which settings the ranks of a job compare.

use oxmpi_coll::catalog::Algorithm;
use oxmpi_coll::choice::{Tuning, read_rules};
use oxmpi_coll::settings::SETTINGS;

use super::{agreed_settings, endpoint_policy};
use crate::{Sources, TABLE, Values, resolve};
use oxmpi_core::{AgreedSettings, EndpointPolicy};

fn values(name: &str, value: &str) -> Values {
    let sources = Sources {
        environment: vec![(format!("OXMPI_{}", name.to_uppercase()), value.into())],
        ..Sources::default()
    };
    resolve(TABLE, &sources).expect("they read")
}

fn settings_of(name: &str, value: &str) -> AgreedSettings {
    let values = values(name, value);
    agreed_settings(&values, &values.tuning())
}

/// Except `coll_rules`, whose file is read separately.
#[test]
fn every_setting_of_collectives_counts() {
    let plain = settings_of("wait", "passive");
    assert!(plain.text.ends_with("the defaults"), "{}", plain.text);
    let rows = TABLE.iter().filter(|row| {
        let is_of_all = row.name.starts_with("shm_collective")
            || SETTINGS.iter().any(|one| one.name == row.name);
        is_of_all && row.name != "coll_rules"
    });
    let mut count = 0;
    for row in rows {
        let algorithms = Algorithm::ALL.into_iter().map(Algorithm::name);
        let others = [
            "off", "on", "cma", "7ns", "12345678", "gemini", "all", "ranks",
        ];
        let mut values = algorithms.chain(others);
        let value = values.find(|value| *value != row.default && (row.check)(value).is_ok());
        let value = value.expect("the row takes one of them");
        let other = settings_of(row.name, value);
        let name = row.name;
        assert_ne!(plain.fingerprint, other.fingerprint, "{name} = {value}");
        let said = format!("{} = {value} (OXMPI_", row.name);
        assert!(other.text.contains(&said), "{}", other.text);
        count += 1;
    }
    // Two of `shm`, and no file of rules.
    assert_eq!(count, SETTINGS.len() + 1);
}

/// Ranks with other receive queues would not connect.
#[cfg(feature = "verbs")]
#[test]
fn receive_queues_count() {
    let plain = settings_of("wait", "passive");
    let other = settings_of("verbs_receive_queues", "P,4096");
    assert_ne!(plain.fingerprint, other.fingerprint);
    let said = "verbs_receive_queues = P,4096 (OXMPI_VERBS_RECEIVE_QUEUES)";
    assert!(other.text.contains(said), "{}", other.text);
    let same = settings_of("verbs_receive_queues", "P,4096,8,4,2,7");
    assert_eq!(same.fingerprint, other.fingerprint, "all numbers");
}

#[test]
fn fingerprints_depend_on_values_not_on_their_spelling() {
    let fingerprints =
        ["64KiB", "65536"].map(|value| settings_of("gatherv_short", value).fingerprint);
    assert_eq!(fingerprints[0], fingerprints[1]);
}

#[test]
fn the_content_of_a_file_of_rules_counts() {
    let values = values("wait", "passive");
    let of = |algorithm: &str| {
        let text = format!(
            r#"{{"version": 1, "rules": [{{"collective": "bcast", "algorithm": "{algorithm}"}}]}}"#
        );
        let rules = read_rules(&text).expect("they read");
        let tuning = Tuning {
            rules,
            ..values.tuning()
        };
        agreed_settings(&values, &tuning)
    };
    let [one, other] = ["binomial", "chain"].map(of);
    assert_ne!(one.fingerprint, other.fingerprint);
    assert_ne!(one.text, other.text);
}

/// Whoever uses the core without settings gets what their defaults are.
#[test]
fn defaults_of_the_settings_are_those_of_the_core() {
    let values = resolve(TABLE, &Sources::default()).expect("defaults are right");
    let usual = EndpointPolicy::default();
    let policy = endpoint_policy(
        &values,
        values.tuning(),
        usual.start.network.selection.clone(),
    )
    .expect("no file is named");
    assert_eq!(format!("{policy:?}"), format!("{usual:?}"));
}
