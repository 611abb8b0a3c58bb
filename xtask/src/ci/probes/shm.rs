//! Calls the rings of oxmpi-shm, which need no allocator.

use oxmpi_shm::ring::Storage;

static RING: Storage<64> = Storage::new();

pub fn call() -> bool {
    let Some((mut sender, mut receiver)) = RING.pair() else {
        return false;
    };
    sender.try_send(7, &[1, 2, 3]).is_ok() && receiver.try_recv().is_some()
}
