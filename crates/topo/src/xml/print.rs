//! [`Printer`]: writes XML elements with attributes, indented by two blanks, with everything escaped.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{Display, Write};

/// An XML document that grows element by element.
pub(super) struct Printer {
    text: String,
    open: Vec<&'static str>,
    /// Whether the start of the innermost element still takes attributes.
    in_tag: bool,
}

impl Printer {
    /// A document that begins with `head`.
    pub(super) fn new(head: &str) -> Self {
        Self {
            text: head.into(),
            open: Vec::new(),
            in_tag: false,
        }
    }

    /// Begins an element inside the current one.
    pub(super) fn begin(&mut self, name: &'static str) {
        if self.in_tag {
            self.text.push_str(">\n");
        }
        self.indent();
        self.text.push('<');
        self.text.push_str(name);
        self.open.push(name);
        self.in_tag = true;
    }

    /// Adds an attribute to the current element; only before anything is inside it.
    pub(super) fn attribute(&mut self, name: &str, value: impl Display) {
        self.text.push(' ');
        self.text.push_str(name);
        self.text.push_str("=\"");
        self.escaped(value);
        self.text.push('"');
    }

    /// As [`attribute`](Self::attribute), if there is a value.
    pub(super) fn option(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.attribute(name, value);
        }
    }

    /// Ends the current element.
    pub(super) fn end(&mut self) {
        let name = self.open.pop().unwrap_or_default();
        if self.in_tag {
            self.text.push_str("/>\n");
        } else {
            self.indent();
            self.close(name);
        }
        self.in_tag = false;
    }

    /// Ends the current element with `content` as its text.
    pub(super) fn end_with(&mut self, content: &str) {
        let name = self.open.pop().unwrap_or_default();
        self.text.push('>');
        self.escaped(content);
        self.close(name);
        self.in_tag = false;
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    fn indent(&mut self) {
        self.text.extend(self.open.iter().map(|_| "  "));
    }

    fn close(&mut self, name: &str) {
        self.text.extend(["</", name, ">\n"]);
    }

    fn escaped(&mut self, value: impl Display) {
        // Writing to a string never fails.
        let _ = write!(Escaped(&mut self.text), "{value}");
    }
}

/// A writer that escapes characters special in attributes, and drops those that XML cannot hold.
struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\t' | '\n' | '\r' => write!(self.0, "&#{};", c as u32)?,
                '\0'..' ' | '\u{fffe}' | '\u{ffff}' => {}
                c => self.0.push(c),
            }
        }
        Ok(())
    }
}
