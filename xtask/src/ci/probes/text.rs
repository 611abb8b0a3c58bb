//! Calls oxmpi-text.

pub fn call() -> bool {
    oxmpi_text::size("64K").is_ok()
}
