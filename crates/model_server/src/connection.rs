//! Serves one connection: reads requests and performs the steps of the answers. The steps are decided elsewhere.

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};

use crate::http::request::{ReadError, Reader, Request};
use crate::http::response::Piece;
use crate::http::steps::{GARBAGE, Step};
use crate::plan::{self, HOP, Plan};
use crate::refusal::Trouble;
use crate::seen::{self, Asked, Seen};
use crate::server::{Served, Shared};
use crate::wire::{Purpose, Route, Wire, route};

/// The response to a client that asks before it sends its body.
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

enum End {
    Close,
    Reset,
}

enum Outcome {
    /// Everything was sent, and the connection stays open.
    Stays,
    /// Everything was performed, and the connection ends like this.
    Ends(End),
    /// The client disconnected first.
    Lost,
}

/// Serves a connection until it ends.
pub(crate) async fn serve(mut stream: TcpStream, number: usize, shared: &Shared) {
    // Sends pieces as they are cut. If the system refuses, they may be joined, which does no harm.
    let _set = stream.set_nodelay(true);
    let (read, mut write) = stream.split();
    let end = converse(&mut Reader::new(read), &mut write, number, shared).await;
    match end {
        // Closing with no linger time is a reset.
        End::Reset => drop(stream.set_zero_linger()),
        End::Close => drop(stream.shutdown().await),
    }
}

async fn converse(
    reader: &mut Reader<ReadHalf<'_>>,
    write: &mut WriteHalf<'_>,
    connection: usize,
    shared: &Shared,
) -> End {
    loop {
        let request = match next_request(reader, write).await {
            Ok(Some(request)) => request,
            Ok(None) => return End::Close,
            Err(error) => return object(&error, reader, write, shared).await,
        };
        let keeps_alive = request.keeps_alive;
        let mut seen = look(request, connection, shared.number());
        seen.repeated = shared.repeated(&seen);
        let plan = plan(&seen, keeps_alive, shared);
        let (nth, wire) = (seen.nth, seen.wire);
        shared.saw(seen);
        shared.prepare(plan.fault.as_ref()).await;
        let outcome = perform(plan.steps, reader, write).await;
        shared.has_served(Served {
            nth,
            wire,
            fault: plan.fault.map(|fault| fault.name()),
            input_tokens: plan.cost.map(|(input, _)| input),
            output_tokens: plan.cost.map(|(_, output)| output),
            is_complete: !matches!(outcome, Outcome::Lost),
        });
        match outcome {
            Outcome::Stays => {}
            Outcome::Ends(end) => return end,
            Outcome::Lost => return End::Close,
        }
    }
}

async fn next_request(
    reader: &mut Reader<ReadHalf<'_>>,
    write: &mut WriteHalf<'_>,
) -> Result<Option<Request>, ReadError> {
    let Some(head) = reader.head().await? else { return Ok(None) };
    if head.expects_continue() {
        write.write_all(CONTINUE).await?;
    }
    reader.body(head).await.map(Some)
}

/// Answers an invalid request, and drains what still comes, so that the answer arrives.
async fn object(
    error: &ReadError,
    reader: &mut Reader<ReadHalf<'_>>,
    write: &mut WriteHalf<'_>,
    shared: &Shared,
) -> End {
    let trouble = match error {
        ReadError::Io(_) => return End::Close,
        ReadError::Tls => {
            shared.met_tls();
            None
        }
        ReadError::Malformed(text) => {
            Some(Trouble::BadRequest(format!("The request cannot be read: {text}.")))
        }
        ReadError::HeadTooLarge => Some(Trouble::HeadTooLarge),
        ReadError::BodyTooLarge => Some(Trouble::TooLarge),
    };
    let steps = match trouble {
        Some(trouble) => plan::refused(Wire::Chat, &trouble, false),
        None => vec![Step::Send(Piece::Bytes(GARBAGE.to_vec()))],
    };
    let _outcome = perform(steps, reader, write).await;
    let _closed = write.shutdown().await;
    reader.drain().await;
    End::Close
}

fn plan(seen: &Seen, keeps_alive: bool, shared: &Shared) -> Plan {
    let steps = |steps| Plan { steps, fault: None, cost: None };
    if shared.is_stormy() {
        return steps(plan::refused(seen.wire, &Trouble::Unavailable, keeps_alive));
    }
    if seen.query.split('&').any(|pair| pair.starts_with(HOP)) {
        return steps(plan::redirected(seen, keeps_alive));
    }
    match seen.purpose {
        Purpose::Unknown => steps(plan::refused(seen.wire, &Trouble::NoSuchPath, keeps_alive)),
        Purpose::Answer if !seen.problems.is_empty() => {
            let trouble = Trouble::BadRequest(seen.problems.join("; "));
            steps(plan::refused(seen.wire, &trouble, keeps_alive))
        }
        Purpose::Answer => plan::turn(seen, &shared.script.turn(seen), keeps_alive),
        Purpose::Models | Purpose::Model | Purpose::Version | Purpose::Root => {
            plan::listing(seen, &shared.script.listing(seen), keeps_alive)
        }
    }
}

/// Converts a request into the form that scripts get.
fn look(request: Request, connection: usize, nth: usize) -> Seen {
    let Request { method, path, query, headers, body, .. } = request;
    let Route { wire, purpose, model, is_stream } = route(&method, &path, &query, &headers);
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let mut seen = Seen {
        nth,
        connection,
        wire,
        purpose,
        method,
        path,
        query,
        headers,
        body,
        is_streaming: is_stream,
        asked: Asked::default(),
        repeated: 0,
        problems: Vec::new(),
    };
    if purpose == Purpose::Answer {
        let reading = seen::read(wire, &seen.body, &seen.headers);
        seen.asked = reading.asked;
        seen.problems = reading.problems;
        seen.is_streaming |= reading.is_streaming;
        if wire == Wire::Gemini && is_stream && !seen.query.split('&').any(|pair| pair == "alt=sse") {
            seen.problems.push("alt=sse: streams come as events here, and only so".to_owned());
        }
    } else {
        seen.asked.model = named(&seen.body);
    }
    if let Some(model) = model {
        seen.asked.model = model;
    }
    seen
}

/// Returns the model that a request for information names.
fn named(body: &serde_json::Value) -> String {
    let name = body.get("model").or_else(|| body.get("name")).and_then(serde_json::Value::as_str);
    name.unwrap_or_default().to_owned()
}

/// Performs the steps until the last one, an end, or the client disconnects.
async fn perform(steps: Vec<Step>, reader: &mut Reader<ReadHalf<'_>>, write: &mut WriteHalf<'_>) -> Outcome {
    for step in steps {
        let done = match step {
            Step::Send(Piece::Bytes(bytes)) => write.write_all(&bytes).await.is_ok(),
            Step::Send(Piece::Repeat { block, times }) => repeat(&block, times, write).await,
            Step::Drip { bytes, at_once, every } => {
                let mut is_open = true;
                for drop in bytes.chunks(at_once) {
                    let delay = crate::Delay::For(every);
                    is_open = waits(&delay, reader).await && write.write_all(drop).await.is_ok();
                    if !is_open {
                        break;
                    }
                }
                is_open
            }
            Step::Wait(delay) => waits(&delay, reader).await,
            Step::CloseWriting => write.shutdown().await.is_ok(),
            Step::Reset => return Outcome::Ends(End::Reset),
            Step::Close => return Outcome::Ends(End::Close),
        };
        if !done {
            return Outcome::Lost;
        }
    }
    Outcome::Stays
}

async fn repeat(block: &[u8], times: u64, write: &mut WriteHalf<'_>) -> bool {
    for _ in 0..times {
        if write.write_all(block).await.is_err() {
            return false;
        }
    }
    true
}

/// Returns whether the delay passed before the client disconnected.
async fn waits(delay: &crate::Delay, reader: &mut Reader<ReadHalf<'_>>) -> bool {
    tokio::select! {
        biased;
        () = delay.pass() => true,
        () = reader.closed() => false,
    }
}
