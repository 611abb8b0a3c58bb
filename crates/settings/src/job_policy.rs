//! What the settings of this process say about its job, read once when it joins.

use oxmpi_coll::choice::Tuning;
use oxmpi_coll::settings::SETTINGS;
use oxmpi_core::{
    AgreedSettings, EndpointPolicy, JobPolicy, NetworkPreference, StartOptions, settings::spin,
};
use oxmpi_wire::transports::Selection;

use crate::{
    Assignment, BadSetting, JOB_VARIABLE, Origin, SettingValue, Sources, TABLE, Values, resolve,
    transports,
};

/// What the settings of this process say about its job; `given` are stronger than all other sources.
///
/// # Errors
/// The first wrong setting.
///
/// # Cost
/// Reads the environment, the files of settings, and a few small files for each network device.
pub fn job_policy(given: Vec<Assignment>) -> Result<JobPolicy, BadSetting> {
    let mut sources = Sources::of_process()?;
    sources.command_line = given;
    let values = resolve(TABLE, &sources)?;
    #[cfg(not(feature = "tcp"))]
    transports::refuse_tcp(&values)?;
    let selection = transports::selection(&values);
    let tuning = Tuning {
        rules: values.rules()?,
        ..values.tuning()
    };
    Ok(JobPolicy {
        agreed: agreed_settings(&values, &tuning),
        connect_at_start: values.parse("connect_at_start", oxmpi_text::switch),
        start_report: values.parse("start_report", oxmpi_text::switch),
        endpoint: endpoint_policy(&values, tuning, selection),
        // `oxmpi run` has read the same settings, and has given the warnings about them.
        warnings: match std::env::var_os(JOB_VARIABLE) {
            Some(_) => Vec::new(),
            None => values.warnings,
        },
    })
}

/// The settings of an endpoint; `tuning` and `selection` are made of `values`.
fn endpoint_policy(values: &Values, tuning: Tuning, selection: Selection) -> EndpointPolicy {
    let start = StartOptions {
        network: network_preference(values, selection),
        layout: values.layout(1),
        heap: values.heap(),
    };
    EndpointPolicy {
        start,
        switches: values.switch_points(),
        bulk: values.bulk_protocols(),
        tuning,
        node_collectives: values.node_collectives(),
        checks: values.checks_collectives(),
        wait: values.parse("wait", str::parse),
        spin: values.parse("spin", spin),
    }
}

/// How the transports of `selection` are used.
#[cfg(feature = "tcp")]
fn network_preference(values: &Values, selection: Selection) -> NetworkPreference {
    let filter = (values.tcp_filter()).restrict_to(selection.interfaces.clone());
    NetworkPreference::new(selection).with_tcp(filter, values.tcp_options())
}

/// The transports of `selection`, which has no network.
#[cfg(not(feature = "tcp"))]
fn network_preference(_: &Values, selection: Selection) -> NetworkPreference {
    NetworkPreference::new(selection)
}

/// The settings that all ranks must agree on; `tuning` is made of `values`.
fn agreed_settings(values: &Values, tuning: &Tuning) -> AgreedSettings {
    let is_agreed = |value: &&SettingValue| {
        let name = value.setting.name;
        name == "shm_collectives" || SETTINGS.iter().any(|row| row.name == name)
    };
    let set = (values.all.iter().filter(is_agreed))
        .filter(|value| value.origin != Origin::Default)
        .map(|value| format!("{} = {} ({})", value.setting.name, value.text, value.origin));
    let rules = match tuning.rules.is_empty() {
        true => String::new(),
        false => format!("{:?}", tuning.rules),
    };
    let (in_node, checks) = (values.node_collectives(), values.checks_collectives());
    // By value, as one value can be written in several ways.
    AgreedSettings::new(
        &format!("{tuning:?} {in_node} {checks}"),
        set.collect(),
        &rules,
    )
}

#[cfg(test)]
mod tests;
