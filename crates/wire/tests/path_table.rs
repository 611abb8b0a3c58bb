//! Tests of the table of paths: known tables, and properties checked at every size.

use oxmpi_wire::Limits;
use oxmpi_wire::paths::{
    Cost, Path, PathCosts, PathEnd, PathOverrides, PathRow, PathTable, RendezvousScheme, SETTINGS,
    settings,
};
use proptest::prelude::*;

/// Limits with costs that cross: E0 and E1 at 40 B, E1 and R0 at 2,000 B, R0 and R1 at 200,000 B.
const LIMITS: Limits = Limits {
    costs: PathCosts {
        short: Cost::line(40, 1000),
        frame: Cost::line(60, 500),
        get: Cost::line(860, 100),
        put: Cost::line(10_860, 50),
    },
    ..Limits::new(48, 4096)
};

fn row(path: Path, first: u64, last: u64, until: PathEnd) -> PathRow {
    PathRow {
        path,
        first,
        last: Some(last),
        until: Some(until),
    }
}

fn endless(path: Path, first: u64) -> PathRow {
    PathRow {
        path,
        first,
        last: None,
        until: None,
    }
}

fn rows(limits: &Limits, overrides: PathOverrides) -> Vec<PathRow> {
    PathTable::new(limits, &overrides).rows().collect()
}

#[test]
fn costs_decide_without_overrides() {
    assert_eq!(
        rows(&LIMITS, PathOverrides::NONE),
        [
            row(Path::E0, 0, 40, PathEnd::Cost),
            row(Path::E1, 41, 2000, PathEnd::Cost),
            row(Path::R0, 2001, 200_000, PathEnd::Cost),
            endless(Path::R1, 200_001),
        ]
    );
    // Without measurements each path is used as far as it reaches.
    assert_eq!(
        rows(&Limits::new(48, 8192), PathOverrides::NONE),
        [
            row(Path::E0, 0, 48, PathEnd::Reach),
            row(Path::E1, 49, 8192, PathEnd::Reach),
            endless(Path::R0, 8193),
        ]
    );
}

#[test]
fn descriptions_name_the_protocol_and_differ() {
    let about = Path::ALL.map(Path::about);
    let protocols = about.map(|text| text.split(',').next().unwrap_or_default());
    assert_eq!(protocols, ["eager", "eager", "rendezvous", "rendezvous"]);
    let mut different = about.to_vec();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), about.len());
}

#[test]
fn every_setting_moves_its_switch_point() {
    const NONE: PathOverrides = PathOverrides::NONE;
    let short = |bytes| PathOverrides {
        short: Some(bytes),
        ..NONE
    };
    let forced = |rendezvous| PathOverrides { rendezvous, ..NONE };
    let get = PathOverrides {
        get: Some(5000),
        ..NONE
    };
    let only_get = forced(RendezvousScheme::Get);
    for (overrides, first_row, expected) in [
        (short(8), 0, &[row(Path::E0, 0, 8, PathEnd::Setting)][..]),
        (short(1 << 20), 0, &[row(Path::E0, 0, 48, PathEnd::Reach)]),
        (
            PathOverrides::eager(3000),
            1,
            &[row(Path::E1, 41, 3000, PathEnd::Setting)],
        ),
        (
            PathOverrides::eager(16),
            0,
            &[
                row(Path::E0, 0, 16, PathEnd::Setting),
                row(Path::R0, 17, 200_000, PathEnd::Cost),
            ],
        ),
        (
            get,
            2,
            &[
                row(Path::R0, 2001, 5000, PathEnd::Setting),
                endless(Path::R1, 5001),
            ],
        ),
        (only_get, 2, &[endless(Path::R0, 2001)]),
        (
            forced(RendezvousScheme::Put),
            1,
            &[
                row(Path::E1, 41, 4096, PathEnd::Reach),
                endless(Path::R1, 4097),
            ],
        ),
    ] {
        let found = rows(&LIMITS, overrides);
        let found = &found[first_row..][..expected.len()];
        assert_eq!(found, expected, "{overrides:?}");
    }
    for chunk in [Some(4096), None] {
        let table = PathTable::new(&LIMITS, &PathOverrides { chunk, ..NONE });
        assert_eq!(table.points().chunk, chunk.unwrap_or(Limits::CHUNK));
    }
}

#[test]
fn values_are_checked() {
    for row in SETTINGS {
        (row.check)(row.default).unwrap();
        assert!((row.check)("much").is_err(), "{}", row.name);
    }
    for bad in ["4096M", "-1", ""] {
        assert!(settings::eager_limit(bad).is_err(), "{bad:?}");
    }
    for bad in ["4095", "2G"] {
        assert!(settings::put_chunk(bad).is_err(), "{bad:?}");
    }
}

fn cost() -> impl Strategy<Value = Cost> {
    (0..500u32, 0..2000u32, 1..300u64, 0..500u32, 0..2000u32)
        .prop_map(|(ns, ps, from, then, after)| Cost::line(ns, ps).then(from, then, after))
}

fn limits() -> impl Strategy<Value = Limits> {
    let costs = (cost(), cost(), cost(), cost()).prop_map(|(short, frame, get, put)| PathCosts {
        short,
        frame,
        get,
        put,
    });
    (0..64u32, 128..300u32, 0..600u64, costs).prop_map(|(short, frame, get, costs)| Limits {
        get,
        costs,
        ..Limits::new(short, frame)
    })
}

fn switches() -> impl Strategy<Value = PathOverrides> {
    let bytes = || prop::option::weighted(0.3, 0..400u32);
    let rendezvous = prop_oneof![
        3 => Just(RendezvousScheme::Auto),
        1 => Just(RendezvousScheme::Get),
        1 => Just(RendezvousScheme::Put)
    ];
    (bytes(), bytes(), bytes(), rendezvous).prop_map(|(short, eager, get, rendezvous)| {
        PathOverrides {
            short,
            eager,
            get: get.map(u64::from),
            rendezvous,
            chunk: None,
        }
    })
}

proptest! {
    /// Rows have no gaps, agree with the path of a message, and stay within the reach of each path.
    #[test]
    fn rows_and_paths_agree(limits in limits(), switches in switches()) {
        let table = PathTable::new(&limits, &switches);
        let rows: Vec<_> = table.rows().collect();
        let mut next = Some(0);
        for row in &rows {
            prop_assert_eq!(Some(row.first), next);
            next = row.last.map(|last| last + 1);
            for len in row.first..=row.last.unwrap_or(1000).min(1000) {
                prop_assert_eq!(table.path(len), row.path, "{} B", len);
            }
            prop_assert_eq!(row.last.is_none(), row.until.is_none());
            match row.path {
                Path::E0 => prop_assert!(row.last <= Some(u64::from(limits.short.min(limits.frame)))),
                Path::E1 => prop_assert!(row.last <= Some(u64::from(limits.frame))),
                Path::R0 => prop_assert!(switches.rendezvous != RendezvousScheme::Put),
                Path::R1 => prop_assert!(switches.rendezvous != RendezvousScheme::Get),
            }
        }
        prop_assert_eq!(next, None);
    }

    /// Without overrides every size takes the cheapest path of those that have not ended: checked for each
    /// size.
    #[test]
    fn each_size_takes_the_cheapest(limits in limits()) {
        let table = PathTable::new(&limits, &PathOverrides::NONE);
        let reach = |path| match path {
            Path::E0 => u64::from(limits.short.min(limits.frame)),
            Path::E1 => u64::from(limits.frame),
            Path::R0 => limits.get,
            Path::R1 => u64::MAX,
        };
        let mut now = Path::E0;
        for len in 0..800u64 {
            while let Some(next) = Path::ALL.into_iter().find(|path| *path > now) {
                let later = Path::ALL.into_iter().filter(|path| *path > now);
                let cheaper = later.map(|path| limits.costs.of(path).ps(len)).any(|ps| ps < limits.costs.of(now).ps(len));
                // An empty message always takes E0.
                if len == 0 && now == Path::E0 || len <= reach(now) && !cheaper {
                    break;
                }
                now = next;
            }
            prop_assert_eq!(table.path(len), now, "{} B", len);
        }
    }
}
