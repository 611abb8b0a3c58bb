//! Names the library for the loader: programs ask for `libmpi_abi.so.1` (MPI 5.0, section 20.2).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for argument in ["-soname,libmpi_abi.so.1", "-z,defs", "-z,nodelete"] {
        println!("cargo::rustc-cdylib-link-arg=-Wl,{argument}");
    }
}
