//! Explicit lists of processors: `[0,{1,5},2-6:2]`.

use alloc::vec::Vec;

use crate::openmp::message::Message;

/// The most processors in one range.
const LONGEST: u64 = 65_536;

/// One place of an explicit list: the numbers of its processors, as the operating system gives them.
pub(crate) type Item = Vec<u64>;

/// What stands between the brackets of a list, read from its start.
///
/// Items are `n`, `a-b`, `a-b:stride` (one place for each number), or `{n,n}` (one place of several processors), with
/// commas or blanks between them.
///
/// # Returns
/// The items, and how many bytes of the text they took: the caller says what may follow.
///
/// # Errors
/// What is wrong with a list that begins as none.
pub(crate) fn parse(text: &str) -> Result<(Vec<Item>, usize), Message> {
    let mut reader = Reader { text, at: 0 };
    let mut items = Vec::new();
    loop {
        reader.blanks();
        if reader.eat('{') {
            items.push(reader.set()?);
        } else if let Some(from) = reader.number() {
            reader.range(from, &mut items)?;
        } else if items.is_empty() {
            return Err(Message::ListSyntax);
        } else {
            return Ok((items, reader.at));
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

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    fn eat(&mut self, sign: char) -> bool {
        let found = self.rest().starts_with(sign);
        self.at += usize::from(found);
        found
    }

    /// A number; too large ones are the largest that a runtime knows.
    fn number(&mut self) -> Option<u64> {
        let rest = self.rest();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = (digits > 0).then(|| saturated(&rest[..digits]));
        self.at += digits;
        number
    }

    /// The numbers of `{..}`, behind the brace.
    fn set(&mut self) -> Result<Item, Message> {
        let mut set = Item::new();
        loop {
            self.blanks();
            match self.number() {
                Some(number) => set.push(number),
                None if !set.is_empty() && self.eat('}') => return Ok(set),
                None => return Err(Message::ListSyntax),
            }
            self.blanks();
            self.eat(',');
        }
    }

    /// What follows the first number of a range, or of nothing more.
    fn range(&mut self, from: u64, items: &mut Vec<Item>) -> Result<(), Message> {
        let before = self.at;
        self.blanks();
        if !self.eat('-') {
            self.at = before;
            items.push([from].into());
            return Ok(());
        }
        self.blanks();
        let to = self.number().ok_or(Message::ListSyntax)?;
        self.blanks();
        let mut stride = 1;
        if self.eat(':') {
            self.blanks();
            let sign = if self.eat('-') { -1 } else { 1 };
            self.blanks();
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

/// The number that these digits write; at most 2,147,483,647, as runtimes hold it.
pub(crate) fn saturated(digits: &str) -> u64 {
    let largest = i32::MAX as u64;
    digits.parse().unwrap_or(largest).min(largest)
}
