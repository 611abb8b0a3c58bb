//! [`awaits_input`]: whether a process sleeps until a pipe has input.
//!
//! Source: proc_pid_syscall(5), which names the system call that a thread is blocked in, and its arguments. The
//! kernel shows it to processes that may trace the other one, such as its parent.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Most bytes of a list of descriptors that are read from a process.
const LIST_MAX: u64 = 64 << 10;

/// A system call that a thread is blocked in and that ends when a descriptor has input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockingCall {
    /// It reads this descriptor.
    Read(u64),
    /// It waits for the descriptors of an array of `pollfd` at this address.
    Poll { address: u64, count: u64 },
    /// It waits for the descriptors of an `fd_set` at this address.
    Select { address: u64, count: u64 },
    /// It waits for the descriptors of this epoll instance.
    Epoll(u64),
    /// It waits for what it has submitted to a ring.
    IoUring,
}

/// The identity of an open file: its device and inode.
type FileId = (u64, u64);

/// Whether a thread of process `pid`, or of a process that it has started, is blocked until `pipe` has input.
/// `None`: the kernel does not say, because this process may not trace one of them, such as a setuid program, or
/// because a thread waits for an io_uring. A process that has ended waits for nothing.
///
/// A thread that asks again and again without blocking is not found.
///
/// # Errors
/// If `pipe` cannot be queried.
///
/// # Cost
/// Three system calls a thread.
pub fn awaits_input(pid: i32, pipe: impl AsFd) -> io::Result<Option<bool>> {
    let stat = rustix::fs::fstat(&pipe)?;
    if rustix::io::ioctl_fionread(&pipe)? > 0 {
        return Ok(Some(false));
    }
    let (mut processes, mut answers) = (VecDeque::from([pid]), Vec::new());
    while let Some(process) = processes.pop_front() {
        let threads = threads(process);
        if threads.is_empty() {
            answers.push(has_ended(process).then_some(false));
        }
        for thread in threads {
            let place = format!("/proc/{process}/task/{thread}");
            answers.push(match fs::read_to_string(format!("{place}/syscall")) {
                Ok(line) => awaits(process, &line, (stat.st_dev, stat.st_ino)),
                // A thread that has ended meanwhile has no files; the others hide their calls.
                Err(_) => (!Path::new(&place).exists()).then_some(false),
            });
            let children = fs::read_to_string(format!("{place}/children")).unwrap_or_default();
            processes.extend(
                children
                    .split_whitespace()
                    .filter_map(|pid| pid.parse::<i32>().ok()),
            );
        }
    }
    Ok(any_awaits(&answers))
}

/// The answer for several threads: one that waits decides; else one that hides its call leaves the answer open.
fn any_awaits(threads: &[Option<bool>]) -> Option<bool> {
    match threads.contains(&Some(true)) {
        true => Some(true),
        false => (!threads.contains(&None)).then_some(false),
    }
}

/// The threads of a process, as far as /proc shows them.
fn threads(process: i32) -> Vec<u32> {
    let entries = fs::read_dir(format!("/proc/{process}/task"));
    entries
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect()
}

fn has_ended(process: i32) -> bool {
    Pid::from_raw(process).is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

/// Whether a thread of `process` whose state is `line` waits for input from `file`; `None`: it does not say. What ends
/// meanwhile does not wait.
fn awaits(process: i32, line: &str, file: FileId) -> Option<bool> {
    let is_it = |fd: u64| {
        let open = fs::metadata(format!("/proc/{process}/fd/{fd}"));
        open.is_ok_and(|open| (open.dev(), open.ino()) == file)
    };
    let memory = |address: u64, bytes: u64| -> Vec<u8> {
        let mut list = vec![0; bytes.min(LIST_MAX) as usize];
        let read = File::open(format!("/proc/{process}/mem"))
            .and_then(|memory| memory.read_exact_at(&mut list, address));
        read.map_or_else(|_| Vec::new(), |()| list)
    };
    let awaits = match blocking_call(line) {
        None => false,
        Some(BlockingCall::IoUring) => return None,
        Some(BlockingCall::Read(fd)) => is_it(fd),
        Some(BlockingCall::Poll { address, count }) => {
            polled(&memory(address, count.saturating_mul(8))).any(is_it)
        }
        Some(BlockingCall::Select { address, count }) => {
            selected(&memory(address, count.div_ceil(64) * 8)).any(is_it)
        }
        Some(BlockingCall::Epoll(instance)) => {
            let info = fs::read_to_string(format!("/proc/{process}/fdinfo/{instance}"));
            watched(&info.unwrap_or_default()).any(is_it)
        }
    };
    Some(awaits)
}

/// The call in a line of /proc/PID/syscall: its number and its arguments, or `running`.
fn blocking_call(line: &str) -> Option<BlockingCall> {
    let mut words = line.split(' ');
    let number: i64 = words.next()?.parse().ok()?;
    let mut argument = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    let (first, second) = (argument()?, argument()?);
    match number {
        libc::SYS_read | libc::SYS_readv | libc::SYS_splice => Some(BlockingCall::Read(first)),
        libc::SYS_ppoll => Some(BlockingCall::Poll {
            address: first,
            count: second,
        }),
        libc::SYS_pselect6 => Some(BlockingCall::Select {
            address: second,
            count: first,
        }),
        libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => Some(BlockingCall::Epoll(first)),
        libc::SYS_io_uring_enter => Some(BlockingCall::IoUring),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_poll => Some(BlockingCall::Poll {
            address: first,
            count: second,
        }),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_select => Some(BlockingCall::Select {
            address: second,
            count: first,
        }),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_epoll_wait => Some(BlockingCall::Epoll(first)),
        _ => None,
    }
}

/// The descriptors of an array of `pollfd` whose input is awaited; negative ones are ignored, as poll(2) says.
fn polled(list: &[u8]) -> impl Iterator<Item = u64> {
    list.as_chunks::<8>()
        .0
        .iter()
        .filter_map(|[a, b, c, d, low, high, ..]| {
            let events = i16::from_ne_bytes([*low, *high]);
            let fd = u64::try_from(i32::from_ne_bytes([*a, *b, *c, *d])).ok()?;
            (events & libc::POLLIN != 0).then_some(fd)
        })
}

/// The descriptors of an `fd_set`: a bit each, in words of 64 bits.
fn selected(set: &[u8]) -> impl Iterator<Item = u64> {
    let words = set
        .as_chunks::<8>()
        .0
        .iter()
        .map(|word| u64::from_ne_bytes(*word));
    words.zip(0..).flat_map(|(word, at)| {
        (0..64)
            .filter(move |bit| word >> bit & 1 == 1)
            .map(move |bit| at * 64 + bit)
    })
}

/// The descriptors in the text of an epoll instance (`fdinfo`) whose input is awaited.
fn watched(info: &str) -> impl Iterator<Item = u64> {
    info.lines().filter_map(|line| {
        let mut words = line.strip_prefix("tfd:")?.split_whitespace();
        let fd = words.next()?.parse().ok()?;
        let events = words.nth(1)?;
        (u32::from_str_radix(events, 16).ok()? & 1 != 0).then_some(fd)
    })
}

#[cfg(test)]
mod tests {
    use std::io::PipeReader;
    use std::os::fd::AsRawFd;
    use std::process::{Command, Stdio};

    use rustix::event::{FdSetElement, epoll, fd_set_insert, fd_set_num_elements};

    use super::*;
    use crate::pipe::{self, PollFd, PollFlags};

    #[test]
    fn a_line_names_the_call() {
        let read = libc::SYS_read;
        let poll = libc::SYS_ppoll;
        let select = libc::SYS_pselect6;
        let epoll = libc::SYS_epoll_pwait;
        let ring = libc::SYS_io_uring_enter;
        let wait = libc::SYS_wait4;
        for (line, call) in [
            (
                format!("{read} 0x3 0x7f06 0x20000 0x0 0x0 0x0 0x7fff 0x7f06"),
                Some(BlockingCall::Read(3)),
            ),
            (
                format!("{poll} 0x7f06 0x2 0x0"),
                Some(BlockingCall::Poll {
                    address: 0x7f06,
                    count: 2,
                }),
            ),
            (
                format!("{select} 0x1 0x7f06 0x0"),
                Some(BlockingCall::Select {
                    address: 0x7f06,
                    count: 1,
                }),
            ),
            (
                format!("{epoll} 0x9 0x7f06 0x1"),
                Some(BlockingCall::Epoll(9)),
            ),
            (format!("{ring} 0x5 0x0 0x1"), Some(BlockingCall::IoUring)),
            (format!("{wait} 0x9 0x7f06 0x1"), None),
            ("-1 0x7fff 0x7f06".into(), None),
            ("running\n".into(), None),
            (String::new(), None),
        ] {
            assert_eq!(blocking_call(&line), call, "{line}");
        }
    }

    #[test]
    fn a_thread_that_hides_its_call_leaves_the_answer_open() {
        for (threads, answer) in [
            (&[Some(false), Some(false)][..], Some(false)),
            (&[Some(false), Some(true)], Some(true)),
            // A setuid child of a shell.
            (&[Some(false), None], None),
            (&[None, Some(false)], None),
            (&[None, Some(true)], Some(true)),
            (&[], Some(false)),
        ] {
            assert_eq!(any_awaits(threads), answer, "{threads:?}");
        }
        let ring = format!("{} 0x5 0x0 0x1", libc::SYS_io_uring_enter);
        assert_eq!(awaits(1, &ring, (0, 0)), None);
    }

    #[test]
    fn lists_name_their_descriptors() {
        let entry = |fd: i32, events: i16| {
            let [a, b, c, d] = fd.to_ne_bytes();
            let [low, high] = events.to_ne_bytes();
            [a, b, c, d, low, high, 0, 0]
        };
        let list = [
            entry(5, libc::POLLIN),
            entry(6, libc::POLLOUT),
            entry(-1, libc::POLLIN),
        ];
        assert_eq!(polled(list.as_flattened()).collect::<Vec<_>>(), [5]);
        let set = [0b101_u64.to_ne_bytes(), 2_u64.to_ne_bytes()];
        assert_eq!(selected(set.as_flattened()).collect::<Vec<_>>(), [0, 2, 65]);
        let info = "pos:\t0\ntfd:        7 events:       19 data:                0\n\
                    tfd:        8 events:        4 data:                0\n";
        assert_eq!(watched(info).collect::<Vec<_>>(), [7]);
    }

    /// Asks until the kernel shows that process `pid` is blocked.
    fn until_blocked(pid: u32, pipe: impl AsFd) {
        while awaits_input(pid.cast_signed(), &pipe).expect("a pipe") != Some(true) {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_process_and_its_child_that_read_are_found() {
        for script in ["read line", "(read line); :"] {
            let mut command = Command::new("sh");
            command.args(["-c", script]).stdin(Stdio::piped());
            let mut child = command.spawn().expect("sh");
            let pipe = child.stdin.take().expect("piped");
            until_blocked(child.id(), &pipe);
            drop(pipe);
            child.wait().expect("it ends with its input");
        }
    }

    #[test]
    fn a_thread_that_waits_by_another_call_is_found() {
        fn poll(pipe: PipeReader) {
            let mut fds = [PollFd::new(&pipe, PollFlags::IN)];
            pipe::poll(&mut fds, None).expect("poll");
        }
        fn select(pipe: PipeReader) {
            let mut set = vec![FdSetElement::default(); fd_set_num_elements(1024, 1024)];
            fd_set_insert(&mut set, pipe.as_raw_fd());
            // SAFETY: the set holds one descriptor, which is open until the call returns.
            let ready = unsafe { rustix::event::select(1024, Some(&mut set), None, None, None) };
            ready.expect("select");
        }
        fn epoll(pipe: PipeReader) {
            let instance = epoll::create(epoll::CreateFlags::CLOEXEC).expect("an instance");
            let data = epoll::EventData::new_u64(0);
            epoll::add(&instance, &pipe, data, epoll::EventFlags::IN).expect("a pipe");
            let mut events = Vec::with_capacity(1);
            epoll::wait(&instance, rustix::buffer::spare_capacity(&mut events), None)
                .expect("wait");
        }
        for wait in [poll, select, epoll] {
            let (reader, writer) = io::pipe().expect("a pipe");
            let thread = std::thread::spawn(move || wait(reader));
            until_blocked(std::process::id(), &writer);
            drop(writer);
            thread.join().expect("it ends with its input");
        }
    }

    #[test]
    fn a_process_that_does_not_read_is_not_found() {
        let mut command = Command::new("sleep");
        let mut child = command
            .arg("1000")
            .stdin(Stdio::piped())
            .spawn()
            .expect("sleep");
        let pipe = child.stdin.take().expect("piped");
        assert_eq!(
            awaits_input(child.id().cast_signed(), &pipe).expect("a pipe"),
            Some(false)
        );
        child.kill().expect("a child of ours");
        child.wait().expect("it was killed");
        assert_eq!(
            awaits_input(child.id().cast_signed(), &pipe).expect("a pipe"),
            Some(false),
            "it is gone"
        );
    }
}
