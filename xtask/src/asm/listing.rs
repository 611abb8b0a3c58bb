//! The listing of one function, taken from the compiler's assembly, without symbol hashes and label
//! numbers, which change from build to build.

use rustc_demangle::demangle;

/// The prefix of the line that names the compiler in a checked-in listing.
pub(super) const MAKER: &str = "# made by ";

/// The instructions and labels of one function.
pub(super) struct Listing {
    pub(super) name: &'static str,
    /// Labels and instructions; symbols have their Rust names.
    pub(super) lines: Vec<Line>,
}

/// One line of a listing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A jump target.
    Label(String),
    Instruction(String),
}

impl Listing {
    /// Finds the function `name` at the root of its crate; `None` if there is none.
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

/// Demangles a symbol.
fn named(symbol: &str) -> String {
    format!("{:#}", demangle(symbol))
}

/// The compiler that made a checked-in listing.
pub(super) fn maker(file: &str) -> Option<&str> {
    file.lines().find_map(|line| line.strip_prefix(MAKER))
}

/// Numbers local labels and constants in the order of their first use.
#[derive(Default)]
struct Names {
    met: Vec<String>,
}

impl Names {
    /// Converts one line of assembly; `None` for directives and comments.
    fn line(&mut self, line: &str) -> Option<Line> {
        let code = line.split('#').next().unwrap_or_default().trim();
        if let Some(label) = code.strip_suffix(':') {
            // Labels for debuggers and unwinding are no jump targets.
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

    /// A token of code as the listing shows it.
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
