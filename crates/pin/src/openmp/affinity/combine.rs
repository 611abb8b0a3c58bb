//! Checks the parameters of `KMP_AFFINITY` together: applies defaults and warns of contradictions.

use oxmpi_text::Span;

use crate::openmp::affinity::parser::Parser;
use crate::openmp::affinity::{Granularity, Read, Type};
use crate::openmp::message::Message;

impl Parser<'_> {
    /// Combines the parameters read before into the result.
    pub(super) fn end(mut self) -> Read {
        let listed = self.seen.contains(&"proclist");
        let all = self.text.len();
        match self.affinity.kind {
            Type::Default if listed => {
                self.affinity.kind = Type::Explicit;
                self.warn(Message::ProclistAlone, 0, all, "explicit with the list");
            }
            Type::Explicit => {}
            _ if listed => self.warn(Message::ProclistIdle, 0, all, "explicit with a list"),
            _ => {}
        }
        self.share_integers();
        let affinity = &mut self.affinity;
        if affinity.kind == Type::Explicit && !listed {
            affinity.kind = Type::None;
        }
        let chosen = matches!(affinity.granularity, None | Some(Granularity::Levels(_)));
        if affinity.kind == Type::Balanced && chosen && (affinity.verbose || affinity.warnings) {
            let expected = "granularity=core or granularity=fine with balanced";
            self.warn(Message::GranularityChosen, 0, all, expected);
        }
        Read {
            affinity: self.affinity,
            wrong: self.wrong,
        }
    }

    /// Assigns the integers to permute and offset, as the type wants them.
    fn share_integers(&mut self) {
        let (first, second) = (
            self.integers.first().copied(),
            self.integers.get(1).copied(),
        );
        let number = |integer: Option<(u64, Span)>| integer.map_or(0, |(number, _)| number);
        match self.affinity.kind {
            Type::Logical | Type::Physical => {
                self.affinity.offset = number(first);
                if let Some((number, span)) = second {
                    let message = Message::ManyForLogical(number);
                    self.warn(message, span.start, span.end, "one integer, the offset");
                }
            }
            Type::Compact | Type::Scatter | Type::Balanced => {
                self.affinity.permute = number(first);
                self.affinity.offset = number(second);
            }
            kind => {
                if kind == Type::Explicit && !self.seen.contains(&"proclist") {
                    let expected = "a list with explicit, such as explicit,proclist=[0,2]";
                    self.warn(Message::NoProclist, 0, self.text.len(), expected);
                }
                if let Some((_, span)) = first {
                    let message = Message::NoIntegers(kind.word());
                    self.warn(message, span.start, span.end, "no integer with this type");
                }
            }
        }
    }
}
