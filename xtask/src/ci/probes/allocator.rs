//! An allocator that never has room: the program is linked and not run.

struct Full;

// SAFETY: `alloc` always answers null, which the trait allows; so nothing reaches `dealloc`.
unsafe impl core::alloc::GlobalAlloc for Full {
    unsafe fn alloc(&self, _: core::alloc::Layout) -> *mut u8 {
        core::ptr::null_mut()
    }
    unsafe fn dealloc(&self, _: *mut u8, _: core::alloc::Layout) {}
}

#[global_allocator]
static FULL: Full = Full;
