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

/// Plays a transcript: a line `RANK> text` is fed, and the events that follow it are expected behind it.
fn play(server: &mut Server, transcript: &str) {
    let lines = transcript.lines().map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let mut played = Vec::new();
    for line in &lines {
        if let Some((rank, text)) = line.split_once("> ") {
            played.push(String::from(*line));
            let rank = rank.parse().expect("a rank");
            server.feed(rank, std::format!("{text}\n").as_bytes());
            played.extend(drain(server));
        }
    }
    assert_eq!(played, lines);
}

fn two_joined() -> Server {
    let mut server = Server::new("kvs_job", &[0, 1]);
    server.preset("PMI_process_mapping", "(vector,(0,1,2))");
    let init = "
        0> cmd=init pmi_version=1 pmi_subversion=1
        0< cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0
        0 joined
        1> cmd=init pmi_version=1 pmi_subversion=1
        1< cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0
        1 joined";
    play(&mut server, init);
    server
}

#[test]
fn a_whole_job() {
    let mut server = two_joined();
    let transcript = "
        1> cmd=get_maxes
        1< cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024
        1> cmd=get_appnum
        1< cmd=appnum appnum=1
        0> cmd=get_universe_size
        0< cmd=universe_size size=2
        0> cmd=get_my_kvsname
        0< cmd=my_kvsname kvsname=kvs_job
        1> cmd=put kvsname=kvs_job key=k value=v
        1< cmd=put_result rc=0 msg=success
        1> cmd=barrier_in
        0> cmd=barrier_in
        0< cmd=barrier_out
        1< cmd=barrier_out
        0> cmd=get kvsname=kvs_job key=k
        0< cmd=get_result rc=0 msg=success value=v
        0> cmd=get kvsname=kvs_job key=PMI_process_mapping
        0< cmd=get_result rc=0 msg=success value=(vector,(0,1,2))
        0> cmd=get kvsname=kvs_job key=q
        0< cmd=get_result rc=-1 msg=key_q_not_found value=unknown
        0> cmd=get kvsname=other key=k
        0< cmd=get_result rc=-1 msg=key_k_not_found value=unknown
        0> cmd=finalize
        0< cmd=finalize_ack
        0 left
        1> cmd=finalize
        1< cmd=finalize_ack
        1 left";
    play(&mut server, transcript);
    server.gone(0);
    server.gone(1);
    assert_eq!(drain(&mut server), [""; 0]);
}

#[test]
fn names_are_published_looked_up_and_taken_back() {
    let mut server = two_joined();
    let transcript = "
        0> cmd=publish_name service=s port=p#1
        0< cmd=publish_result info=ok rc=0 msg=success
        1> cmd=publish_name service=s port=q
        1< cmd=publish_result info=fail rc=-1 msg=service_is_published_already
        1> cmd=lookup_name service=s
        1< cmd=lookup_result info=ok rc=0 msg=success port=p#1
        1> cmd=unpublish_name service=s
        1< cmd=unpublish_result info=ok rc=0 msg=success
        0> cmd=lookup_name service=s
        0< cmd=lookup_result info=fail rc=-1 msg=no_such_service
        0> cmd=unpublish_name service=s
        0< cmd=unpublish_result info=fail rc=-1 msg=no_such_service";
    play(&mut server, transcript);
    let port = "p".repeat(4_000);
    let refused = (0..1_000).any(|number| {
        let line = std::format!("cmd=publish_name service={number} port={port}\n");
        server.feed(0, line.as_bytes());
        drain(&mut server)[0].contains("rc=-1 msg=space_full")
    });
    assert!(refused, "the room for names is bounded");
}

#[test]
fn starting_further_ranks_is_refused_once_it_was_asked_in_full() {
    let mut server = two_joined();
    let block = |number| {
        std::format!(
            "mcmd=spawn\nnprocs=2\nexecname=a b\ntotspawns=2\nspawnssofar={number}\n\
             argcnt=1\narg1=cmd=abort\ninfo_num=0\nendcmd\n"
        )
    };
    server.feed(0, block(1).as_bytes());
    assert_eq!(drain(&mut server), [""; 0]);
    server.feed(0, block(2).as_bytes());
    let refusal = "0< cmd=spawn_result rc=-1 msg=spawn_is_not_offered";
    assert_eq!(drain(&mut server), [refusal]);
    play(&mut server, "0> cmd=get_appnum\n 0< cmd=appnum appnum=0");
    let mut outside = Server::new("k", &[0]);
    outside.feed(0, b"mcmd=spawn\n");
    let fault = "0 at fault: `mcmd=spawn` is not a PMI-1 request that this server knows";
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
            "1 at fault: `cmd=spawn` is not a PMI-1 request that this server knows",
        ),
        (
            "cmd=init pmi_version=1",
            "1 at fault: the PMI request `init` came a second time",
        ),
        (
            "cmd=put kvsname=k value=v",
            "1 at fault: the PMI request `cmd=put kvsname=k value=v` has no valid `key`",
        ),
        (
            "cmd=put kvsname=k key=k value=",
            "1 at fault: the PMI request `cmd=put kvsname=k key=k value=` has no valid `value`",
        ),
        (
            "cmd=get key=k",
            "1 at fault: the PMI request `cmd=get key=k` has no valid `kvsname`",
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
    play(&mut server, &std::format!("0> cmd=barrier_in\n{says}"));
    let mut server = two_joined();
    play(&mut server, "0> cmd=barrier_in");
    server.gone(1);
    assert_eq!(drain(&mut server), [says]);
}

#[test]
fn the_space_has_an_end() {
    let mut server = two_joined();
    let value = "v".repeat(VALUE_MAX - 1);
    let refused = (0..4_096).find_map(|number| {
        let line = std::format!("cmd=put kvsname=kvs_job key={number} value={value}\n");
        server.feed(0, line.as_bytes());
        let reply = drain(&mut server).pop();
        reply.filter(|reply| reply.contains("rc=-1"))
    });
    let expected = "0< cmd=put_result rc=-1 msg=space_full";
    assert_eq!(refused.as_deref(), Some(expected));
}

#[test]
fn another_version_is_refused_and_not_joined() {
    let mut server = Server::new("k", &[0]);
    let transcript = "
        0> cmd=init pmi_version=2 pmi_subversion=0
        0< cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1";
    play(&mut server, transcript);
    assert_eq!(server.rank_state(0), RankState::Outside);
}
