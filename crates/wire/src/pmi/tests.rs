//! Tests of the client with scripted conversations; `tests/pmi.rs` tests client and server together.

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
fn replies_of_known_managers_are_parsed() {
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
fn errors_about_wrong_replies_have_the_expected_word() {
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
            "without a request",
        ),
    ];
    for (answer, expected) in cases {
        let mut client = joined();
        let error = ask(&mut client, PmiRequest::Maxes, "cmd=get_maxes", answer).expect_err(answer);
        assert!(
            std::format!("{error}").contains(expected),
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
fn requests_out_of_order_are_refused() {
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
fn arguments_that_do_not_fit_a_line_are_refused() {
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
fn the_handshake_at_a_port_gives_rank_and_size() {
    assert_eq!(PortHandshake::line(7).as_str(), "cmd=initack pmiid=7\n");
    let answers = [
        "cmd=initack\ncmd=set size=8\ncmd=set rank=7\ncmd=set debug=0\n",
        "cmd=initack rc=0 rank=7 size=8 appnum=0 debug=0\ncmd=set size=8\ncmd=set rank=7\ncmd=set debug=1\n",
    ];
    for answer in answers {
        for piece in 1..=answer.len() {
            let mut handshake = PortHandshake::default();
            let mut place = None;
            for bytes in answer.as_bytes().chunks(piece) {
                assert_eq!(place, None);
                place = handshake.feed(bytes).expect(answer);
            }
            assert_eq!(place, Some(JobRank { rank: 7, size: 8 }));
        }
    }
}

#[test]
fn errors_about_wrong_handshakes_have_the_expected_word() {
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
            "`cmd=more` without a request",
        ),
        ("SSH-2.0-OpenSSH_9.2\n", "must begin with `cmd=NAME`"),
    ];
    for (answer, expected) in cases {
        let mut handshake = PortHandshake::default();
        let error = handshake.feed(answer.as_bytes()).expect_err(answer);
        assert!(std::format!("{error}").contains(expected), "{error}");
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
fn escapes_keep_a_value_whole() {
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
fn the_start_method_is_read_from_the_environment() {
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
            "PMIX_NAMESPACE is set but PMIX_RANK is not",
        ),
        (
            PmiVariables {
                pmix_rank: Some("4294967294"),
                ..pmix
            },
            "PMIX_RANK=`4294967294`, expected",
        ),
        (
            PmiVariables { rank: None, ..all },
            "PMI_FD is set but PMI_RANK is not",
        ),
        (
            PmiVariables {
                rank: Some("2"),
                ..all
            },
            "PMI_RANK=2, expected a rank below PMI_SIZE=2",
        ),
        (
            PmiVariables {
                size: Some("0"),
                ..all
            },
            "PMI_SIZE=`0`, expected a whole number from 1 to 2147483647",
        ),
        (
            PmiVariables {
                fd: Some("-1"),
                ..all
            },
            "PMI_FD=`-1`, expected",
        ),
        (
            PmiVariables { id: None, ..port },
            "PMI_PORT is set but PMI_ID is not",
        ),
    ];
    for (variables, expected) in cases {
        let error = std::format!("{}", StartMethod::read(&variables).expect_err(expected));
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn the_start_method_is_displayed_with_its_variable() {
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
