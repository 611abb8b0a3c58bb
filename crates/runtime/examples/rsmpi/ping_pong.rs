//! Nonblocking messages, probes and cancellation, from each rank to itself. rsmpi: `immediate`.

use oxmpi::{Source, World};

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let (me, x) = (comm.rank(), [std::f32::consts::PI]);
    let mut y = [0.0];

    comm.scope(|s| {
        let receive = s.irecv(&mut y, Source::Any, 0)?;
        s.isend(&x, me, 0)?;
        receive.wait()
    })?;
    assert_eq!(y, x);

    assert!(comm.iprobe(Source::Any, 0)?.is_none());
    assert!(comm.improbe(Source::Any, 0)?.is_none());

    // A synchronous send completes when the message has been matched.
    comm.scope(|s| {
        let send = s.issend(&x, me, 1)?;
        let message = comm.mprobe(Source::Any, 1)?;
        message.recv(&mut y)?;
        send.wait()
    })?;

    // An owned request gives its buffer back.
    let receive = comm.irecv_owned::<f32>(1, Source::Any, 2)?;
    comm.bsend(&x, me, 2)?;
    assert_eq!(receive.wait()?.0, x);

    comm.scope(|s| {
        let receive = s.irecv(&mut y, Source::Any, 3)?;
        receive.cancel()
    })?;
    Ok(())
}
