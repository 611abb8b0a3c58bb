//! Every error has the class that its documentation names.

use oxmpi_wire::Fault;

use super::{Error, FaultReason};

/// An error of each variant, in the order of their declaration.
fn samples() -> Vec<Error> {
    let why = || "why".to_owned();
    let fault = FaultReason(Fault::Protocol("broken"));
    vec![
        Error::Rank {
            rank: 0,
            named: 4,
            size: 4,
        },
        Error::GroupRank { named: 4, size: 4 },
        Error::Tag {
            rank: 0,
            tag: u32::MAX,
        },
        Error::SelfSend { rank: 0, tag: 1 },
        Error::NoSender { rank: 0 },
        Error::Truncated {
            rank: 0,
            source: 1,
            tag: 1,
            sent: 9,
            room: 8,
        },
        Error::Memory { rank: 0, bytes: 8 },
        Error::Alloc {
            rank: 0,
            bytes: 8,
            why: why(),
        },
        Error::PartialElement {
            rank: 0,
            source: 1,
            tag: 1,
            sent: 9,
            element: 8,
        },
        Error::Count {
            rank: 0,
            what: "values",
            has: 1,
            needs: 2,
        },
        Error::Blocks {
            rank: 0,
            what: "values",
            why: why(),
        },
        Error::Layout { why: why() },
        Error::Operation {
            op: "BAND",
            element: "f64",
        },
        Error::Reproducible { op: "PROD" },
        Error::CollectiveCount {
            rank: 0,
            source: 1,
            sent: 8,
            expected: 4,
        },
        Error::CollectiveBuffer { rank: 0 },
        Error::Collective {
            rank: 0,
            why: why(),
        },
        Error::WindowRange {
            rank: 1,
            target: 2,
            displacement: 3,
            unit: 8,
            len: 16,
            size: 32,
        },
        Error::WindowEpoch {
            rank: 1,
            call: "put",
            why: "there is no epoch; call fence first",
        },
        Error::Window {
            rank: 1,
            class: crate::ErrorClass::Window,
            why: "it is a sample".into(),
        },
        Error::Persistent { rank: 0 },
        Error::Peer {
            rank: 0,
            peer: 1,
            pid: None,
            host: why(),
            fault,
        },
        Error::Transport { rank: 0, fault },
        Error::Contexts,
        Error::Finalized,
        Error::SecondInit,
        Error::Forked,
        Error::Setting(why()),
        Error::Start {
            step: "starting",
            why: why(),
        },
    ]
}

/// The class that the documentation of each variant names: the last `MPI_ERR_` name before the variant.
fn documented() -> Vec<String> {
    let source = include_str!("mod.rs");
    let (_, declaration) = source.split_once("pub enum Error {").expect("the enum");
    let (declaration, _) = declaration.split_once("\n}\n").expect("its end");
    let mut named = None;
    let mut classes = Vec::new();
    for line in declaration
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
    {
        if line.starts_with("///") {
            if let Some((_, name)) = line.rsplit_once("MPI_ERR_") {
                named = name
                    .split_once('`')
                    .map(|(name, _)| format!("MPI_ERR_{name}"));
            }
        } else if line.starts_with(|first: char| first.is_ascii_uppercase()) {
            classes.push(named.take().unwrap_or_else(|| format!("no class: {line}")));
        }
    }
    classes
}

#[test]
fn classes_are_those_of_the_documentation() {
    let classes: Vec<_> = samples()
        .iter()
        .map(|error| error.class().to_string())
        .collect();
    assert_eq!(classes, documented());
}

#[test]
fn debug_prints_the_sentence() {
    for error in samples() {
        assert_eq!(format!("{error:?}"), error.to_string());
    }
}
