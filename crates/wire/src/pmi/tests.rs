//! Conversations written out, and laws over the joined pair in `tests/pmi.rs`.

use super::line::{check_text, unescape};
use super::*;

/// Makes the request, checks its line, feeds the answer.
fn ask<'c>(
    client: &'c mut Client,
    request: PmiRequest<'_>,
    line: &str,
    answer: &str,
) -> Result<Option<Reply<'c>>, ClientError> {
    assert_eq!(
        client
            .request(request)
            .expect("the request is in turn")
            .trim_end(),
        line
    );
    client.feed(answer.as_bytes())
}

fn joined() -> Client {
    let mut client = Client::new();
    let reply = ask(
        &mut client,
        PmiRequest::Init,
        "cmd=init pmi_version=1 pmi_subversion=1",
        "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
    );
    assert_eq!(
        reply,
        Ok(Some(Reply::Init {
            version: 1,
            subversion: 1
        }))
    );
    client
}

/// Each request against what each known manager answers.
#[test]
fn managers_of_the_field_are_understood() {
    use PmiRequest::{Appnum, Barrier, Finalize, Get, KvsName, Maxes, Put, UniverseSize};
    let put = Put {
        kvs: "kvs_1",
        key: "a",
        value: "b",
    };
    let get = Get {
        kvs: "kvs_1",
        key: "a",
    };
    let maxes = Reply::Maxes(TextLimits {
        kvs_name: 255,
        key: 63,
        value: 1_023,
    });
    let table = [
        (
            Maxes,
            "cmd=get_maxes",
            "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
            maxes,
        ),
        (
            Appnum,
            "cmd=get_appnum",
            "cmd=appnum appnum=0",
            Reply::Appnum(0),
        ),
        (
            UniverseSize,
            "cmd=get_universe_size",
            "cmd=universe_size size=-1",
            Reply::UniverseSize(None),
        ),
        (
            UniverseSize,
            "cmd=get_universe_size",
            "cmd=universe_size size=12",
            Reply::UniverseSize(Some(12)),
        ),
        (
            KvsName,
            "cmd=get_my_kvsname",
            "cmd=my_kvsname kvsname=kvs_1",
            Reply::KvsName("kvs_1"),
        ),
        (
            put,
            "cmd=put kvsname=kvs_1 key=a value=b",
            "cmd=put_result rc=0 msg=success",
            Reply::Put,
        ),
        (Barrier, "cmd=barrier_in", "cmd=barrier_out", Reply::Barrier),
        (
            Barrier,
            "cmd=barrier_in",
            "cmd=barrier_out rc=0",
            Reply::Barrier,
        ),
        (
            get,
            "cmd=get kvsname=kvs_1 key=a",
            "cmd=get_result rc=0 msg=success value=b=c",
            Reply::Value(Some("b=c")),
        ),
        (
            get,
            "cmd=get kvsname=kvs_1 key=a",
            r"cmd=get_result rc=0 value=b\ c\\d",
            Reply::Value(Some(r"b c\d")),
        ),
        (
            get,
            "cmd=get kvsname=kvs_1 key=a",
            "cmd=get_result rc=-1 msg=key_a_not_found value=unknown",
            Reply::Value(None),
        ),
        (
            get,
            "cmd=get kvsname=kvs_1 key=a",
            "cmd=get_result rc=1",
            Reply::Value(None),
        ),
        (
            get,
            "cmd=get kvsname=kvs_1 key=a",
            "cmd=get_result rc=0 found=FALSE",
            Reply::Value(None),
        ),
        (
            Finalize,
            "cmd=finalize",
            "cmd=finalize_ack",
            Reply::Finalize,
        ),
    ];
    for (request, line, answer, reply) in table {
        let answer = std::format!("{answer}\n");
        assert_eq!(
            ask(&mut joined(), request, line, &answer),
            Ok(Some(reply)),
            "{answer}"
        );
    }
}

#[test]
fn wrong_answers_say_what_was_expected() {
    let cases = [
        (
            "cmd=maxes keylen_max=64 vallen_max=1024\n",
            "answered `get_maxes`",
        ),
        (
            "cmd=maxes kvsname_max=0 keylen_max=64 vallen_max=1024\n",
            "answered `get_maxes`",
        ),
        ("cmd=barrier_out\n", "expected `cmd=maxes`"),
        ("cmd=maxes rc=-1 msg=no\n", "refused `get_maxes`"),
        ("hello\n", "must begin with `cmd=NAME`"),
        ("cmd=\n", "must begin with `cmd=NAME`"),
        (
            "cmd=maxes kvsname_max=2 keylen_max=2 vallen_max=2\ncmd=more\n",
            "without being asked",
        ),
    ];
    for (answer, says) in cases {
        let mut client = joined();
        let error = ask(&mut client, PmiRequest::Maxes, "cmd=get_maxes", answer).expect_err(answer);
        assert!(
            std::format!("{error}").contains(says),
            "{answer} gave: {error}"
        );
        assert_eq!(
            client.request(PmiRequest::Barrier),
            Err(ClientError::Left("barrier_in"))
        );
    }
    let mut client = joined();
    client.request(PmiRequest::Maxes).expect("in turn");
    let endless = [b'x'; LINE_MAX + 1];
    assert!(matches!(
        client.feed(&endless),
        Err(ClientError::Line(LineError::TooLong(_)))
    ));
}

#[test]
fn turns_are_kept() {
    let mut client = Client::new();
    assert_eq!(
        client.request(PmiRequest::Barrier),
        Err(ClientError::NotJoined("barrier_in"))
    );
    let mut client = joined();
    assert_eq!(client.request(PmiRequest::Init), Err(ClientError::Joined));
    client.request(PmiRequest::Barrier).expect("in turn");
    let busy = ClientError::Busy {
        request: "get_maxes",
        waiting: "barrier_in",
    };
    assert_eq!(client.request(PmiRequest::Maxes), Err(busy));
    assert_eq!(
        client.request(PmiRequest::Abort { code: -3 }),
        Ok("cmd=abort exitcode=-3\n")
    );
    assert_eq!(
        client.request(PmiRequest::Finalize),
        Err(ClientError::Busy {
            request: "finalize",
            waiting: "barrier_in"
        })
    );
    assert_eq!(client.closed(), Some(ClientError::Closed("barrier_in")));
    assert_eq!(
        client.request(PmiRequest::Finalize),
        Err(ClientError::Left("finalize"))
    );
    assert!(matches!(
        joined().feed(b"cmd=barrier_out\n"),
        Err(ClientError::Unasked(_))
    ));
}

#[test]
fn what_a_line_cannot_carry_is_refused_before_it_is_sent() {
    let mut client = joined();
    let long = "v".repeat(VALUE_MAX);
    for (key, value) in [
        ("", "b"),
        ("a b", "c"),
        ("a", "b\nc"),
        ("a", r"b\c"),
        ("a", "ä"),
        ("a", &long),
    ] {
        let put = client.request(PmiRequest::Put {
            kvs: "k",
            key,
            value,
        });
        assert!(
            matches!(put, Err(ClientError::Text { .. })),
            "{key} {value}"
        );
    }
    assert!(
        client
            .request(PmiRequest::Put {
                kvs: "k",
                key: "a",
                value: &long[1..]
            })
            .is_ok()
    );
    assert_eq!(
        check_text("a b", 9),
        Err(BadText::Byte { at: 1, byte: b' ' })
    );
}

/// What MPICH's hydra writes, in pieces of every size.
#[test]
fn the_opening_at_a_port_gives_rank_and_size() {
    assert_eq!(PortHandshake::line(7).as_str(), "cmd=initack pmiid=7\n");
    let answers = [
        "cmd=initack\ncmd=set size=8\ncmd=set rank=7\ncmd=set debug=0\n",
        "cmd=initack rc=0 rank=7 size=8 appnum=0 debug=0\ncmd=set size=8\ncmd=set rank=7\ncmd=set debug=1\n",
    ];
    for answer in answers {
        for piece in 1..=answer.len() {
            let mut opening = PortHandshake::default();
            let mut place = None;
            for bytes in answer.as_bytes().chunks(piece) {
                assert_eq!(place, None);
                place = opening.feed(bytes).expect(answer);
            }
            assert_eq!(place, Some(JobRank { rank: 7, size: 8 }));
        }
    }
}

#[test]
fn other_openings_say_what_was_expected() {
    let cases = [
        ("cmd=set size=8\n", "expected `cmd=initack`"),
        ("cmd=initack rc=-1\n", "refused `initack`"),
        ("cmd=initack\ncmd=set rank=0\n", "by `cmd=set rank=0`"),
        ("cmd=initack\ncmd=set size=0\n", "by `cmd=set size=0`"),
        (
            "cmd=initack\ncmd=set size=4294967295\n",
            "by `cmd=set size=4294967295`",
        ),
        (
            "cmd=initack\ncmd=set size=2\ncmd=set rank=2\n",
            "by `cmd=set rank=2`",
        ),
        (
            "cmd=initack\ncmd=set size=2\ncmd=set rank=1\ncmd=set\n",
            "by `cmd=set`",
        ),
        (
            "cmd=initack\ncmd=set size=2\ncmd=set rank=1\ncmd=set debug=0\ncmd=more\n",
            "`cmd=more` without being asked",
        ),
        ("SSH-2.0-OpenSSH_9.2\n", "must begin with `cmd=NAME`"),
    ];
    for (answer, says) in cases {
        let mut opening = PortHandshake::default();
        let error = opening.feed(answer.as_bytes()).expect_err(answer);
        assert!(std::format!("{error}").contains(says), "{error}");
    }
    let closed = std::format!("{}", PortHandshake::default().closed());
    assert!(
        closed.contains("closed the connection while `initack`"),
        "{closed}"
    );
    let endless = [b'x'; LINE_MAX + 1];
    assert!(PortHandshake::default().feed(&endless).is_err());
}

#[test]
fn a_manager_that_speaks_another_version_is_refused() {
    let mut client = Client::new();
    client.request(PmiRequest::Init).expect("in turn");
    let answer = client.feed(b"cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n");
    assert!(
        matches!(answer, Err(ClientError::Refused { .. })),
        "{answer:?}"
    );
}

#[test]
fn escapes_keep_a_value_together() {
    let line = Line::parse(br"cmd=x a=1\ 2 b=3  c flag=").expect("a line");
    assert_eq!(line.value("a"), Some(r"1\ 2"));
    assert!(unescape(r"1\ 2").eq("1 2".chars()));
    assert!(unescape(r"end\").eq(r"end\".chars()));
    assert_eq!(line.number::<u8>("b"), Some(3));
    assert_eq!(
        (line.value("c"), line.value("flag"), line.value("none")),
        (None, None, None)
    );
}

#[test]
fn the_environment_says_how_a_process_was_started() {
    let none = PmiVariables::default();
    assert_eq!(StartMethod::read(&none), Ok(StartMethod::Singleton));
    let all = PmiVariables {
        fd: Some("7"),
        rank: Some("1"),
        size: Some("2"),
        ..none
    };
    assert_eq!(
        StartMethod::read(&all),
        Ok(StartMethod::Descriptor {
            fd: 7,
            rank: 1,
            size: 2
        })
    );
    let port = PmiVariables {
        port: Some("h:1"),
        id: Some("3"),
        ..none
    };
    assert_eq!(
        StartMethod::read(&port),
        Ok(StartMethod::Port {
            address: "h:1",
            id: 3
        })
    );
    let pmix = PmiVariables {
        pmix_namespace: Some("prte-1@1"),
        pmix_rank: Some("4"),
        ..none
    };
    assert_eq!(
        StartMethod::read(&pmix),
        Ok(StartMethod::Pmix {
            namespace: "prte-1@1",
            rank: 4
        })
    );
    // Who speaks PMI-1 is nearest.
    let both = PmiVariables {
        pmix_namespace: pmix.pmix_namespace,
        ..all
    };
    assert_eq!(StartMethod::read(&both), StartMethod::read(&all));
    assert_eq!(
        StartMethod::read(&PmiVariables {
            fd: all.fd,
            rank: all.rank,
            size: all.size,
            ..port
        }),
        StartMethod::read(&all)
    );
    let cases = [
        (
            PmiVariables {
                pmix_rank: None,
                ..pmix
            },
            "PMIX_NAMESPACE is set and PMIX_RANK is not",
        ),
        (
            PmiVariables {
                pmix_rank: Some("4294967294"),
                ..pmix
            },
            "PMIX_RANK=`4294967294` is not",
        ),
        (
            PmiVariables { rank: None, ..all },
            "PMI_FD is set and PMI_RANK is not",
        ),
        (
            PmiVariables {
                rank: Some("2"),
                ..all
            },
            "PMI_RANK=2 is not below PMI_SIZE=2",
        ),
        (
            PmiVariables {
                size: Some("0"),
                ..all
            },
            "PMI_SIZE=`0` is not a whole number of at least 1",
        ),
        (
            PmiVariables {
                fd: Some("-1"),
                ..all
            },
            "PMI_FD=`-1` is not",
        ),
        (
            PmiVariables { id: None, ..port },
            "PMI_PORT is set and PMI_ID is not",
        ),
    ];
    for (variables, says) in cases {
        let error = std::format!("{}", StartMethod::read(&variables).expect_err(says));
        assert!(error.starts_with(says), "{error}");
    }
}

#[test]
fn what_was_found_is_said_with_its_reason() {
    let mut values = [None; 7];
    let said = |values: [Option<&str>; 7]| {
        let start = std::format!(
            "{}",
            StartMethod::read(&PmiVariables::new(values)).expect("sound")
        );
        start
    };
    assert!(said(values).starts_with("none (PMI_FD, PMI_PORT"));
    (values[5], values[6]) = (Some("job.3"), Some("1"));
    assert_eq!(said(values), "PMIx (PMIX_NAMESPACE), rank 1 of job job.3");
    (values[3], values[4]) = (Some("h:1"), Some("3"));
    assert_eq!(said(values), "PMI-1 at h:1 (PMI_PORT), process 3");
    (values[0], values[1], values[2]) = (Some("7"), Some("0"), Some("2"));
    assert_eq!(
        said(values),
        "PMI-1 over descriptor 7 (PMI_FD), rank 0 of 2"
    );
}

#[cfg(feature = "alloc")]
mod served {
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
        let says =
            "0 at fault: it waits in a PMI barrier, and rank 1 has ended without entering it";
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
        assert_eq!(server.rank_state(0), server::RankState::Outside);
    }
}
