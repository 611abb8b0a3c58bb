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
        self.step(LineMerger::write_due);
    }

    fn end(&mut self, source: usize) {
        self.step(|lines, now, write| lines.end(source, now, write));
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
    for _ in 0..10 {
        merged.wait(999 * MS);
        merged.take(0, "a");
    }
    assert_eq!(merged.out.len(), PENDING_MAX + 10);
    merged.take(0, "\n");
    merged.wait(Duration::ZERO);
    let expected = format!("{long}aaaaaaaaaa\nb\n{long}");
    assert!(merged.out == expected);
    assert_eq!(merged.lines.take_broken(), None);
}

#[test]
fn a_long_line_is_broken_after_a_pause_beyond_the_limit_or_at_its_end() {
    let long = "a".repeat(PENDING_MAX);
    let broken = |act: fn(&mut Merged, &str)| {
        let mut merged = Merged::new(2, false);
        merged.take(0, &long);
        merged.take(1, "b\n");
        act(&mut merged, &long);
        assert!(merged.out.ends_with("a\nb\n"));
        merged
            .lines
            .take_broken()
            .map(|broken| (broken.source, broken.length))
    };
    let after_a_pause = broken(|merged, _| {
        assert_eq!(merged.lines.deadline(), Some(PAUSE));
        merged.wait(PAUSE);
    });
    assert_eq!(after_a_pause, Some((0, PENDING_MAX)));
    let beyond_the_limit = broken(|merged, long| {
        for _ in 0..LINE_MAX / PENDING_MAX {
            merged.wait(Duration::ZERO);
            merged.take(0, long);
        }
        merged.wait(Duration::ZERO);
    });
    assert_eq!(beyond_the_limit, Some((0, LINE_MAX + PENDING_MAX)));
    assert_eq!(broken(|merged, _| merged.end(0)), None, "nothing follows");
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
