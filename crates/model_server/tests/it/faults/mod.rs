//! Every fault, on every wire, streamed and not: the received bytes are what its name says.

mod apart;
mod case;
mod holds;

use std::time::Duration;

use setpoint_model_server::{Delay, Fault, Measures, Wire};

use self::case::make;
use self::holds::holds;

/// Returns measures that are smaller than the defaults; large ones have their own tests.
fn measures() -> Measures {
    Measures {
        hang: Delay::For(Duration::from_secs(9)),
        half_open: Delay::For(Duration::from_secs(9)),
        drip_bytes: 50,
        bomb_bytes: 1 << 20,
        line_bytes: 300_000,
        text_bytes: 200_000,
        ..Measures::default()
    }
}

/// Checks the faults of these numbers wherever they apply, with both kinds of answers. The number of cases must match:
/// a fault that silently stopped applying would otherwise go unnoticed.
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

// A paused clock advances on its own when everything waits, so the test does not take the time that it is about.
#[tokio::test(start_paused = true)]
async fn transport_faults_do_what_they_promise() {
    check(1..=14, 290).await;
}

#[tokio::test(start_paused = true)]
async fn status_faults_do_what_they_promise() {
    check(15..=28, 434).await;
}

#[tokio::test(start_paused = true)]
async fn stream_faults_do_what_they_promise() {
    check(29..=37, 192).await;
}

#[tokio::test(start_paused = true)]
async fn argument_faults_do_what_they_promise() {
    check(38..=44, 180).await;
}

#[tokio::test(start_paused = true)]
async fn reply_and_call_faults_do_what_they_promise() {
    check(45..=53, 240).await;
}

#[tokio::test(start_paused = true)]
async fn text_and_ending_faults_do_what_they_promise() {
    check(54..=59, 296).await;
}
