//! A program without std: a start symbol that runs one call, and a panic handler.
#![no_std]
#![no_main]

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    core::hint::black_box(probe::call());
    loop {}
}
