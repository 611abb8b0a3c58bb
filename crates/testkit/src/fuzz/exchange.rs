//! What a leader of another node says of where its ranks are.

use oxmpi_wire::exchange::{Directory, Exchange, Next, Seat, Sheet};

/// Reads `data` as a sheet, as a message of an exchange among up to seven nodes, and as all sheets.
///
/// # Panics
/// If a part panics, a sheet that was read is written otherwise, a directory lacks a rank, or a leader
/// goes on after a message that it refused.
pub fn exchange(data: &[u8]) {
    let Some((&first, said)) = data.split_first() else {
        return;
    };
    if let Ok(sheet) = Sheet::decode(0, said) {
        assert_eq!(sheet.encode(), said);
    }
    let (nodes, ranks) = (u32::from(first % 7) + 1, u32::from(first / 7));
    match Directory::read(ranks, nodes, said) {
        Ok(all) => assert!((0..ranks).all(|rank| all.place(rank).is_some())),
        Err(why) => assert!(why.to_string().len() < 500),
    }
    let own = Sheet {
        common: "node0".into(),
        ranks: vec![Seat {
            rank: 0,
            pid: 1,
            port: 1,
        }],
    };
    let mut leader = Exchange::new(0, nodes, &own);
    for from in 0..nodes {
        let before = leader.step();
        if leader.came(from, said).is_err() {
            assert_eq!(leader.step(), before);
        }
        if let Next::Get { .. } = leader.step() {
            leader.got(true).expect("it is there");
            assert!(matches!(leader.step(), Next::Send { .. }));
        }
    }
}
