//! The conformance suite of all transports, on the device.

use super::connection::{context, device};
use oxmpi_os::RawBytes;
use oxmpi_testkit::conformance::{
    EventLog, KillableTransport, TestMemory, TestedTransport, TransportEnd,
};
use oxmpi_testkit::switch::{SwitchRx, SwitchTx, switch};
use oxmpi_verbs::{
    RdmaPort, RdmaPreference, ReceiveQueue, VerbsEndpoint, VerbsNetworkRx, VerbsNetworkTx,
    VerbsOptions, VerbsRx, VerbsTx,
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

/// Ends on the tested device; if `TIGHT`, with two buffers and short pieces, so that everything runs out of room often.
struct OnDevice<const TIGHT: bool>;

impl<const TIGHT: bool> TestedTransport for OnDevice<TIGHT> {
    type Tx = VerbsTx;
    type Rx = VerbsRx;
    type Memory = HeapMemory;

    fn is_available() -> bool {
        device().is_some()
    }

    fn ends(count: u32) -> Vec<(VerbsTx, VerbsRx)> {
        let (name, gid_index) = device().expect("a device");
        let context = context(&name).expect("it opens");
        let usual = VerbsOptions {
            gid_index,
            ..VerbsOptions::default()
        };
        let options = match TIGHT {
            false => usual,
            true => VerbsOptions {
                receive_queues: ReceiveQueue::parse_all("P,128,2").expect("a queue"),
                piece: 10_000,
                ..usual
            },
        };
        let open = |_| VerbsEndpoint::open(&context, count, options.clone()).expect("an endpoint");
        let mut ends: Vec<_> = (0..count).map(open).collect();
        for a in 0..count {
            for b in 0..a {
                let [here, there] = [(a, b), (b, a)]
                    .map(|(of, to)| ends[of as usize].offer(Peer(to)).expect("a queue pair"));
                let [a_to_b, b_to_a] = [(a, b, there), (b, a, here)];
                for (of, to, address) in [a_to_b, b_to_a] {
                    let connected = ends[of as usize].connect(Peer(to), &address);
                    connected.expect("a connection");
                }
            }
        }
        ends.into_iter().map(VerbsEndpoint::into_halves).collect()
    }
}

/// The network on the port of the tested device, with testkit's switch as its control network.
struct NetworkOnDevice;

impl TestedTransport for NetworkOnDevice {
    type Tx = VerbsNetworkTx<Control>;
    type Rx = VerbsNetworkRx<Control, SwitchRx<RawBytes>>;
    type Memory = HeapMemory;

    fn is_available() -> bool {
        device().is_some()
    }

    fn ends(count: u32) -> Vec<(Self::Tx, Self::Rx)> {
        let (name, _) = device().expect("a device");
        let open = |control| {
            let port = RdmaPort::open(&[format!("{name}:1")], count, &RdmaPreference::default())
                .expect("an active port");
            port.over(control, &vec![true; count as usize])
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

impl KillableTransport for NetworkOnDevice {
    fn kill(end: TransportEnd<Self>) {
        end.tx.abort();
    }
}

// Who only waits does not learn of a peer's end from the device: the network does, from its control network.
oxmpi_testkit::conformance!(usual, OnDevice<false>);
oxmpi_testkit::conformance!(tight, OnDevice<true>);
oxmpi_testkit::conformance!(network, NetworkOnDevice, killable);
