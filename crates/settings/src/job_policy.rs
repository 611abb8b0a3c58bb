//! What the settings of this process say about its job, read once when it joins.

use oxmpi_coll::choice::Tuning;
use oxmpi_coll::settings::SETTINGS;
use oxmpi_core::settings::{helper_cpus, helper_poll, spin};
use oxmpi_core::{AgreedSettings, AsyncProgress, EndpointPolicy, JobPolicy, StartOptions};
use oxmpi_wire::transports::Selection;

use crate::network_preference::network_preference;
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
        async_progress: AsyncProgress {
            on: values.parse("async_progress", oxmpi_text::switch),
            cpus: values.parse("async_progress_cpus", helper_cpus),
            poll: values.parse("async_progress_poll", helper_poll),
        },
        handle_leaks: values.parse("handle_leaks", oxmpi_text::switch),
        endpoint: endpoint_policy(&values, tuning, selection)?,
        // `oxmpi run` has read the same settings, and has given the warnings about them.
        warnings: match std::env::var_os(JOB_VARIABLE) {
            Some(_) => Vec::new(),
            None => values.warnings,
        },
    })
}

/// The settings of an endpoint; `tuning` and `selection` are made of `values`.
fn endpoint_policy(
    values: &Values,
    tuning: Tuning,
    selection: Selection,
) -> Result<EndpointPolicy, BadSetting> {
    let start = StartOptions {
        network: network_preference(values, selection)?,
        layout: values.layout(1),
        heap: values.heap(),
    };
    Ok(EndpointPolicy {
        start,
        switches: values.switch_points(),
        bulk: values.bulk_protocols(),
        tuning,
        node_collectives: values.node_collectives(),
        node_protocol: values.node_protocol(),
        checks: values.checks_collectives(),
        direct_windows: values.parse("window_direct", oxmpi_text::switch),
        check_windows: values.parse("rma_check", oxmpi_text::switch),
        wait: values.parse("wait", str::parse),
        spin: values.parse("spin", spin),
    })
}

/// The receive queues of ranks, which must be the same at both ends of a connection.
const RECEIVE_QUEUES: &str = "verbs_receive_queues";

/// The receive queues that somebody has set, in the one spelling of them.
#[cfg(feature = "verbs")]
fn receive_queues(values: &Values) -> String {
    use oxmpi_verbs::{ReceiveQueue, settings};
    let queues = values.parse(RECEIVE_QUEUES, |text| {
        settings::auto_or(text, settings::receive_queues)
    });
    queues.map_or_else(String::new, |queues| ReceiveQueue::join_all(&queues))
}

/// None, as there is no RDMA.
#[cfg(not(feature = "verbs"))]
const fn receive_queues(_: &Values) -> &'static str {
    ""
}

/// The settings beside those of `coll` that all ranks must agree on.
const AGREED: [&str; 3] = ["shm_collectives", "shm_collective_protocol", RECEIVE_QUEUES];

/// The settings that all ranks must agree on; `tuning` is made of `values`.
fn agreed_settings(values: &Values, tuning: &Tuning) -> AgreedSettings {
    let is_agreed = |value: &&SettingValue| {
        let name = value.setting.name;
        AGREED.contains(&name) || SETTINGS.iter().any(|row| row.name == name)
    };
    let set = (values.all.iter().filter(is_agreed))
        .filter(|value| value.origin != Origin::Default)
        .map(|value| format!("{} = {} ({})", value.setting.name, value.text, value.origin));
    let rules = match tuning.rules.is_empty() {
        true => String::new(),
        false => format!("{:?}", tuning.rules),
    };
    let queues = receive_queues(values);
    let in_node = (values.node_collectives(), values.node_protocol());
    let checks = values.checks_collectives();
    // By value, as one value can be written in several ways.
    AgreedSettings::new(
        &format!("{tuning:?} {in_node:?} {checks} {queues}"),
        set.collect(),
        &rules,
    )
}

#[cfg(test)]
mod tests;
