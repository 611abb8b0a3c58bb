//! A completion: the end of one work request.

use crate::ffi::{IBV_WC_RECV, IBV_WC_SUCCESS, IBV_WC_WITH_IMM, ibv_wc};
use std::fmt;

/// The end of a work request.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Completion(ibv_wc);

impl Default for Completion {
    /// Room for one.
    fn default() -> Completion {
        Completion(ibv_wc {
            wr_id: 0,
            status: IBV_WC_SUCCESS,
            opcode: 0,
            vendor_err: 0,
            byte_len: 0,
            imm_data: 0,
            qp_num: 0,
            src_qp: 0,
            wc_flags: 0,
            pkey_index: 0,
            slid: 0,
            sl: 0,
            dlid_path_bits: 0,
        })
    }
}

impl Completion {
    #[cfg(test)]
    pub(crate) fn from_c(entry: ibv_wc) -> Completion {
        Completion(entry)
    }

    #[cfg(test)]
    pub(crate) fn into_c(self) -> ibv_wc {
        self.0
    }

    /// The number that its request was posted with.
    #[inline]
    #[must_use]
    pub fn id(&self) -> u64 {
        self.0.wr_id
    }

    /// The number of its queue pair.
    #[inline]
    #[must_use]
    pub fn queue_pair(&self) -> u32 {
        self.0.qp_num
    }

    /// Whether the work was done.
    #[inline]
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.0.status == IBV_WC_SUCCESS
    }

    /// Whether the work was done.
    ///
    /// # Errors
    /// Why it was not. From then on the queue pair does nothing, and its other requests end as flushed.
    pub fn result(&self) -> Result<(), CompletionError> {
        match self.0.status {
            IBV_WC_SUCCESS => Ok(()),
            status => Err(CompletionError {
                id: self.0.wr_id,
                queue_pair: self.0.qp_num,
                status,
                vendor: self.0.vendor_err,
            }),
        }
    }

    /// Whether a receive ended, and not a request of the send queue. Not known of a request that failed.
    #[must_use]
    pub fn is_receive(&self) -> bool {
        self.0.opcode & IBV_WC_RECV != 0
    }

    /// Bytes that a receive got. Not known of a request that failed, or of one of the send queue.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.byte_len as usize
    }

    /// Whether a receive got no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.byte_len == 0
    }

    /// The number that the sender sent beside the bytes, if it did.
    #[must_use]
    pub fn immediate(&self) -> Option<u32> {
        (self.0.wc_flags & IBV_WC_WITH_IMM != 0).then(|| u32::from_be(self.0.imm_data))
    }
}

impl fmt::Debug for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.result() {
            Ok(()) => write!(
                f,
                "request {} of queue pair {}",
                self.id(),
                self.queue_pair()
            ),
            Err(error) => fmt::Display::fmt(&error, f),
        }
    }
}

/// Why a work request failed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CompletionError {
    /// The number that the request was posted with.
    pub id: u64,
    /// The number of its queue pair.
    pub queue_pair: u32,
    /// The reason, a number of `enum ibv_wc_status`.
    pub status: u32,
    /// What the device's vendor adds; 0 for nothing.
    pub vendor: u32,
}

impl CompletionError {
    /// Whether the request ended because another one of its queue pair had failed before.
    #[must_use]
    pub fn is_flushed(&self) -> bool {
        self.name() == "IBV_WC_WR_FLUSH_ERR"
    }

    /// The reason's name in `verbs.h`, such as `IBV_WC_RETRY_EXC_ERR`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.known().0
    }

    /// The reason's name in `verbs.h`, and what it means.
    fn known(&self) -> (&'static str, &'static str) {
        let index = self.status as usize;
        STATUSES
            .get(index)
            .copied()
            .unwrap_or(("IBV_WC_?", "a reason that this version does not know"))
    }
}

impl fmt::Display for CompletionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CompletionError {
            id,
            queue_pair,
            status,
            vendor,
        } = self;
        let (name, meaning) = self.known();
        write!(
            f,
            "request {id} of queue pair {queue_pair}: {meaning} ({name}, {status}; vendor's number {vendor})"
        )
    }
}

impl fmt::Debug for CompletionError {
    /// As `Display`: a `main` that returns the error prints this.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for CompletionError {}

/// `enum ibv_wc_status` in order, with the meanings that ibv_poll_cq(3) and the InfiniBand specification give.
#[rustfmt::skip]
const STATUSES: [(&str, &str); 24] = [
    ("IBV_WC_SUCCESS", "done"),
    ("IBV_WC_LOC_LEN_ERR", "the message is longer than the receive's buffer, or than the port sends"),
    ("IBV_WC_LOC_QP_OP_ERR", "the queue pair cannot do this, or its link is down"),
    ("IBV_WC_LOC_EEC_OP_ERR", "the end-to-end context cannot do this"),
    ("IBV_WC_LOC_PROT_ERR", "a segment is not in a region of this protection domain that allows it"),
    ("IBV_WC_WR_FLUSH_ERR", "flushed, as another request of the queue pair had failed"),
    ("IBV_WC_MW_BIND_ERR", "the memory window cannot be bound"),
    ("IBV_WC_BAD_RESP_ERR", "the peer's device answered what makes no sense"),
    ("IBV_WC_LOC_ACCESS_ERR", "a peer's write does not fit this side's memory"),
    ("IBV_WC_REM_INV_REQ_ERR", "the peer's queue pair cannot take this: its receive is too short, for instance"),
    ("IBV_WC_REM_ACCESS_ERR", "the peer's region does not allow this: wrong rkey, range or access"),
    ("IBV_WC_REM_OP_ERR", "the peer's device could not do it"),
    ("IBV_WC_RETRY_EXC_ERR", "no answer after all retries: the peer has ended, or the network is cut"),
    ("IBV_WC_RNR_RETRY_EXC_ERR", "the peer had no receive posted, after all retries"),
    ("IBV_WC_LOC_RDD_VIOL_ERR", "another reliable datagram domain than the end-to-end context's"),
    ("IBV_WC_REM_INV_RD_REQ_ERR", "the peer refused a reliable datagram"),
    ("IBV_WC_REM_ABORT_ERR", "the peer aborted"),
    ("IBV_WC_INV_EECN_ERR", "no such end-to-end context"),
    ("IBV_WC_INV_EEC_STATE_ERR", "the end-to-end context is in another state"),
    ("IBV_WC_FATAL_ERR", "the device has failed"),
    ("IBV_WC_RESP_TIMEOUT_ERR", "the peer did not answer in time"),
    ("IBV_WC_GENERAL_ERR", "the transport has failed"),
    ("IBV_WC_TM_ERR", "tag matching failed"),
    ("IBV_WC_TM_RNDV_INCOMPLETE", "a rendezvous is incomplete"),
];

#[cfg(test)]
mod tests {
    use super::{Completion, CompletionError, STATUSES};

    fn failed(status: u32) -> Completion {
        let mut completion = Completion::default();
        (completion.0.wr_id, completion.0.qp_num, completion.0.status) = (3, 17, status);
        completion
    }

    #[test]
    fn a_failure_names_request_queue_pair_and_reason() {
        let error = failed(12).result().unwrap_err();
        assert_eq!(
            error.to_string(),
            "request 3 of queue pair 17: no answer after all retries: the peer has ended, or the network is cut \
             (IBV_WC_RETRY_EXC_ERR, 12; vendor's number 0)"
        );
        assert!(!error.is_flushed());
        assert!(failed(5).result().unwrap_err().is_flushed());
        assert_eq!(failed(0).result(), Ok(()));
    }

    #[test]
    fn a_reason_of_a_newer_library_is_shown_by_its_number() {
        let error: CompletionError = failed(99).result().unwrap_err();
        assert!(error.to_string().contains("IBV_WC_?, 99"), "{error}");
        assert_eq!(STATUSES[23].0, "IBV_WC_TM_RNDV_INCOMPLETE");
    }

    /// `layouts.c` is compiled against the header.
    #[test]
    fn reasons_have_the_numbers_of_the_header() {
        let asserted = include_str!("../../ffi/layouts.c");
        for (number, (name, _)) in STATUSES.iter().enumerate() {
            let line = format!("\nVALUE({name}, {number});\n");
            assert!(asserted.contains(&line), "{line}");
        }
    }

    #[test]
    fn an_immediate_is_there_only_if_it_was_sent() {
        let mut completion = Completion::default();
        completion.0.imm_data = 7_u32.to_be();
        assert_eq!(completion.immediate(), None);
        completion.0.wc_flags = 2;
        assert_eq!(completion.immediate(), Some(7));
    }
}
