//! The rule that modules of a crate import each other in one direction only.
//!
//! The rule compares siblings, at every level of the module tree: what lies below a module counts as that module. A
//! module and its own parent may name each other, and test modules do not count.

use super::tokens::{self, Token};
use crate::{Repo, Result};
use std::collections::{BTreeMap, BTreeSet};

/// The names from a crate's root down to a module or an item.
type Path = Vec<String>;

/// What one module's text says.
#[derive(Default)]
struct Module {
    /// Every path that the text names.
    named: Vec<Path>,
    /// What `use` calls by another path: the local name, and the path it stands for.
    imported: BTreeMap<String, Path>,
}

/// The modules of one crate, the root by the empty path.
type Modules = BTreeMap<Path, Module>;

/// Finds every set of sibling modules that import each other in a circle.
pub(super) fn circles(repo: &Repo) -> Result<Vec<String>> {
    let mut crates: BTreeMap<String, Modules> = BTreeMap::new();
    for file in repo.files()? {
        let name = file.display().to_string();
        let Some((folder, path)) = name.split_once("/src/") else {
            continue;
        };
        let Some(path) = module_path(path) else {
            continue;
        };
        let text = std::fs::read_to_string(repo.root.join(&file))?;
        let modules = crates.entry(folder.to_owned()).or_default();
        modules.insert(path, Module::read(&text));
    }
    let findings = crates.iter().flat_map(|(folder, modules)| {
        let found = find_circles(modules);
        found
            .into_iter()
            .map(move |circle| format!("{folder}: {circle}"))
    });
    Ok(findings.collect())
}

/// The module that a file below `src/` holds; `None` for tests and for what is not Rust.
fn module_path(file: &str) -> Option<Path> {
    let mut path: Path = file
        .strip_suffix(".rs")?
        .split('/')
        .map(Into::into)
        .collect();
    match path.last()?.as_str() {
        "lib" | "main" if path.len() == 1 => path.clear(),
        "mod" => drop(path.pop()),
        _ => {}
    }
    (!path.iter().any(|name| name == "tests")).then_some(path)
}

impl Module {
    fn read(text: &str) -> Module {
        let tokens: Vec<&str> = tokens::of(text)
            .filter_map(|(token, _)| match token {
                Token::Name(text) | Token::Sign(text) => Some(text),
                Token::Text(_) | Token::Comment(_) => None,
            })
            .collect();
        let mut module = Module::default();
        let mut at = 0;
        while at < tokens.len() {
            at = match tokens[at] {
                "#" if is_test_module(&tokens[at..]) => after_braces(&tokens, at),
                "use" => module.read_use(&tokens, at + 1, &[]),
                _ if follows_path(&tokens, at) => at + 1,
                _ => module.read_path(&tokens, at),
            };
        }
        module
    }

    /// Reads the tree of a `use` below `prefix`, and gives the place after it.
    fn read_use(&mut self, tokens: &[&str], mut at: usize, prefix: &[String]) -> usize {
        let mut path = prefix.to_vec();
        loop {
            match tokens.get(at).copied() {
                Some(":") => at += 1,
                Some("{") => {
                    at += 1;
                    while tokens.get(at).is_some_and(|&token| token != "}") {
                        at = self.read_use(tokens, at, &path);
                        at += usize::from(tokens.get(at) == Some(&","));
                    }
                    return at + 1;
                }
                Some("as") => {
                    let alias = tokens.get(at + 1).copied().unwrap_or_default();
                    self.import(alias, path);
                    return at + 2;
                }
                Some(name) if is_name(name) => {
                    path.push(name.into());
                    at += 1;
                }
                Some("*") => at += 1,
                _ => {
                    // `{self, ..}` names the prefix itself.
                    if !prefix.is_empty() {
                        path.retain(|name| name != "self");
                    }
                    if let Some(name) = path.last().cloned() {
                        self.import(&name, path);
                    }
                    return at;
                }
            }
        }
    }

    fn import(&mut self, name: &str, path: Path) {
        self.named.push(path.clone());
        self.imported.insert(name.into(), path);
    }

    /// Reads a path of at least two names, if one begins here, and gives the place after it.
    fn read_path(&mut self, tokens: &[&str], start: usize) -> usize {
        let mut path = Path::new();
        let mut at = start;
        while tokens.get(at).is_some_and(|name| is_name(name)) {
            path.push(tokens[at].into());
            at += 1;
            if tokens.get(at..at + 2) != Some(&[":", ":"]) {
                break;
            }
            at += 2;
        }
        if path.len() > 1 {
            self.named.push(path);
        }
        at.max(start + 1)
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c == '_' || c.is_alphabetic())
}

/// Whether the token at `at` continues a path, so that no path begins there.
fn follows_path(tokens: &[&str], at: usize) -> bool {
    at >= 2 && tokens[at - 2..at] == [":", ":"]
}

/// Whether an attribute that asks for `test` begins here, followed by a module in braces.
fn is_test_module(tokens: &[&str]) -> bool {
    let end = tokens.iter().position(|&token| token == "]").unwrap_or(0);
    let attribute = &tokens[..end];
    let is_test = attribute.contains(&"cfg") && attribute.contains(&"test");
    is_test && tokens[end + 1..].starts_with(&["mod"]) && tokens.get(end + 3) == Some(&"{")
}

/// The place after the braces that open next.
fn after_braces(tokens: &[&str], mut at: usize) -> usize {
    let mut depth = 0;
    while at < tokens.len() {
        match tokens[at] {
            "{" => depth += 1,
            "}" if depth == 1 => return at + 1,
            "}" => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    at
}

/// The path from the crate's root that `path` means in `module`; `None` if it leads out of the crate.
fn absolute(modules: &Modules, module: &[String], path: &[String]) -> Option<Path> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([module, rest].concat()),
        "super" => {
            let mut base = module.to_vec();
            let ups = path.iter().take_while(|name| *name == "super").count();
            base.truncate(module.len().saturating_sub(ups));
            Some([&base[..], &path[ups..]].concat())
        }
        _ => {
            let child = [module, &path[..1]].concat();
            modules
                .contains_key(&child)
                .then(|| [module, path].concat())
        }
    }
}

/// How many imports are followed to the module that declares a name; they cannot go round longer in code that compiles.
const IMPORTS_FOLLOWED: u32 = 8;

/// The module that holds what `path`, from the root, names: names that a module passes on are followed.
fn holder(modules: &Modules, path: &[String], left: u32) -> Path {
    let known = (0..=path.len())
        .rev()
        .find(|&n| modules.contains_key(&path[..n]));
    let (module, rest) = path.split_at(known.unwrap_or(0));
    let target = rest.first().and_then(|name| {
        let imported = modules.get(module)?.imported.get(name)?;
        let target = absolute(modules, module, imported)?;
        (left > 0 && target != path).then(|| [&target[..], &rest[1..]].concat())
    });
    match target {
        Some(target) => holder(modules, &target, left - 1),
        None => module.to_vec(),
    }
}

/// Sibling modules, each with the siblings that it names.
type Siblings<'a> = BTreeMap<&'a str, BTreeSet<String>>;

/// The circles of a crate, each as a line.
fn find_circles(modules: &Modules) -> Vec<String> {
    let mut levels: BTreeMap<&[String], Siblings<'_>> = BTreeMap::new();
    for (path, module) in modules {
        for named in &module.named {
            let direct = absolute(modules, path, named).or_else(|| {
                let imported = module.imported.get(&named[0])?;
                let base = absolute(modules, path, imported)?;
                Some([&base[..], &named[1..]].concat())
            });
            let Some(direct) = direct else { continue };
            let target = holder(modules, &direct, IMPORTS_FOLLOWED);
            let shared = path.iter().zip(&target).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (path.get(shared), target.get(shared)) {
                let level = levels.entry(&path[..shared]).or_default();
                level.entry(from).or_default().insert(to.clone());
            }
        }
    }
    let mut circles = Vec::new();
    for (parent, siblings) in &levels {
        let mut seen = BTreeSet::new();
        for &start in siblings.keys() {
            let circle: Vec<&str> = reached(siblings, start)
                .into_iter()
                .filter(|&other| reached(siblings, other).contains(start))
                .collect();
            if !circle.is_empty() && seen.insert(circle.clone()) {
                let parent = match parent {
                    [] => "the crate's root".to_owned(),
                    names => names.join("::"),
                };
                circles.push(format!(
                    "in {parent}, {} import each other",
                    circle.join(", ")
                ));
            }
        }
    }
    circles
}

/// The siblings that `start` names, directly or through others.
fn reached<'a>(siblings: &'a Siblings<'_>, start: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![start];
    while let Some(name) = waiting.pop() {
        for next in siblings.get(name).into_iter().flatten() {
            if reached.insert(next.as_str()) {
                waiting.push(next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
        let modules = files
            .iter()
            .map(|(file, text)| (module_path(file).unwrap(), Module::read(text)));
        find_circles(&modules.collect())
    }

    #[test]
    fn two_siblings_that_import_each_other_are_a_circle() {
        let circles = circles_of(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::{b::{self, Bee}, c};"),
            ("b.rs", "fn f() { super::c::g() }"),
            ("c.rs", "// crate::b\nconst A: &str = \"crate::b\";"),
        ]);
        assert_eq!(circles, [""; 0]);
        let circles = circles_of(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b::Bee;"),
            ("b/mod.rs", "mod low;"),
            ("b/low.rs", "fn f() { crate::a::g() }"),
        ]);
        assert_eq!(circles, ["in the crate's root, a, b import each other"]);
    }

    #[test]
    fn a_name_that_a_parent_passes_on_counts_where_it_is_declared() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use b::Bee;"),
            ("a.rs", "use crate::Bee;"),
            ("b.rs", "use crate::a::Ant;"),
        ];
        assert_eq!(circles_of(&files).len(), 1);
    }

    #[test]
    fn parents_and_test_modules_do_not_count() {
        let circles = circles_of(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "#[cfg(test)] mod tests { use crate::b::Bee; }"),
            ("b.rs", "mod low; use crate::a::Ant; use low::Low;"),
            ("b/low.rs", "use super::Bee;"),
        ]);
        assert_eq!(circles, [""; 0]);
    }
}
