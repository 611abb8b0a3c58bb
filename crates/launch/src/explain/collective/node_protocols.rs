//! The protocols by which the ranks of a node serve a collective in their shared memory: the rows of `oxmpi-shm`'s catalog,
//! for a group of one size.

use oxmpi_coll::catalog::Collective;
use oxmpi_settings::Values;
use oxmpi_shm::node::collective::CallKind;
use oxmpi_shm::node::collective::catalog::{Decision, GroupFacts, ProtocolRow};
use oxmpi_text::Size;
use serde_json::{Value, json};

use crate::columns::aligned;

/// The protocols of one collective in a group of all ranks of a node. Explain does not know what the system allows, nor where
/// ranks run: rows that need it are shown with their conditions.
pub(super) struct NodeProtocols(Vec<LengthRange>);

/// A protocol, and the lengths that it may serve.
struct LengthRange {
    row: ProtocolRow,
    from: u64,
    to: u64,
}

impl NodeProtocols {
    /// The protocols of a collective of `ranks` ranks; `None`: node groups do not serve it.
    pub(super) fn of(collective: Collective, ranks: u32, values: &Values) -> Option<Self> {
        let mut kinds = CallKind::ALL.into_iter();
        let kind = kinds.find(|kind| kind.name() == collective.name())?;
        let group = GroupFacts::of_node(ranks);
        // The lengths that no row without a condition has taken.
        let (mut first, mut last) = (0, u64::MAX);
        let ranges = kind.asked(values.node_protocol()).filter_map(|row| {
            let (from, to) = row.lengths(kind, &group)?;
            let (from, to) = (from.max(first), to.min(last));
            if first > last || from > to {
                return None;
            }
            match is_certain(&row) {
                true if from == first => first = to.saturating_add(1),
                true => last = from - 1,
                false => {}
            }
            Some(LengthRange { row, from, to })
        });
        Some(Self(ranges.collect()))
    }

    /// The protocols that may serve a call of `bytes` bytes, in a few words.
    pub(super) fn at(&self, bytes: u64) -> String {
        let serving = self.serving(bytes).collect::<Vec<_>>();
        let certain = serving.iter().find(|row| is_certain(row));
        let otherwise = certain.map_or("messages", |row| row.protocol.name());
        let mut said = String::new();
        for row in serving.iter().take_while(|row| !is_certain(row)) {
            let name = row.protocol.name();
            said += &match row.decision {
                Decision::Table => format!("{name} if {}, else ", needs(row)),
                Decision::Trials => format!(
                    "the faster of {name} and {otherwise} in trials if {}, else ",
                    needs(row)
                ),
            };
        }
        said + otherwise
    }

    /// The names of the protocols that may serve a call of `bytes` bytes, the first one that is asked first.
    pub(super) fn names_at(&self, bytes: u64) -> Vec<&'static str> {
        let names = self.serving(bytes).map(|row| row.protocol.name());
        names.collect()
    }

    fn serving(&self, bytes: u64) -> impl Iterator<Item = &ProtocolRow> {
        let serves = move |range: &&LengthRange| (range.from..=range.to).contains(&bytes);
        self.0.iter().filter(serves).map(|range| &range.row)
    }

    /// A table of all protocols, the shortest lengths first.
    pub(super) fn text(&self) -> String {
        let mut ranges: Vec<_> = self.0.iter().collect();
        ranges.sort_by_key(|range| range.from);
        let head = ["from", "below", "protocol", "decided by", "how", "if"];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(ranges.into_iter().map(|LengthRange { row, from, to }| {
            vec![
                Size(*from).to_string(),
                limit(*to).map_or_else(String::new, |to| Size(to + 1).to_string()),
                row.protocol.name().into(),
                decided_by(row).into(),
                row.protocol.about().into(),
                needs(row),
            ]
        }));
        aligned(&rows)
    }

    /// The rows of docs/formats.md, in the order in which they are asked.
    pub(super) fn json(&self) -> Vec<Value> {
        let rows = self.0.iter().map(|LengthRange { row, from, to }| {
            let needs = row.needs.iter().map(ToString::to_string);
            json!({
                "protocol": row.protocol.name(),
                "from_bytes": from,
                "to_bytes": limit(*to),
                "decided_by": decided_by(row),
                "needs": needs.collect::<Vec<_>>(),
            })
        });
        rows.collect()
    }
}

/// Whether the row serves every call of its lengths, once it is asked.
const fn is_certain(row: &ProtocolRow) -> bool {
    row.needs.is_empty() && matches!(row.decision, Decision::Table)
}

const fn decided_by(row: &ProtocolRow) -> &'static str {
    match row.decision {
        Decision::Table => "table",
        Decision::Trials => "trials",
    }
}

/// What the row needs, in words.
fn needs(row: &ProtocolRow) -> String {
    let needs: Vec<_> = row.needs.iter().map(ToString::to_string).collect();
    needs.join(", ")
}

/// The last length, if there is one.
const fn limit(to: u64) -> Option<u64> {
    match to {
        u64::MAX => None,
        to => Some(to),
    }
}
