//! Parser of the requests to start further ranks (`MPI_Comm_spawn`), which the server refuses.
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
//! A request has one such block for each program; the reply follows the last.

/// A block that is not complete: number of blocks of the request, and number of this one.
#[derive(Debug, Default)]
pub(super) struct SpawnBlock {
    total: Option<u32>,
    number: Option<u32>,
}

/// Effect of a line on its block.
pub(super) enum BlockLine {
    /// The block continues.
    More,
    /// The block has ended, and another follows.
    Next,
    /// The last block has ended.
    Last,
}

impl SpawnBlock {
    /// Begins a block if `line` is its first line.
    pub(super) fn begin(line: &[u8]) -> Option<Self> {
        (text(line) == b"mcmd=spawn").then(Self::default)
    }

    /// Takes in the next line.
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
