//! Results of simulations as a table, as JSON and as a picture.

use oxmpi_bench::plot::{LineStyle, Plot, PlotPoint, PlotSeries, Quantity, document};
use serde::Serialize;

use super::experiment::SimResult;
use super::options::{Options, SweptParameter};
use crate::columns;

/// The version of the JSON.
const VERSION: u32 = 1;

/// The model of the simulation, in one line.
pub(super) fn model(options: &Options) -> String {
    let machine = &options.machine;
    let ns = |picoseconds: u64| picoseconds as f64 / 1000.0;
    let path = |name: &str, path: &oxmpi_coll::sim::PathCosts| {
        format!(
            "{name} L {} o {}/{} g {} G {}",
            ns(path.latency),
            ns(path.send),
            ns(path.recv),
            ns(path.gap),
            ns(path.byte)
        )
    };
    let mut line = format!(
        "{}: {}, {} ns; {} ranks a node, {} placement; eager to {} B; {} ns a queue entry",
        options.machine_name,
        path("network", &machine.network),
        path("node", &machine.node),
        options.node_sizes,
        options.order_name(),
        machine.eager,
        ns(options.matching),
    );
    if options.flags {
        line += "; short messages are flags";
    } else if options.has_own_flags() {
        line += "; +flags: its short messages are flags";
    }
    if options.serial_copies {
        line += "; serial copies";
    }
    line
}

/// Picoseconds as microseconds, to a nanosecond.
fn micros(picoseconds: u64) -> String {
    format!("{:.3}", picoseconds as f64 / 1e6)
}

/// The table.
pub(super) fn text(options: &Options, rows: &[SimResult]) -> String {
    let head = [
        "ranks",
        "bytes",
        "algorithm",
        "us",
        "mean us",
        "messages",
        "between nodes",
        "their bytes",
        "entries",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for row in rows {
        let counts = row.report.counts;
        lines.push(vec![
            row.ranks.to_string(),
            row.bytes.to_string(),
            row.algorithm.clone(),
            micros(row.report.last()),
            micros(row.report.mean()),
            counts.messages.to_string(),
            counts.remote.to_string(),
            counts.remote_bytes.to_string(),
            counts.walked.to_string(),
        ]);
    }
    format!(
        "{}\n{}\n\n{}",
        options.collective,
        model(options),
        columns::aligned(&lines)
    )
}

#[derive(Serialize)]
struct SimDocument<'a> {
    version: u32,
    collective: &'a str,
    machine: &'a str,
    network: CostsJson,
    node: CostsJson,
    /// The most ranks of a node.
    per_node: u32,
    /// The ranks of each node, where they are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<&'a [u32]>,
    placement: String,
    eager_bytes: u64,
    match_ps: u64,
    flags: bool,
    serial_copies: bool,
    rows: Vec<ResultJson<'a>>,
}

#[derive(Serialize)]
struct CostsJson {
    latency_ps: u64,
    send_ps: u64,
    recv_ps: u64,
    gap_ps: u64,
    byte_ps: u64,
}

#[derive(Serialize)]
struct ResultJson<'a> {
    ranks: u32,
    bytes: u64,
    algorithm: &'a str,
    last_ps: u64,
    mean_ps: u64,
    messages: u64,
    remote_messages: u64,
    remote_bytes: u64,
    entries: u64,
    unexpected_max: u32,
}

impl CostsJson {
    fn of(path: &oxmpi_coll::sim::PathCosts) -> Self {
        CostsJson {
            latency_ps: path.latency,
            send_ps: path.send,
            recv_ps: path.recv,
            gap_ps: path.gap,
            byte_ps: path.byte,
        }
    }
}

impl<'a> ResultJson<'a> {
    fn of(row: &'a SimResult) -> Self {
        let counts = &row.report.counts;
        ResultJson {
            ranks: row.ranks,
            bytes: row.bytes,
            algorithm: &row.algorithm,
            last_ps: row.report.last(),
            mean_ps: row.report.mean(),
            messages: counts.messages,
            remote_messages: counts.remote,
            remote_bytes: counts.remote_bytes,
            entries: counts.walked,
            unexpected_max: counts.unexpected,
        }
    }
}

/// The results as JSON.
///
/// # Errors
/// Never: all values can be JSON.
pub(super) fn json(options: &Options, rows: &[SimResult]) -> Result<String, String> {
    let document = SimDocument {
        version: VERSION,
        collective: options.collective.name(),
        machine: &options.machine_name,
        network: CostsJson::of(&options.machine.network),
        node: CostsJson::of(&options.machine.node),
        per_node: options.node_sizes.most(),
        nodes: options.node_sizes.listed(),
        placement: options.order_name().to_string(),
        eager_bytes: options.machine.eager,
        match_ps: options.matching,
        flags: options.flags,
        serial_copies: options.serial_copies,
        rows: rows.iter().map(ResultJson::of).collect(),
    };
    let json = serde_json::to_string_pretty(&document).map_err(|why| why.to_string())?;
    Ok(json + "\n")
}

/// The results as a picture: time over the swept parameter, one line for each algorithm.
pub(super) fn svg(options: &Options, rows: &[SimResult], sweep: SweptParameter) -> String {
    let mut series: Vec<PlotSeries> = Vec::new();
    for row in rows {
        let point = PlotPoint {
            x: match sweep {
                SweptParameter::Ranks => f64::from(row.ranks),
                SweptParameter::Sizes => row.bytes as f64,
            },
            y: row.report.last() as f64 / 1e6,
            range: None,
        };
        match series.iter_mut().find(|line| line.name == row.algorithm) {
            Some(line) => line.points.push(point),
            None => series.push(PlotSeries {
                name: row.algorithm.clone(),
                style: LineStyle::Numbered(series.len()),
                points: vec![point],
            }),
        }
    }
    let (ranks, sizes) = (&options.ranks, &options.sizes);
    let (title, across) = match sweep {
        SweptParameter::Ranks if sizes[0] == 0 => (options.collective.to_string(), Quantity::Ranks),
        SweptParameter::Ranks => {
            let title = format!("{} of {}", options.collective, bytes(sizes[0]));
            (title, Quantity::Ranks)
        }
        SweptParameter::Sizes => {
            let title = format!("{} of {} ranks", options.collective, ranks[0]);
            (title, Quantity::Bytes)
        }
    };
    let plot = Plot {
        title,
        across,
        up: Quantity::Time,
        series,
    };
    document(&plot, &model(options))
}

/// A size with a binary unit, if it is a multiple of it.
fn bytes(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::{bytes, micros};

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [8, 4096, 3 << 20, 5000].map(bytes),
            ["8 B", "4 KiB", "3 MiB", "5000 B"]
        );
        assert_eq!(micros(1_234_567), "1.235");
    }
}
