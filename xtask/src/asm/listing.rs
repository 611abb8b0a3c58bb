//! One function out of the compiler's assembly, without what changes by itself: hashes in names, numbers of labels.

use rustc_demangle::demangle;

/// What stands before the compiler's name in a file that is checked in.
pub(super) const MAKER: &str = "# made by ";

/// The code of one function.
pub(super) struct Listing {
    pub(super) name: &'static str,
    /// Labels and instructions, symbols by their Rust names.
    pub(super) lines: Vec<Line>,
}

/// One line of code.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A place that is jumped to.
    Label(String),
    Instruction(String),
}

impl Listing {
    /// Finds the function of this name at the root of its crate; `None` if there is none.
    pub(super) fn find(assembly: &str, name: &'static str) -> Option<Self> {
        let path = format!("functions::{name}");
        let mut lines = assembly.lines();
        lines.find(|line| {
            line.strip_suffix(':')
                .is_some_and(|label| named(label) == path)
        })?;
        let mut names = Names::default();
        let body = lines.take_while(|line| !line.starts_with(".Lfunc_end"));
        let lines = body.filter_map(|line| names.line(line)).collect();
        Some(Self { name, lines })
    }

    pub(super) fn instructions(&self) -> usize {
        let is_instruction = |line: &&Line| matches!(line, Line::Instruction(_));
        self.lines.iter().filter(is_instruction).count()
    }

    pub(super) fn text(&self) -> String {
        let line = |line: &Line| match line {
            Line::Label(label) => format!("{label}:\n"),
            Line::Instruction(instruction) => format!("    {instruction}\n"),
        };
        self.lines.iter().map(line).collect()
    }
}

/// The Rust name of a symbol.
fn named(symbol: &str) -> String {
    format!("{:#}", demangle(symbol))
}

/// Who made a file that is checked in.
pub(super) fn maker(file: &str) -> Option<&str> {
    file.lines().find_map(|line| line.strip_prefix(MAKER))
}

/// New names for local labels and constants, in the order in which they are met.
#[derive(Default)]
struct Names {
    met: Vec<String>,
}

impl Names {
    /// `None` for what is no code: directives and comments.
    fn line(&mut self, line: &str) -> Option<Line> {
        let code = line.split('#').next().unwrap_or_default().trim();
        if let Some(label) = code.strip_suffix(':') {
            // Where debuggers and unwinding look is no place that is jumped to.
            let is_mark = label.starts_with(".Ltmp") || label.starts_with(".Lfunc");
            return (!is_mark).then(|| Line::Label(self.symbol(label)));
        }
        if code.is_empty() || code.starts_with('.') {
            return None;
        }
        let mut text = String::new();
        let mut rest = code;
        while !rest.is_empty() {
            let is_of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
            let end = rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
            let (word, more) = rest.split_at(end);
            text += &self.symbol(word);
            let other = more.find(is_of_word).unwrap_or(more.len());
            let (between, more) = more.split_at(other);
            text += &between.replace('\t', " ");
            rest = more;
        }
        Some(Line::Instruction(text))
    }

    /// A word of code as it is shown.
    fn symbol(&mut self, word: &str) -> String {
        if word.starts_with("_ZN") || word.starts_with("_R") {
            return format!("<{}>", named(word));
        }
        if !word.starts_with(".L") {
            return word.into();
        }
        let number = self.met.iter().position(|met| met == word);
        let number = number.unwrap_or_else(|| {
            self.met.push(word.into());
            self.met.len() - 1
        });
        format!(".L{number}")
    }
}
