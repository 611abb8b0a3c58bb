//! Writes a tree as JSON, a choice or a node a line.

use crate::Tree;
use oxmpi_coll::catalog::{Algorithm, Collective, Parameters};
use oxmpi_coll::choice::Choice;
use oxmpi_coll::choice::cyclic::{FEATURES, NODES};

/// The file of a tree. Choices that no leaf names are left out, but for the first.
pub(crate) fn file(collective: Collective, choices: &[Choice], tree: &Tree) -> String {
    let mut used = vec![0];
    collect(tree, &mut used);
    used.sort_unstable();
    used.dedup();
    let lines = |lines: Vec<String>| lines.join(",\n");
    let choices = used.iter().map(|&at| {
        format!(
            "    {}",
            members(choices[at].algorithm, &choices[at].parameters)
        )
    });
    let mut nodes = Vec::new();
    add_nodes(tree, &used, 4, &mut nodes);
    format!(
        "{{\n  \"about\": \"Learned by `cargo xtask tune-tables`; crates/coll/src/choice/cyclic says how it is read.\",\n  \
         \"collective\": \"{collective}\",\n  \"placement\": \"cyclic\",\n  \"choices\": [\n{}\n  ],\n  \"tree\": [\n{}\n  ]\n}}\n",
        lines(choices.collect()),
        lines(nodes)
    )
}

/// Adds the choices of the leaves.
fn collect(tree: &Tree, used: &mut Vec<usize>) {
    match tree {
        Tree::Use(choice) => used.push(*choice),
        Tree::Below(_, _, cases) => cases.iter().for_each(|one| collect(one, used)),
    }
}

/// An algorithm with its parameters and stages.
fn members(algorithm: Algorithm, parameters: &Parameters) -> String {
    let mut text = format!("{{\"algorithm\": \"{}\"", algorithm.name());
    for (name, value) in [
        ("radix", parameters.radix),
        ("gather_radix", parameters.gather_radix),
        ("blocks", parameters.blocks),
        ("window", parameters.window),
    ] {
        match value {
            0 => {}
            NODES => text += &format!(", \"{name}\": \"nodes\""),
            value => text += &format!(", \"{name}\": {value}"),
        }
    }
    for stage in parameters.stages.iter().flatten() {
        let numbers = Parameters::NONE
            .with_radix(stage.radix)
            .with_blocks(stage.blocks);
        let name = stage.algorithm.collective().name();
        text += &format!(", \"{name}\": {}", members(stage.algorithm, &numbers));
    }
    text + "}"
}

/// Adds a line for each node, each before its cases, which are indented.
fn add_nodes(tree: &Tree, used: &[usize], indent: usize, lines: &mut Vec<String>) {
    match tree {
        Tree::Use(choice) => {
            let at = used.binary_search(choice).expect("it is used");
            lines.push(format!("{:indent$}{{\"use\": {at}}}", ""));
        }
        Tree::Below(feature, value, cases) => {
            let name = FEATURES[*feature];
            lines.push(format!(
                "{:indent$}{{\"if\": \"{name}\", \"below\": {value}}}",
                ""
            ));
            cases
                .iter()
                .for_each(|one| add_nodes(one, used, indent + 1, lines));
        }
    }
}
