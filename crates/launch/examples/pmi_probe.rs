//! A rank without a message-passing library: it speaks PMI-1 with the process manager that started it.
//!
//! ```text
//! oxmpi run -n 2 pmi_probe exchange
//! ```
//!
//! | word | what the rank does after joining |
//! |---|---|
//! | `exchange` | puts a value, waits in the barrier, gets the next rank's value, leaves |
//! | `barrier` | waits in the barrier, then leaves |
//! | `rounds` | prints a line after each barrier, without end |
//! | `depart` | exits with code 0 without finalize |
//! | `abort CODE` | asks the process manager to end the job with CODE |
//! | `say TEXT` | sends TEXT as a line of PMI-1 |

use std::env::{args, var};
use std::error::Error;
use std::fs::File;
use std::io::{Read, Write};

use oxmpi_wire::pmi::{Client, PmiRequest, PmiVariables, Reply, StartMethod};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The stream to the process manager, and the state of PMI-1 on it.
struct Manager {
    stream: File,
    client: Client,
}

impl Manager {
    /// Sends a request, waits for its reply, and returns the text in the reply.
    fn ask(&mut self, request: PmiRequest<'_>) -> Result<String> {
        self.stream
            .write_all(self.client.request(request)?.as_bytes())?;
        let mut bytes = [0; 256];
        loop {
            let read = self.stream.read(&mut bytes)?;
            if read == 0 {
                return Err(self.client.closed().map_or("closed".into(), Into::into));
            }
            match self.client.feed(&bytes[..read])? {
                None => {}
                Some(Reply::KvsName(text) | Reply::Value(Some(text))) => return Ok(text.into()),
                Some(other) => return Ok(format!("{other:?}")),
            }
        }
    }

    /// Waits until the process manager ends this process.
    fn await_the_end(&mut self) -> Result<()> {
        self.stream.read_to_end(&mut Vec::new())?;
        Ok(())
    }
}

fn main() -> Result<()> {
    let [fd, rank, size] = ["PMI_FD", "PMI_RANK", "PMI_SIZE"].map(|name| var(name).ok());
    let start = PmiVariables {
        fd: fd.as_deref(),
        rank: rank.as_deref(),
        size: size.as_deref(),
        ..PmiVariables::default()
    };
    let StartMethod::Descriptor { fd, rank, size } = StartMethod::read(&start)? else {
        println!("nobody started this process as a rank");
        return Ok(());
    };
    let stream = File::from(oxmpi_os::inherit(fd)?);
    let mut manager = Manager {
        stream,
        client: Client::new(),
    };
    manager.ask(PmiRequest::Init)?;

    let words: Vec<String> = args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] | ["exchange"] => exchange(&mut manager, rank, size)?,
        ["barrier"] => drop(manager.ask(PmiRequest::Barrier)?),
        ["rounds"] => {
            for round in 0_u64.. {
                manager.ask(PmiRequest::Barrier)?;
                println!("rank {rank} round {round}");
            }
        }
        ["depart"] => return Ok(()),
        ["abort", code] => {
            let line = manager.client.request(PmiRequest::Abort {
                code: code.parse()?,
            })?;
            manager.stream.write_all(line.as_bytes())?;
            return manager.await_the_end();
        }
        ["say", text] => {
            writeln!(manager.stream, "{text}")?;
            return manager.await_the_end();
        }
        _ => return Err("see the table at the top of pmi_probe.rs".into()),
    }
    manager.ask(PmiRequest::Finalize)?;
    Ok(())
}

fn exchange(manager: &mut Manager, rank: u32, size: u32) -> Result<()> {
    let kvs = manager.ask(PmiRequest::KvsName)?;
    let (key, value) = (format!("from-{rank}"), format!("greetings-of-{rank}"));
    manager.ask(PmiRequest::Put {
        kvs: &kvs,
        key: &key,
        value: &value,
    })?;
    manager.ask(PmiRequest::Barrier)?;
    let key = format!("from-{}", (rank + 1) % size);
    let got = manager.ask(PmiRequest::Get {
        kvs: &kvs,
        key: &key,
    })?;
    let map = manager.ask(PmiRequest::Get {
        kvs: &kvs,
        key: "PMI_process_mapping",
    })?;
    let program = manager.ask(PmiRequest::Appnum)?;
    println!("rank {rank} of {size}: {got}; {map}; {program}");
    Ok(())
}
