//! Collects what is wrong with OpenMP thread settings: warnings in the words of OpenMP runtimes, and hints that
//! show the wrong place in a setting's text.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use oxmpi_text::Error;

use crate::openmp::message::Message;
use crate::placement::Warning;

/// The warnings and hints about settings that could not be followed.
#[derive(Default)]
pub(crate) struct Diagnostics {
    pub(crate) warnings: Vec<Warning>,
    pub(crate) hints: Vec<String>,
}

impl Diagnostics {
    /// Adds a warning about the setting `name`.
    pub(crate) fn say(&mut self, name: &str, message: &Message) {
        self.warnings.push(message.about(name));
    }

    /// Adds a warning about the setting `name`, and a hint that shows `error` in the setting's `text`.
    pub(crate) fn wrong(&mut self, name: &str, text: &str, message: &Message, error: Error) {
        self.say(name, message);
        self.hints.push(format!("{name}: {}", error.show(text)));
    }

    /// Warns of each of `settings` that has a value: it is ignored because the setting `by` overrides it.
    pub(crate) fn overridden(
        &mut self,
        settings: &[(&'static str, Option<&str>)],
        by: &'static str,
    ) {
        for (name, _) in settings.iter().filter(|(_, text)| text.is_some()) {
            self.say(name, &Message::Overridden(name, by));
        }
    }
}
