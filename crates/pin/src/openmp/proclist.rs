//! Parses explicit lists of processors, of `proclist=` and `GOMP_CPU_AFFINITY`: `[0,{1,5},2-6:2]`.

use alloc::vec::Vec;

use oxmpi_text::{Error, Span};

use crate::openmp::message::Message;

/// The most processors in one range, as in runtimes.
const LONGEST: u64 = 65_536;

/// The most processors in a list: limits the memory that a hostile value takes.
const MOST: usize = 1 << 17;

/// One place of an explicit list: the operating system's numbers of its processors.
pub(crate) type Item = Vec<u64>;

/// Parses the text between the brackets of a list, from its start.
///
/// Items are `n`, `a-b`, `a-b:stride` (one place for each number), or `{n,n}` (one place of several processors), with
/// commas or blanks between them.
///
/// # Returns
/// The items, and the number of bytes consumed: the caller checks the rest of the text.
///
/// # Errors
/// The runtime's message for the first mistake, and where it is.
pub(crate) fn parse(text: &str) -> Result<(Vec<Item>, usize), (Message, Error)> {
    let mut reader = Reader { text, at: 0 };
    let mut items = Vec::new();
    let mut total = 0;
    loop {
        reader.blanks();
        let start = reader.at;
        let before = items.len();
        let read = match (reader.eat('{'), reader.number()) {
            (true, first) => reader.set(first).map(|set| items.push(set)),
            (false, Some(from)) => reader.range(from, &mut items),
            (false, None) if items.is_empty() => Err(Message::ListSyntax),
            (false, None) => return Ok((items, reader.at)),
        };
        total += items[before..].iter().map(Vec::len).sum::<usize>();
        read.map_err(|message| reader.wrong(message, start))?;
        if total > MOST {
            return Err(reader.wrong(Message::ListTooLong(MOST), start));
        }
        reader.blanks();
        reader.eat(',');
    }
}

/// Reads numbers and signs, with blanks between them.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// A message with its place: the syntax error here, or the whole item that began at `start`.
    fn wrong(&self, message: Message, start: usize) -> (Message, Error) {
        let (start, end, expected) = match message {
            Message::ListSyntax => {
                let length = self.rest().chars().next().map_or(0, char::len_utf8);
                let expected = "numbers, ranges such as 0-6:2, and sets such as {0,4}";
                (self.at, self.at + length, expected)
            }
            Message::ListTooLong(_) => (start, self.at, "at most 131072 processors in all"),
            _ => (start, self.at, "a range such as 0-6, 0-6:2 or 6-0:-1"),
        };
        (message, Error::new(Span { start, end }, expected))
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    fn eat(&mut self, sign: char) -> bool {
        let found = self.rest().starts_with(sign);
        self.at += usize::from(found);
        found
    }

    /// Reads a number behind blanks, at most the largest that runtimes hold.
    fn number(&mut self) -> Option<u64> {
        self.blanks();
        let rest = self.rest();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = (digits > 0).then(|| saturated(&rest[..digits]));
        self.at += digits;
        number
    }

    /// Reads the rest of a set `{..}` behind its first number.
    fn set(&mut self, first: Option<u64>) -> Result<Item, Message> {
        let mut set = Item::from([first.ok_or(Message::ListSyntax)?]);
        loop {
            self.blanks();
            self.eat(',');
            match self.number() {
                Some(number) => set.push(number),
                None if self.eat('}') => return Ok(set),
                None => return Err(Message::ListSyntax),
            }
        }
    }

    /// Reads the rest of a range behind its first number `from`, if there is one, and adds its items.
    fn range(&mut self, from: u64, items: &mut Vec<Item>) -> Result<(), Message> {
        let before = self.at;
        self.blanks();
        if !self.eat('-') {
            self.at = before;
            items.push([from].into());
            return Ok(());
        }
        let to = self.number().ok_or(Message::ListSyntax)?;
        self.blanks();
        let mut stride = 1;
        if self.eat(':') {
            self.blanks();
            let sign = if self.eat('-') { -1 } else { 1 };
            stride = sign * self.number().ok_or(Message::ListSyntax)? as i64;
        }
        let step = stride.unsigned_abs();
        match () {
            () if stride == 0 => return Err(Message::ZeroStride),
            () if stride > 0 && from > to => return Err(Message::Downwards(from, to)),
            () if stride < 0 && from < to => return Err(Message::Upwards(from, to)),
            () if from.abs_diff(to) / step > LONGEST => {
                return Err(Message::RangeTooLong(from, to, stride));
            }
            () => {}
        }
        let count = from.abs_diff(to) / step;
        items.extend((0..=count).map(|i| match stride > 0 {
            true => [from + i * step].into(),
            false => [from - i * step].into(),
        }));
        Ok(())
    }
}

/// The value of decimal digits, at most 2,147,483,647, as runtimes hold it.
pub(crate) fn saturated(digits: &str) -> u64 {
    let largest = i32::MAX as u64;
    digits.parse().unwrap_or(largest).min(largest)
}
