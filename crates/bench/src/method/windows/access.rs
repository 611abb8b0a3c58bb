//! The timed loop of a kernel that accesses a window.

use super::data::Data;
use super::epochs;
use crate::buffers::{Steps, floats};
use crate::comm::Done;
use crate::kernels::{Access, Aggregation, BufferSizes, Info, Operation, Sample, Schedule};
use crate::kernels::{Transfer, WindowKernel, WindowSizes};
use crate::method::Workload;
use crate::{Memory, OffCache, Window, Windows};
use alloc::vec::Vec;
use core::hint::spin_loop;

/// Most bytes of memory in a window that are stored at once, unless a message is longer.
const CHUNK: usize = 64 << 10;

/// A kernel with its window on one rank, for messages of one length.
///
/// All epochs are open from [`AccessWork::open`] to [`AccessWork::close`], so that only transfers and their completion are
/// timed.
pub(crate) struct AccessWork<C: Windows> {
    kernel: &'static WindowKernel,
    access: Access,
    schedule: Schedule,
    window: C::Window,
    /// Bytes of a message.
    bytes: usize,
    /// What this rank accesses in a repetition, with blocks as bytes.
    transfers: Vec<Transfer>,
    /// What it puts or accumulates, at all places, and room for a copy of some of its memory in the window.
    memory: Memory,
    out: Steps,
    exposed: Steps,
    landing: Steps,
    /// Repetitions since the data was filled.
    repetitions: usize,
    /// The pattern of the data.
    seed: u32,
    /// Nanoseconds that a rank without transfers computes for each repetition.
    computes: u64,
}

/// Where the transfers of a repetition start.
struct Places<'a> {
    out: &'a mut [u8],
    exposed: usize,
    landing: usize,
    /// How often the transfers were here before, since the data was filled.
    before: usize,
}

impl<C: Windows> AccessWork<C> {
    /// Makes the window and begins its epochs; `None`: the kernel accesses no window. Collective.
    ///
    /// # Errors
    /// The first error of the communicator.
    pub(crate) fn open(
        comm: &mut C,
        (kernel, mode): (&'static WindowKernel, Option<Aggregation>),
        bytes: usize,
        off_cache: Option<OffCache>,
    ) -> Result<Option<Self>, C::Error> {
        let Some(access) = kernel.access else {
            return Ok(None);
        };
        let (rank, ranks) = (comm.rank(), comm.size());
        let WindowSizes {
            out,
            exposed,
            landing,
        } = kernel.sizes(bytes, ranks);
        let [out, exposed, landing] = [out, exposed, landing].map(|length| match off_cache {
            Some(off_cache) => Steps::walking(off_cache.space(length), length, off_cache),
            None => Steps::still(length),
        });
        let transfers = access.targets.transfers(access.gets(), rank, ranks);
        let memory = comm.alloc(exposed.space())?;
        let mut work: AccessWork<C> = AccessWork {
            kernel,
            access,
            schedule: kernel.schedule(mode),
            window: comm.window(memory, landing.space())?,
            bytes,
            transfers: transfers.map(|transfer| transfer.scaled(bytes)).collect(),
            memory: Memory::new(
                BufferSizes {
                    out: out.space(),
                    into: exposed.chunk(CHUNK).1.max(exposed.length()),
                    counts: 0,
                },
                None,
            ),
            out,
            exposed,
            landing,
            repetitions: 0,
            seed: 0,
            computes: 0,
        };
        epochs::begin(&mut work.window, kernel, ranks)?;
        Ok(Some(work))
    }

    /// Ends the epochs and frees the window. Collective.
    ///
    /// # Errors
    /// The first error of the communicator.
    pub(crate) fn close(self, comm: &mut C) -> Done<C> {
        let mut window = self.window;
        epochs::end(&mut window, self.kernel, comm.size())?;
        window.free().map(drop)
    }

    /// From here on, ranks without transfers compute in each repetition for as many nanoseconds as rank 0 passes. Collective.
    ///
    /// # Errors
    /// The first error of the communicator.
    pub(crate) fn compute_for(&mut self, comm: &mut C, nanoseconds: u64) -> Done<C> {
        let mut word = nanoseconds.to_le_bytes();
        comm.bcast(&mut word, 0)?;
        self.computes = u64::from_le_bytes(word);
        Ok(())
    }

    /// What the data of a repetition is.
    fn data(&self, sample: Sample) -> Data {
        Data {
            access: self.access,
            sample,
            bytes: self.bytes,
        }
    }

    /// Runs `times` repetitions, each with a `call` for each of its transfers.
    #[inline]
    fn run(
        &mut self,
        times: u32,
        mut call: impl FnMut(&mut C::Window, &Transfer, &mut Places<'_>) -> Done<C>,
    ) -> Done<C> {
        let is_each_completed = self.schedule != Schedule::Aggregated;
        let (out, _) = self.memory.slices();
        let mut before = self.repetitions / self.exposed.places();
        for repetition in 0..times {
            let (start, exposed) = (self.out.advance(), self.exposed.advance());
            // Where the memory begins again, so does another walk through it.
            before += usize::from(repetition > 0 && exposed == 0);
            let mut places = Places {
                out: &mut out[start..start + self.out.length()],
                exposed,
                landing: self.landing.advance(),
                before,
            };
            for transfer in &self.transfers {
                call(&mut self.window, transfer, &mut places)?;
            }
            if is_each_completed {
                epochs::complete(&mut self.window, self.access.completion, &self.transfers)?;
            }
        }
        self.repetitions += times as usize;
        match is_each_completed {
            true => Ok(()),
            false => epochs::complete(&mut self.window, self.access.completion, &self.transfers),
        }
    }
}

impl<C: Windows> Workload<C> for AccessWork<C> {
    fn info(&self) -> &'static Info {
        &self.kernel.info
    }

    fn schedule(&self) -> Schedule {
        self.schedule
    }

    fn fill(&mut self, comm: &mut C, sample: Sample, repetitions: usize) -> Done<C> {
        // Others may still access the memory as it was.
        comm.barrier()?;
        let data = self.data(sample);
        self.seed = sample.seed;
        self.repetitions = 0;
        for steps in [&mut self.out, &mut self.exposed, &mut self.landing] {
            steps.restart();
        }
        let (out, copy) = self.memory.slices();
        data.fill_out(&mut out[..self.out.length()]);
        self.out.copy_first(out, repetitions);
        // Several places are stored at once.
        let (places, chunk) = self.exposed.chunk(CHUNK);
        data.fill_exposed(&mut copy[..self.exposed.length()]);
        self.exposed.copy_first(copy, places);
        let extent = self.exposed.extent(repetitions);
        for start in (0..extent).step_by(chunk.max(1)) {
            let stored = chunk.min(extent - start);
            self.window.store(&copy[..stored], start)?;
        }
        let landing = self.window.landing()?;
        data.fill_landing(&mut landing[..self.landing.length()]);
        self.landing.copy_first(landing, repetitions);
        // Nobody is accessed before it has filled its memory.
        comm.barrier()
    }

    fn repeat(&mut self, comm: &mut C, times: u32) -> Done<C> {
        if self.computes > 0 && self.transfers.is_empty() {
            let start = comm.now();
            while comm.now() - start < self.computes * u64::from(times) {
                spin_loop();
            }
        }
        let (bytes, seed) = (self.bytes, self.seed);
        match self.access.operation {
            Operation::Put => self.run(times, |window, transfer, places| {
                let from = &places.out[transfer.source..transfer.source + bytes];
                window.put(from, transfer.target, places.exposed + transfer.destination)
            }),
            Operation::Get => self.run(times, |window, transfer, places| {
                let into = places.landing + transfer.destination;
                let at = places.exposed + transfer.source;
                window.get(into..into + bytes, transfer.target, at)
            }),
            Operation::Accumulate => self.run(times, |window, transfer, places| {
                window.accumulate_sum(floats(places.out), transfer.target, places.exposed)
            }),
            Operation::GetAccumulate => self.run(times, |window, transfer, places| {
                let (numbers, into) = (floats(places.out), places.landing);
                window.get_accumulate_sum(numbers, into, transfer.target, places.exposed)
            }),
            Operation::FetchAndAdd => self.run(times, |window, transfer, places| {
                let number = floats(places.out).first().copied().unwrap_or_default();
                window.fetch_and_add(number, places.landing, transfer.target, places.exposed)
            }),
            Operation::CompareAndSwap => self.run(times, |window, transfer, places| {
                let numbers = [0, 1].map(|more| Data::integer(seed, places.before + more));
                window.compare_and_swap(numbers, places.landing, transfer.target, places.exposed)
            }),
        }
    }

    fn check(&mut self, comm: &mut C, sample: Sample) -> Result<f64, C::Error> {
        epochs::settle(&mut self.window, self.access.completion)?;
        comm.barrier()?;
        let data = self.data(sample);
        let last = self.repetitions.saturating_sub(1);
        let times = 1 + last / self.exposed.places();
        let (_, copy) = self.memory.slices();
        let copy = &mut copy[..self.exposed.length()];
        self.window.load(copy, self.exposed.of(last))?;
        let landing = &mut self.window.landing()?[self.landing.of(last)..][..self.landing.length()];
        let defect = (data.exposed_error(copy, times)).max(data.landing_error(landing, times));
        // Further repetitions change what is proven here.
        comm.barrier()?;
        Ok(defect)
    }
}
