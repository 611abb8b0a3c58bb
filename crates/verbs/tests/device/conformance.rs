//! The conformance suite of all transports, on the device.

use super::connection::{context, device};
use oxmpi_os::RawBytes;
use oxmpi_testkit::conformance::{
    EventLog, KillableTransport, TestMemory, TestedTransport, TransportEnd,
};
use oxmpi_testkit::switch::{SwitchRx, SwitchTx, switch};
use oxmpi_verbs::{
    ConnectionMethod, EagerRings, LeavePinned, LongMessages, PortPair, RdmaPort, RdmaPreference,
    ReceiveQueue, RegistrationOptions, VerbsEndpoint, VerbsNetworkRx, VerbsNetworkTx, VerbsOptions,
    VerbsRx, VerbsTx,
};
use oxmpi_wire::{Network, Peer, Rx};

type Control = SwitchTx<RawBytes>;

/// Memory of the process, by its owner.
struct HeapMemory(Box<[u8]>);

impl TestMemory for HeapMemory {
    type Bytes = RawBytes;

    fn new(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }

    fn bytes(&self) -> RawBytes {
        // SAFETY: the suite keeps the memory until the transport has given it back, and reads it only then. The box
        // owns it alone.
        unsafe { RawBytes::new(self.0.as_ptr().cast_mut(), self.0.len()) }
    }

    fn to_vec(&self) -> Vec<u8> {
        self.0.to_vec()
    }
}

/// Ends on the tested device, with the options `KIND`.
struct OnDevice<const KIND: u8>;

/// The default: queues of both kinds, eager rings, registrations that are kept.
const USUAL: u8 = 0;
/// Two buffers and short pieces: everything runs out of room often.
const TIGHT: u8 = 1;
/// All peers share few buffers.
const SHARED: u8 = 2;
/// No rings, and memory is registered in pieces while it moves.
const PLAIN: u8 = 3;

fn options(kind: u8, gid_index: u8) -> VerbsOptions {
    let usual = VerbsOptions {
        gid_index,
        ..VerbsOptions::default()
    };
    let queues = |text| ReceiveQueue::parse_all(text).expect("queues");
    match kind {
        TIGHT => VerbsOptions {
            receive_queues: queues("P,128,2"),
            piece: 10_000,
            ..usual
        },
        SHARED => VerbsOptions {
            receive_queues: queues("S,128,32,16,8:S,4096,16,8,4"),
            rings: EagerRings::OFF,
            ..usual
        },
        PLAIN => VerbsOptions {
            rings: EagerRings::OFF,
            registration: RegistrationOptions {
                leave_pinned: LeavePinned::Off,
                ..RegistrationOptions::default()
            },
            long: LongMessages {
                first: Some(1000),
                last: 5000,
                fragment: 16 << 10,
                min_rdma_size: 0,
                ..LongMessages::default()
            },
            ..usual
        },
        _ => usual,
    }
}

impl<const KIND: u8> TestedTransport for OnDevice<KIND> {
    type Tx = VerbsTx;
    type Rx = VerbsRx;
    type Memory = HeapMemory;

    fn is_available() -> bool {
        device().is_some()
    }

    fn ends(count: u32) -> Vec<(VerbsTx, VerbsRx)> {
        let (name, gid_index) = device().expect("a device");
        let context = context(&name).expect("it opens");
        let options = options(KIND, gid_index);
        let open = |_| VerbsEndpoint::open(&context, count, options.clone()).expect("an endpoint");
        let mut ends: Vec<_> = (0..count).map(open).collect();
        for a in 0..count {
            for b in 0..a {
                let [here, there] = [(a, b), (b, a)]
                    .map(|(of, to)| ends[of as usize].offer(Peer(to)).expect("a queue pair"));
                let [a_to_b, b_to_a] = [(a, b, there), (b, a, here)];
                for (of, to, address) in [a_to_b, b_to_a] {
                    let connected = ends[of as usize].connect(Peer(to), &PortPair::first(&address));
                    connected.expect("a connection");
                }
            }
        }
        ends.into_iter().map(VerbsEndpoint::into_halves).collect()
    }
}

/// The network on the port of the tested device, with testkit's switch as its control network, which makes its
/// connections unless rdmacm does.
struct NetworkOnDevice<const BY_RDMACM: bool>;

impl<const BY_RDMACM: bool> TestedTransport for NetworkOnDevice<BY_RDMACM> {
    type Tx = VerbsNetworkTx<Control>;
    type Rx = VerbsNetworkRx<Control, SwitchRx<RawBytes>>;
    type Memory = HeapMemory;

    fn is_available() -> bool {
        device().is_some()
    }

    fn ends(count: u32) -> Vec<(Self::Tx, Self::Rx)> {
        let (name, _) = device().expect("a device");
        let preference = RdmaPreference {
            connects: BY_RDMACM.then_some(ConnectionMethod::Rdmacm),
            ..RdmaPreference::default()
        };
        let open = |control| {
            let port = RdmaPort::open(&[format!("{name}:1")], count, &preference);
            let port = port.expect("an active port");
            port.over(control, &vec![true; count as usize], true, None)
        };
        let controls = switch(count).expect("sockets");
        let mut all: Vec<_> = controls.into_iter().map(open).collect();
        let mut log = EventLog::default();
        let peers = |me: u32| (0..count).filter(move |peer| *peer != me).map(Peer);
        for (me, (tx, _)) in (0..).zip(&mut all) {
            peers(me).for_each(|peer| tx.connect(peer));
        }
        let is_done =
            |(me, (tx, _)): (u32, &(Self::Tx, _))| peers(me).all(|peer| tx.is_connected(peer));
        while !(0..).zip(&all).all(is_done) {
            for (tx, rx) in &mut all {
                rx.poll(tx, 64, &mut log);
            }
        }
        all
    }
}

impl<const BY_RDMACM: bool> KillableTransport for NetworkOnDevice<BY_RDMACM> {
    fn kill(end: TransportEnd<Self>) {
        end.tx.abort();
    }
}

// Who only waits does not learn of a peer's end from the device: the network does, from its control network.
oxmpi_testkit::conformance!(usual, OnDevice<USUAL>);
oxmpi_testkit::conformance!(tight, OnDevice<TIGHT>);
oxmpi_testkit::conformance!(shared, OnDevice<SHARED>);
oxmpi_testkit::conformance!(plain, OnDevice<PLAIN>);
oxmpi_testkit::conformance!(network, NetworkOnDevice<false>, killable);
oxmpi_testkit::conformance!(by_rdmacm, NetworkOnDevice<true>, killable);
