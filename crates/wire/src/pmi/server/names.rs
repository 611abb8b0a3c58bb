//! Names that ranks publish with a port, and look up (`MPI_Publish_name`).

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt::Display;

use super::super::line::{Line, write_line};
use super::{ServerError, required};

/// Most bytes of published names and ports of a job.
const ROOM: usize = 1 << 20;

/// The published names of one job.
#[derive(Debug, Default)]
pub(super) struct PublishedNames {
    ports: BTreeMap<String, String>,
    bytes: usize,
}

impl PublishedNames {
    /// Answers a request about names; `None` if it is another request.
    pub(super) fn serve(&mut self, line: &Line<'_>) -> Result<Option<String>, ServerError> {
        Ok(Some(match line.command() {
            "publish_name" => {
                let service = required(line, "service", line.value("service"))?;
                let port = required(line, "port", line.value("port"))?;
                answer("publish_result", self.publish(service, port), None)
            }
            "lookup_name" => {
                let service = required(line, "service", line.value("service"))?;
                let port = self.ports.get(service);
                let found = port.map(|_| ()).ok_or("no_such_service");
                answer("lookup_result", found, port)
            }
            "unpublish_name" => {
                let service = required(line, "service", line.value("service"))?;
                answer("unpublish_result", self.unpublish(service), None)
            }
            _ => return Ok(None),
        }))
    }

    fn publish(&mut self, service: &str, port: &str) -> Result<(), &'static str> {
        let bytes = service.len() + port.len();
        if self.ports.contains_key(service) {
            return Err("service_is_published_already");
        }
        if self.bytes + bytes > ROOM {
            return Err("space_full");
        }
        self.bytes += bytes;
        self.ports.insert(service.to_owned(), port.to_owned());
        Ok(())
    }

    fn unpublish(&mut self, service: &str) -> Result<(), &'static str> {
        let port = self.ports.remove(service).ok_or("no_such_service")?;
        self.bytes -= service.len() + port.len();
        Ok(())
    }
}

/// Formats a reply. Older clients use `info`, newer ones `rc`.
fn answer(word: &str, done: Result<(), &'static str>, port: Option<&String>) -> String {
    let message = done.err().unwrap_or("success");
    let (info, rc) = if done.is_ok() {
        ("ok", 0)
    } else {
        ("fail", -1)
    };
    let mut fields: heapless::Vec<(&str, &dyn Display), 4> = heapless::Vec::new();
    let known: [(&str, &dyn Display); 3] = [("info", &info), ("rc", &rc), ("msg", &message)];
    fields.extend(known);
    if let Some(port) = &port {
        fields.extend([("port", port as &dyn Display)]);
    }
    let mut line = String::new();
    // Writing to a growing string cannot fail.
    let _ = write_line(&mut line, word, &fields);
    line
}
