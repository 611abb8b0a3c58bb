//! A build without the feature `tcp`: a job has one node, and a setting that asks for TCP is refused.
#![cfg(not(feature = "tcp"))]

use oxmpi::{Error, Op, World};

#[test]
fn tcp_is_refused_and_one_node_works() {
    for wanted in ["tcp", "sm,tcp"] {
        let refused = World::builder().setting("transports", wanted).init();
        let Err(Error::Setting(why)) = refused else {
            panic!("{wanted}: {refused:?}");
        };
        assert!(why.contains("without the feature `tcp`"), "{why}");
        assert!(why.contains(&format!("transports = {wanted}")), "{why}");
    }
    let world = World::builder().setting("transports", "^tcp").init();
    let world = world.expect("shared memory");
    let comm = world.comm();
    comm.bsend(&[7u64; 1000], 0, 1).expect("sent");
    assert_eq!(comm.recv_vec::<u64>(0, 1).expect("received").0, [7; 1000]);
    assert_eq!(comm.allreduce(&1u32, Op::SUM).expect("of one rank"), 1);
}
