//! Reads the files of decision trees while the crate is compiled.
//!
//! A file is JSON. Its `choices` are algorithms with parameters; its `tree` lists the nodes of the tree, each before those of
//! the one and then those of the other case.

use super::features::FEATURES;
use super::{NODES, Node};
use crate::call::{Algorithm, Collective, Parameters, Stage};
use crate::choice::Choice;

/// Makes the trees of the files, and the function that finds the one of a collective.
macro_rules! trees {
    ($($collective:path: $file:literal,)*) => {
        /// The tree of a collective.
        fn of_collective(collective: Collective) -> Option<&'static DecisionTree> {
            match collective {
                $($collective => {
                    const TEXT: &[u8] = include_bytes!($file);
                    const SIZES: [usize; 2] = read::sizes(TEXT);
                    static CHOICES: [Choice; SIZES[0]] = read::choices(TEXT, $collective);
                    static NODES: [Node; SIZES[1]] = read::nodes(TEXT, SIZES[0]);
                    static TREE: DecisionTree = DecisionTree { choices: &CHOICES, nodes: &NODES };
                    Some(&TREE)
                })*
                _ => None,
            }
        }

        /// The collectives with trees.
        #[cfg(test)]
        const COLLECTIVES: &[Collective] = &[$($collective),*];
    };
}

pub(super) use trees;

/// A place in a file.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

/// What stands at a place in a file.
enum Token<'a> {
    Text(&'a [u8]),
    Number(u64),
    Brace(u8),
}

impl<'a> Reader<'a> {
    const fn new(text: &'a [u8]) -> Self {
        Reader { text, at: 0 }
    }

    /// The next text, number or brace.
    const fn next(&mut self) -> Option<Token<'a>> {
        while self.at < self.text.len() {
            let first = self.text[self.at];
            self.at += 1;
            match first {
                b'"' => {
                    let from = self.at;
                    while self.text[self.at] != b'"' {
                        self.at += 1;
                    }
                    self.at += 1;
                    let (before, _) = self.text.split_at(self.at - 1);
                    return Some(Token::Text(before.split_at(from).1));
                }
                b'0'..=b'9' => {
                    let mut number = (first - b'0') as u64;
                    while self.text[self.at].is_ascii_digit() {
                        number = 10 * number + (self.text[self.at] - b'0') as u64;
                        self.at += 1;
                    }
                    return Some(Token::Number(number));
                }
                b'{' | b'}' => return Some(Token::Brace(first)),
                _ => {}
            }
        }
        None
    }

    const fn text(&mut self) -> &'a [u8] {
        match self.next() {
            Some(Token::Text(text)) => text,
            _ => panic!("a name in quotation marks is missing"),
        }
    }

    const fn number(&mut self) -> u64 {
        match self.next() {
            Some(Token::Number(number)) => number,
            _ => panic!("a number is missing"),
        }
    }

    /// A radix: a number, or the number of nodes.
    const fn radix(&mut self) -> u32 {
        match self.next() {
            Some(Token::Number(number)) => number as u32,
            Some(Token::Text(b"nodes")) => NODES,
            _ => panic!("a radix is a number or \"nodes\""),
        }
    }
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// The numbers of choices and of nodes in a file: each has a pair of braces of its own, but for those of stages and of the
/// file.
pub(super) const fn sizes(text: &[u8]) -> [usize; 2] {
    let (mut reader, mut sizes) = (Reader::new(text), [0, 0]);
    let (mut depth, mut is_tree) = (0, 0);
    while let Some(token) = reader.next() {
        match token {
            Token::Brace(b'{') => {
                depth += 1;
                sizes[is_tree] += (depth == 2) as usize;
            }
            Token::Brace(_) => depth -= 1,
            Token::Text(b"tree") => is_tree = 1,
            _ => {}
        }
    }
    sizes
}

/// The algorithm of the collective with this name.
const fn algorithm(collective: Collective, name: &[u8]) -> Algorithm {
    let mut at = 0;
    while at < Algorithm::ALL.len() {
        let one = Algorithm::ALL[at];
        if one.collective() as u8 == collective as u8 && is_same(one.name().as_bytes(), name) {
            return one;
        }
        at += 1;
    }
    panic!("the collective has no algorithm of that name")
}

/// The choices of a file.
pub(super) const fn choices<const N: usize>(text: &[u8], collective: Collective) -> [Choice; N] {
    let mut reader = Reader::new(text);
    while !matches!(reader.next(), Some(Token::Text(b"choices"))) {}
    let mut all = [Choice {
        algorithm: Algorithm::ALL[0],
        parameters: Parameters::NONE,
    }; N];
    let mut at = 0;
    while at < N {
        all[at] = choice(&mut reader, collective);
        at += 1;
    }
    all
}

/// One choice, after which its closing brace is read.
const fn choice(reader: &mut Reader<'_>, collective: Collective) -> Choice {
    let mut own = Parameters::NONE;
    let mut name: &[u8] = b"";
    while let Some(token) = reader.next() {
        match token {
            Token::Brace(b'}') => break,
            Token::Text(b"algorithm") => name = reader.text(),
            Token::Text(b"radix") => own.radix = reader.radix(),
            Token::Text(b"gather_radix") => own.gather_radix = reader.number() as u32,
            Token::Text(b"blocks") => own.blocks = reader.number() as u32,
            Token::Text(b"window") => own.window = reader.number() as u32,
            Token::Text(b"reduce") => own.stages[0] = stage(reader, Collective::Reduce),
            Token::Text(b"bcast") => own.stages[1] = stage(reader, Collective::Bcast),
            Token::Text(b"scatter") => own.stages[1] = stage(reader, Collective::Scatter),
            Token::Text(_) | Token::Number(_) => panic!("a choice has no such member"),
            Token::Brace(_) => {}
        }
    }
    Choice {
        algorithm: algorithm(collective, name),
        parameters: own,
    }
}

const fn stage(reader: &mut Reader<'_>, collective: Collective) -> Option<Stage> {
    let Choice {
        algorithm,
        parameters,
    } = choice(reader, collective);
    Some(Stage::with(algorithm, &parameters))
}

/// The nodes of a file, which name `choices` choices.
pub(super) const fn nodes<const N: usize>(text: &[u8], choices: usize) -> [Node; N] {
    let mut reader = Reader::new(text);
    while !matches!(reader.next(), Some(Token::Text(b"tree"))) {}
    let mut all = [Node::Use(0); N];
    // The nodes whose second case is still to come.
    let (mut open, mut depth) = ([0; N], 0);
    let mut at = 0;
    while at < N {
        match reader.next() {
            Some(Token::Text(b"use")) => {
                let choice = reader.number();
                assert!(choice < choices as u64, "there is no choice of that number");
                all[at] = Node::Use(choice as u8);
                if depth > 0 {
                    depth -= 1;
                    let before: usize = open[depth];
                    if let Node::Below(feature, value, _) = all[before] {
                        all[before] = Node::Below(feature, value, at as u16 + 1);
                    }
                }
                at += 1;
            }
            Some(Token::Text(b"if")) => {
                let feature = feature(reader.text());
                assert!(
                    is_same(reader.text(), b"below"),
                    "a condition has a member `below`"
                );
                all[at] = Node::Below(feature, reader.number(), 0);
                open[depth] = at;
                depth += 1;
                at += 1;
            }
            Some(_) => {}
            None => panic!("the tree ends too early"),
        }
    }
    assert!(depth == 0, "the tree lacks cases");
    all
}

/// The number of the feature with this name.
const fn feature(name: &[u8]) -> u8 {
    let mut at = 0;
    while !is_same(FEATURES[at].as_bytes(), name) {
        at += 1;
    }
    at as u8
}
