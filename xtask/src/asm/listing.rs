//! One function out of the compiler's assembly, without what changes by itself: hashes in names, numbers of labels.

use rustc_demangle::demangle;

/// What stands before the compiler's name in a file that is checked in.
pub(super) const MAKER: &str = "# made by ";

/// The code of one function, and of the parts of the path that the compiler has left out of line.
pub(super) struct Listing {
    pub(super) name: &'static str,
    /// Labels and instructions, symbols by their Rust names.
    pub(super) lines: Vec<Line>,
}

/// One line of code.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Where a part begins that is called from above.
    Part(String),
    /// A place that is jumped to.
    Label(String),
    Instruction(String),
}

impl Listing {
    /// Finds the function of this name at the root of its crate, and behind it those that it calls and `is_part` accepts by
    /// their Rust names; `None` if there is none.
    pub(super) fn find(
        assembly: &str,
        name: &'static str,
        is_part: impl Fn(&str) -> bool,
    ) -> Option<Self> {
        let path = format!("functions::{name}");
        let mut labels = assembly.lines().filter_map(|line| line.strip_suffix(':'));
        let root = labels.find(|label| named(label) == path)?;
        let mut symbols = vec![root];
        let (mut lines, mut names) = (Vec::new(), Names::default());
        let mut done = 0;
        while let Some(symbol) = symbols.get(done).copied() {
            if done > 0 {
                lines.push(Line::Part(named(symbol)));
            }
            for line in body(assembly, symbol) {
                let called = called(line).filter(|called| is_part(&named(called)));
                if let Some(called) = called.filter(|called| !symbols.contains(called)) {
                    symbols.push(called);
                }
                lines.extend(names.line(line));
            }
            done += 1;
        }
        Some(Self { name, lines })
    }

    pub(super) fn instructions(&self) -> usize {
        let is_instruction = |line: &&Line| matches!(line, Line::Instruction(_));
        self.lines.iter().filter(is_instruction).count()
    }

    pub(super) fn text(&self) -> String {
        let line = |line: &Line| match line {
            Line::Part(name) => format!("\n# {name}\n"),
            Line::Label(label) => format!("{label}:\n"),
            Line::Instruction(instruction) => format!("    {instruction}\n"),
        };
        self.lines.iter().map(line).collect()
    }
}

/// The lines of the function with this symbol.
fn body<'a>(assembly: &'a str, symbol: &str) -> impl Iterator<Item = &'a str> {
    let mut lines = assembly.lines();
    lines.find(|line| line.strip_suffix(':') == Some(symbol));
    lines.take_while(|line| !line.starts_with(".Lfunc_end"))
}

/// The symbol that a line calls or jumps to.
fn called(line: &str) -> Option<&str> {
    let (name, symbol) = line.trim().split_once(char::is_whitespace)?;
    let is_symbol = symbol.starts_with("_ZN") || symbol.starts_with("_R");
    let leaves = name == "call" || name.starts_with('j');
    (leaves && is_symbol).then_some(symbol)
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
