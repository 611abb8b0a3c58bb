//! C types of parameters, and what Rust calls them.

use super::procedure::{Direction, Parameter};
use crate::Result;
use std::collections::BTreeMap;

/// The type of a value: `const base **` and the brackets after its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CType {
    pub(super) constant: bool,
    pub(super) base: String,
    pub(super) stars: usize,
    /// The brackets of an array, the first one empty.
    pub(super) brackets: Vec<String>,
}

impl CType {
    fn read(text: &str) -> Self {
        let (text, constant) = match text.strip_prefix("const ") {
            Some(text) => (text, true),
            None => (text, false),
        };
        let (text, brackets) = match text.strip_suffix("[]") {
            Some(text) => (text, vec![String::new()]),
            None => (text, Vec::new()),
        };
        let base = text.trim_end_matches('*');
        Self {
            constant,
            base: base.to_owned(),
            stars: text.len() - base.len(),
            brackets,
        }
    }

    fn is_complete(&self) -> bool {
        self.constant || self.stars > 0 || !self.brackets.is_empty()
    }

    /// The declaration of `name` with this type.
    pub(super) fn declare(&self, name: &str) -> String {
        if self.base == "..." {
            return self.base.clone();
        }
        let constant = if self.constant { "const " } else { "" };
        let brackets: String = self
            .brackets
            .iter()
            .map(|length| format!("[{length}]"))
            .collect();
        let space = if name.is_empty() || self.stars > 0 {
            ""
        } else {
            " "
        };
        let gap = if self.stars > 0 { " " } else { "" };
        format!(
            "{constant}{}{gap}{}{space}{name}{brackets}",
            self.base,
            "*".repeat(self.stars)
        )
    }

    /// The type in Rust.
    pub(super) fn rust(&self) -> String {
        let mut text = match self.base.as_str() {
            "int" => "c_int".to_owned(),
            "char" => "c_char".to_owned(),
            "double" => "c_double".to_owned(),
            "void" => "c_void".to_owned(),
            "MPI_T_cb_safety" | "MPI_T_source_order" => "c_int".to_owned(),
            other if other.contains("_function") => "Callback".to_owned(),
            other => other.trim_start_matches("MPI_").to_owned(),
        };
        for length in self.brackets.iter().skip(1) {
            text = format!("[{text}; {length}]");
        }
        let levels = self.stars + usize::from(!self.brackets.is_empty());
        // A callback is a pointer by itself.
        let levels = if text == "Callback" { 0 } else { levels };
        for level in 0..levels {
            let what = if level == 0 && self.constant {
                "const"
            } else {
                "mut"
            };
            text = format!("*{what} {text}");
        }
        text
    }
}

/// The C types of the kinds of parameters.
pub(super) struct Kinds(BTreeMap<String, [CType; 2]>);

impl Kinds {
    /// Reads `kinds.txt`, which says what its lines are.
    pub(super) fn read(text: &str) -> Result<Self> {
        let mut kinds = BTreeMap::new();
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let (types, names) = line
                .split_once(": ")
                .ok_or_else(|| format!("kinds.txt: no colon in \"{line}\""))?;
            let (small, large) = match types.split_once(' ') {
                Some((small, large)) if small != "const" => (small, large),
                _ => (types, types),
            };
            for kind in names.split_whitespace() {
                let types = [small, large].map(CType::read);
                if kinds.insert(kind.to_owned(), types).is_some() {
                    return Err(format!("kinds.txt: {kind} is there twice").into());
                }
            }
        }
        Ok(Self(kinds))
    }

    /// The type of a value that is returned.
    pub(super) fn returned(&self, kind: &str) -> Result<CType> {
        Ok(self.base(kind, false)?.clone())
    }

    fn base(&self, kind: &str, large: bool) -> Result<&CType> {
        let types = self
            .0
            .get(kind)
            .ok_or_else(|| format!("kinds.txt lacks the kind {kind}"))?;
        Ok(&types[usize::from(large)])
    }

    /// The type of a parameter, in the twin of large counts or not.
    pub(super) fn parameter(&self, parameter: &Parameter, large: bool) -> Result<CType> {
        if let Some(function) = &parameter.function {
            let twin = large && parameter.kind == "POLYFUNCTION";
            return Ok(CType::read(&format!(
                "{function}{}*",
                if twin { "_c" } else { "" }
            )));
        }
        let mut c_type = self.base(&parameter.kind, large)?.clone();
        let (is_complete, is_array) = (c_type.is_complete(), !parameter.length.is_empty());
        c_type.constant |= parameter.constant;
        if is_complete {
            // Only MPI_Init may change the program's arguments, and gets pointers to them.
            c_type.stars -= usize::from(parameter.pointer == Some(false));
            return Ok(c_type);
        }
        let is_text = c_type.base == "char";
        let is_out = parameter.direction != Direction::In;
        if is_array && !(is_text && is_out) {
            let inner = parameter
                .length
                .iter()
                .skip(1)
                .cloned()
                .map(Option::unwrap_or_default);
            c_type.brackets = [String::new()].into_iter().chain(inner).collect();
        } else if parameter
            .pointer
            .unwrap_or(is_out || parameter.constant || is_text)
        {
            c_type.stars = 1;
        }
        Ok(c_type)
    }
}
