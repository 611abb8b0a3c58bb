//! Calls the part of oxmpi-bench that needs an allocator.

pub fn call() -> bool {
    oxmpi_bench::options::parse(["PingPong"]).is_ok()
}
