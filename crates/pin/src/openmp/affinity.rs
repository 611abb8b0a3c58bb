//! `KMP_AFFINITY=[<modifier>,...]<type>[,<permute>][,<offset>]`.

use alloc::vec::Vec;

use crate::openmp::message::Message;
use crate::openmp::proclist::{self, Item, saturated};
use crate::openmp::{Dialect, Levels, Rules};

/// How threads are bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Type {
    /// Nothing was said.
    #[default]
    Default,
    None,
    Compact,
    Scatter,
    Logical,
    Physical,
    Balanced,
    Explicit,
    Disabled,
}

/// What a thread may wander over, as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Granularity {
    /// `fine` or `thread`.
    Thread,
    Core,
    /// `socket` or `package`.
    Package,
    /// Another level, by its word.
    Level(&'static str),
    /// So many of the innermost levels.
    Levels(u64),
}

/// The setting, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Affinity {
    pub(crate) kind: Type,
    pub(crate) verbose: bool,
    pub(crate) warnings: bool,
    pub(crate) respect: bool,
    /// Whether each processor makes a place, also those that share one.
    pub(crate) duplicates: bool,
    pub(crate) granularity: Option<Granularity>,
    pub(crate) proclist: Vec<Item>,
    pub(crate) permute: u64,
    pub(crate) offset: u64,
}

impl Default for Affinity {
    fn default() -> Self {
        Self {
            kind: Type::Default,
            verbose: false,
            warnings: true,
            respect: true,
            duplicates: true,
            granularity: None,
            proclist: Vec::new(),
            permute: 0,
            offset: 0,
        }
    }
}

impl Affinity {
    /// Whether a message about the places is for the user's eyes.
    pub(crate) fn tells(&self) -> bool {
        self.verbose || (self.warnings && !matches!(self.kind, Type::None | Type::Default))
    }
}

const TYPES: [(&str, Type); 8] = [
    ("none", Type::None),
    ("compact", Type::Compact),
    ("scatter", Type::Scatter),
    ("logical", Type::Logical),
    ("physical", Type::Physical),
    ("balanced", Type::Balanced),
    ("explicit", Type::Explicit),
    ("disabled", Type::Disabled),
];

impl Type {
    fn word(self) -> &'static str {
        let word = TYPES.iter().find(|(_, kind)| *kind == self);
        word.map_or("default", |(word, _)| word)
    }
}

/// A modifier that switches something.
#[derive(Clone, Copy, PartialEq)]
enum Switch {
    Verbose,
    Warnings,
    Respect,
    Duplicates,
    /// Whether the initial thread gets its mask back behind the first region: nothing that placement shows.
    Reset,
}

impl Switch {
    fn name(self) -> &'static str {
        match self {
            Self::Verbose => "verbose",
            Self::Warnings => "warnings",
            Self::Respect => "respect",
            Self::Duplicates => "duplicates",
            Self::Reset => "reset",
        }
    }
}

const SWITCHES: [(&str, Switch, bool); 12] = [
    ("verbose", Switch::Verbose, true),
    ("noverbose", Switch::Verbose, false),
    ("warnings", Switch::Warnings, true),
    ("nowarnings", Switch::Warnings, false),
    ("respect", Switch::Respect, true),
    ("norespect", Switch::Respect, false),
    ("duplicates", Switch::Duplicates, true),
    ("noduplicates", Switch::Duplicates, false),
    ("dups", Switch::Duplicates, true),
    ("nodups", Switch::Duplicates, false),
    ("reset", Switch::Reset, true),
    ("noreset", Switch::Reset, false),
];

/// Words of levels, and the first runtimes that know them.
const GRANULARITIES: [(&str, Granularity, Levels); 15] = [
    ("fine", Granularity::Thread, Levels::Documented),
    ("thread", Granularity::Thread, Levels::Documented),
    ("core", Granularity::Core, Levels::Documented),
    ("package", Granularity::Package, Levels::Documented),
    ("tile", Granularity::Level("tile"), Levels::Documented),
    ("node", Granularity::Level("node"), Levels::Documented),
    ("socket", Granularity::Package, Levels::Current),
    ("die", Granularity::Level("die"), Levels::Current),
    ("module", Granularity::Level("module"), Levels::Current),
    (
        "numa_domain",
        Granularity::Level("numa_domain"),
        Levels::Current,
    ),
    ("numa", Granularity::Level("numa_domain"), Levels::Current),
    ("l3_cache", Granularity::Level("l3_cache"), Levels::Current),
    ("l2_cache", Granularity::Level("l2_cache"), Levels::Current),
    ("l1_cache", Granularity::Level("l1_cache"), Levels::Current),
    ("ll_cache", Granularity::Level("ll_cache"), Levels::Current),
];

/// Reads a setting as a runtime does: what is wrong in it is told and left out, and the rest counts.
pub(crate) fn parse(text: &str, dialect: Dialect) -> (Affinity, Vec<Message>) {
    let mut parser = Parser {
        text,
        at: 0,
        dialect,
        affinity: Affinity::default(),
        seen: Vec::new(),
        integers: Vec::new(),
        messages: Vec::new(),
    };
    parser.blanks();
    while parser.at < text.len() {
        parser.parameter();
    }
    parser.end()
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    dialect: Dialect,
    affinity: Affinity,
    /// Parameters that were set.
    seen: Vec<&'static str>,
    integers: Vec<u64>,
    messages: Vec<Message>,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    fn eat(&mut self, word: &str) -> bool {
        let rest = self.rest();
        let begin = rest.get(..word.len());
        let found = begin.is_some_and(|begin| begin.eq_ignore_ascii_case(word));
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// The longest word of a list that the text goes on with; longest, as some begin like others.
    fn eat_one_of<T: Copy>(&mut self, words: impl Iterator<Item = (&'static str, T)>) -> Option<T> {
        let rest = self.rest();
        let begins = |word: &str| {
            let begin = rest.get(..word.len());
            begin.is_some_and(|begin| begin.eq_ignore_ascii_case(word))
        };
        let (word, meaning) = words
            .filter(|(word, _)| begins(word))
            .max_by_key(|(word, _)| word.len())?;
        self.at += word.len();
        Some(meaning)
    }

    fn digits(&mut self) -> Option<u64> {
        let rest = self.rest();
        let length = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        self.at += length;
        (length > 0).then(|| saturated(&rest[..length]))
    }

    /// One parameter, and the comma behind it.
    fn parameter(&mut self) {
        let start = self.at;
        let new = self.dialect.levels == Levels::Current;
        let switches = SWITCHES
            .into_iter()
            .filter(|(_, switch, _)| new || *switch != Switch::Reset)
            .map(|(word, switch, on)| (word, (switch, on)));
        if let Some(kind) = self.eat_one_of(TYPES.into_iter()) {
            if self.may_set("type", start) {
                self.affinity.kind = kind;
            }
        } else if let Some((switch, on)) = self.eat_one_of(switches) {
            self.switch(switch, on, start);
        } else if self.eat("granularity") || self.eat("gran") {
            if !self.granularity(start) {
                return self.skip(start);
            }
        } else if self.eat("proclist") {
            match self.proclist(start) {
                Ok(true) => {}
                Ok(false) => return self.skip(start),
                Err(wrong) => {
                    self.messages.push(wrong);
                    return self.skip_list();
                }
            }
        } else if let Some(number) = self.digits() {
            if self.integers.len() == 2 {
                let rest = self.text[start..].into();
                self.messages.push(Message::ManyIntegers(rest));
            } else {
                self.integers.push(number);
            }
        } else {
            return self.skip(start);
        }
        self.behind();
    }

    fn switch(&mut self, switch: Switch, on: bool, start: usize) {
        if !self.may_replace(switch.name(), start) {
            return;
        }
        match switch {
            Switch::Verbose => self.affinity.verbose = on,
            Switch::Warnings => self.affinity.warnings = on,
            Switch::Respect => self.affinity.respect = on,
            Switch::Duplicates => self.affinity.duplicates = on,
            Switch::Reset => {}
        }
    }

    /// Notes that a parameter is set; tells when it was before.
    fn may_set(&mut self, name: &'static str, start: usize) -> bool {
        let first = !self.seen.contains(&name);
        match first {
            true => self.seen.push(name),
            false => {
                let text = self.text[start..self.at].into();
                self.messages.push(Message::Repeated(text));
            }
        }
        first
    }

    /// The same for a modifier: where the document rules, later ones replace earlier ones.
    fn may_replace(&mut self, name: &'static str, start: usize) -> bool {
        self.dialect.rules == Rules::Documented || self.may_set(name, start)
    }

    /// What follows the word `granularity`; false if it is none.
    fn granularity(&mut self, start: usize) -> bool {
        self.blanks();
        if !self.eat("=") {
            return false;
        }
        self.blanks();
        let again = self.seen.contains(&"granularity");
        let by_value = self.dialect.levels == Levels::Current;
        if again && by_value && self.dialect.rules == Rules::Runtime {
            // The value is left for what stands behind a parameter.
            return true;
        }
        let levels = self.dialect.levels;
        let words = GRANULARITIES
            .into_iter()
            .filter(|(.., since)| levels == Levels::Current || *since == Levels::Documented);
        let value = match self.eat_one_of(words.map(|(word, meaning, _)| (word, meaning))) {
            Some(value) => Some(value),
            None => self.digits().map(Granularity::Levels),
        };
        if value.is_some() && self.may_replace("granularity", start) {
            self.affinity.granularity = value;
            self.seen.push("granularity");
        }
        value.is_some()
    }

    /// What follows the word `proclist`; false if it is none.
    fn proclist(&mut self, start: usize) -> Result<bool, Message> {
        self.blanks();
        if !self.eat("=") {
            return Ok(false);
        }
        self.blanks();
        if !self.eat("[") {
            return Ok(false);
        }
        let (items, length) = proclist::parse(self.rest())?;
        self.at += length;
        if !self.eat("]") {
            return Ok(false);
        }
        if self.may_set("proclist", start) {
            self.affinity.proclist = items;
        }
        Ok(true)
    }

    /// Leaves out what began at `start`, up to the next comma.
    fn skip(&mut self, start: usize) {
        let end = self
            .rest()
            .find(',')
            .map_or(self.text.len(), |comma| self.at + comma);
        let text = self.text[start..end].into();
        self.messages.push(Message::Invalid(text));
        self.at = (end + 1).min(self.text.len());
        self.blanks();
    }

    /// Leaves out a list that does not read.
    fn skip_list(&mut self) {
        let close = self.rest().find(']').unwrap_or(self.rest().len());
        self.at += close;
        let comma = self
            .rest()
            .find(',')
            .map_or(self.rest().len(), |comma| comma + 1);
        self.at += comma;
        self.blanks();
    }

    /// What stands behind a parameter: a comma or the end, and all else is too much.
    fn behind(&mut self) {
        self.blanks();
        let rest = self.rest();
        if !rest.is_empty() && !rest.starts_with(',') {
            let end = rest.find(',').unwrap_or(rest.len());
            self.messages.push(Message::Trailing(rest[..end].into()));
            self.at += end;
        }
        self.eat(",");
        self.blanks();
    }

    /// What the parameters mean together.
    fn end(mut self) -> (Affinity, Vec<Message>) {
        let affinity = &mut self.affinity;
        let listed = self.seen.contains(&"proclist");
        match affinity.kind {
            Type::Default if listed => {
                affinity.kind = Type::Explicit;
                self.messages.push(Message::ProclistAlone);
            }
            Type::Explicit => {}
            _ if listed => self.messages.push(Message::ProclistIdle),
            _ => {}
        }
        let (first, second) = (self.integers.first(), self.integers.get(1));
        match affinity.kind {
            Type::Logical | Type::Physical => {
                affinity.offset = first.copied().unwrap_or(0);
                self.messages
                    .extend(second.map(|number| Message::ManyForLogical(*number)));
            }
            Type::Compact | Type::Scatter | Type::Balanced => {
                affinity.permute = first.copied().unwrap_or(0);
                affinity.offset = second.copied().unwrap_or(0);
            }
            kind => {
                if kind == Type::Explicit && !listed {
                    affinity.kind = Type::None;
                    self.messages.push(Message::NoProclist);
                }
                if first.is_some() {
                    self.messages.push(Message::NoIntegers(kind.word()));
                }
            }
        }
        let chosen = matches!(affinity.granularity, None | Some(Granularity::Levels(_)));
        if affinity.kind == Type::Balanced && chosen && (affinity.verbose || affinity.warnings) {
            self.messages.push(Message::GranularityChosen);
        }
        (self.affinity, self.messages)
    }
}
