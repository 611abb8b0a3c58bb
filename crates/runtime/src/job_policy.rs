//! What the settings of this process say about its job, read once when it joins.

use oxmpi_coll::choice::Tuning;
use oxmpi_coll::settings::SETTINGS;

use crate::boot::{AgreedSettings, NetworkPreference, StartOptions};
use crate::error::{Error, Result};
use crate::raw::EndpointPolicy;
use crate::settings::{self, Origin, SettingValue, Sources, Values};
use crate::transports;

/// What the settings of this process say about its job.
#[derive(Clone, Debug)]
pub(crate) struct JobPolicy {
    /// The settings of [`World::comm`](crate::World::comm)'s endpoint, and of all endpoints made from it.
    pub(crate) endpoint: EndpointPolicy,
    /// The settings that all ranks of a job must have in common.
    pub(crate) agreed: AgreedSettings,
    /// Whether ranks connect to all ranks of other nodes at the start.
    pub(crate) connect_at_start: bool,
    /// Whether this rank reports what it took to find the others.
    pub(crate) start_report: bool,
}

impl JobPolicy {
    /// The policy of the process's settings, and the warnings about them.
    ///
    /// # Errors
    /// [`Error::Setting`] for the first wrong one.
    pub(crate) fn of_process() -> Result<(Self, Vec<String>)> {
        let wrong = |bad: settings::BadSetting| Error::Setting(bad.to_string());
        let sources = Sources::of_process().map_err(wrong)?;
        let values = settings::resolve(settings::TABLE, &sources).map_err(wrong)?;
        let selection = transports::selection(&values);
        let tuning = Tuning {
            rules: values.rules().map_err(wrong)?,
            ..values.tuning()
        };
        let start = StartOptions {
            network: NetworkPreference {
                filter: values
                    .tcp_filter()
                    .restrict_to(selection.interfaces.clone()),
                options: values.tcp_options(),
                selection,
            },
            layout: values.layout(1),
            heap: values.heap(),
        };
        let policy = Self {
            agreed: agreed_settings(&values, &tuning),
            connect_at_start: values.parse("connect_at_start", oxmpi_text::switch),
            start_report: values.parse("start_report", oxmpi_text::switch),
            endpoint: EndpointPolicy {
                start,
                switches: values.switch_points(),
                bulk: values.bulk_protocols(),
                tuning,
                node_collectives: values.node_collectives(),
                checks: values.checks_collectives(),
                wait: values.parse("wait", str::parse),
                spin: values.parse("spin", settings::spin),
            },
        };
        Ok((policy, values.warnings))
    }

    /// Opens the selected transports. One that does not open is deselected, with a warning.
    pub(crate) fn open_transports(&mut self) -> Option<String> {
        let start = &mut self.endpoint.start;
        let layout = start.layout(2);
        transports::open(&mut start.network.selection, layout)
    }
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
