//! Leaving the other ranks of an endpoint in order.

use oxmpi_os::RawBytes;
use oxmpi_os::fork::ForkGuard;
use oxmpi_wire::engine::Status;

use super::super::thread_endpoints;
use super::Endpoint;

impl Endpoint {
    /// Begins to leave the other ranks: no collective is advanced any more. False: the endpoint has been left, or
    /// this process is a fork.
    ///
    /// # Panics
    /// As [`StartedCollectives::close`].
    pub(crate) fn begin_leaving(&mut self) -> bool {
        let stays = self.ended || self.fork.forked();
        if !stays {
            self.collectives.close();
        }
        !stays
    }

    /// Leaves, if all that was sent has gone out and no operation uses a caller's buffer any more; whether it has
    /// left. Later calls give [`Error::Finalized`](crate::Error::Finalized).
    pub(crate) fn try_leave(&mut self) -> bool {
        if self.ended {
            return true;
        }
        // A collective that another thread advances is a request that has not completed: it writes its buffers
        // until it is put back.
        for request in self.collectives.end() {
            self.engine
                .complete_generalized(request, Ok(Status::generalized(true)));
        }
        if !self.engine.quiesce(&mut self.tx, &RawBytes::empty()) || self.tx.has_unsent() {
            return false;
        }
        self.ended = true;
        self.usable = ForkGuard::closed();
        self.tx.depart();
        self.rx.depart();
        true
    }

    /// Leaves, where no other thread has the endpoint.
    pub(crate) fn leave_now(&mut self) {
        if !self.begin_leaving() {
            return;
        }
        let mut waiter = self.waiter();
        while !self.try_leave() {
            self.wait_step(&mut waiter);
            if thread_endpoints::any() {
                thread_endpoints::drive();
            }
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        if self.fork.forked() {
            self.tx.abandon();
        } else if !std::thread::panicking() {
            self.leave_now();
        } else if !self.ended {
            // A panicking thread must not wait for other ranks, nor they for it: the process may live
            // on where the endpoint was not the world's.
            self.tx.break_off();
            self.rx.depart();
        }
    }
}
