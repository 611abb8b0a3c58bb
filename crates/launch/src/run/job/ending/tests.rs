use super::*;

const SECOND: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_secs(10);

fn running(now: Instant) -> Ending {
    Ending::new(Some(now + 60 * SECOND), TIMEOUT)
}

fn sent(signal: Signal) -> ReceivedSignal {
    ReceivedSignal {
        signal,
        from_kernel: false,
    }
}

fn from_kernel(signal: Signal) -> ReceivedSignal {
    ReceivedSignal {
        signal,
        from_kernel: true,
    }
}

#[test]
fn a_request_that_is_sent_twice_is_one() {
    let now = Instant::now();
    let mut ending = running(now);
    let request = EndRequest::Signal(sent(Signal::TERM));
    assert_eq!(
        ending.signalled(sent(Signal::TERM), now),
        Some(EndStep::Ask(request))
    );
    assert_eq!(ending.request(), Some(request));
    for signal in [Signal::TERM, Signal::HUP] {
        let soon = now + REPEAT - Duration::from_millis(1);
        assert_eq!(ending.signalled(sent(signal), soon), None, "{signal:?}");
    }
    let reason = KillReason::SecondSignal(request, Signal::INT);
    let killed = ending.signalled(sent(Signal::INT), now + REPEAT);
    assert_eq!(killed, Some(EndStep::Kill(reason)));
    assert_eq!(
        ending.signalled(from_kernel(Signal::INT), now + TIMEOUT),
        None
    );
    assert_eq!((ending.due(now + TIMEOUT), ending.deadline()), (None, None));
}

#[test]
fn the_second_signal_of_a_terminal_counts_at_once() {
    let now = Instant::now();
    for first in [from_kernel(Signal::INT), sent(Signal::TERM)] {
        for key in [Signal::INT, Signal::QUIT] {
            let mut ending = running(now);
            assert!(ending.signalled(first, now).is_some());
            let reason = KillReason::SecondSignal(EndRequest::Signal(first), key);
            let killed = ending.signalled(from_kernel(key), now);
            assert_eq!(killed, Some(EndStep::Kill(reason)));
        }
    }
}

/// The shell sends the first one, and when the shell ends, the kernel sends the second.
#[test]
fn a_terminal_that_closes_is_one_request() {
    let now = Instant::now();
    for first in [sent(Signal::HUP), from_kernel(Signal::HUP)] {
        let mut ending = running(now);
        assert!(ending.signalled(first, now).is_some());
        let soon = now + Duration::from_millis(100);
        assert_eq!(ending.signalled(from_kernel(Signal::HUP), soon), None);
        assert_eq!(ending.deadline(), Some(now + TIMEOUT), "ranks save");
    }
}

#[test]
fn ranks_have_their_time_after_a_request() {
    let now = Instant::now();
    let mut ending = running(now);
    assert!(ending.signalled(sent(Signal::TERM), now).is_some());
    // A rank that the signal kills does not shorten the time of the others.
    assert!(!ending.failed(false, false, now + SECOND));
    assert_eq!(ending.deadline(), Some(now + TIMEOUT));
    assert_eq!(ending.due(now + TIMEOUT - SECOND), None);
    let reason = KillReason::Overdue(EndRequest::Signal(sent(Signal::TERM)));
    assert_eq!(ending.due(now + TIMEOUT), Some(EndStep::Kill(reason)));
    assert!(
        !ending.failed(false, true, now + TIMEOUT),
        "killed ranks do not fail"
    );
}

#[test]
fn failures_are_reported_when_all_ranks_have_ended_after_a_request() {
    let now = Instant::now();
    let mut ending = running(now);
    assert!(ending.signalled(sent(Signal::TERM), now).is_some());
    assert!(ending.failed(true, true, now + SECOND));
}

#[test]
fn an_exit_waits_for_its_cause() {
    let now = Instant::now();
    let mut ending = running(now);
    assert!(!ending.failed(true, false, now));
    assert_eq!(ending.deadline(), Some(now + SETTLING));
    assert!(!ending.failed(true, false, now + SETTLING / 2));
    assert!(ending.failed(true, false, now + SETTLING));
    for (is_exit, all_ended) in [(false, false), (true, true)] {
        let mut ending = running(now);
        assert!(!ending.failed(true, false, now));
        assert!(ending.failed(is_exit, all_ended, now));
        assert!(
            !ending.failed(is_exit, all_ended, now),
            "the first one only"
        );
    }
}

#[test]
fn the_other_ranks_of_a_failed_one_are_killed_soon() {
    let now = Instant::now();
    let mut ending = running(now);
    assert!(ending.failed(false, false, now));
    assert_eq!(
        ending.signalled(sent(Signal::TERM), now),
        None,
        "they have SIGTERM"
    );
    assert_eq!(ending.deadline(), Some(now + TERM_TIMEOUT));
    assert_eq!(ending.due(now), None);
    let killed = Some(EndStep::Kill(KillReason::RankFailed));
    assert_eq!(ending.due(now + TERM_TIMEOUT), killed);
}

#[test]
fn the_time_limit_is_a_request() {
    let now = Instant::now();
    let over = now + 60 * SECOND;
    let mut ending = running(now);
    assert_eq!(ending.deadline(), Some(over));
    assert_eq!(ending.due(over - SECOND), None);
    assert_eq!(ending.due(over), Some(EndStep::Ask(EndRequest::TimeLimit)));
    let reason = KillReason::Overdue(EndRequest::TimeLimit);
    assert_eq!(ending.due(over + TIMEOUT), Some(EndStep::Kill(reason)));
    assert_eq!(EndRequest::TimeLimit.code(), 124);
    // It passes while a failure settles, too.
    let mut ending = Ending::new(Some(now), TIMEOUT);
    assert!(!ending.failed(true, false, now));
    assert_eq!(ending.due(now), Some(EndStep::Ask(EndRequest::TimeLimit)));
    assert_eq!(Ending::new(None, TIMEOUT).due(over), None);
}
