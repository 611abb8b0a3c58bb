//! Calls the catalog and a plan of oxmpi-coll, which need no allocator.

use oxmpi_coll::catalog::{Algorithm, Call, Parameters};
use oxmpi_coll::plan::Plan;

pub fn call() -> bool {
    let plan = Algorithm::AllreduceRing.plan(&Call::allreduce(1, 4, 8, 8), &Parameters::NONE);
    plan.is_ok_and(|plan| plan.steps() > 0)
}
