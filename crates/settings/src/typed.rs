//! Values of settings as the types of the crates that own their rows.

use std::sync::Arc;

use oxmpi_coll::catalog::{Call, Collective, SharedMemory, Unsuited};
use oxmpi_coll::choice::{Rules, Tuning, read_rules};
use oxmpi_coll::machine::Machine;
use oxmpi_coll::nodes::NodeMap;
use oxmpi_coll::phased::{PhasedPlan, StrategyTimes, choose_phase};
use oxmpi_coll::placement::Placement;
use oxmpi_coll::settings::{self as coll, algorithm, plain, textbook};
use oxmpi_os::file::{HANDWRITTEN_MAX, read_text};
use oxmpi_pin::{Compat, SETTINGS, SettingText, Settings, VARIABLES};
use oxmpi_text::{Alias, size, switch};
use oxmpi_wire::paths::{PathOverrides, network, settings as paths};

use super::value::RefusedValue;
use super::{BadSetting, Origin, Values};
use oxmpi_core::{serves_in_node, serves_in_phase, serves_on_nodes};

impl Values {
    /// Where ranks are pinned. With `pin_compat=intel-2021` values are read as that launcher reads them, also
    /// values that [`resolve`](super::resolve) has refused.
    pub fn pinning(&self) -> oxmpi_pin::Settings {
        let given = |name: &str| {
            let value = self.get(name);
            SettingText {
                text: &value.text,
                is_set: value.origin != Origin::Default,
            }
        };
        let read = match self.reads_as_launcher() {
            true => Settings::read(Compat::Intel2021, |name| self.variable(name))
                .map(|(settings, _)| settings)
                .map_err(|unreadable| unreadable.cause),
            false => Settings::of_rows(given),
        };
        read.unwrap_or_else(|error| {
            panic!("a setting of pinning was accepted and is not understood: {error:?}")
        })
    }

    /// Whether pinning settings are read as the launcher of Intel MPI reads them.
    fn reads_as_launcher(&self) -> bool {
        let compat = self
            .all
            .iter()
            .find(|value| value.setting.name == "pin_compat");
        compat.is_some_and(|value| value.text.parse() == Ok(Compat::Intel2021))
    }

    /// The text of a pinning variable from whichever source, also one that was refused.
    fn variable(&self, name: &str) -> Option<&str> {
        let is_it = |alias: &Alias| alias.name == name;
        let row = SETTINGS
            .iter()
            .find(|row| row.aliases.first().is_some_and(is_it));
        let value = row.map(|row| self.get(row.name));
        let set = value.filter(|value| value.origin != Origin::Default);
        let refused = self.refused.iter().find(|refused| refused.name == name);
        set.map(|value| value.text.as_str())
            .or(refused.map(|refused| refused.text.as_str()))
    }

    /// Adds a warning for each refused value.
    pub(super) fn warn_of_refused(&mut self) {
        let is_read = self.reads_as_launcher();
        for RefusedValue { name, why, .. } in &self.refused {
            let how = match is_read && VARIABLES.contains(name) {
                true => "read as the launcher of Intel MPI reads it",
                false => "ignored, this value is not known here",
            };
            self.warnings.push(format!("{how}: {why}"));
        }
    }

    /// Which algorithms collectives take, without [`Values::rules`].
    pub fn tuning(&self) -> Tuning {
        let mut tuning = Tuning {
            ring_segment_bytes: self.parse("allreduce_ring_segment", size),
            gatherv_short_bytes: self.parse("gatherv_short", size),
            scatterv_short_bytes: self.parse("scatterv_short", size),
            machine: self.machine(),
            flags: self.parse("coll_flags", switch),
            reproducible: self.parse("coll_reproducible", coll::reproducible),
            ..Tuning::default()
        };
        let mut forced = tuning.forced;
        self.parse("coll_plain", |text| {
            plain(text, |collective| forced.set(textbook(collective)))
        });
        tuning.forced = forced;
        let served = |collective: &Collective| collective.algorithms().next().is_some();
        for collective in Collective::ALL.into_iter().filter(served) {
            let row = format!("{}_algorithm", collective.name());
            let asked = self.parse(&row, |text| algorithm(collective, text));
            if let Some(algorithm) = asked {
                tuning.forced.set(algorithm);
            }
        }
        tuning
    }

    /// The rules of the file that `coll_rules` names; empty where it names none.
    ///
    /// # Errors
    /// When the file cannot be read, is longer than 1 MiB, or is malformed.
    pub fn rules(&self) -> Result<Rules, BadSetting> {
        let value = self.get("coll_rules");
        if matches!(&*value.text, "" | "none") {
            return Ok(Rules::default());
        }
        let bad = |why: String| BadSetting {
            origin: value.origin.clone(),
            why: format!("{}: {why}", value.text),
        };
        let text = read_text(&value.text, HANDWRITTEN_MAX).map_err(|why| bad(why.to_string()))?;
        read_rules(&text).map_err(|why| bad(why.to_string()))
    }

    /// The machine's costs, for the choice of algorithms.
    fn machine(&self) -> Machine {
        let mut machine = self.parse("coll_machine", coll::machine);
        for (path, name) in [
            (&mut machine.node, "node"),
            (&mut machine.network, "network"),
        ] {
            let row = |what: &str| format!("coll_{name}_{what}");
            if let Some(latency) = self.parse(&row("latency"), coll::latency) {
                path.latency = latency;
            }
            if let Some(overhead) = self.parse(&row("overhead"), coll::latency) {
                (path.send, path.recv) = (overhead, overhead);
            }
            if let Some(byte) = self.parse(&row("bandwidth"), coll::bandwidth) {
                path.byte = byte;
            }
        }
        machine
    }

    /// The switch points between the paths of a message that somebody has set.
    pub fn switch_points(&self) -> PathOverrides {
        PathOverrides {
            short: self.parse("short_limit", paths::short_limit),
            eager: self.parse("eager_limit", paths::eager_limit),
            get: self.parse("get_limit", paths::get_limit),
            rendezvous: self.parse("rendezvous", paths::rendezvous),
            chunk: self.parse("put_chunk", paths::put_chunk),
        }
    }

    /// The parameters of network protocols.
    pub fn network(&self) -> network::NetworkSettings {
        network::NetworkSettings {
            short: self.parse("network_short_limit", network::settings::short_limit),
            eager: self.parse("network_eager_limit", network::settings::eager_limit),
            get: self.parse("network_get_limit", network::settings::get_limit),
            zero_copy: self.parse("network_zero_copy", switch),
            engine_from: self.parse("network_engine_from", network::settings::engine_from),
            buffers: self.parse("network_buffers", network::settings::buffers),
            connect: self.parse("network_connect", network::settings::connect),
            block: self.parse("network_mailbox_block", network::settings::mailbox_block),
            sharing: self.parse("network_mailboxes", network::settings::mailboxes),
        }
    }

    /// How large messages go between the ranks of a node.
    pub fn bulk_protocols(&self) -> oxmpi_shm::BulkPreference {
        oxmpi_shm::BulkPreference {
            protocol: self.parse("shm_protocol", oxmpi_shm::settings::protocol),
            chunk: self.parse("shm_chunk", oxmpi_shm::settings::chunk),
        }
    }

    /// Whether ranks of a node have flags and buffers for collectives.
    pub fn node_collectives(&self) -> bool {
        self.parse("shm_collectives", switch)
    }

    /// The protocol of long collectives in the memory of a node that the user asks for.
    pub fn node_protocol(&self) -> Option<oxmpi_shm::node::collective::ProtocolPreference> {
        let parser = oxmpi_shm::settings::collective_protocol;
        self.parse("shm_collective_protocol", parser)
    }

    /// Whether ranks compare their calls before each collective.
    pub fn checks_collectives(&self) -> bool {
        self.parse("coll_check", switch)
    }

    /// Which ranks can run intra-node phases in a blocking call, for this placement and tuning.
    pub fn node_groups(&self, call: &Call, place: Placement, tuning: &Tuning) -> SharedMemory {
        let size = place.per_node().min(call.size);
        let fits = (2..=oxmpi_shm::NodeBarriers::RANKS).contains(&size);
        let serves = fits && self.node_collectives() && !tuning.reproducible.binds(call);
        match place.nodes() == 1 {
            true if serves && serves_in_node(call) && !tuning.requires_messages(call) => {
                SharedMemory::All
            }
            false if serves && serves_on_nodes(call, size) => SharedMemory::OnNodes,
            _ => SharedMemory::None,
        }
    }

    /// The expected times of a call of ranks on nodes of different sizes, in phases and by one algorithm, of which a job
    /// with this tuning takes the shorter one. `None`: it takes one algorithm in any case.
    ///
    /// # Errors
    /// When no algorithm suits.
    pub fn strategy_times(
        &self,
        call: &Call,
        nodes: &Arc<NodeMap>,
        tuning: &Tuning,
    ) -> Result<Option<StrategyTimes>, Unsuited> {
        let is_bound = tuning.requires_algorithm(call) || tuning.reproducible.binds(call);
        match !is_bound && PhasedPlan::serves(call, nodes) {
            true => StrategyTimes::of(call, nodes, tuning, |call, place, choosable| {
                let tuning = tuning.clone().placed(place).choosing(choosable);
                choose_phase(call, tuning, self.phases_share())
            })
            .map(Some),
            false => Ok(None),
        }
    }

    /// The plan of a call in phases, as such a job makes it.
    ///
    /// # Errors
    /// When no algorithm suits a phase.
    pub fn phased_plan(
        &self,
        call: &Call,
        nodes: &Arc<NodeMap>,
        tuning: &Tuning,
    ) -> Result<PhasedPlan, Unsuited> {
        PhasedPlan::new(call, nodes, |call, place| {
            choose_phase(call, tuning.clone().placed(place), self.phases_share())
        })
    }

    /// Which calls of phases inside nodes go over shared memory.
    fn phases_share(&self) -> fn(&Call) -> bool {
        match self.node_collectives() {
            true => serves_in_phase,
            false => |_| false,
        }
    }

    /// Whether ranks of one node run such a barrier by flags in shared memory, without messages, with this
    /// tuning.
    pub fn has_node_barrier(&self, call: &Call, tuning: &Tuning) -> bool {
        let fits = (2..=oxmpi_shm::NodeBarriers::RANKS).contains(&call.size);
        call.collective == Collective::Barrier && fits && !tuning.requires_messages(call)
    }

    /// The sizes of a node's shared memory for `ranks` ranks.
    pub fn layout(&self, ranks: u32) -> oxmpi_shm::SegmentLayout {
        oxmpi_shm::SegmentLayout {
            ranks,
            slots: self.parse("shm_slots", oxmpi_shm::settings::slots),
            buffer: self.parse("shm_buffer", oxmpi_shm::settings::buffer),
            buffers: self.parse("shm_buffers", oxmpi_shm::settings::buffers),
        }
    }

    /// The heap of shared memory from which ranks allocate.
    pub fn heap(&self) -> oxmpi_shm::heap::HeapPreference {
        oxmpi_shm::heap::HeapPreference {
            size: self.parse("shm_heap", oxmpi_shm::settings::heap),
            pages: self.parse("shm_heap_pages", oxmpi_shm::settings::heap_pages),
        }
    }

    /// Which addresses TCP may use.
    #[cfg(feature = "tcp")]
    pub fn tcp_filter(&self) -> oxmpi_tcp::InterfaceFilter {
        let include = &self.get("tcp_include").text;
        self.parse("tcp_exclude", |exclude| {
            oxmpi_tcp::settings::filter(include, exclude)
        })
    }

    /// How TCP connects and waits.
    #[cfg(feature = "tcp")]
    pub fn tcp_options(&self) -> oxmpi_tcp::TcpOptions {
        use oxmpi_tcp::settings::{
            chunk, frame, pending_connections, speculative_push, stall_timeout, timeout, zero_copy,
        };
        oxmpi_tcp::TcpOptions {
            frame: self.parse("tcp_frame", frame),
            chunk: self.parse("tcp_chunk", chunk),
            speculative_push: self.parse("tcp_speculative_push", speculative_push),
            zero_copy: self.parse("tcp_zero_copy", zero_copy),
            pending_connections: self.parse("tcp_pending_connections", pending_connections),
            connect_timeout: self.parse("tcp_connect_timeout", timeout),
            host_timeout: self.parse("tcp_host_timeout", timeout),
            stall_timeout: self.parse("tcp_stall_timeout", stall_timeout),
            log: self.parse("tcp_log", oxmpi_text::switch),
            ..oxmpi_tcp::TcpOptions::default()
        }
    }
}
