//! Ranks on the loopback device, driven by one thread.

#![allow(dead_code, reason = "each test file uses its part")]

use std::time::{Duration, Instant};

use oxmpi_tcp::{Card, Filter, JobKey, Options, Site, TcpRx, TcpTx};
use oxmpi_testkit::conformance::Log;
use oxmpi_wire::{Bytes, Peer, Rx, Tx};

/// After so long a wait hangs.
pub(crate) const WATCHDOG: Duration = Duration::from_secs(120);

/// What the ranks of a test share.
pub(crate) const SECRET: &[u8] = b"a secret of tests";

/// Both halves of one rank.
pub(crate) type Rank<B> = (TcpTx<B>, TcpRx<B>);

/// A site on the loopback device.
pub(crate) fn site(options: Options) -> Site {
    let loopback = Filter::new("127.0.0.0/8", "").expect("a range");
    Site::open(JobKey::new(SECRET), &loopback, options).expect("a site")
}

/// So many ranks, none of them connected.
pub(crate) fn ranks<B: Bytes>(count: u32, options: Options) -> Vec<Rank<B>> {
    ranks_of(&vec![options; count as usize])
}

/// A rank with each of these options, none of them connected.
pub(crate) fn ranks_of<B: Bytes>(options: &[Options]) -> Vec<Rank<B>> {
    let sites: Vec<Site> = options.iter().map(|own| site(*own)).collect();
    let cards: Vec<Card> = sites.iter().map(|site| site.card().clone()).collect();
    let join = |(me, site): (u32, Site)| site.join(me, cards.clone()).expect("a rank");
    (0..).zip(sites).map(join).collect()
}

/// Polls all of `ranks` until `done`.
pub(crate) fn until<B: Bytes>(
    ranks: &mut [Rank<B>],
    what: &str,
    mut done: impl FnMut(&mut [Rank<B>], &[Log]) -> bool,
    logs: &mut [Log],
) {
    let start = Instant::now();
    while !done(ranks, logs) {
        for ((tx, rx), log) in ranks.iter_mut().zip(&mut *logs) {
            tx.flush();
            rx.poll(tx, 64, log);
        }
        assert!(start.elapsed() < WATCHDOG, "hangs: {what}");
    }
}

/// Two connected ranks.
pub(crate) fn pair<B: Bytes>(options: Options) -> [Rank<B>; 2] {
    let mut ranks = ranks(2, options);
    ranks[0].0.connect(Peer(1));
    let connected = |ranks: &mut [Rank<B>], _: &[Log]| {
        ranks[0].0.is_connected(Peer(1)) && ranks[1].0.is_connected(Peer(0))
    };
    until(&mut ranks, "two ranks connect", connected, &mut logs(2));
    ranks.try_into().expect("two ranks")
}

/// As many logs.
pub(crate) fn logs(count: usize) -> Vec<Log> {
    (0..count).map(|_| Log::default()).collect()
}
