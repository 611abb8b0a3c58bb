//! Collects warnings of thread settings in the words of OpenMP runtimes, and hints that point into the
//! setting's text.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use oxmpi_text::Error;

use crate::openmp::message::Message;
use crate::placement::Warning;

/// The warnings and hints of one placement.
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

    /// Adds a warning about the setting `name` and a hint: where in its `text` the mistake is, and what is
    /// expected there.
    pub(crate) fn wrong(&mut self, name: &str, text: &str, message: &Message, error: Error) {
        self.say(name, message);
        self.hints.push(format!("{name}: {}", error.show(text)));
    }

    /// Warns that each of `settings` that is set is ignored because `by` is set.
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
