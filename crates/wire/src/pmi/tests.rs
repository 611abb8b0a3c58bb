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
    let written = client.request(request).expect("the request is in turn");
    assert_eq!(written.trim_end(), line);
    client.feed(answer.as_bytes())
}

fn joined() -> Client {
    let mut client = Client::new();
    let line = "cmd=init pmi_version=1 pmi_subversion=1";
    let answer = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n";
    let (version, subversion) = (1, 1);
    let reply = Reply::Init {
        version,
        subversion,
    };
    assert_eq!(
        ask(&mut client, PmiRequest::Init, line, answer),
        Ok(Some(reply))
    );
    client
}

/// Each request against what each known manager answers.
#[test]
fn replies_of_known_managers_are_parsed() {
    use PmiRequest::{Appnum, Barrier, Finalize, Get, KvsName, Maxes, Put, UniverseSize};
    let (kvs, key) = ("kvs_1", "a");
    let (put, get) = (
        Put {
            kvs,
            key,
            value: "b",
        },
        Get { kvs, key },
    );
    let maxes = Reply::Maxes(TextLimits {
        kvs_name: 255,
        key: 63,
        value: 1_023,
    });
    let line = |request| match request {
        Maxes => "cmd=get_maxes",
        Appnum => "cmd=get_appnum",
        UniverseSize => "cmd=get_universe_size",
        KvsName => "cmd=get_my_kvsname",
        Put { .. } => "cmd=put kvsname=kvs_1 key=a value=b",
        Barrier => "cmd=barrier_in",
        Get { .. } => "cmd=get kvsname=kvs_1 key=a",
        _ => "cmd=finalize",
    };
    let (found, absent) = (|value| Reply::Value(Some(value)), Reply::Value(None));
    let (size, no_size) = (Reply::UniverseSize(Some(12)), Reply::UniverseSize(None));
    for (request, answer, reply) in [
        (
            Maxes,
            "maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
            maxes,
        ),
        (Appnum, "appnum appnum=0", Reply::Appnum(Some(0))),
        (Appnum, "appnum appnum=-1", Reply::Appnum(None)),
        (UniverseSize, "universe_size size=-1", no_size),
        (UniverseSize, "universe_size size=12", size),
        (KvsName, "my_kvsname kvsname=kvs_1", Reply::KvsName(kvs)),
        (put, "put_result rc=0 msg=success", Reply::Put),
        (Barrier, "barrier_out", Reply::Barrier),
        (Barrier, "barrier_out rc=0", Reply::Barrier),
        (get, "get_result rc=0 msg=success value=b=c", found("b=c")),
        (get, r"get_result rc=0 value=b\ c\\d", found(r"b c\d")),
        (
            get,
            "get_result rc=-1 msg=key_a_not_found value=unknown",
            absent,
        ),
        (get, "get_result rc=1", absent),
        (get, "get_result rc=0 found=FALSE", absent),
        (Finalize, "finalize_ack", Reply::Finalize),
    ] {
        let answer = std::format!("cmd={answer}\n");
        let mut client = joined();
        let parsed = ask(&mut client, request, line(request), &answer);
        assert_eq!(parsed, Ok(Some(reply)), "{answer}");
    }
}

#[test]
fn errors_about_wrong_replies_have_the_expected_word() {
    let cases = [
        (
            "cmd=maxes keylen_max=64 vallen_max=1024",
            "answered `get_maxes`",
        ),
        (
            "cmd=maxes kvsname_max=0 keylen_max=64 vallen_max=1024",
            "answered `get_maxes`",
        ),
        ("cmd=barrier_out", "expected `cmd=maxes`"),
        ("cmd=maxes rc=-1 msg=no", "refused `get_maxes`"),
        ("hello", "must begin with `cmd=NAME`"),
        ("cmd=", "must begin with `cmd=NAME`"),
        (
            "cmd=maxes kvsname_max=2 keylen_max=2 vallen_max=2\ncmd=more",
            "without a request",
        ),
    ];
    for (answer, expected) in cases {
        let (mut client, answer) = (joined(), std::format!("{answer}\n"));
        let parsed = ask(&mut client, PmiRequest::Maxes, "cmd=get_maxes", &answer);
        let error = std::format!("{}", parsed.expect_err(&answer));
        assert!(error.contains(expected), "{answer} gave: {error}");
        let later = client.request(PmiRequest::Barrier);
        assert_eq!(later, Err(ClientError::Left("barrier_in")));
    }
    let mut client = joined();
    client.request(PmiRequest::Maxes).expect("in turn");
    let endless = [b'x'; LINE_MAX + 1];
    let fed = client.feed(&endless).map(drop);
    assert!(matches!(fed, Err(ClientError::Line(LineError::TooLong(_)))));
}

#[test]
fn requests_out_of_order_are_refused() {
    use PmiRequest::{Abort, Barrier, Finalize, Init, Maxes};
    let waiting = "barrier_in";
    let busy = |request| Err(ClientError::Busy { request, waiting });
    let mut client = Client::new();
    assert_eq!(
        client.request(Barrier),
        Err(ClientError::NotJoined(waiting))
    );
    let mut client = joined();
    assert_eq!(client.request(Init), Err(ClientError::Joined));
    client.request(Barrier).expect("in turn");
    assert_eq!(client.request(Maxes), busy("get_maxes"));
    let abort = client.request(Abort { code: -3 });
    assert_eq!(abort, Ok("cmd=abort exitcode=-3\n"));
    assert_eq!(client.request(Finalize), busy("finalize"));
    assert_eq!(client.closed(), Some(ClientError::Closed(waiting)));
    assert_eq!(client.request(Finalize), Err(ClientError::Left("finalize")));
    let answer = joined().feed(b"cmd=barrier_out\n").map(drop);
    assert!(matches!(answer, Err(ClientError::Unasked(_))));
}

#[test]
fn arguments_that_do_not_fit_a_line_are_refused() {
    let mut client = joined();
    let long = "v".repeat(VALUE_MAX);
    let put = |key, value| PmiRequest::Put {
        kvs: "k",
        key,
        value,
    };
    for (key, value) in [
        ("", "b"),
        ("a b", "c"),
        ("a", "b\nc"),
        ("a", r"b\c"),
        ("a", "ä"),
        ("a", &long),
    ] {
        let put = client.request(put(key, value));
        let is_refused = matches!(put, Err(ClientError::Text { .. }));
        assert!(is_refused, "{key} {value}");
    }
    assert!(client.request(put("a", &long[1..])).is_ok());
    let blank = BadText::Byte { at: 1, byte: b' ' };
    assert_eq!(check_text("a b", 9), Err(blank));
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
    for (lines, expected) in [
        ("set size=8", "expected `cmd=initack`"),
        ("initack rc=-1", "refused `initack`"),
        ("initack|set rank=0", "by `cmd=set rank=0`"),
        ("initack|set size=0", "by `cmd=set size=0`"),
        (
            "initack|set size=4294967295",
            "by `cmd=set size=4294967295`",
        ),
        ("initack|set size=2|set rank=2", "by `cmd=set rank=2`"),
        ("initack|set size=2|set rank=1|set", "by `cmd=set`"),
        (
            "initack|set size=2|set rank=1|set debug=0|more",
            "`cmd=more` without a request",
        ),
    ] {
        let answer = std::format!("cmd={}\n", lines.replace('|', "\ncmd="));
        let fed = PortHandshake::default().feed(answer.as_bytes());
        let error = std::format!("{}", fed.expect_err(lines));
        assert!(error.contains(expected), "{error}");
    }
    let foreign = PortHandshake::default().feed(b"SSH-2.0-OpenSSH_9.2\n");
    let error = std::format!("{}", foreign.expect_err("no line of PMI"));
    assert!(error.contains("must begin with `cmd=NAME`"), "{error}");
    let closed = std::format!("{}", PortHandshake::default().closed());
    let expected = "closed the connection while `initack`";
    assert!(closed.contains(expected), "{closed}");
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

/// Each environment gives a start method, or an error that begins with the text.
#[test]
fn the_start_method_is_read_from_the_environment() {
    for (environment, expected) in [
        ("", "none (PMI_FD, PMI_PORT and PMIX_NAMESPACE are not set)"),
        (
            "PMI_FD=7 PMI_RANK=1 PMI_SIZE=2",
            "PMI-1 over descriptor 7 (PMI_FD), rank 1 of 2",
        ),
        (
            "PMI_PORT=h:1 PMI_ID=3",
            "PMI-1 at h:1 (PMI_PORT), process 3",
        ),
        (
            "PMIX_NAMESPACE=prte-1@1 PMIX_RANK=4",
            "PMIx (PMIX_NAMESPACE), rank 4 of job prte-1@1",
        ),
        // A descriptor comes before PMIx and before a port, a port before PMIx.
        (
            "PMI_FD=7 PMI_RANK=0 PMI_SIZE=2 PMIX_NAMESPACE=job.3",
            "PMI-1 over descriptor 7 (PMI_FD), rank 0 of 2",
        ),
        (
            "PMI_FD=7 PMI_RANK=1 PMI_SIZE=2 PMI_PORT=h:1 PMI_ID=3",
            "PMI-1 over descriptor 7 (PMI_FD), rank 1 of 2",
        ),
        (
            "PMI_PORT=h:1 PMI_ID=3 PMIX_NAMESPACE=job.3 PMIX_RANK=1",
            "PMI-1 at h:1 (PMI_PORT), process 3",
        ),
        (
            "PMIX_NAMESPACE=n",
            "PMIX_NAMESPACE is set but PMIX_RANK is not",
        ),
        (
            "PMIX_NAMESPACE=n PMIX_RANK=4294967294",
            "PMIX_RANK=`4294967294`, expected",
        ),
        ("PMI_FD=7 PMI_SIZE=2", "PMI_FD is set but PMI_RANK is not"),
        (
            "PMI_FD=7 PMI_RANK=2 PMI_SIZE=2",
            "PMI_RANK=2, expected a rank below PMI_SIZE=2",
        ),
        (
            "PMI_FD=7 PMI_RANK=1 PMI_SIZE=0",
            "PMI_SIZE=`0`, expected a whole number from 1 to 2147483647",
        ),
        ("PMI_FD=-1 PMI_RANK=1 PMI_SIZE=2", "PMI_FD=`-1`, expected"),
        ("PMI_PORT=h:1", "PMI_PORT is set but PMI_ID is not"),
    ] {
        let value = |name: &str| {
            let mut variables = environment
                .split(' ')
                .filter_map(|word| word.split_once('='));
            variables
                .find(|variable| variable.0 == name)
                .map(|variable| variable.1)
        };
        let variables = PmiVariables::new(PmiVariables::NAMES.map(value));
        let read = StartMethod::read(&variables);
        let shown = read.map_or_else(|why| std::format!("{why}"), |start| std::format!("{start}"));
        assert!(shown.starts_with(expected), "{environment}: {shown}");
    }
}
