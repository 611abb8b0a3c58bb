//! Diagnostics of thread settings: warnings in the words of OpenMP runtimes, and hints that point into the text.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use oxmpi_text::Error;

use crate::openmp::message::Message;
use crate::placement::Warning;

/// What could not be done as asked.
#[derive(Default)]
pub(crate) struct Diagnostics {
    pub(crate) warnings: Vec<Warning>,
    pub(crate) hints: Vec<String>,
}

impl Diagnostics {
    /// A message about the setting `name`.
    pub(crate) fn say(&mut self, name: &str, message: &Message) {
        self.warnings.push(message.about(name));
    }

    /// A message about something in the `text` of the setting `name`, and what would have been right there.
    pub(crate) fn wrong(&mut self, name: &str, text: &str, message: &Message, error: Error) {
        self.say(name, message);
        self.hints.push(format!("{name}: {}", error.show(text)));
    }

    /// Those of the settings that are given are ignored because of another.
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
