//! Every fault, on every wire, streamed and not: what comes over the connection is what its name says.

mod apart;
mod case;
mod holds;

use std::time::Duration;

use setpoint_model_server::{Delay, Fault, Measures, Wire};

use self::case::make;
use self::holds::holds;

/// Small where the list is large; the large ones have tests of their own.
fn measures() -> Measures {
    Measures {
        refusal: Delay::Ever,
        hang: Delay::For(Duration::from_secs(9)),
        half_open: Delay::For(Duration::from_secs(9)),
        drip_bytes: 50,
        drip_every: Duration::from_secs(1),
        pause: Delay::For(Duration::from_secs(30)),
        storm: Duration::from_secs(60),
        bomb_bytes: 1 << 20,
        line_bytes: 300_000,
        text_bytes: 200_000,
        ..Measures::default()
    }
}

/// The faults of these numbers, wherever they apply, over both kinds of answers. They must be so many cases: a fault
/// that silently stopped applying would otherwise go unnoticed.
async fn check(numbers: std::ops::RangeInclusive<u8>, expected: usize) {
    let mut cases = 0;
    for fault in Fault::all_with(&measures()).into_iter().filter(|fault| numbers.contains(&fault.number())) {
        for wire in Wire::ALL {
            for is_streaming in [false, true] {
                if !fault.applies(wire, is_streaming) || fault.name() == "endless_call_stream" {
                    continue;
                }
                for calls in [false, true] {
                    let case = make(fault.clone(), wire, is_streaming, calls).await;
                    let made = case.server.served()[0].fault;
                    assert_eq!(made, Some(fault.name()), "{}", case.place());
                    holds(&case).await;
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, expected, "cases were made");
}

// A paused clock goes on by itself when everybody waits: nothing here takes the time that it is about.
#[tokio::test(start_paused = true)]
async fn transport() {
    check(1..=14, 290).await;
}

#[tokio::test(start_paused = true)]
async fn status() {
    check(15..=28, 434).await;
}

#[tokio::test(start_paused = true)]
async fn stream() {
    check(29..=37, 192).await;
}

#[tokio::test(start_paused = true)]
async fn content_of_arguments() {
    check(38..=44, 180).await;
}

#[tokio::test(start_paused = true)]
async fn content_of_replies_and_calls() {
    check(45..=53, 240).await;
}

#[tokio::test(start_paused = true)]
async fn content_of_texts_and_ends() {
    check(54..=59, 296).await;
}
