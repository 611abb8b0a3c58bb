//! The PMI-1 client with a process manager that follows a script: correct, or wrong in many ways.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::{ManagerStream, PmiClient};
use crate::error::Result;

/// The time after which a test that hangs fails.
const WATCHDOG: Duration = Duration::from_secs(120);

/// The replies of a correct manager until a rank has joined.
const GOOD: [&str; 4] = [
    "cmd=initack\ncmd=set size=2\ncmd=set rank=1\ncmd=set debug=0\n",
    "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
    "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n",
    "cmd=my_kvsname kvsname=kvs_1\n",
];

/// Answers each line by the next of `answers`, and then waits until the rank closes the connection, or closes
/// it itself. Gives the lines that it received.
fn manager(listener: &TcpListener, answers: &[String], hangs_up: bool) -> Vec<String> {
    let (mut stream, _) = listener.accept().expect("a rank connects");
    let mut lines = BufReader::new(stream.try_clone().expect("a second handle")).lines();
    let mut received = Vec::new();
    for answer in answers {
        let Some(Ok(line)) = lines.next() else { break };
        received.push(line);
        // The rank may close the connection before it has the whole answer.
        let _ = stream.write_all(answer.as_bytes());
    }
    if !hangs_up {
        received.extend(lines.map_while(std::result::Result::ok));
    }
    received
}

/// How long a rank waits for a manager that does not answer, where that is tested.
const SILENCE: Duration = Duration::from_millis(50);

/// Runs `rank` with a manager that follows this script.
fn run_with_manager<R: Send + 'static>(
    answers: &[&str],
    hangs_up: bool,
    timeout: Duration,
    rank: impl FnOnce(ManagerStream) -> Result<R> + Send + 'static,
) -> (Result<R>, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port of this machine");
    let address = listener.local_addr().expect("it has an address");
    let answers: Vec<String> = answers.iter().map(|&answer| answer.to_owned()).collect();
    let (done, outcome) = mpsc::channel();
    let server = thread::spawn(move || manager(&listener, &answers, hangs_up));
    thread::spawn(move || {
        let stream = TcpStream::connect(address).expect("it listens");
        let _ = done.send(rank(ManagerStream::new(stream.into(), timeout)));
    });
    let outcome = outcome.recv_timeout(WATCHDOG).expect("no hang");
    (outcome, server.join().expect("the script has an end"))
}

fn join(stream: ManagerStream) -> Result<()> {
    PmiClient::connected(stream, 5).map(drop)
}

#[test]
fn a_rank_joins_and_leaves_at_a_port() {
    let rest = [
        "cmd=put_result rc=0 msg=success\n",
        "cmd=barrier_out\n",
        "cmd=get_result rc=0 msg=success value=v\n",
        "cmd=get_result rc=-1 msg=key_q_not_found value=unknown\n",
        "cmd=finalize_ack\n",
    ];
    let (outcome, received) =
        run_with_manager(&[&GOOD[..], &rest].concat(), false, WATCHDOG, |stream| {
            let (mut client, place) = PmiClient::connected(stream, 5)?;
            client.put("k", "w")?;
            client.barrier()?;
            let values = (client.get("k")?, client.get("q")?);
            client.finalize()?;
            Ok((place.rank, place.size, values))
        });
    let outcome = outcome.expect("all goes well");
    assert_eq!(outcome, (1, 2, (Some("v".to_owned()), None)));
    let expected = [
        "cmd=initack pmiid=5",
        "cmd=init pmi_version=1 pmi_subversion=1",
        "cmd=get_maxes",
        "cmd=get_my_kvsname",
        "cmd=put kvsname=kvs_1 key=k value=w",
        "cmd=barrier_in",
        "cmd=get kvsname=kvs_1 key=k",
        "cmd=get kvsname=kvs_1 key=q",
        "cmd=finalize",
    ];
    assert_eq!(received, expected);
}

#[test]
fn an_abort_reaches_the_manager() {
    let (outcome, received) = run_with_manager(&GOOD, false, WATCHDOG, |stream| {
        PmiClient::connected(stream, 5).map(|(mut client, _)| client.abort(7))
    });
    outcome.expect("it joins");
    let last = received.last().map(String::as_str);
    assert_eq!(last, Some("cmd=abort exitcode=7"));
}

/// In each step: silence, a closed connection, noise, a line without end, the answer to another question, and
/// two answers at once.
#[test]
fn a_bad_manager_is_an_error_at_every_step() {
    let endless = "x".repeat(1 << 20);
    for round in 0..GOOD.len() {
        let script = |answer| [&GOOD[..round], &[answer][..]].concat();
        let twice = GOOD[round].repeat(2);
        let cases = [
            (GOOD[..round].to_vec(), false, "has not answered `"),
            (script("cmd=never_finished"), false, "has not answered `"),
            (GOOD[..round].to_vec(), true, "closed the connection"),
            (script("HTTP/1.1 400 Bad Request\n"), false, "cmd=NAME"),
            (script("cmd=\n"), false, "cmd=NAME"),
            (script("\u{0}\u{1}\n"), false, "cmd=NAME"),
            (script(&endless), false, "more than 4608 bytes"),
            (script("cmd=barrier_out\n"), false, "expected `cmd="),
            (script(&twice), false, "without a request"),
        ];
        for (answers, hangs_up, says) in cases {
            let silent = says.starts_with("has not");
            let timeout = if silent { SILENCE } else { WATCHDOG };
            let (outcome, _) = run_with_manager(&answers, hangs_up, timeout, join);
            let error = outcome.expect_err(says).to_string();
            // A rank whose write finds the connection closed reports the system's error.
            let hung_up = hangs_up && error.contains("os error");
            assert!(hung_up || error.contains(says), "round {round}: {error}");
        }
    }
}

#[test]
fn a_manager_that_is_not_there_is_an_error() {
    // The system gives port 1 to nobody, and no service listens there.
    for address in ["127.0.0.1:1", "127.0.0.1", "127.0.0.1:99999", "", "::"] {
        let error = PmiClient::at_port(address, 0).expect_err("nothing listens there");
        let error = error.to_string();
        assert!(error.contains(&format!("PMI_PORT={address}: ")), "{error}");
    }
}
