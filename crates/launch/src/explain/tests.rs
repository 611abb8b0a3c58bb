//! Tests of `oxmpi explain` with given settings.

use oxmpi_settings::{Sources, TABLE, Values, resolve};

use super::*;

fn values(environment: &[(&str, &str)]) -> Values {
    let sources = Sources {
        environment: environment
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect(),
        ..Sources::default()
    };
    let values = resolve(TABLE, &sources).unwrap();
    assert_eq!(values.warnings, [""; 0]);
    values
}

fn explained(environment: &[(&str, &str)], ranks: Option<u64>) -> PathsExplained {
    let values = values(environment);
    PathsExplained {
        peers: peers::all(&values, ranks),
        mailboxes: ranks.map(|ranks| mailbox_memory::mailboxes(&values, ranks)),
    }
}

/// Sizes and paths of the peers of `kind`, as `0..112 E0, 113.. R0`.
fn table(explained: &PathsExplained, kind: &str) -> String {
    let json: serde_json::Value = serde_json::from_str(&show::json(explained)).unwrap();
    let peers = json["peers"].as_array().unwrap();
    let peers = peers.iter().find(|peers| peers["kind"] == kind).unwrap();
    let row = |row: &serde_json::Value| {
        let last = row["last"]
            .as_u64()
            .map_or_else(String::new, |last| last.to_string());
        format!("{}..{last} {}", row["first"], row["path"].as_str().unwrap())
    };
    let rows: Vec<_> = peers["paths"].as_array().unwrap().iter().map(row).collect();
    rows.join(", ")
}

#[test]
fn the_paths_of_every_kind_of_peer() {
    let usual = explained(&[], None);
    assert_eq!(table(&usual, "self"), "0..112 E0, 113..8192 E1, 8193.. R0");
    assert_eq!(table(&usual, "node"), "0..112 E0, 113..8192 E1, 8193.. R0");
    assert_eq!(
        table(&usual, "network"),
        "0..8152 E0, 8153..4194304 R0, 4194305.. R1"
    );
    let large = explained(&[], Some(1024));
    assert_eq!(
        table(&large, "network"),
        "0..2008 E0, 2009..8152 E1, 8153..4194304 R0, 4194305.. R1"
    );
}

/// By options of a device of which nothing is known.
#[test]
fn the_paths_by_rdma() {
    let of = |environment: &[(&str, &str)], ports: &[String]| {
        let mut explained = explained(environment, None);
        let verbs = peers::by_rdma(&values(environment), ports).expect("settings that are right");
        explained.peers = vec![verbs];
        (table(&explained, "verbs"), show::text(&explained))
    };
    let one = ["mlx5_0:1".to_owned()];
    let (usual, text) = of(&[], &one);
    assert_eq!(usual, "0..104 E0, 105..12288 E1, 12289.. R0");
    assert!(
        text.contains("verbs: ranks of other nodes that RDMA reaches, by mlx5_0:1"),
        "{text}"
    );
    assert!(
        text.contains("verbs_eager_limit = 12KiB (default)"),
        "{text}"
    );
    let (striped, _) = of(&[], &["a:1".to_owned(), "b:1".to_owned()]);
    assert_eq!(striped, "0..104 E0, 105..12288 E1, 12289.. R1");
    let (inline, text) = of(
        &[
            ("OXMPI_VERBS_INLINE", "256"),
            ("OXMPI_VERBS_EAGER_LIMIT", "4K"),
        ],
        &one,
    );
    assert_eq!(inline, "0..232 E0, 233..4096 E1, 4097.. R0");
    assert!(text.contains("verbs_inline = 256"), "{text}");
}

/// Kinds of peers without a transport are not shown.
#[test]
fn the_selected_transports_decide_the_kinds_of_peers() {
    let kinds = |environment: &[(&str, &str)]| {
        let explained = explained(environment, None);
        let kinds: Vec<_> = explained.peers.iter().map(|peers| peers.kind).collect();
        kinds.join(" ")
    };
    assert_eq!(kinds(&[("OMPI_MCA_btl", "self,sm")]), "self node network");
    let apart = [("OXMPI_TRANSPORTS", "tcp")];
    assert_eq!(kinds(&apart), "self tcp network");
    let text = show::text(&explained(&apart, None));
    assert!(text.contains("tcp: all other ranks, also of"), "{text}");
    assert!(text.contains("tcp_frame = 64KiB"), "{text}");
    let both = explained(&[], None);
    assert_eq!(
        table(&both, "tcp"),
        "0..4096 E0, 4097..65536 E1, 65537.. R0"
    );
}

#[test]
fn a_setting_moves_an_end_and_is_named() {
    let set = explained(
        &[("I_MPI_EAGER_THRESHOLD", "2K"), ("OXMPI_RENDEZVOUS", "put")],
        None,
    );
    assert_eq!(table(&set, "node"), "0..112 E0, 113..2048 E1, 2049.. R1");
    let text = show::text(&set);
    assert!(
        text.contains("eager_limit = 2K (I_MPI_EAGER_THRESHOLD)"),
        "{text}"
    );
    assert!(
        text.contains("rendezvous = put (OXMPI_RENDEZVOUS)"),
        "{text}"
    );
}

#[test]
fn text_is_aligned_and_says_why() {
    let text = show::text(&explained(&[], Some(64)));
    for line in [
        "node: ranks of the same node, through shared memory",
        "  bytes      path  how                            one way      ends because",
        "  0..112     E0    eager, in one line or mailbox  53..133 ns   a cache line holds no more",
        "network mailboxes of a job of 64: 8 slots of 8192 B a peer, allocated in blocks of 64 mailboxes (4.0 MiB)",
        "  peer       start      63               4.0 MiB         2.0 MiB  1.0 KiB  6.0 MiB  384.1 MiB",
        "  shared     first-use  63               512.0 KiB       2.0 MiB  1.0 KiB  2.5 MiB  160.1 MiB",
    ] {
        let found = text.lines().any(|found| found == line);
        assert!(found, "{line:?} is not in\n{text}");
    }
}

#[test]
fn json_has_format_version_and_memory() {
    let json = show::json(&explained(
        &[("MPICH_GNI_VC_MSG_PROTOCOL", "MSGQ")],
        Some(100_000),
    ));
    let read: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&read["format"], &read["version"]),
        (&"oxmpi-explain".into(), &1.into())
    );
    let rows = read["mailboxes"]["memory"].as_array().unwrap();
    let set: Vec<_> = rows.iter().filter(|row| row["set"] == true).collect();
    assert_eq!(set.len(), 1);
    assert_eq!(set[0]["mailboxes"], "shared");
    assert_eq!(set[0]["mailbox_bytes"], 64 * 256);
    let all = rows.iter().find(|row| row["connect"] == "start").unwrap();
    assert_eq!(all["mailbox_bytes"], 100_000 * 8 * 256);
}

#[test]
fn errors_say_what_was_expected() {
    OPTIONS.assert_sound();
    for (words, said) in [
        (vec!["-n", "0"], "from 1 to 4294967295"),
        (vec!["-n", "many"], "from 1 to 4294967295"),
        (vec!["--jsn"], "--jsn"),
        (
            vec!["alredcue"],
            "`alredcue`: unknown collective; did you mean `allreduce`?",
        ),
    ] {
        let why = run(&words.into_iter().map(Into::into).collect::<Vec<_>>()).unwrap_err();
        assert!(
            why.contains(said) && why.contains("oxmpi explain --help"),
            "{why}"
        );
    }
}

/// Small pages replace missing huge pages silently in a job; `oxmpi explain` prints them.
#[test]
fn pages_of_allocated_memory_have_a_reason() {
    for (set, says) in [
        (("OXMPI_SHM_HEAP_PAGES", "small"), "of small pages (as set)"),
        (("OXMPI_SHM_HEAP_PAGES", "auto"), "shmem_enabled says `"),
        (("OXMPI_SHM_HEAP", "64MiB"), "64 MiB a rank (as set), of "),
        (
            ("OXMPI_SHM_HEAP", "0"),
            "private, not shared with peers: as set",
        ),
    ] {
        let text = show::text(&explained(&[set], None));
        let line = text
            .lines()
            .find(|line| line.contains("allocated memory: "));
        assert!(line.is_some_and(|line| line.contains(says)), "{text}");
    }
}
