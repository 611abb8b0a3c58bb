//! Figures that the simulator makes: the choice of algorithms, their cost forms, the guidelines and our claims.
//!
//! ```sh
//! cargo test --release -p oxmpi-coll --features sim --test figures
//! ```

mod choice;
mod claims;
mod cost;
mod guidelines;
mod variants;
