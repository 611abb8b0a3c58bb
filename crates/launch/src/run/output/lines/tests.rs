use super::super::label::{LabelOptions, LabelStyle, StreamName};
use super::*;
use proptest::prelude::*;

const MS: Duration = Duration::from_millis(1);

/// A merger of sources 0, 1, ... with what it has written.
struct Merged {
    lines: LineMerger,
    out: String,
    now: Duration,
}

impl Merged {
    fn new(sources: u32, labelled: bool) -> Self {
        let style = labelled.then_some(LabelStyle::Rank);
        let options = LabelOptions {
            style,
            timestamp: false,
        };
        let mut lines = LineMerger::default();
        for rank in 0..sources {
            lines.add(Label::new(
                options,
                rank,
                StreamName::Stdout,
                Duration::ZERO,
            ));
        }
        Self {
            lines,
            out: String::new(),
            now: Duration::ZERO,
        }
    }

    fn step(&mut self, act: impl FnOnce(&mut LineMerger, Duration, Writer<'_>)) {
        let out = &mut self.out;
        act(&mut self.lines, self.now, &mut |text| {
            out.push_str(str::from_utf8(text).expect("text"));
        });
    }

    fn take(&mut self, source: usize, text: &str) {
        self.step(|lines, now, write| lines.take(source, text.as_bytes(), now, write));
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        self.step(|lines, now, write| {
            for source in lines.due(now) {
                lines.write_due(source, now, write);
            }
        });
    }

    fn end(&mut self, source: usize) {
        self.lines.end(source);
        self.wait(Duration::ZERO);
    }
}

/// What comes out when sources write these pieces in turn, without a pause, and then end.
fn merged(labelled: bool, pieces: &[(usize, &str)]) -> String {
    let mut merged = Merged::new(2, labelled);
    for (source, text) in pieces {
        merged.take(*source, text);
    }
    merged.end(0);
    merged.end(1);
    merged.out
}

#[test]
fn lines_stay_whole_when_sources_write_in_pieces() {
    let pieces = [
        (0, "on"),
        (1, "two\n"),
        (0, "e\nthree"),
        (1, "x\n"),
        (0, "\n"),
    ];
    assert_eq!(merged(false, &pieces), "two\none\nx\nthree\n");
}

#[test]
fn a_last_line_without_newline_is_kept_as_it_is() {
    assert_eq!(merged(false, &[(0, "no newline")]), "no newline");
    assert_eq!(merged(false, &[(0, "a"), (1, "b")]), "a\nb");
}

#[test]
fn labels_stand_before_each_line() {
    let pieces = [(0, "a\n\nb\n"), (1, "c\n")];
    assert_eq!(merged(true, &pieces), "[0] a\n[0] \n[0] b\n[1] c\n");
}

#[test]
fn the_beginning_of_a_line_appears_within_50_ms_and_is_labelled_once() {
    let mut merged = Merged::new(2, true);
    merged.take(0, "N");
    merged.wait(10 * MS);
    merged.take(0, " = ");
    assert_eq!(merged.out, "");
    assert!(merged.lines.deadline().expect("a byte waits") < 50 * MS);
    merged.wait(40 * MS);
    assert_eq!(merged.out, "[0] N = ");
    assert_eq!(merged.lines.deadline(), None);
    merged.take(0, "7");
    assert_eq!(merged.out, "[0] N = 7");
    merged.take(1, "x\n");
    assert_eq!(merged.out, "[0] N = 7\n[1] x\n");
    merged.take(0, "8\nrest");
    assert_eq!(merged.out, "[0] N = 7\n[1] x\n[0] 8\n");
    merged.wait(50 * MS);
    merged.step(|lines, _, write| lines.end_line(write));
    merged.take(0, "!\n");
    assert_eq!(merged.out, "[0] N = 7\n[1] x\n[0] 8\n[0] rest\n[0] !\n");
}

#[test]
fn other_sources_wait_for_the_end_of_a_long_line() {
    let long = "a".repeat(PENDING_MAX);
    let mut merged = Merged::new(3, false);
    merged.take(0, &long);
    assert_eq!(merged.out, long, "the line is long: it waits for nothing");
    merged.take(1, "b\n");
    merged.take(2, &long);
    assert_eq!(merged.lines.room(0, 1 << 20, merged.now), 1 << 20);
    assert_eq!(merged.lines.room(1, 1 << 20, merged.now), PENDING_MAX - 2);
    assert_eq!(merged.lines.room(2, 1 << 20, merged.now), 0);
    let piece = "a".repeat(PROGRESS);
    for _ in 0..10 {
        merged.wait(999 * MS);
        merged.take(0, &piece);
    }
    assert_eq!(merged.out.len(), PENDING_MAX + 10 * PROGRESS);
    merged.take(0, "\n");
    merged.wait(Duration::ZERO);
    let expected = format!("{long}{}\nb\n{long}", piece.repeat(10));
    assert!(merged.out == expected);
    assert_eq!(merged.lines.take_broken(), None);
}

/// A line of dots does not keep other output back for longer than a second, however often a dot comes.
#[test]
fn a_long_line_that_brings_little_keeps_others_waiting_for_a_second() {
    let mut merged = Merged::new(2, false);
    let dots = ".".repeat(SHORT);
    merged.take(0, &dots);
    merged.wait(PARTIAL_WAIT);
    assert_eq!(merged.out, dots, "the dots are shown");
    merged.take(0, ".");
    merged.take(1, "b\n");
    for _ in 0..99 {
        merged.wait(10 * MS);
        merged.take(0, ".");
    }
    assert_eq!(merged.out.len(), SHORT + 100);
    merged.wait(10 * MS);
    assert!(merged.out.ends_with(".\nb\n"));
    let broken = merged.lines.take_broken().map(|broken| broken.length);
    assert_eq!(broken, Some(SHORT + 100));
}

/// A message of the launcher does not wait.
#[test]
fn a_message_breaks_an_open_line_and_notes_a_long_one() {
    for (length, noted) in [(SHORT, false), (SHORT + 1, true)] {
        let mut merged = Merged::new(1, false);
        let text = "a".repeat(length);
        merged.take(0, &text);
        merged.wait(PARTIAL_WAIT);
        merged.step(|lines, _, write| lines.end_line(write));
        assert_eq!(merged.out, text + "\n");
        let broken = merged.lines.take_broken().map(|broken| broken.length);
        assert_eq!(broken, noted.then_some(length));
        merged.take(0, "rest\n");
        merged.step(|lines, _, write| lines.end_line(write));
        assert!(merged.out.ends_with("a\nrest\n"));
        assert_eq!(merged.lines.take_broken(), None, "no line is open");
    }
}

#[test]
fn a_line_that_returns_to_its_beginning_keeps_nobody_waiting() {
    let mut merged = Merged::new(2, false);
    merged.take(0, "\r  0 %");
    merged.wait(PARTIAL_WAIT);
    for _ in 0..SHORT {
        merged.take(0, "\r 50 %");
    }
    merged.take(1, "b\n");
    assert!(merged.out.ends_with("\r 50 %\nb\n"));
    assert_eq!(merged.lines.take_broken(), None, "a short line");
    merged.take(0, "100 %\r");
    merged.wait(PARTIAL_WAIT);
    merged.take(1, "b\n");
    assert!(merged.out.ends_with("\nb\n100 %\r\nb\n"));
}

/// While the reader has no room, no line can make progress.
#[test]
fn a_long_line_is_not_broken_because_the_reader_is_slow() {
    let mut merged = Merged::new(2, false);
    merged.take(0, &"a".repeat(PENDING_MAX));
    merged.take(1, "b\n");
    for _ in 0..10 {
        merged.now += PAUSE;
        merged.lines.resume_after(PAUSE);
        merged.take(0, "a");
        merged.wait(Duration::ZERO);
    }
    assert_eq!(merged.out.len(), PENDING_MAX + 10);
    merged.take(0, "\n");
    merged.wait(Duration::ZERO);
    assert!(merged.out.ends_with("a\nb\n"));
    assert_eq!(merged.lines.take_broken(), None);
}

/// The launcher asks [`LineMerger::is_partial`] whether the rest may be in the pipe. It reads that first.
#[test]
fn an_overdue_line_that_goes_on_is_no_prompt() {
    let mut merged = Merged::new(2, false);
    merged.take(0, "one\ntw");
    merged.now += PAUSE;
    assert_eq!(merged.lines.due(merged.now), [0]);
    assert!(merged.lines.is_partial(0));
    merged.take(0, "o and");
    assert!(merged.lines.due(merged.now).is_empty(), "it waits again");
    merged.take(1, "b\n");
    merged.wait(PARTIAL_WAIT - MS);
    merged.take(0, " more\n");
    assert_eq!(merged.out, "one\nb\ntwo and more\n");
}

/// Complete lines that waited for another source are due at once; what follows them is still waiting for its rest.
#[test]
fn the_beginning_of_a_line_stays_behind_when_the_lines_before_it_are_due() {
    let mut merged = Merged::new(3, false);
    let long = "a".repeat(PENDING_MAX);
    merged.take(0, &long);
    merged.take(1, "one\ntw");
    merged.take(0, "\n");
    merged.wait(Duration::ZERO);
    merged.take(2, "x\n");
    merged.take(1, "o\n");
    assert!(merged.out == format!("{long}\none\nx\ntwo\n"));
}

/// What happens to a merger: a source writes these letters and newlines, or time passes.
#[derive(Debug, Clone)]
enum Event {
    Write(usize, Vec<usize>),
    Wait(u32),
}

fn event(sources: usize) -> impl Strategy<Value = Event> {
    // Lengths of lines; the last line is incomplete. Lines about the limits are rare.
    let length = prop_oneof![8 => 0..20_usize, 1 => 0..3 * SHORT, 1 => 0..2 * PENDING_MAX];
    let lines = proptest::collection::vec(length, 1..4);
    prop_oneof![
        4 => (0..sources, lines).prop_map(|(source, lines)| Event::Write(source, lines)),
        1 => (0..2000_u32).prop_map(Event::Wait),
    ]
}

proptest! {
    /// Each source writes one letter of its own. All of them come out, no line has two, no source keeps more than
    /// `PENDING_MAX`, and without pauses each line comes out as it went in.
    #[test]
    fn nothing_is_lost_or_mixed(events in proptest::collection::vec(event(3), 0..40)) {
        let mut merged = Merged::new(3, true);
        let mut written = [String::new(), String::new(), String::new()];
        let pauses = events.iter().any(|event| matches!(event, Event::Wait(_)));
        for event in events {
            match event {
                Event::Wait(time) => {
                    merged.wait(time * MS);
                    // Complete lines come first, then what follows them.
                    merged.wait(Duration::ZERO);
                    let lines = &merged.lines;
                    let is_protected = lines.open.as_ref().is_some_and(|open| lines.is_protected(open));
                    for source in &lines.sources {
                        let is_young = source.since + PARTIAL_WAIT > merged.now;
                        prop_assert!(source.pending.is_empty() || is_young || is_protected);
                    }
                }
                Event::Write(source, lines) => {
                    let letter = ["a", "b", "c"][source];
                    let lines: Vec<String> = lines.iter().map(|length| letter.repeat(*length)).collect();
                    let text = lines.join("\n");
                    written[source] += &text;
                    let mut text = text.as_str();
                    while !text.is_empty() {
                        let room = merged.lines.room(source, 1 << 20, merged.now).min(text.len());
                        if room == 0 {
                            merged.wait(PAUSE);
                        }
                        let (now, later) = text.split_at(room);
                        merged.take(source, now);
                        prop_assert!(merged.lines.sources[source].pending.len() <= PENDING_MAX);
                        text = later;
                    }
                }
            }
        }
        (0..3).for_each(|source| merged.end(source));
        merged.wait(PAUSE);
        prop_assert_eq!(merged.lines.deadline(), None);
        for (source, written) in written.iter().enumerate() {
            let label = format!("[{source}] ");
            let mine = merged.out.lines().filter_map(|line| line.strip_prefix(&label));
            let mine: Vec<&str> = mine.collect();
            let letters = |text: &str| text.matches(|letter| letter != '\n').count();
            prop_assert_eq!(mine.iter().map(|line| letters(line)).sum::<usize>(), letters(written));
            let letter = ["a", "b", "c"][source];
            prop_assert!(mine.iter().all(|line| line.bytes().all(|byte| byte == letter.as_bytes()[0])));
            if !pauses && merged.now == PAUSE {
                prop_assert!(mine.into_iter().eq(written.lines()));
            }
        }
    }
}
