//! Whole conversations with the server, and what it refuses.
use super::super::LINE_MAX;
use super::*;
use std::string::String;
use std::vec::Vec;

fn drain(server: &mut Server) -> Vec<String> {
    core::iter::from_fn(|| server.poll())
        .map(|event| match event {
            Event::Write { rank, line } => std::format!("{rank}< {}", line.trim_end()),
            Event::Joined(rank) => std::format!("{rank} joined"),
            Event::Left(rank) => std::format!("{rank} left"),
            Event::Abort { rank, code } => std::format!("{rank} aborts with {code}"),
            Event::Fault { rank, fault } => std::format!("{rank} at fault: {fault}"),
        })
        .collect()
}

/// Plays lines `RANK> text` and expects the given lines back.
fn play(server: &mut Server, says: &[(u32, &str)], expected: &[&str]) {
    for (rank, text) in says {
        server.feed(*rank, std::format!("{text}\n").as_bytes());
    }
    assert_eq!(drain(server), expected);
}

fn two_joined() -> Server {
    let mut server = Server::new("kvs_job", &[0, 1]);
    server.preset("PMI_process_mapping", "(vector,(0,1,2))");
    let init = "cmd=init pmi_version=1 pmi_subversion=1";
    let hello = "< cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0";
    play(
        &mut server,
        &[(0, init), (1, init)],
        &[
            &std::format!("0{hello}"),
            "0 joined",
            &std::format!("1{hello}"),
            "1 joined",
        ],
    );
    server
}

#[test]
fn a_whole_job() {
    let mut server = two_joined();
    play(
        &mut server,
        &[
            (1, "cmd=get_maxes"),
            (1, "cmd=get_appnum"),
            (0, "cmd=get_universe_size"),
            (0, "cmd=get_my_kvsname"),
        ],
        &[
            "1< cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
            "1< cmd=appnum appnum=1",
            "0< cmd=universe_size size=2",
            "0< cmd=my_kvsname kvsname=kvs_job",
        ],
    );
    play(
        &mut server,
        &[
            (1, "cmd=put kvsname=kvs_job key=k value=v"),
            (1, "cmd=barrier_in"),
        ],
        &["1< cmd=put_result rc=0 msg=success"],
    );
    play(
        &mut server,
        &[(0, "cmd=barrier_in")],
        &["0< cmd=barrier_out", "1< cmd=barrier_out"],
    );
    play(
        &mut server,
        &[
            (0, "cmd=get kvsname=kvs_job key=k"),
            (0, "cmd=get kvsname=kvs_job key=PMI_process_mapping"),
            (0, "cmd=get kvsname=kvs_job key=q"),
            (0, "cmd=get kvsname=other key=k"),
        ],
        &[
            "0< cmd=get_result rc=0 msg=success value=v",
            "0< cmd=get_result rc=0 msg=success value=(vector,(0,1,2))",
            "0< cmd=get_result rc=-1 msg=key_q_not_found value=unknown",
            "0< cmd=get_result rc=-1 msg=key_k_not_found value=unknown",
        ],
    );
    play(
        &mut server,
        &[(0, "cmd=finalize"), (1, "cmd=finalize")],
        &[
            "0< cmd=finalize_ack",
            "0 left",
            "1< cmd=finalize_ack",
            "1 left",
        ],
    );
    server.gone(0);
    server.gone(1);
    assert_eq!(drain(&mut server), [""; 0]);
}

#[test]
fn names_are_published_looked_up_and_taken_back() {
    let mut server = two_joined();
    let ok = "info=ok rc=0 msg=success";
    play(
        &mut server,
        &[
            (0, "cmd=publish_name service=s port=p#1"),
            (1, "cmd=publish_name service=s port=q"),
            (1, "cmd=lookup_name service=s"),
            (1, "cmd=unpublish_name service=s"),
            (0, "cmd=lookup_name service=s"),
            (0, "cmd=unpublish_name service=s"),
        ],
        &[
            &std::format!("0< cmd=publish_result {ok}"),
            "1< cmd=publish_result info=fail rc=-1 msg=service_is_published_already",
            &std::format!("1< cmd=lookup_result {ok} port=p#1"),
            &std::format!("1< cmd=unpublish_result {ok}"),
            "0< cmd=lookup_result info=fail rc=-1 msg=no_such_service",
            "0< cmd=unpublish_result info=fail rc=-1 msg=no_such_service",
        ],
    );
    let port = "p".repeat(4_000);
    let refused = (0..1_000).any(|number| {
        let line = std::format!("cmd=publish_name service={number} port={port}\n");
        server.feed(0, line.as_bytes());
        drain(&mut server)[0].contains("rc=-1 msg=space_full")
    });
    assert!(refused, "the names have an end");
}

#[test]
fn starting_further_ranks_is_refused_once_it_was_asked_in_full() {
    let mut server = two_joined();
    let block = |number| {
        std::format!(
            "mcmd=spawn\nnprocs=2\nexecname=a b\ntotspawns=2\nspawnssofar={number}\n\
             argcnt=1\narg1=cmd=abort\ninfo_num=0\nendcmd"
        )
    };
    play(&mut server, &[(0, &block(1))], &[]);
    play(
        &mut server,
        &[(0, &block(2)), (0, "cmd=get_appnum")],
        &[
            "0< cmd=spawn_result rc=-1 msg=spawn_is_not_offered",
            "0< cmd=appnum appnum=0",
        ],
    );
    let mut outside = Server::new("k", &[0]);
    outside.feed(0, b"mcmd=spawn\n");
    let fault = "0 at fault: `mcmd=spawn` is not a PMI-1 request that is served here";
    assert_eq!(drain(&mut outside), [fault]);
}

#[test]
fn breaches_are_faults_that_say_why() {
    let long = "x".repeat(LINE_MAX);
    let cases: [(&str, &str); 8] = [
        (
            "GET / HTTP/1.1",
            "1 at fault: a PMI line must begin with `cmd=NAME`, this one is `GET / HTTP/1.1`",
        ),
        (
            "cmd=spawn",
            "1 at fault: `cmd=spawn` is not a PMI-1 request that is served here",
        ),
        (
            "cmd=init pmi_version=1",
            "1 at fault: the PMI request `init` came a second time",
        ),
        (
            "cmd=put kvsname=k value=v",
            "1 at fault: the PMI request `cmd=put kvsname=k value=v` lacks a good `key`",
        ),
        (
            "cmd=put kvsname=k key=k value=",
            "1 at fault: the PMI request `cmd=put kvsname=k key=k value=` lacks a good `value`",
        ),
        (
            "cmd=get key=k",
            "1 at fault: the PMI request `cmd=get key=k` lacks a good `kvsname`",
        ),
        ("cmd=abort exitcode=7", "1 aborts with 7"),
        (&long, "1 at fault: a PMI line has more than 4608 bytes"),
    ];
    for (text, says) in cases {
        let mut server = two_joined();
        server.feed(1, std::format!("{text}\ncmd=get_maxes\n").as_bytes());
        let events = drain(&mut server);
        assert_eq!(events.len(), 1, "nothing is read after {text}: {events:?}");
        assert!(events[0].starts_with(says), "{events:?}");
    }
}

#[test]
fn a_barrier_that_cannot_end_is_a_fault() {
    let says = "0 at fault: it waits in a PMI barrier, and rank 1 has ended without entering it";
    let mut server = two_joined();
    server.gone(1);
    play(&mut server, &[(0, "cmd=barrier_in")], &[says]);
    let mut server = two_joined();
    play(&mut server, &[(0, "cmd=barrier_in")], &[]);
    server.gone(1);
    assert_eq!(drain(&mut server), [says]);
}

#[test]
fn the_space_has_an_end() {
    let mut server = two_joined();
    let value = "v".repeat(VALUE_MAX - 1);
    let mut refused = None;
    for i in 0..4_096 {
        server.feed(
            0,
            std::format!("cmd=put kvsname=kvs_job key={i} value={value}\n").as_bytes(),
        );
        refused = drain(&mut server)
            .pop()
            .filter(|reply| reply.contains("rc=-1"));
        if refused.is_some() {
            break;
        }
    }
    assert_eq!(
        refused.as_deref(),
        Some("0< cmd=put_result rc=-1 msg=space_full")
    );
}

#[test]
fn another_version_is_refused_and_not_joined() {
    let mut server = Server::new("k", &[0]);
    play(
        &mut server,
        &[(0, "cmd=init pmi_version=2 pmi_subversion=0")],
        &["0< cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1"],
    );
    assert_eq!(server.rank_state(0), RankState::Outside);
}
