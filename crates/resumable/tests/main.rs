//! Both forms do the same, and the blocking one is a plain function.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use oxmpi_resumable::resumable;

/// Rings so many times before it opens, and counts.
struct Bell {
    rings: u32,
    rung: u32,
}

impl Bell {
    fn ring(&mut self) -> Result<u32, &'static str> {
        self.rung += self.rings;
        self.outcome()
    }

    async fn ring_resumable(&mut self) -> Result<u32, &'static str> {
        let last = self.rung + self.rings;
        poll_fn(|_| match self.rung == last {
            true => Poll::Ready(()),
            false => {
                self.rung += 1;
                Poll::Pending
            }
        })
        .await;
        self.outcome()
    }

    fn outcome(&self) -> Result<u32, &'static str> {
        match self.rings {
            0 => Err("no rings"),
            _ => Ok(self.rung),
        }
    }
}

#[resumable]
impl Bell {
    const TIMES: u32 = 3;

    /// Documented, generic, with a call in an argument, in a block and in a loop.
    #[inline]
    async fn ring_often<F: Fn(u32) -> u32>(&mut self, each: F) -> Result<u32, &'static str> {
        let mut sum = Self::added(self.ring().await?, each(1));
        for _ in 1..Self::TIMES {
            sum = {
                let more = self.twice().await?;
                Self::added(sum, each(more))
            };
        }
        Ok(sum)
    }

    fn added(one: u32, other: u32) -> u32 {
        one + other
    }

    async fn twice(&mut self) -> Result<u32, &'static str> {
        self.ring().await?;
        self.ring().await
    }
}

#[resumable]
async fn ring_all(bells: &mut [Bell]) -> Result<u32, &'static str> {
    let mut sum = 0;
    for bell in bells {
        sum += bell.ring_often(|rung| rung * 2).await?;
    }
    Ok(sum)
}

fn bells(rings: [u32; 3]) -> [Bell; 3] {
    rings.map(|rings| Bell { rings, rung: 0 })
}

#[test]
fn both_forms_give_the_same() {
    for rings in [[1, 2, 3], [4, 1, 1], [1, 0, 5]] {
        let mut blocking = bells(rings);
        let mut resumed = bells(rings);
        let expected = ring_all(&mut blocking);
        let mut context = Context::from_waker(Waker::noop());
        let mut pending = 0;
        let result = {
            let mut ringing = pin!(ring_all_resumable(&mut resumed));
            loop {
                match ringing.as_mut().poll(&mut context) {
                    Poll::Ready(result) => break result,
                    Poll::Pending => pending += 1,
                }
            }
        };
        assert_eq!(result, expected);
        let rung = |bells: &[Bell]| bells.iter().map(|bell| bell.rung).sum::<u32>();
        assert_eq!(rung(&resumed), rung(&blocking));
        assert_eq!(pending, rung(&resumed), "pending once for each ring");
    }
}
