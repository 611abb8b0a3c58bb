//! Measures the path of one message: `peer_path KERNEL BYTES [ITERATIONS]`.
//!
//! Two ranks exchange messages, and rank 0 prints the median time of a message in nanoseconds. A single rank
//! sends to itself: an iteration is one send and one receive that finds its message at once. With ITERATIONS the program
//! runs that number of iterations without a clock, for an instruction counter:
//!
//! ```text
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null peer_path blocking 8 1000
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null peer_path blocking 8 2000
//! ```
//!
//! The difference of the two totals is the cost of 1000 iterations.

use std::time::{Duration, Instant};

use oxmpi::{Comm, Op, Result, Source, Tag, World};

/// Messages in flight of the kernel `window`.
const WINDOW: usize = 64;
const BLOCKS: usize = 21;
const BLOCK: Duration = Duration::from_millis(2);

/// Buffers of one rank.
struct Buffers {
    out: Vec<u8>,
    into: Vec<u8>,
    window: Vec<u8>,
}

/// Runs a number of iterations. An iteration is a message to the peer and, with two ranks, one back.
type Kernel = fn(&Comm, usize, &mut Buffers, u64) -> Result<()>;

/// The entry of a kernel: its name, its loop, and the number of messages that two ranks send in sequence in a
/// iteration.
macro_rules! kernel {
    ($name:ident, $messages:expr) => {
        (
            stringify!($name),
            |comm, other, buffers, iterations| {
                (0..iterations).try_for_each(|_| $name(comm, other, buffers))
            },
            $messages,
        )
    };
}

const KERNELS: &[(&str, Kernel, f64)] = &[
    kernel!(blocking, 2.0),
    kernel!(posted, 2.0),
    kernel!(any, 2.0),
    kernel!(request, 2.0),
    kernel!(exchange, 1.0),
    kernel!(window, WINDOW as f64),
    kernel!(stream, WINDOW as f64),
    kernel!(barrier, 1.0),
    kernel!(allreduce, 1.0),
];

/// Rank 0 sends, then receives; the other rank receives, then sends.
fn interleave(
    comm: &Comm,
    send: impl FnOnce() -> Result<()>,
    recv: impl FnOnce() -> Result<()>,
) -> Result<()> {
    if comm.rank() == 0 {
        send()?;
        recv()
    } else {
        recv()?;
        send()
    }
}

/// Standard messages, received by their sender's name and tag.
#[inline(always)]
fn blocking(comm: &Comm, other: usize, b: &mut Buffers) -> Result<()> {
    if comm.rank() == 0 {
        comm.send(&b.out, other, 1)?;
        comm.recv(&mut b.into, other, 1)?;
    } else {
        comm.recv(&mut b.into, other, 1)?;
        comm.send(&b.out, other, 1)?;
    }
    Ok(())
}

/// The receive names neither source nor tag.
#[inline(always)]
fn any(comm: &Comm, other: usize, b: &mut Buffers) -> Result<()> {
    if comm.rank() == 0 {
        comm.send(&b.out, other, 1)?;
        comm.recv(&mut b.into, Source::Any, Tag::Any)?;
    } else {
        comm.recv(&mut b.into, Source::Any, Tag::Any)?;
        comm.send(&b.out, other, 1)?;
    }
    Ok(())
}

/// The receive is posted before its message is sent.
fn posted(comm: &Comm, other: usize, b: &mut Buffers) -> Result<()> {
    let Buffers { out, into, .. } = b;
    comm.scope(|s| {
        let receive = s.irecv(into, other, 1)?;
        interleave(
            comm,
            || comm.send(out, other, 1),
            || receive.wait().map(drop),
        )
    })
}

/// Nonblocking send and receive.
fn request(comm: &Comm, other: usize, b: &mut Buffers) -> Result<()> {
    let Buffers { out, into, .. } = b;
    comm.scope(|s| {
        let receive = s.irecv(into, other, 1)?;
        interleave(
            comm,
            || s.isend(out, other, 1)?.wait().map(drop),
            || receive.wait().map(drop),
        )
    })
}

/// Both ranks send at once.
fn exchange(comm: &Comm, other: usize, b: &mut Buffers) -> Result<()> {
    comm.sendrecv(&b.out, other, 1, &mut b.into, other, 1)
        .map(drop)
}

/// As `osu_mbw_mr`: a window of nonblocking sends, and a word back.
fn window(comm: &Comm, other: usize, b: &mut Buffers) -> Result<()> {
    let len = b.out.len().max(1);
    let Buffers { out, into, window } = b;
    let (alone, first) = (comm.size() == 1, comm.rank() == 0);
    if !first || alone {
        comm.scope(|s| {
            let mut receives = Vec::with_capacity(WINDOW);
            for part in window.chunks_exact_mut(len) {
                receives.push(s.irecv(part, other, 1)?);
            }
            for _ in (0..WINDOW).filter(|_| alone) {
                s.isend(out, other, 1)?.wait()?;
            }
            receives
                .into_iter()
                .try_for_each(|receive| receive.wait().map(drop))
        })?;
        if !alone {
            comm.send(&into[..1], other, 2)?;
        }
        return Ok(());
    }
    comm.scope(|s| {
        let mut sent = Vec::with_capacity(WINDOW);
        for _ in 0..WINDOW {
            sent.push(s.isend(out, other, 1)?);
        }
        sent.into_iter().try_for_each(|sent| sent.wait().map(drop))
    })?;
    comm.recv(&mut into[..1], other, 2).map(drop)
}

/// A window of blocking sends, and a word back.
fn stream(comm: &Comm, other: usize, b: &mut Buffers) -> Result<()> {
    let Buffers { out, into, .. } = b;
    if comm.size() == 1 {
        return (0..WINDOW).try_for_each(|_| blocking(comm, other, b));
    }
    interleave(
        comm,
        || {
            (0..WINDOW).try_for_each(|_| {
                if comm.rank() == 0 {
                    comm.send(out, other, 1)
                } else {
                    Ok(())
                }
            })
        },
        || Ok(()),
    )?;
    if comm.rank() == 0 {
        comm.recv(&mut into[..1], other, 2).map(drop)
    } else {
        (0..WINDOW).try_for_each(|_| comm.recv(into, other, 1).map(drop))?;
        comm.send(&into[..1], other, 2)
    }
}

fn barrier(comm: &Comm, _: usize, _: &mut Buffers) -> Result<()> {
    comm.barrier()
}

fn allreduce(comm: &Comm, _: usize, b: &mut Buffers) -> Result<()> {
    comm.allreduce_into(&b.out, &mut b.into, Op::MAX)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (name, bytes, iterations) = match &words[..] {
        [name, bytes] => (name, bytes.parse::<usize>()?, None),
        [name, bytes, iterations] => (name, bytes.parse()?, Some(iterations.parse::<u64>()?)),
        _ => return Err("peer_path KERNEL BYTES [ITERATIONS]".into()),
    };
    let known = || KERNELS.iter().map(|kernel| kernel.0).collect::<Vec<_>>();
    let &(_, kernel, messages) = (KERNELS.iter())
        .find(|kernel| kernel.0 == name)
        .ok_or_else(|| format!("no kernel '{name}'; there are {}", known().join(", ")))?;

    let world = World::init()?;
    let comm = world.comm();
    let other = (comm.size() - 1).min(1) - comm.rank().min(comm.size() - 1);
    let mut buffers = Buffers {
        out: (0..bytes).map(|at| (at * 31 + comm.rank()) as u8).collect(),
        into: vec![0; bytes.max(1)],
        window: vec![0; WINDOW * bytes.max(1)],
    };
    buffers.into.truncate(bytes);
    if let Some(iterations) = iterations {
        return Ok(kernel(comm, other, &mut buffers, iterations)?);
    }

    // Rank 0 computes the iterations of a block from the time of the first iterations, and sends the number to the
    // other rank.
    let mut iterations = [1u64];
    loop {
        let start = Instant::now();
        kernel(comm, other, &mut buffers, iterations[0])?;
        let mut more = [u8::from(start.elapsed() < BLOCK)];
        comm.bcast_into(&mut more, 0)?;
        if more == [0] {
            break;
        }
        iterations[0] *= 2;
    }
    let mut blocks = [0.0; BLOCKS];
    for block in &mut blocks {
        let start = Instant::now();
        kernel(comm, other, &mut buffers, iterations[0])?;
        *block = start.elapsed().as_nanos() as f64 / (iterations[0] as f64 * messages);
    }
    blocks.sort_by(f64::total_cmp);
    if comm.rank() == 0 {
        let [min, median] = [0, BLOCKS / 2].map(|at| blocks[at]);
        println!("{name} {bytes} B: {median:.1} ns, at best {min:.1}");
    }
    Ok(())
}
