//! The cost of algorithms that run one collective after another: the sum of both.

use super::exchanges::{bruck_after_scatter, share};
use super::scatter_ring::passed_on;
use super::{Cost, Model, linear, scatter, scatter_linear};
use super::{lines, rooted, trees};
use crate::call::{Call, Parameters};
use crate::digits::Digits;
use crate::stages;

/// A bcast by a scatter of one block per rank and an allgather.
fn in_blocks(phases: [Cost; 2], call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let block = share(call, call.size);
    let scatter = Call::scatter(0, call.size, 0, block);
    let gather = Call::allgather(0, call.size, block);
    let scattered = phases[0](&scatter, parameters, model);
    let gathered = phases[1](&gather, parameters, model);
    // An allgather includes the copy of a rank's own block, which is in place here.
    scattered.saturating_add(gathered - model.copy(block))
}

/// Bcast by linear scatter and linear allgather.
pub(crate) fn bcast_linear_all(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    in_blocks([scatter_linear, linear], call, parameters, model)
}

/// Bcast by linear scatter and Bruck's allgather.
pub(crate) fn bcast_linear_bruck(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    in_blocks(
        [scatter_linear, bruck_after_scatter],
        call,
        parameters,
        model,
    )
}

/// Bcast by k-nomial scatter and Bruck's allgather.
pub(crate) fn bcast_knomial_bruck(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let regather: Cost = |gather, parameters, model| {
        let radix = parameters.gather_radix;
        let parameters = parameters.with_radix(radix);
        bruck_after_scatter(gather, &parameters, model)
    };
    in_blocks([scatter, regather], call, parameters, model)
        .saturating_add(early_from_root(call, parameters, model))
}

/// The time that the first phase of Bruck's allgather takes longer at the rank that gets its block last:
/// messages of later phases arrive meanwhile, because the root has all blocks at once.
fn early_from_root(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let (size, block) = (call.size, share(call, call.size));
    let digits = Digits::new(size, parameters.gather_radix);
    let Some(above) = trees::last_served(size, parameters).map(|last| size - last) else {
        return 0;
    };
    let is_later = |weight: &u32| above.is_multiple_of(*weight) && above / weight < digits.radix();
    let mut weights = (1..digits.phases()).map(|phase| digits.weight(phase));
    let Some(weight) = weights.find(is_later) else {
        return 0;
    };
    let bytes = block.saturating_mul(weight.min(size - above).into());
    let reach = model.reach((size - above).into());
    let taken = (model.path(reach).recv).saturating_add(model.copy(bytes.min(model.machine.eager)));
    // The processor may be idle until the last message of the first phase arrives.
    let (near, first) = (model.reach(1), u64::from(digits.values(0)));
    let arrived =
        (model.hop(near, block)).saturating_add((first - 1).saturating_mul(model.gap(near, block)));
    let busy = first.saturating_mul(model.both(near, block));
    taken.saturating_sub(arrived.saturating_sub(busy))
}

/// Bcast by linear scatter and ring.
pub(crate) fn bcast_linear_ring(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    match share(call, call.size) <= model.machine.eager {
        true => passed_on(
            (scatter_linear, rooted::scattering),
            call,
            parameters,
            model,
        ),
        false => in_blocks(
            [scatter_linear, lines::ring_from_root],
            call,
            parameters,
            model,
        ),
    }
}

/// Bcast by k-nomial scatter and ring.
pub(crate) fn bcast_knomial_ring(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    match share(call, call.size) <= model.machine.eager {
        true => passed_on((scatter, trees::scattering), call, parameters, model),
        false => in_blocks([scatter, lines::ring_after_tree], call, parameters, model),
    }
}

/// A reduction to one rank, followed by another collective from there.
pub(crate) fn staged(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let [up, down] = stages::stage_calls(call, parameters);
    let cost = |(algorithm, call, by): stages::StageCall| algorithm.cost(&call, &by, model);
    cost(up).saturating_add(cost(down))
}
