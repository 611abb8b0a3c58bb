//! Tests of `oxmpi explain COLLECTIVE` with given settings.

use oxmpi_settings::{Sources, TABLE, Values, resolve};

use super::run;

fn values(environment: &[(&str, &str)]) -> Values {
    let own = |&(name, value): &(&str, &str)| (name.into(), value.into());
    let sources = Sources {
        environment: environment.iter().map(own).collect(),
        ..Sources::default()
    };
    resolve(TABLE, &sources).unwrap()
}

fn said(words: &str, environment: &[(&str, &str)]) -> Result<String, String> {
    let words: Vec<_> = words.split_whitespace().map(Into::into).collect();
    run(&words, &values(environment))
}

fn json(words: &str, environment: &[(&str, &str)]) -> serde_json::Value {
    let text = said(&format!("{words} --json"), environment).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_call_has_a_choice_a_next_best_and_switch_points() {
    let text = said("allreduce 64KiB -n 96 --machine gemini", &[]).unwrap();
    for part in [
        "allreduce of 64KiB on 96 ranks: ",
        "next best: ",
        "costs: gemini, 16 ranks a node, block placement",
        "allreduce census needs an operation that gives the same bits in every order",
        "by size:",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    let read = json("allreduce 64KiB -n 96 --machine gemini", &[]);
    assert_eq!(read["format"], "oxmpi-explain-collective");
    let time = |row: &serde_json::Value| row["expected_ps"].as_u64().unwrap();
    let others = read["others"].as_array().unwrap();
    assert!(others.is_sorted_by_key(time));
    let steps = read["by_size"].as_array().unwrap();
    assert_eq!(steps[0]["from_bytes"], 0);
    assert!(steps.len() > 1 && steps.is_sorted_by_key(time));
}

#[test]
fn ranks_of_one_node_need_no_messages_unless_an_algorithm_is_asked_for() {
    let first = said("barrier -n 4", &[]).unwrap();
    let first = first.lines().next().unwrap();
    assert!(first.ends_with("the node's shared memory, without messages"));
    let read = json("allreduce 8 -n 4", &[]);
    assert_eq!(read["chosen"]["algorithm"], "intra-node");
    let in_node = |words: &str, environment: &[_]| json(words, environment)["in_node"] == true;
    assert!(in_node("barrier -n 64", &[]));
    for elsewhere in [
        "barrier -n 65",
        "allreduce 8 -n 4 --per-node 2",
        "allreduce 8 -n 4 --machine zen4",
        "scan 8 -n 4",
        "bcast 8 -n 1",
    ] {
        assert!(!in_node(elsewhere, &[]), "{elsewhere}");
    }
    assert!(!in_node("bcast 8 -n 4", &[("I_MPI_ADJUST_BCAST", "8")]));
    assert!(!in_node(
        "bcast 8 -n 4",
        &[("OXMPI_SHM_COLLECTIVES", "off")]
    ));
}

/// The rows are those of the catalog that the ranks of a node go by.
#[test]
fn ranks_of_one_node_have_protocols_by_size() {
    let says = |words: &str, environment: &[(&str, &str)]| {
        let text = said(words, environment).unwrap();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("  in the node: "));
        line.map(String::from)
    };
    let evenly = "hierarchical if several processors have equally many ranks, adjacent ones or of an \
                  operation that commutes, else shares";
    let allowed = "if the system allows process_vm calls between all ranks, else";
    let expected = format!("the faster of cma and bounce in trials {allowed} bounce");
    for (words, protocols) in [
        ("allreduce 8 -n 4", "slots"),
        ("allreduce 4KiB -n 4", "bounce"),
        ("allreduce 64KiB -n 4", "shares"),
        ("allreduce 64KiB -n 2", "ping_pong"),
        ("allreduce 128KiB -n 4", evenly),
        ("allreduce 128KiB -n 3", "shares"),
        ("allgather 64KiB -n 4", &expected),
        ("bcast 64KiB -n 4", "bounce"),
    ] {
        assert_eq!(says(words, &[]).as_deref(), Some(protocols), "{words}");
    }
    for apart in [
        "barrier -n 4",
        "allreduce 256KiB -n 2",
        "bcast 8 -n 4 --machine zen4",
    ] {
        assert_eq!(says(apart, &[]), None, "{apart}");
    }
    let forced = |protocol: &str, words: &str| {
        let environment = [("OXMPI_SHM_COLLECTIVE_PROTOCOL", protocol)];
        says(words, &environment).unwrap()
    };
    assert_eq!(forced("buffers", "allgather 64KiB -n 4"), "bounce");
    assert_eq!(forced("shares", "allreduce 1MiB -n 4"), "shares");
    assert_eq!(
        forced("cma", "allgather 1MiB -n 4"),
        format!("cma {allowed} bounce")
    );
    let read = json("allreduce 1MiB -n 8", &[]);
    assert_eq!(
        read["node_protocols"],
        serde_json::json!(["hierarchical", "shares_bounce"])
    );
    let rows = read["node_protocols_by_size"].as_array().unwrap();
    let row = |protocol: &str| {
        let of = |name: &str| {
            let row = rows.iter().find(|row| row["protocol"] == protocol).unwrap();
            row[name].clone()
        };
        serde_json::json!(["from_bytes", "to_bytes", "decided_by"].map(of))
    };
    assert_eq!(row("bounce"), serde_json::json!([57, 8191, "table"]));
    let no_end = serde_json::json!([8192, null, "table"]);
    assert_eq!(row("shares_bounce"), no_end);
    let phases = json("allreduce 64KiB --per-node 4+3+4", &[]);
    assert_eq!(
        phases["phases"][0]["node_protocols"],
        serde_json::json!(["shares"])
    );
}

#[test]
fn several_nodes_use_intra_node_phases_where_that_is_faster() {
    let is_suited = |words: &str, environment: &[_]| {
        let read = json(words, environment);
        let all = read["unsuited"].as_array().unwrap();
        !all.iter().any(|row| row["algorithm"] == "intra-node")
    };
    assert!(is_suited("bcast 64KiB -n 64 --per-node 8", &[]));
    assert!(!is_suited(
        "bcast 64KiB -n 64 --per-node 8",
        &[("OXMPI_SHM_COLLECTIVES", "off")]
    ));
    assert!(!is_suited("bcast 64KiB -n 64 --machine ndr", &[]));
    // Dealt in turn two ranks are on each, whatever room there is.
    let cyclic = "allreduce 512KiB -n 4 --per-node 3 --placement cyclic";
    assert!(!is_suited(cyclic, &[]));
    let forced = [("OXMPI_BCAST_ALGORITHM", "intra-node")];
    let read = json("bcast 64KiB -n 64 --per-node 8", &forced);
    assert_eq!(read["chosen"]["algorithm"], "intra-node");
}

#[test]
fn nodes_of_different_sizes_are_served_in_phases_or_by_one_algorithm() {
    let read = json("allreduce 1000 --per-node 4+3+4", &[]);
    assert_eq!(
        (&read["ranks"], &read["in_phases"]),
        (&11.into(), &true.into())
    );
    let phases = read["phases"].as_array().unwrap();
    let says = |name: &str| -> Vec<&str> {
        let values = phases.iter().map(|row| row[name].as_str().unwrap());
        values.collect()
    };
    assert_eq!(says("collective"), ["reduce", "allreduce", "bcast"]);
    assert_eq!(
        says("ranks"),
        ["each node", "one rank of each node", "each node"]
    );
    assert_eq!(says("algorithm")[0], "intra-node");
    let sum: u64 = phases
        .iter()
        .map(|row| row["expected_ps"].as_u64().unwrap())
        .sum();
    assert_eq!(read["phases_expected_ps"], sum);
    // Without the memory of nodes, the phases inside them go by messages.
    let apart = json(
        "allreduce 8 --per-node 4+3+4",
        &[("OXMPI_SHM_COLLECTIVES", "off")],
    );
    assert_ne!(apart["phases"][0]["algorithm"], "intra-node");
    // A long vector goes down a chain, whatever the order of ranks.
    for order in ["block", "cyclic"] {
        let long = format!("bcast 4MiB --per-node 4+3+4 --placement {order} --machine gemini");
        let read = json(&long, &[]);
        assert_eq!(
            (&read["in_phases"], &read["whole"]["algorithm"]),
            (&false.into(), &"chain".into())
        );
        assert!(
            said(&long, &[])
                .unwrap()
                .contains("bcast of 4MiB on 11 ranks: chain in the order of nodes")
        );
    }
    // What the user asks for, and what has no phases, is explained as ever.
    let forced = json(
        "bcast 8 --per-node 4+3+4",
        &[("OXMPI_BCAST_ALGORITHM", "chain")],
    );
    assert_eq!(forced["chosen"]["algorithm"], "chain");
    assert_eq!(json("alltoall 8 --per-node 4+3+4", &[])["per_node"], 1);
    // Nodes that differ in the last one only are no different to the choice.
    let even = json("allreduce 8 --per-node 4+4+3", &[]);
    assert_eq!(
        even["chosen"],
        json("allreduce 8 -n 11 --per-node 4", &[])["chosen"]
    );
    for (wrong, why) in [
        (
            "bcast 8 -n 12 --per-node 4+3+4",
            "nodes of 11 ranks together, not 12",
        ),
        (
            "bcast 8 --per-node 4+0",
            "a node has from 1 to 4294967295 ranks",
        ),
        ("bcast 8", "the number of ranks is missing"),
    ] {
        let said = said(wrong, &[]).unwrap_err();
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn a_choice_by_a_setting_names_the_setting() {
    let forced = json("bcast 8 -n 4", &[("I_MPI_ADJUST_BCAST", "8")]);
    assert_eq!(forced["chosen"]["algorithm"], "knomial");
    assert_eq!(
        forced["why"],
        "set by bcast_algorithm = knomial (I_MPI_ADJUST_BCAST)"
    );
    let plain = json("gatherv 8 -n 4", &[("MPICH_COLL_OPT_OFF", "1")]);
    assert_eq!(plain["chosen"]["algorithm"], "linear");
    assert_eq!(plain["why"], "set by coll_plain = 1 (MPICH_COLL_OPT_OFF)");
}

#[test]
fn only_a_choice_that_no_other_beats_is_called_the_fastest() {
    // Choices are made at powers of two; between them another algorithm can be a little faster.
    for (words, is_fastest) in [
        ("allreduce 2KiB -n 48", true),
        ("allreduce 3000 -n 48", false),
        ("allreduce 4KiB -n 48", true),
        ("allgather 1500 -n 100", false),
        ("barrier -n 48", true),
    ] {
        let read = json(&format!("{words} --machine gemini"), &[]);
        let time = |row: &serde_json::Value| row["expected_ps"].as_u64().unwrap();
        let is_beaten = time(&read["others"][0]) < time(&read["chosen"]);
        assert_eq!(is_beaten, !is_fastest, "{words}");
        let why = match is_fastest {
            true => "expected to be the fastest",
            false => "the fastest at a power of two next to this size",
        };
        assert_eq!(read["why"], why, "{words}");
    }
}

/// Its time is not the least one by the formulas, which do not choose there.
#[test]
fn a_choice_by_a_decision_tree_says_so() {
    let why = |words: &str, environment: &[_]| json(words, environment)["why"].clone();
    let tree = "by the decision tree for cyclic placement, learned from simulations";
    let words = "gather 4KiB -n 120 --per-node 12 --machine gemini --placement";
    assert_eq!(why(&format!("{words} cyclic"), &[]), tree);
    let forced = [("OXMPI_GATHER_ALGORITHM", "linear")];
    for (order, environment) in [("block", &[][..]), ("cyclic", &forced)] {
        assert_ne!(why(&format!("{words} {order}"), environment), tree);
    }
    let same = [("OXMPI_COLL_REPRODUCIBLE", "placement")];
    let reduce = "reduce 4KiB -n 120 --per-node 12 --machine gemini --placement cyclic";
    assert_ne!(why(reduce, &same), tree);
}

#[test]
fn flags_make_a_barrier_cheaper() {
    let words = "barrier -n 12288 --machine gemini";
    let time = |environment: &[(&str, &str)]| {
        let read = json(words, environment);
        read["chosen"]["expected_ps"].as_u64().unwrap()
    };
    assert!(time(&[("MPICH_USE_DMAPP_COLL", "1")]) < time(&[]));
}

#[test]
fn errors_say_what_was_expected() {
    super::options::OPTIONS.assert_sound();
    for (words, right) in [
        (
            "allreduce -n 4",
            "the size is missing, such as oxmpi explain allreduce 64KiB",
        ),
        ("allreduce 8", "add -n 96"),
        ("allreduce 8X -n 4", "8X"),
        ("allreduce 8 9 -n 4", "one size"),
        ("barrier 8 -n 4", "has no size"),
        ("barrier -n 0", "from 1 to 4294967295"),
        ("barrier -n 4 --machine gemnii", "did you mean `gemini`?"),
        ("barrier -n 4 --placement round", "block or cyclic"),
        ("neighbor_allgather 8 -n 4", "neighbours"),
        ("allreduce 8 -n 4 --exact --ordered", "exclude each other"),
    ] {
        let why = said(words, &[]).unwrap_err();
        assert!(why.contains(right), "{words}: {why}");
    }
}
