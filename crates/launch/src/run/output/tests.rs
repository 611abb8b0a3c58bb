use super::*;
use std::io::{PipeReader, PipeWriter, Write};
use std::time::Instant;

/// What comes out when ranks write these pieces in turn, and then end.
fn played(labelled: bool, pieces: &[(usize, &str)]) -> String {
    let (mut reader, writer) = io::pipe().expect("a pipe");
    let mut sink = OutputStream::new(writer);
    let (mut sources, mut writers): (Vec<RankStream<PipeReader>>, Vec<PipeWriter>) = (0..2)
        .map(|rank| {
            let (reader, writer) = io::pipe().expect("a pipe");
            (
                RankStream::new(reader, rank, labelled).expect("a pipe can be non-blocking"),
                writer,
            )
        })
        .unzip();
    for (rank, chunk) in pieces {
        writers[*rank]
            .write_all(chunk.as_bytes())
            .expect("room in the pipe");
        assert_eq!(sources[*rank].forward(&mut sink), StreamState::Open);
        sink.flush();
    }
    drop(writers);
    for source in &mut sources {
        source.finish(&mut sink);
    }
    sink.flush_all();
    drop(sink);
    let mut out = String::new();
    reader.read_to_string(&mut out).expect("text");
    out
}

#[test]
fn lines_stay_whole_when_ranks_write_in_pieces() {
    assert_eq!(
        played(
            false,
            &[
                (0, "on"),
                (1, "two\n"),
                (0, "e\nthree"),
                (1, "x\n"),
                (0, "\n")
            ]
        ),
        "two\none\nx\nthree\n"
    );
}

#[test]
fn a_last_line_without_newline_is_kept_as_it_is() {
    assert_eq!(played(false, &[(0, "no newline")]), "no newline");
    assert_eq!(played(false, &[(0, "a"), (1, "b")]), "a\nb");
}

#[test]
fn labels_stand_before_each_line() {
    assert_eq!(
        played(true, &[(0, "a\n\nb\n"), (1, "c\n")]),
        "[0] a\n[0] \n[0] b\n[1] c\n"
    );
}

#[test]
fn a_reader_that_does_not_read_makes_ranks_wait_and_loses_nothing() {
    let (mut reader, writer) = io::pipe().expect("a pipe");
    let mut sink = OutputStream::new(writer);
    let line = [b'x'; 1023].into_iter().chain([b'\n']).collect::<Vec<u8>>();
    while !sink.is_full() {
        sink.push(0, None, &line);
        sink.flush();
    }
    let (from, mut to) = io::pipe().expect("a pipe");
    to.write_all(&line).expect("room in the pipe");
    let mut source = RankStream::new(from, 0, false).expect("a pipe can be non-blocking");
    assert_eq!(source.forward(&mut sink), StreamState::Open);
    drop(to);
    let reading = std::thread::spawn(move || {
        let mut all = Vec::new();
        reader.read_to_end(&mut all).map(|_| all)
    });
    source.finish(&mut sink);
    sink.flush_all();
    drop(sink);
    let all = reading.join().expect("the reader ends").expect("readable");
    assert!(all.len() > FULL && all.chunks(1024).all(|chunk| chunk == line));
}

#[test]
fn a_reader_that_has_gone_is_noticed() {
    let (reader, writer) = io::pipe().expect("a pipe");
    let mut sink = OutputStream::new(writer);
    drop(reader);
    // The child of another test may have a copy of the reader, until it has become its program.
    let start = Instant::now();
    while !sink.is_broken() {
        if sink.is_waiting() {
            sink.flush();
        } else {
            sink.message("nobody hears this");
        }
        assert!(start.elapsed() < Duration::from_secs(120), "it is not");
        std::thread::yield_now();
    }
    assert!(!sink.is_waiting());
}
