//! Values as the types of the crates that own their rows.

use oxmpi_coll::catalog::Collective;
use oxmpi_coll::choice::Tuning;
use oxmpi_text::size;

use super::Values;

impl Values {
    /// Where ranks are placed.
    pub fn pinning(&self) -> oxmpi_pin::Settings {
        oxmpi_pin::Settings {
            pin: self.parse("pin", oxmpi_text::switch),
            domain: self.parse("pin_domain", str::parse),
            order: self.parse("pin_order", str::parse),
        }
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
