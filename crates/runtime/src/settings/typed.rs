//! Values as the types of the crates that own their rows.

use oxmpi_coll::catalog::Collective;
use oxmpi_coll::choice::Tuning;
use oxmpi_text::size;
use oxmpi_wire::paths::{Switches, settings as paths};

use super::{Origin, Values};
use oxmpi_pin::Given;

impl Values {
    /// Where ranks are placed.
    pub fn pinning(&self) -> oxmpi_pin::Settings {
        let given = |name: &str| {
            let value = self.get(name);
            Given {
                text: &value.text,
                is_set: value.origin != Origin::Default,
            }
        };
        oxmpi_pin::Settings::of_rows(given).unwrap_or_else(|error| {
            panic!("a setting of pinning was accepted and is not understood: {error:?}")
        })
    }

    /// Which algorithms collectives take.
    pub fn tuning(&self) -> Tuning {
        let mut tuning = Tuning {
            ring_from_bytes: self.parse("allreduce_ring_from", size),
            ring_chunk_bytes: self.parse("allreduce_ring_chunk", size),
            ring_segment_bytes: self.parse("allreduce_ring_segment", size),
            ..Tuning::default()
        };
        for collective in Collective::ALL {
            let row = format!("{}_algorithm", collective.name());
            let asked = self.parse(&row, |text| {
                oxmpi_coll::settings::algorithm(collective, text)
            });
            if let Some(algorithm) = asked {
                tuning.forced.set(algorithm);
            }
        }
        tuning
    }

    /// The switch points between the paths of a message that somebody has set.
    pub fn switches(&self) -> Switches {
        Switches {
            short: self.parse("short_limit", paths::short_limit),
            eager: self.parse("eager_limit", paths::eager_limit),
            get: self.parse("get_limit", paths::get_limit),
            rendezvous: self.parse("rendezvous", paths::rendezvous),
            chunk: self.parse("put_chunk", paths::put_chunk),
        }
    }

    /// The sizes of a node's shared memory for `ranks` ranks.
    pub fn layout(&self, ranks: u32) -> oxmpi_shm::Layout {
        oxmpi_shm::Layout {
            ranks,
            slots: self.parse("shm_slots", oxmpi_shm::settings::slots),
            buffer: self.parse("shm_buffer", oxmpi_shm::settings::buffer),
            buffers: self.parse("shm_buffers", oxmpi_shm::settings::buffers),
        }
    }
}
