//! What the words have set so far.

use super::{BenchRun, OptionError, ThreadLevel, names};
use crate::kernels::AnyKernel;
use crate::lengths::Lengths;
use crate::method::Policy;
use crate::suite::{Benchmark, Multiple, Plan};
use crate::{Megabyte, Part};
use alloc::string::String;
use alloc::vec::Vec;

/// What the words have set so far.
#[derive(Default)]
pub(super) struct Draft {
    /// Everything but the benchmarks and the lengths.
    pub(super) plan: Plan,
    /// Benchmarks named by words or by `-input`.
    pub(super) named: Vec<Benchmark>,
    /// Benchmarks of `-include`.
    pub(super) included: Vec<Benchmark>,
    /// Benchmarks of `-exclude`.
    pub(super) excluded: Vec<Benchmark>,
    /// The mode of all benchmarks (`-multi`).
    pub(super) multiple: Option<Multiple>,
    /// The lengths of messages, if given.
    pub(super) lengths: Option<Lengths>,
    /// The word of the part, if given.
    pub(super) part: Option<Part>,
    /// The word of `-sync`, if given, and whether it means on.
    pub(super) sync: Option<(String, bool)>,
    /// Whether a time limit was given.
    pub(super) is_timed: bool,
    pub(super) thread_level: Option<ThreadLevel>,
    pub(super) megabyte: Megabyte,
}

impl Draft {
    /// Takes a word that is no option: a part or a benchmark.
    pub(super) fn name(&mut self, word: &str) -> Result<(), OptionError> {
        match Part::named(word) {
            Some(part) => self.part(part),
            None => names::all(self.plan.part, word, &mut |benchmark| {
                self.named.push(benchmark);
            }),
        }
    }

    /// Sets the part, which says what the names after it mean.
    fn part(&mut self, part: Part) -> Result<(), OptionError> {
        let is_named = [&self.named, &self.included, &self.excluded];
        let is_named = is_named.into_iter().any(|names| !names.is_empty());
        match self.part.replace(part) {
            Some(other) if other != part => Err(OptionError::Parts(other, part)),
            None if is_named && part != self.plan.part => Err(OptionError::Late(part)),
            _ => {
                self.plan.part = part;
                Ok(())
            }
        }
    }

    /// The run that all words together ask for.
    pub(super) fn bench_run(mut self) -> Result<BenchRun, OptionError> {
        for benchmark in self.chosen() {
            if !self.plan.benchmarks.contains(&benchmark) {
                self.plan.benchmarks.push(benchmark);
            }
        }
        self.plan.lengths = match self.lengths.take() {
            Some(lengths) => lengths,
            None => self.plan.part.lengths(),
        };
        if self.plan.benchmarks.is_empty() {
            return Err(OptionError::Nothing);
        }
        if let Some((value, is_on)) = self.sync.take() {
            match self.plan.part {
                Part::Nbc => self.plan.synchronises = is_on,
                _ if is_on => return Err(OptionError::Synchronised(value)),
                _ => {}
            }
        }
        // "The number of iterations does not change": not by a limit that nobody has asked for.
        if self.plan.method.policy == Policy::Off && !self.is_timed {
            self.plan.method.seconds = f64::INFINITY;
        }
        Ok(BenchRun {
            plan: self.plan,
            thread_level: self.thread_level,
            megabyte: self.megabyte,
        })
    }

    /// The benchmarks named, in that order, then those included; without names, those that run by
    /// default and those included, in the order of the catalog; all in the mode of `-multi`. None that is
    /// excluded.
    fn chosen(&self) -> Vec<Benchmark> {
        let mut chosen = self.named.clone();
        if chosen.is_empty() {
            let is_included = |kernel| self.included.contains(&Benchmark::from(kernel));
            let kernels = AnyKernel::of(self.plan.part)
                .filter(|kernel| kernel.info().by_default || is_included(*kernel));
            chosen.extend(kernels.map(Benchmark::from));
        }
        chosen.extend(&self.included);
        for benchmark in &mut chosen {
            benchmark.multiple = self.multiple.or(benchmark.multiple);
        }
        // A plain name stands for the benchmark in both modes, and `Multi-` for both ways to report.
        let meets = |excluded: &Benchmark, benchmark: &Benchmark| {
            let mode = excluded.multiple.is_none() || benchmark.multiple.is_some();
            excluded.kernel == benchmark.kernel && mode
        };
        chosen.retain(|benchmark| {
            !self
                .excluded
                .iter()
                .any(|excluded| meets(excluded, benchmark))
        });
        chosen
    }
}
