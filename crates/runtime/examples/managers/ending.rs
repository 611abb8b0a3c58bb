//! A job that fails, for tests of process managers: the last rank aborts the job (`abort CODE`) or is killed
//! (`kill`), while the others wait for it in a barrier.

use std::env;
use std::process::Command;

use oxmpi::World;

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    comm.barrier()?;
    if comm.rank() == comm.size() - 1 {
        let words: Vec<String> = env::args().skip(1).collect();
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["abort", code] => world.abort(code.parse().unwrap_or(1)),
            ["kill"] => {
                let me = std::process::id().to_string();
                let killed = Command::new("kill").args(["-9", &me]).status();
                eprintln!("still alive after kill -9: {killed:?}");
            }
            _ => eprintln!("usage: manager_ending (abort CODE | kill)"),
        }
        return Ok(());
    }
    comm.barrier()
}
