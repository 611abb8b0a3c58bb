//! Measures one-sided communication: `rma [far] BYTES...`; the twin of `crates/bench/peers/rma.c`, whose head says what each
//! kernel is.
//!
//! Windows have memory of [`Comm::alloc`]; in private_put and window, and with `far`, that of a vector. Prints one line for each kernel and
//! length: nanoseconds of one access on rank 0.

#[path = "rma/accesses.rs"]
mod accesses;
mod blocks;
mod buffers;
mod content;
#[path = "rma/kernels.rs"]
mod kernels;
#[path = "rma/outcome.rs"]
mod outcome;
mod report;

use accesses::Access;
use blocks::Measured;
use buffers::Pages;
use kernels::{Epoch, KERNELS, Kernel, Ranks};
use outcome::Outcome;
use oxmpi::{Comm, Memory, Op, Result, World};

/// Bytes of the kernels that have one length.
const SHORT: usize = 8;

fn measure(comm: &Comm, kernel: &Kernel, bytes: usize, private: bool) -> Result<()> {
    let room = match kernel.ranks {
        Ranks::More => bytes * comm.size(),
        _ => bytes,
    };
    let mut memory = if private {
        Memory::from(vec![0; room])
    } else {
        comm.alloc(room)?
    };
    if kernel.gets {
        content::write(&mut memory, comm.rank());
    }
    let mut landing = Memory::from(vec![0; bytes]);
    content::write_wrong(&mut landing, 1);
    let mut origin = Pages::new(bytes);
    content::write(&mut origin, 0);
    let mut ones = Pages::new(bytes / size_of::<f64>());
    ones.fill(1.0);
    let mut access = Access {
        comm,
        window: comm.byte_window(memory, landing)?,
        spare: Some(Memory::from(vec![0; bytes])),
        origin,
        ones,
        total: 0,
    };
    let mut measured = None;
    kernel.epoch.begin(&access.window)?;
    if comm.rank() == 0 || kernel.epoch != Epoch::Alone {
        measured = Some(blocks(kernel, &mut access)?);
    }
    kernel.epoch.end(&access.window)?;
    comm.barrier()?;

    let total = comm.allreduce(&[access.total], Op::MAX)?[0];
    let landing = access.window.landing()?.to_vec();
    let outcome = Outcome {
        rank: comm.rank(),
        size: comm.size(),
        memory: &access.window.free()?,
        landing: &landing,
        total,
    };
    let right = comm.allreduce(&[u8::from((kernel.right)(&outcome))], Op::MIN)? == [1];
    if let Some(measured) = measured {
        let parts = f64::from(kernel.accesses);
        report::report(kernel.name, comm, bytes, &measured, parts, right);
    }
    Ok(())
}

/// Times the kernel on the ranks that take part in it.
fn blocks(kernel: &Kernel, access: &mut Access<'_>) -> Result<Measured> {
    let comm = access.comm;
    let ranks = match kernel.epoch {
        Epoch::Alone => 1,
        _ => comm.size(),
    };
    blocks::measure(
        comm,
        ranks,
        access,
        |access, times| {
            (kernel.run)(access, times)?;
            access.total += times * u64::from(kernel.accesses);
            Ok(())
        },
        |_| (),
    )
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let world = World::init()?;
    let comm = world.comm();
    if comm.size() < 2 {
        return Err("rma: two ranks or more".into());
    }
    let far = std::env::args().nth(1).is_some_and(|word| word == "far");
    let lengths = buffers::lengths(usize::from(far))?;
    let runs = |kernel: &&Kernel| {
        kernel.ranks.includes(comm.size()) && !(far && (kernel.private || kernel.polled))
    };
    for kernel in KERNELS.iter().filter(runs) {
        let lengths = if kernel.short { &[SHORT][..] } else { &lengths };
        for &bytes in lengths {
            measure(comm, kernel, bytes, far || kernel.private)?;
        }
    }
    Ok(())
}
