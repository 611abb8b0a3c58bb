//! Two processes play ping-pong over RDMA. Start `verbs_pingpong DEVICE GID_INDEX` on one host, then
//! `verbs_pingpong DEVICE GID_INDEX HOST` on another one, or on the same.

use oxmpi_verbs::{
    Access, AddressVector, CompletionQueueOptions, GlobalRoute, InitAttributes, Payload,
    QueueCapacity, ReceiveAttributes, SendAttributes, SendFlags, devices,
};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

const ROUNDS: u32 = 200;
const LENGTH: usize = 4096;
const SEND: u64 = 0;
const RECEIVE: u64 = 1;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, index, host @ ..] = &arguments[..] else {
        return Err("usage: verbs_pingpong DEVICE GID_INDEX [HOST]".into());
    };
    let index: u8 = index.parse()?;
    let device = devices()?.into_iter().find(|device| device.name() == *name);
    let context = device.ok_or("no such device")?.open()?;
    let gids = context.gids(1)?;
    let gid = gids.iter().find(|entry| entry.index == index);
    let gid = gid.ok_or("no such GID index")?.gid;

    let domain = context.alloc_pd()?;
    let region = domain.register(2 * LENGTH, Access::LOCAL_WRITE)?;
    let into = [region.segment(0..LENGTH)];
    let from = [region.segment(LENGTH..2 * LENGTH)];
    let channel = context.create_completion_channel()?;
    let queue = context.create_completion_queue(CompletionQueueOptions {
        channel: Some((&channel, 0)),
        ..CompletionQueueOptions::polled(4)
    })?;
    let pair = domain.create_queue_pair(&queue, &queue, QueueCapacity::new(1, 1))?;
    let pair = pair.init(InitAttributes::new(1))?;
    pair.post_receive(RECEIVE, &into)?;

    // The two queue pairs are introduced over TCP; the last lines say that both can receive.
    let stream = match host {
        [] => TcpListener::bind(("::", 18515))?.accept()?.0,
        [host, ..] => TcpStream::connect((host.as_str(), 18515))?,
    };
    let mut lines = BufReader::new(&stream).lines();
    writeln!(&stream, "{} {gid}", pair.number())?;
    let peer = lines.next().ok_or("the peer has ended")??;
    let (number, gid) = peer.split_once(' ').ok_or("the peer is another program")?;
    let address = AddressVector::global(1, GlobalRoute::new(gid.parse()?, index));
    let mtu = context.port(1)?.active_mtu;
    let pair = pair
        .ready_to_receive(ReceiveAttributes::new(address, number.parse()?, 0, mtu))?
        .ready_to_send(SendAttributes::new(0))?;
    writeln!(&stream, "ready")?;
    lines.next().ok_or("the peer has ended")??;

    // The side that connected begins; each message is sent when one has come and the last send is done.
    let (begins, start) = (u32::from(!host.is_empty()), Instant::now());
    let (mut posted, mut sent, mut received) = (0, 0, 0);
    let mut message = [0; LENGTH];
    while sent < ROUNDS || received < ROUNDS {
        if posted == sent && posted < ROUNDS.min(received + begins) {
            region.write(LENGTH, &[posted as u8; LENGTH]);
            pair.post_send(SEND, Payload::Segments(&from), None, SendFlags::SIGNALED)?;
            posted += 1;
        }
        queue.arm()?;
        let mut room = [Default::default(); 4];
        let mut completions = queue.poll(&mut room)?;
        if completions.is_empty() {
            let event = channel.wait(Instant::now() + Duration::from_secs(60))?;
            event.ok_or("the peer is silent")?;
            completions = queue.poll(&mut room)?;
        }
        for completion in completions {
            completion.result()?;
            if completion.id() == SEND {
                sent += 1;
                continue;
            }
            region.read(0, &mut message);
            if completion.len() != LENGTH || message != [received as u8; LENGTH] {
                return Err(format!("message {received} has come with other bytes").into());
            }
            received += 1;
            pair.post_receive(RECEIVE, &into)?;
        }
    }
    let half = start.elapsed() / (2 * ROUNDS);
    println!("{ROUNDS} messages of {LENGTH} B each way, all bytes right; one way {half:?}");
    Ok(())
}
