//! Requests to start further ranks, which are understood and refused.
//!
//! ```text
//! mcmd=spawn
//! nprocs=2
//! execname=program
//! totspawns=1
//! spawnssofar=1
//! ...
//! endcmd
//! ```
//!
//! One such block for each program; the answer comes after the last.

/// A block under way: how many programs there will be, and which this one is.
#[derive(Debug, Default)]
pub(super) struct SpawnBlock {
    total: Option<u32>,
    number: Option<u32>,
}

/// What a line of a block means.
pub(super) enum BlockLine {
    /// The block goes on.
    More,
    /// It has ended, and another follows.
    Next,
    /// The last one has ended.
    Last,
}

impl SpawnBlock {
    /// Begins a block, if `line` is the first of one.
    pub(super) fn begin(line: &[u8]) -> Option<Self> {
        (text(line) == b"mcmd=spawn").then(Self::default)
    }

    /// Takes the next line.
    pub(super) fn feed(&mut self, line: &[u8]) -> BlockLine {
        let line = text(line);
        let number = |key: &[u8]| {
            let digits = line.strip_prefix(key)?;
            str::from_utf8(digits).ok()?.parse().ok()
        };
        self.total = self.total.or_else(|| number(b"totspawns="));
        self.number = self.number.or_else(|| number(b"spawnssofar="));
        match (line, self.number < self.total) {
            (b"endcmd", true) => BlockLine::Next,
            (b"endcmd", false) => BlockLine::Last,
            _ => BlockLine::More,
        }
    }
}

fn text(line: &[u8]) -> &[u8] {
    line.trim_ascii_end()
}
