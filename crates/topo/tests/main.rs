//! Tests from outside the crate: recorded, made-up and live machines through every source and format.

mod cpuid;
mod cpuinfo;
mod details;
mod hwloc;
mod hwlocs;
mod json;
mod laws;
mod linux_devices;
mod listing;
mod live;
mod recorded;
mod recording;
mod root;
mod svg;
mod text;
mod xml;
