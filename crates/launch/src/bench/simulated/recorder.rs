//! A communicator that records the calls of a kernel instead of executing them.

use std::convert::Infallible;

use oxmpi_bench::kernels::{BufferSizes, Sample};
use oxmpi_bench::{Blocks, Comm, Kernel, Memory, Source};
use oxmpi_coll::catalog::Call;
use oxmpi_coll::plan::{Acts, Buf, Part, Plan, PlanInputs};

type Result<T> = std::result::Result<T, Infallible>;

/// The calls of one rank in one repetition of a kernel: messages or one collective.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RecordedCalls {
    /// The messages.
    pub(super) messages: MessageSteps,
    /// The collective, and the elements of each rank's block if the call lists them.
    pub(super) collective: Option<(Call, Vec<u64>)>,
}

/// Messages in steps; each step waits for the step before it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MessageSteps(Vec<Vec<RecordedMessage>>);

/// One end of a message: the peer and the bytes. A message of a rank to itself is a copy.
#[derive(Debug, Clone, Copy, PartialEq)]
enum RecordedMessage {
    Send(u32, u64),
    Recv(u32, u64),
    Copy(u64),
}

impl Plan for MessageSteps {
    fn steps(&self) -> u32 {
        self.0.len() as u32
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let mut buffer_sizes = 0;
        for message in &self.0[i as usize] {
            match *message {
                RecordedMessage::Send(to, bytes) => acts.send(to, 0, Part::new(Buf::In, 0, bytes)),
                RecordedMessage::Recv(from, bytes) => {
                    acts.recv(from, 0, Part::new(Buf::Out, buffer_sizes, bytes));
                    buffer_sizes += bytes;
                }
                RecordedMessage::Copy(bytes) => {
                    acts.copy(
                        Part::new(Buf::In, 0, bytes),
                        Part::new(Buf::Out, buffer_sizes, bytes),
                    );
                    buffer_sizes += bytes;
                }
            }
        }
        Some(i)
    }
}

/// A kernel at one message length, with the buffers of its repetitions.
pub(super) struct KernelRecording {
    kernel: Kernel,
    ranks: usize,
    buffer_sizes: BufferSizes,
    memory: Memory,
}

impl KernelRecording {
    pub(super) fn new(kernel: Kernel, bytes: usize, ranks: usize) -> Self {
        let buffer_sizes = (kernel.info().buffer_sizes)(bytes, ranks);
        let mut memory = Memory::new(buffer_sizes, None);
        let sample = Sample {
            rank: 0,
            ranks,
            seed: 0,
        };
        // Fills in the lengths of blocks, which are the same on all ranks.
        kernel.fill(sample, &mut memory.buffers(buffer_sizes));
        KernelRecording {
            kernel,
            ranks,
            buffer_sizes,
            memory,
        }
    }

    /// The calls of `rank` in its first repetition.
    pub(super) fn of(&mut self, rank: usize) -> RecordedCalls {
        let mut recorder = CallRecorder {
            rank,
            size: self.ranks,
            asked: RecordedCalls::default(),
        };
        let mut buffers = self.memory.buffers(self.buffer_sizes);
        let Ok(()) = self.kernel.repeat(&mut recorder, 1, &mut buffers);
        recorder.asked
    }
}

/// A communicator that only records.
struct CallRecorder {
    rank: usize,
    size: usize,
    asked: RecordedCalls,
}

impl CallRecorder {
    fn messages(&mut self, step: Vec<RecordedMessage>) -> Result<()> {
        self.asked.messages.0.push(step);
        Ok(())
    }

    /// Records a collective; `call` makes it from this rank and the number of ranks.
    fn collective(&mut self, call: impl FnOnce(u32, u32) -> Call, blocks: &[usize]) -> Result<()> {
        let blocks = blocks.iter().map(|&block| block as u64).collect();
        let call = call(self.rank as u32, self.size as u32);
        self.asked.collective = Some((call, blocks));
        Ok(())
    }

    fn outgoing(&self, bytes: &[u8], to: usize) -> Option<RecordedMessage> {
        (to != self.rank).then_some(RecordedMessage::Send(to as u32, bytes.len() as u64))
    }

    fn incoming(&self, into: &[u8], from: Source) -> RecordedMessage {
        let bytes = into.len() as u64;
        match from {
            Source::Rank(rank) if rank == self.rank => RecordedMessage::Copy(bytes),
            Source::Rank(rank) => RecordedMessage::Recv(rank as u32, bytes),
            // Only kernels of two ranks receive from any source.
            Source::Any => RecordedMessage::Recv(1 - self.rank as u32, bytes),
        }
    }
}

/// Bytes of an element of a reduction.
const NUMBER: u64 = size_of::<f32>() as u64;

impl Comm for CallRecorder {
    type Error = Infallible;

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    /// Time stands still.
    fn now(&self) -> u64 {
        0
    }

    fn send(&mut self, bytes: &[u8], to: usize, _: u32) -> Result<()> {
        let step = self.outgoing(bytes, to).into_iter().collect();
        self.messages(step)
    }

    fn recv(&mut self, into: &mut [u8], from: Source, _: u32) -> Result<()> {
        let message = self.incoming(into, from);
        self.messages(vec![message])
    }

    fn exchange<const N: usize>(
        &mut self,
        sends: [(&[u8], usize); N],
        receives: [(&mut [u8], Source); N],
        _: u32,
    ) -> Result<()> {
        let sends = sends.into_iter();
        let sends = sends.filter_map(|(bytes, to)| self.outgoing(bytes, to));
        let receives = receives.into_iter();
        let receives = receives.map(|(into, from)| self.incoming(into, from));
        let step = sends.chain(receives).collect();
        self.messages(step)
    }

    fn split(&mut self, _: Option<u32>, _: u32) -> Result<Option<Self>> {
        Ok(None)
    }

    fn barrier(&mut self) -> Result<()> {
        self.collective(Call::barrier, &[])
    }

    fn bcast(&mut self, bytes: &mut [u8], root: usize) -> Result<()> {
        let (root, bytes) = (root as u32, bytes.len() as u64);
        self.collective(|rank, size| Call::bcast(rank, size, root, bytes), &[])
    }

    fn gather(&mut self, mine: &[u8], _: Option<&mut [u8]>, root: usize) -> Result<()> {
        let (root, bytes) = (root as u32, mine.len() as u64);
        self.collective(|rank, size| Call::gather(rank, size, root, bytes), &[])
    }

    fn gatherv(
        &mut self,
        mine: &[u8],
        all: Option<Blocks<'_, &mut [u8]>>,
        root: usize,
    ) -> Result<()> {
        let (root, bytes) = (root as u32, mine.len() as u64);
        let blocks = all.map_or(&[][..], |all| all.lengths);
        self.collective(|rank, size| Call::gatherv(rank, size, root, bytes), blocks)
    }

    fn scatter(&mut self, _: Option<&[u8]>, mine: &mut [u8], root: usize) -> Result<()> {
        let (root, bytes) = (root as u32, mine.len() as u64);
        self.collective(|rank, size| Call::scatter(rank, size, root, bytes), &[])
    }

    fn scatterv(
        &mut self,
        all: Option<Blocks<'_, &[u8]>>,
        mine: &mut [u8],
        root: usize,
    ) -> Result<()> {
        let (root, bytes) = (root as u32, mine.len() as u64);
        let blocks = all.map_or(&[][..], |all| all.lengths);
        self.collective(|rank, size| Call::scatterv(rank, size, root, bytes), blocks)
    }

    fn allgather(&mut self, mine: &[u8], _: &mut [u8]) -> Result<()> {
        let bytes = mine.len() as u64;
        self.collective(|rank, size| Call::allgather(rank, size, bytes), &[])
    }

    fn allgatherv(&mut self, _: &[u8], all: Blocks<'_, &mut [u8]>) -> Result<()> {
        let bytes = all.bytes.len() as u64;
        self.collective(
            |rank, size| Call::allgatherv(rank, size, bytes),
            all.lengths,
        )
    }

    fn alltoall(&mut self, out: &[u8], _: &mut [u8]) -> Result<()> {
        let bytes = (out.len() / self.size) as u64;
        self.collective(|rank, size| Call::alltoall(rank, size, bytes), &[])
    }

    fn alltoallv(&mut self, out: Blocks<'_, &[u8]>, _: Blocks<'_, &mut [u8]>) -> Result<()> {
        self.collective(Call::alltoallv, out.lengths)
    }

    fn reduce_sum(&mut self, from: &[f32], _: Option<&mut [f32]>, root: usize) -> Result<()> {
        let (root, items) = (root as u32, from.len() as u64);
        let call = |rank, size| Call::reduce(rank, size, root, items, NUMBER);
        self.collective(call, &[])
    }

    fn allreduce_sum(&mut self, from: &[f32], _: &mut [f32]) -> Result<()> {
        let items = from.len() as u64;
        self.collective(|rank, size| Call::allreduce(rank, size, items, NUMBER), &[])
    }

    fn reduce_scatter_block_sum(&mut self, _: &[f32], into: &mut [f32]) -> Result<()> {
        let items = into.len() as u64;
        let call = |rank, size| Call::reduce_scatter_block(rank, size, items, NUMBER);
        self.collective(call, &[])
    }

    fn reduce_scatter_sum(&mut self, from: &[f32], blocks: &[usize], _: &mut [f32]) -> Result<()> {
        let items = from.len() as u64;
        let call = |rank, size| Call::reduce_scatter(rank, size, items, NUMBER);
        self.collective(call, blocks)
    }
}
