//! [`macro@resumable`] makes two forms of an `async fn`: one that blocks, and one that is resumed.
//!
//! A protocol is written once, as asynchronous code. Its blocking form has no state machine, so a short call costs what a
//! plain function costs: of eight collectives in shared memory, a state machine that never waits took 1.1 to 2 times the
//! time.

#![forbid(unsafe_code)]

use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

/// What the name of a resumable form ends with.
const SUFFIX: &str = "_resumable";

/// Makes two forms of an `async fn`, or of each one in an `impl` block, whose other items stay as they are.
///
/// The blocking form has the function's name: it is no `async fn`, and without each `.await` it calls the blocking forms
/// of others. The resumable form is the function itself with `_resumable` behind its name, and behind those of the
/// functions whose calls it awaits. So what is awaited must be a call of a function that has both forms, or a pair of
/// functions with such names.
///
/// ```
/// use oxmpi_resumable::resumable;
/// # use std::{future::poll_fn, pin::pin, task::{Context, Poll, Waker}};
///
/// struct Door(u32);
///
/// impl Door {
///     fn opens(&mut self) {
///         while self.0 > 0 {
///             self.0 -= 1;
///         }
///     }
///
///     async fn opens_resumable(&mut self) {
///         poll_fn(|_| match self.0 {
///             0 => Poll::Ready(()),
///             _ => {
///                 self.0 -= 1;
///                 Poll::Pending
///             }
///         })
///         .await;
///     }
/// }
///
/// #[resumable]
/// async fn enter(door: &mut Door) -> &'static str {
///     door.opens().await;
///     "inside"
/// }
///
/// assert_eq!(enter(&mut Door(2)), "inside");
/// let (mut door, mut context) = (Door(2), Context::from_waker(Waker::noop()));
/// let mut entering = pin!(enter_resumable(&mut door));
/// assert_eq!(entering.as_mut().poll(&mut context), Poll::Pending);
/// assert_eq!(entering.as_mut().poll(&mut context), Poll::Pending);
/// assert_eq!(entering.as_mut().poll(&mut context), Poll::Ready("inside"));
/// ```
#[proc_macro_attribute]
pub fn resumable(_: TokenStream, item: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = item.into_iter().collect();
    match tokens.split_last() {
        Some((TokenTree::Group(body), head)) if is_impl(head) => {
            let both = items(body.stream()).flat_map(|item| both_forms(&item));
            let both = TokenTree::Group(Group::new(Delimiter::Brace, both.collect()));
            head.iter().cloned().chain([both]).collect()
        }
        _ => both_forms(&tokens),
    }
}

fn is_impl(head: &[TokenTree]) -> bool {
    head.iter().any(|token| is_word(token, "impl")) && !is_async(head)
}

/// The items of an `impl` block: each ends with its body or a semicolon.
fn items(block: TokenStream) -> impl Iterator<Item = Vec<TokenTree>> {
    let mut tokens = block.into_iter();
    std::iter::from_fn(move || {
        let mut item = Vec::new();
        for token in tokens.by_ref() {
            let is_last = match &token {
                TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                TokenTree::Punct(punct) => punct.as_char() == ';',
                _ => false,
            };
            item.push(token);
            if is_last {
                break;
            }
        }
        (!item.is_empty()).then_some(item)
    })
}

/// Both forms of an `async fn`; another item as it is.
fn both_forms(item: &[TokenTree]) -> TokenStream {
    if !is_async(item) {
        return item.iter().cloned().collect();
    }
    let blocking = without_await(
        item.iter()
            .filter(|token| !is_word(token, "async"))
            .cloned(),
    );
    let mut named = renamed_calls(item.to_vec());
    if let Some(at) = named.iter().position(|token| is_word(token, "fn")) {
        rename(&mut named[at + 1]);
    }
    blocking.into_iter().chain(named).collect()
}

fn is_async(item: &[TokenTree]) -> bool {
    item.windows(2)
        .any(|pair| is_word(&pair[0], "async") && is_word(&pair[1], "fn"))
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident.to_string() == word)
}

fn is_dot(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == '.')
}

/// The tokens without each `.await`.
fn without_await(tokens: impl Iterator<Item = TokenTree>) -> Vec<TokenTree> {
    let mut all: Vec<TokenTree> = Vec::new();
    for token in tokens {
        if is_word(&token, "await") && all.last().is_some_and(is_dot) {
            all.pop();
        } else {
            all.push(within(token, |inner| without_await(inner.into_iter())));
        }
    }
    all
}

/// The tokens with the suffix behind the name of each function whose call is awaited.
fn renamed_calls(tokens: Vec<TokenTree>) -> Vec<TokenTree> {
    let mut all: Vec<TokenTree> = Vec::new();
    for token in tokens {
        let is_await = is_word(&token, "await") && all.last().is_some_and(is_dot);
        // Before it are the name, the arguments and the dot.
        if let (true, Some(name)) = (is_await, all.len().checked_sub(3)) {
            rename(&mut all[name]);
        }
        all.push(within(token, |inner| {
            renamed_calls(inner.into_iter().collect())
        }));
    }
    all
}

/// A group with other content; another token as it is.
fn within(token: TokenTree, change: impl FnOnce(TokenStream) -> Vec<TokenTree>) -> TokenTree {
    let TokenTree::Group(group) = token else {
        return token;
    };
    let content = change(group.stream()).into_iter().collect();
    let mut changed = Group::new(group.delimiter(), content);
    changed.set_span(group.span());
    TokenTree::Group(changed)
}

/// Adds the suffix to a name. What is no name stays: the compiler then says what is awaited.
fn rename(token: &mut TokenTree) {
    if let TokenTree::Ident(name) = token {
        let span: Span = name.span();
        *token = TokenTree::Ident(Ident::new(&format!("{name}{SUFFIX}"), span));
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
