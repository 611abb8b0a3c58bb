//! A build without the feature `tcp`: a setting that asks for TCP is refused. What works is tested by the examples of
//! the documentation, with these features too.
#![cfg(not(feature = "tcp"))]

use oxmpi::{Error, World};

#[test]
fn a_setting_that_asks_for_tcp_is_refused() {
    let refused = World::builder().setting("transports", "sm,tcp").init();
    let Err(Error::Setting(why)) = refused else {
        panic!("{refused:?}");
    };
    let expected = "World::builder transports: transports = sm,tcp, and the program was built without the feature \
                    `tcp` of oxmpi: build it with that feature, or leave tcp out of the list";
    assert_eq!(why, expected);
}
