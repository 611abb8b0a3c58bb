//! Rust sources as names, texts and comments with their lines, for the rules that look at words.

use ra_ap_rustc_lexer::{FrontmatterAllowed, LiteralKind, TokenKind, tokenize};

/// A piece of source; white space and numbers are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// An identifier or a keyword.
    Name(&'a str),
    /// A string literal with its quotes.
    Text(&'a str),
    /// A comment with its marks.
    Comment(&'a str),
    /// Any other sign.
    Sign(&'a str),
}

/// The tokens of `source`, each with the line it begins on, counted from 1.
pub(super) fn of(source: &str) -> impl Iterator<Item = (Token<'_>, usize)> {
    let (mut at, mut line) = (0, 1);
    tokenize(source, FrontmatterAllowed::No).filter_map(move |token| {
        let text = &source[at..at + token.len as usize];
        let begins = line;
        at += text.len();
        line += text.matches('\n').count();
        let token = match token.kind {
            TokenKind::Ident | TokenKind::RawIdent => Token::Name(text),
            TokenKind::LineComment { .. } | TokenKind::BlockComment { .. } => Token::Comment(text),
            TokenKind::Literal { kind, .. } => match kind {
                LiteralKind::Str { .. }
                | LiteralKind::RawStr { .. }
                | LiteralKind::ByteStr { .. }
                | LiteralKind::RawByteStr { .. }
                | LiteralKind::CStr { .. }
                | LiteralKind::RawCStr { .. } => Token::Text(text),
                _ => return None,
            },
            TokenKind::Whitespace | TokenKind::Lifetime { .. } => return None,
            _ => Token::Sign(text),
        };
        Some((token, begins))
    })
}
