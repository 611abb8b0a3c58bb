//! The fuzz body of receive queues, and of the addresses that hold them.

use oxmpi_verbs::{PairAddress, ReceiveQueue, RegisteredBytes, VerbsOptions};

/// Reads any text as receive queues and as an address: what is accepted reads back from its text.
pub(crate) fn receive_queues(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(queues) = ReceiveQueue::parse_all(text) {
        let whole = ReceiveQueue::join_all(&queues);
        assert_eq!(ReceiveQueue::parse_all(&whole), Ok(queues.clone()));
        for queue in &queues {
            if let ReceiveQueue::PerPeer(queue) = queue {
                assert!(queue.window <= queue.buffers.min(queue.low_mark + 1));
            }
        }
        let accepted = ReceiveQueue::check_all(&queues).is_ok();
        let options = VerbsOptions {
            receive_queues: queues,
            ..VerbsOptions::default()
        };
        assert!(!accepted || RegisteredBytes::of(&options).total(1, 0, 0) > 0);
    }
    if let Ok(address) = text.parse::<PairAddress>() {
        assert_eq!(address.to_string().parse(), Ok(address));
    }
}
