//! Helpers that the tests of placement share.

use oxmpi_pin::{Placement, Settings};

/// Settings as a user types them.
pub(crate) fn settings(pin: &str, domain: &str, order: &str) -> Settings {
    Settings {
        pin: oxmpi_text::switch(pin).unwrap(),
        domain: Some(domain.parse().unwrap()),
        order: order.parse().unwrap(),
        ..Settings::default()
    }
}

/// The processors of each rank, as lists.
pub(crate) fn cpus(placement: &Placement) -> Vec<String> {
    placement
        .ranks
        .iter()
        .map(|rank| rank.cpus.to_string())
        .collect()
}
