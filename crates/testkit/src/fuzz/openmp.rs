//! Fuzz body of the OpenMP variables: with any values on any machine, each thread gets processors that it may
//! use.

use oxmpi_pin::openmp::{Dialect, Levels, Request, Rules, Team, bind};
use oxmpi_topo::{CpuSet, Machine};

/// Uses the first bytes as a small machine, a mask and a number of threads, and each line after them as a
/// variable, in the order of [`Request`]'s fields; binds the threads by all rules.
///
/// # Panics
/// On a finding.
pub fn openmp(data: &[u8]) {
    let [packages, cores, pus, mask, threads, rest @ ..] = data else {
        return;
    };
    let Ok(text) = std::str::from_utf8(rest) else {
        return;
    };
    let shape = format!(
        "package:{} core:{} pu:{}",
        packages % 4 + 1,
        cores % 4 + 1,
        pus % 3 + 1
    );
    let machine = Machine::from_synthetic(&shape).expect("a small machine");
    let mask: CpuSet = (0..48).filter(|cpu| mask >> (cpu % 8) & 1 == 1).collect();
    let mut lines = text.lines().map(|line| (!line.is_empty()).then_some(line));
    let mut variable = || lines.next().flatten();
    let request = Request {
        kmp_affinity: variable(),
        gomp_cpu_affinity: variable(),
        omp_places: variable(),
        omp_proc_bind: variable(),
        kmp_hw_subset: variable(),
        kmp_place_threads: variable(),
        mask: Some(&mask),
        threads: u32::from(*threads) % 70,
    };
    for levels in [Levels::Documented, Levels::Current] {
        for rules in [Rules::Documented, Rules::Runtime] {
            let team = bind(&machine, &request, Dialect { levels, rules });
            check(&machine, &request, &team);
        }
    }
}

fn check(machine: &Machine, request: &Request<'_>, team: &Team) {
    let of_machine = request.mask.map(|mask| mask & machine.online());
    let mask = of_machine.filter(|mask| !mask.is_empty());
    let is_widened = request.kmp_affinity.is_some_and(|text| {
        let text = text.to_ascii_lowercase();
        text.contains("norespect")
    });
    let allowed = match mask {
        Some(mask) if !is_widened => mask,
        _ => machine.online().clone(),
    };
    assert!(!team.threads.is_empty());
    assert!(request.threads == 0 || team.threads.len() == request.threads as usize);
    for cpus in &team.threads {
        assert!(!cpus.is_empty() && cpus.is_subset(&allowed), "{cpus}");
    }
    assert!(team.hints.len() <= team.warnings.len());
    for hint in &team.hints {
        assert!(hint.lines().count() == 3 && hint.ends_with('^'), "{hint}");
    }
    assert!(team.report.iter().all(|line| !line.contains('\n')));
}
