//! The project's aims for each figure, against the best peer and against the floor, and whether each is
//! met.
//!
//! Aims 1 to 7 are those for messages between two ranks, 8 those of [`collectives`], 9 those of messages by
//! TCP, 10 those of the [C face](c_face), 11 those of one-sided communication ([rma]).

mod c_face;
mod collectives;
mod rma;

use super::figures::{FigureKey, Figures};
use std::fmt::Write;

/// A figure of fewer runs is marked.
const RUNS: usize = 5;

/// Up to this ratio a miss may be noise, where the aim is to be no slower.
const NOISE: f64 = 1.05;

/// One aim: a figure and its upper bound.
#[derive(Debug)]
pub(crate) struct Target {
    /// The number of the aim.
    pub(crate) number: u32,
    pub(crate) what: String,
    /// Our figure, and its upper bound, in `unit`.
    pub(crate) reached: Option<(f64, f64)>,
    pub(crate) unit: &'static str,
    /// How the bound is made.
    pub(crate) bound: String,
    /// Whether a miss of up to [`NOISE`] counts only if it repeats.
    pub(crate) noisy: bool,
    /// The smallest number of runs of an implementation.
    pub(crate) runs: usize,
    /// Whether this comparison was asked to measure it.
    pub(crate) asked: bool,
}

/// The verdict on an aim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Met,
    /// Missed by no more than noise may cause.
    Noise,
    Missed,
    NotMeasured,
}

impl Target {
    pub(crate) fn verdict(&self) -> Verdict {
        match self.reached {
            None => Verdict::NotMeasured,
            Some((ours, bound)) if ours <= bound => Verdict::Met,
            Some((ours, bound)) if self.noisy && ours <= bound * NOISE => Verdict::Noise,
            Some(_) => Verdict::Missed,
        }
    }
}

/// Collects aims from the figures of one placement.
struct Aims<'a> {
    figures: &'a Figures<'a>,
    list: Vec<Target>,
}

impl Aims<'_> {
    /// A ratio of ours and its upper bound; `runs` and `asked` are those of all that it is made of.
    fn ratio(
        &mut self,
        number: u32,
        what: String,
        reached: Option<(f64, f64)>,
        bound: String,
        cells: &[FigureKey],
    ) {
        let runs = cells.iter().map(|cell| self.figures.fewest_runs(cell));
        self.list.push(Target {
            number,
            what,
            reached,
            unit: "x",
            bound,
            noisy: false,
            runs: runs.filter(|&runs| runs > 0).min().unwrap_or(0),
            asked: cells.iter().any(|cell| self.figures.asked(cell)),
        });
    }

    /// The geometric mean of ours over the best peer, of the cells that are measured, and their number.
    fn mean_over_peers(&self, cells: &[FigureKey]) -> (Option<f64>, usize) {
        let ratio = |cell: &FigureKey| {
            let (ours, best) = (self.figures.ours(cell)?, self.figures.best_peer(cell)?);
            Some(ours / best.1)
        };
        let logarithms: Vec<f64> = cells.iter().filter_map(ratio).map(f64::ln).collect();
        let count = logarithms.len();
        let mean = (logarithms.iter().sum::<f64>() / count as f64).exp();
        ((count > 0).then_some(mean), count)
    }

    /// Our figure is at most `factor` times the best peer's.
    fn peer(&mut self, number: u32, what: &str, cell: &FigureKey, factor: f64) {
        let best = self.figures.best_peer(cell);
        let bound = match best {
            Some((name, best)) => format!("{factor:.2} x {name} {:.3}", best / 1e3),
            None => format!("{factor:.2} x best peer"),
        };
        self.time(
            number,
            what,
            cell,
            best.map(|(_, best)| best * factor),
            bound,
        );
    }

    /// Our figure is at most `bound` nanoseconds.
    fn time(
        &mut self,
        number: u32,
        what: &str,
        cell: &FigureKey,
        most: Option<f64>,
        bound: String,
    ) {
        let reached = self.figures.ours(cell).zip(most);
        self.list.push(Target {
            number,
            what: what.to_owned(),
            reached: reached.map(|(ours, most)| (ours / 1e3, most / 1e3)),
            unit: "us",
            bound,
            noisy: false,
            runs: self.figures.fewest_runs(cell),
            asked: self.figures.asked(cell),
        });
    }

    /// Our figure is at most `factor` times the floor's and `more` nanoseconds.
    fn floor(&mut self, number: u32, what: &str, cell: &FigureKey, factor: f64, more: f64) {
        let floor = self.figures.floor(cell);
        let mut bound = match floor {
            Some((method, floor)) => format!("{factor:.2} x floor {:.3} ({method})", floor / 1e3),
            None => format!("{factor:.2} x floor"),
        };
        if more > 0.0 {
            _ = write!(bound, " + {:.3}", more / 1e3);
        }
        let most = floor.map(|(_, floor)| floor * factor + more);
        self.time(number, what, cell, most, bound);
    }
}

/// Every aim, in order.
pub(crate) fn targets(figures: &Figures<'_>) -> Vec<Target> {
    let list = Vec::new();
    let mut aims = Aims { figures, list };
    shortest(&mut aims);
    short(&mut aims);
    bulk(&mut aims);
    patterns(&mut aims);
    crowds(&mut aims);
    memory(&mut aims);
    threads(&mut aims);
    collectives::aims(&mut aims);
    network(&mut aims);
    c_face::aims(&mut aims);
    rma::aims(&mut aims);
    aims.list
}

/// 1: 8 B, no slower than two bare cache lines, one for each direction, polled without PAUSE. The figure
/// with PAUSE is printed too, since some processors are faster with it.
fn shortest(aims: &mut Aims<'_>) {
    let two = aims.figures.methods(&FigureKey::new("two lines", 2, 0));
    let bare = two.iter().find(|(method, _)| *method == "plain");
    for (kernel, more) in [("pingpong", 0.0), ("posted", 15.0)] {
        let cell = FigureKey::new(kernel, 2, 8);
        let what = format!("{kernel} 8 B");
        let mut bound = "two lines".to_owned();
        for (method, bare) in &two {
            _ = write!(bound, ", {method} {:.3}", bare / 1e3);
        }
        if more > 0.0 {
            _ = write!(bound, "; + {:.3}", more / 1e3);
        }
        aims.time(1, &what, &cell, bare.map(|(_, bare)| bare + more), bound);
        aims.peer(1, &what, &cell, 0.65);
    }
}

/// 2: 64 B to 8 KiB.
fn short(aims: &mut Aims<'_>) {
    for kernel in ["pingpong", "rewritten"] {
        let cells = [64, 1024, 8192].map(|bytes| FigureKey::new(kernel, 2, bytes));
        for cell in &cells {
            let what = format!("{kernel} {} B", cell.bytes);
            aims.peer(2, &what, cell, 0.95);
            aims.floor(2, &what, cell, 1.25, 25.0);
        }
        let what = format!("{kernel} 64 B, 1 KiB, 8 KiB");
        let (mean, count) = aims.mean_over_peers(&cells);
        let mean = mean.filter(|_| count == cells.len());
        let bound = "geometric mean over the best peer".into();
        aims.ratio(2, what, mean.map(|mean| (mean, 0.8)), bound, &cells);
    }
}

/// 3: bandwidth.
fn bulk(aims: &mut Aims<'_>) {
    for kernel in ["pingpong", "rewritten"] {
        for bytes in [65536, 1048576, 4194304] {
            let cell = FigureKey::new(kernel, 2, bytes);
            let what = format!("{kernel} {bytes} B");
            aims.peer(3, &what, &cell, 1.0 / 1.1);
            aims.floor(3, &what, &cell, 1.0 / 0.8, 0.0);
        }
    }
    for bytes in [1048576, 4194304] {
        aims.peer(
            3,
            &format!("cold {bytes} B"),
            &FigureKey::new("cold", 2, bytes),
            1.0 / 1.05,
        );
    }
}

/// 4: Sendrecv, Exchange, rate.
fn patterns(aims: &mut Aims<'_>) {
    for kernel in ["sendrecv", "exchange"] {
        for bytes in [8, 65536, 1048576] {
            aims.peer(
                4,
                &format!("{kernel} {bytes} B"),
                &FigureKey::new(kernel, 2, bytes),
                1.0,
            );
            if let Some(last) = aims.list.last_mut() {
                last.noisy = true;
            }
        }
    }
    for kernel in ["vector", "vectors"] {
        let (what, cell) = (
            format!("{kernel} 8 MiB"),
            FigureKey::new(kernel, 2, 8388608),
        );
        aims.peer(4, &what, &cell, 1.0 / 0.9);
    }
    aims.peer(
        4,
        "rate 8 B, one message",
        &FigureKey::new("rate", 2, 8),
        0.5,
    );
}

/// 5: more ranks than processors.
fn crowds(aims: &mut Aims<'_>) {
    for (kernel, bytes) in [("crowd", 8), ("barrier", 0)] {
        for ranks in [4, 8] {
            let what = format!("{kernel}, {ranks} ranks on 2 processors");
            aims.peer(5, &what, &FigureKey::new(kernel, ranks, bytes), 0.7);
        }
    }
}

/// 6: memory after MPI_Init of 8 ranks.
fn memory(aims: &mut Aims<'_>) {
    for (kernel, most) in [
        ("private, largest rank", 2e6),
        ("shared and mapped, job", 8e6),
    ] {
        let cell = FigureKey::new(kernel, 8, 0);
        let what = format!("memory {kernel}");
        aims.time(6, &what, &cell, Some(most), "a fixed limit".into());
        if let Some(last) = aims.list.last_mut() {
            last.unit = "kB";
        }
    }
}

/// 7: two threads, each with its own endpoint.
fn threads(aims: &mut Aims<'_>) {
    let [one, two] = [1, 2].map(|threads| FigureKey::new("threads", threads, 8));
    let both = aims.figures.ours(&one).zip(aims.figures.ours(&two));
    let reached = both.map(|(one, two)| (two / one, 1.0 / 1.6));
    let what = "time of a message, 2 threads over 1".into();
    aims.ratio(7, what, reached, "1 / 1.6 of one thread".into(), &[two]);
}

/// 9: TCP over the loopback device.
fn network(aims: &mut Aims<'_>) {
    for (kernel, bytes, factor) in [
        ("network", 8, 0.9),
        ("network", 1048576, 1.0 / 1.1),
        ("stream", 1048576, 1.0 / 1.1),
    ] {
        let what = format!("{kernel} {bytes} B");
        aims.peer(9, &what, &FigureKey::new(kernel, 2, bytes), factor);
    }
}

/// The verdicts on all aims that were asked for, and how many there are of each.
pub(crate) fn summary(placement: &str, figures: &Figures<'_>) -> String {
    let targets = targets(figures);
    let peers: Vec<&str> = figures.peers().into_iter().collect();
    let peers = peers.join(", ");
    let mut text = format!("Aims; placement {placement}; medians; the best of {peers}\n");
    for target in targets.iter().filter(|target| target.asked) {
        let said = match target.verdict() {
            Verdict::Met => "met",
            Verdict::Noise => "NOISE?",
            Verdict::Missed => "MISSED",
            Verdict::NotMeasured => "not measured",
        };
        let (number, what, unit) = (target.number, &target.what, target.unit);
        _ = write!(text, "{number:>2}  {what:<36}");
        match target.reached {
            Some((ours, most)) => {
                _ = write!(text, "{ours:>11.3} <= {most:>10.3} {unit:<3} {said:<13}");
            }
            None => _ = write!(text, "{:>11} <= {:>10} {unit:<3} {said:<13}", "-", "-"),
        }
        _ = write!(text, "{}", target.bound);
        if target.reached.is_some() && target.runs < RUNS {
            _ = write!(text, "; only {} runs", target.runs);
        }
        text.push('\n');
    }
    let count = |verdict| {
        targets
            .iter()
            .filter(|target| target.verdict() == verdict)
            .count()
    };
    _ = writeln!(
        text,
        "{} met, {} missed, {} perhaps noise, {} not measured; instructions of a message are counted elsewhere",
        count(Verdict::Met),
        count(Verdict::Missed),
        count(Verdict::Noise),
        count(Verdict::NotMeasured)
    );
    text
}
