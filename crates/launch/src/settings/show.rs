//! Prints settings as a table, as tab-separated lines, as JSON, or one setting as a page.

use oxmpi_settings::{SettingValue, answered_names};
use oxmpi_text::Product;
use serde_json::json;

use crate::columns::{aligned, wrapped};

const COLUMNS: [&str; 6] = ["name", "value", "from", "default", "type", "meaning"];

/// The columns of one setting.
fn fields(value: &SettingValue) -> [String; 5] {
    let setting = value.setting;
    [
        setting.name.into(),
        value.text.clone(),
        value.origin.to_string(),
        setting.default.into(),
        setting.kind.into(),
    ]
}

/// A table with a line for each setting, and a hint if these are not `all` settings.
pub(super) fn table(values: &[&SettingValue], all: usize) -> String {
    let mut rows = vec![COLUMNS.map(String::from).to_vec()];
    rows.extend(values.iter().map(|value| {
        let mut row = fields(value).to_vec();
        row.push(value.setting.short.into());
        row
    }));
    let mut text = aligned(&rows);
    let hidden = all - values.len();
    if hidden > 0 {
        text += &format!("{hidden} more: `oxmpi settings --level 3` shows all\n");
    }
    text
}

/// What the parameters of Open MPI are here whose names contain `pattern`: one of `values`, or why nothing.
pub(super) fn names_of_open_mpi(values: &[&SettingValue], pattern: &str) -> String {
    let aliases = values.iter().flat_map(|value| {
        let of_it = value
            .setting
            .aliases
            .iter()
            .map(move |alias| (alias, value));
        of_it.filter(|(alias, _)| alias.product == Product::OpenMpi && alias.name.contains(pattern))
    });
    let settings = aliases.map(|(alias, value)| {
        let ours = format!("{} = {}", value.setting.name, value.text);
        (alias.name, ours)
    });
    let answers = answered_names(pattern).map(|answer| {
        let why = format!("no setting: {}", answer.why);
        (answer.name, why)
    });
    let mut names: Vec<_> = settings.chain(answers).collect();
    if names.is_empty() {
        return String::new();
    }
    names.sort_unstable();
    let mut rows = vec![vec!["Open MPI's parameter".to_owned(), "here".to_owned()]];
    rows.extend(
        names
            .into_iter()
            .map(|(name, here)| vec![name.into(), here]),
    );
    aligned(&rows)
}

/// A line for each setting, with tabs between the fields: name, value, origin, default, type, level.
pub(super) fn parsable(values: &[&SettingValue]) -> String {
    let line = |value: &&SettingValue| {
        format!(
            "{}\t{}\n",
            fields(value).join("\t"),
            value.setting.level as u8
        )
    };
    values.iter().map(line).collect()
}

/// The format `oxmpi-settings` of docs/formats.md.
pub(super) fn json(values: &[&SettingValue], warnings: &[String]) -> String {
    let one = |value: &&SettingValue| {
        let setting = value.setting;
        let aliases = setting.aliases.iter().map(|alias| {
            let variable = format!("{}{}", alias.product.env_prefix(), alias.name);
            json!({"product": alias.product.to_string(), "variable": variable})
        });
        json!({
            "name": setting.name,
            "variable": setting.env().to_string(),
            "value": value.text,
            "origin": value.origin.word(),
            "where": value.origin.to_string(),
            "default": setting.default,
            "type": setting.kind,
            "level": setting.level as u8,
            "meaning": setting.short,
            "aliases": aliases.collect::<Vec<_>>(),
        })
    };
    let settings: Vec<_> = values.iter().map(one).collect();
    let whole = json!({
        "format": "oxmpi-settings",
        "version": 1,
        "settings": settings,
        "warnings": warnings,
    });
    format!("{whole:#}\n")
}

/// The description of one setting.
pub(super) fn page(value: &SettingValue) -> String {
    let setting = value.setting;
    let mut text = format!(
        "{}: {}\n\n{}\n\n",
        setting.name,
        setting.short,
        wrapped(setting.long, 80)
    );
    let mut line = |name: &str, value: &str| text += &format!("{name:9} {value}\n");
    line("value", &format!("{} (from: {})", value.text, value.origin));
    line("default", setting.default);
    line("type", setting.kind);
    line("level", &(setting.level as u8).to_string());
    line("variable", &setting.env().to_string());
    for alias in setting.aliases {
        let variable = format!("{}{}", alias.product.env_prefix(), alias.name);
        line("also", &format!("{variable} ({})", alias.product));
    }
    text
}
