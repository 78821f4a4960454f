//! Serves one connection: reads requests and performs the steps of the answers. The steps are decided elsewhere.

use std::io;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};

use crate::http::request::{ReadError, Reader, Request};
use crate::http::response::Piece;
use crate::http::steps::{GARBAGE, Step};
use crate::plan::{self, HOP, Plan, error_response, plain, redirect};
use crate::refusal;
use crate::seen::{self, Asked, SeenRequest};
use crate::server::{RequestOutcome, Shared};
use crate::wire::{Purpose, Route, Wire, route};

/// How an answer ends its connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Close,
    Reset,
    /// The client disconnected first.
    Lost,
}

/// Serves a connection until it ends.
pub(crate) async fn serve(mut stream: TcpStream, shared: &Shared) {
    // Sends pieces as they are cut. If the system refuses, they may be joined, which does no harm.
    let _set = stream.set_nodelay(true);
    let (read, mut write) = stream.split();
    let end = converse(&mut Reader::new(read), &mut write, shared).await;
    match end {
        // Closing with no linger time is a reset.
        End::Reset => drop(stream.set_zero_linger()),
        End::Close | End::Lost => drop(stream.shutdown().await),
    }
}

async fn converse(reader: &mut Reader<ReadHalf<'_>>, write: &mut WriteHalf<'_>, shared: &Shared) -> End {
    loop {
        let request = match reader.request().await {
            Ok(Some(request)) => request,
            Ok(None) => return End::Close,
            Err(error) => return object(&error, reader, write).await,
        };
        let keeps_alive = request.keeps_alive;
        let mut seen = look(request, shared.number());
        seen.repeated = shared.repeated(&seen);
        let plan = plan(&seen, keeps_alive, shared);
        let (nth, wire) = (seen.nth, seen.wire);
        shared.record_request(seen);
        shared.prepare(plan.fault.as_ref()).await;
        let end = perform(plan.steps, reader, write).await;
        shared.record_outcome(RequestOutcome {
            nth,
            wire,
            fault: plan.fault.map(|fault| fault.name()),
            input_tokens: plan.cost.map(|(input, _)| input),
            output_tokens: plan.cost.map(|(_, output)| output),
            is_complete: end != Some(End::Lost),
        });
        if let Some(end) = end {
            return end;
        }
    }
}

/// Answers an invalid request, and drains what still comes, so that the answer arrives.
async fn object(error: &ReadError, reader: &mut Reader<ReadHalf<'_>>, write: &mut WriteHalf<'_>) -> End {
    let refused = |trouble| plain(error_response(Wire::Chat, &trouble), false).steps;
    let steps = match error {
        ReadError::Io(_) => return End::Close,
        ReadError::Tls => vec![Step::Send(GARBAGE.into())],
        ReadError::Malformed(text) => {
            refused(refusal::BAD_REQUEST.saying(format!("The request cannot be read: {text}.")))
        }
        ReadError::HeadTooLarge => refused(refusal::HEAD_TOO_LARGE),
        ReadError::BodyTooLarge => refused(refusal::TOO_LARGE),
    };
    perform(steps, reader, write).await;
    let _closed = write.shutdown().await;
    reader.drain().await;
    End::Close
}

fn plan(seen: &SeenRequest, keeps_alive: bool, shared: &Shared) -> Plan {
    let refused = |trouble| plain(error_response(seen.wire, &trouble), keeps_alive);
    match seen.purpose {
        _ if shared.is_stormy() => refused(refusal::UNAVAILABLE),
        _ if seen.query.split('&').any(|pair| pair.starts_with(HOP)) => plain(redirect(seen), keeps_alive),
        Purpose::Unknown => refused(refusal::NO_SUCH_PATH),
        Purpose::Answer if !seen.problems.is_empty() => {
            refused(refusal::BAD_REQUEST.saying(seen.problems.join("; ")))
        }
        Purpose::Answer => plan::turn(seen, &shared.script.turn(seen), keeps_alive),
        Purpose::Models | Purpose::Model | Purpose::Version => {
            plan::listing(seen, &shared.script.listing(seen), keeps_alive)
        }
    }
}

/// Converts a request into the form that scripts get.
fn look(request: Request, nth: usize) -> SeenRequest {
    let Request { method, path, query, headers, body, .. } = request;
    let Route { wire, purpose, model, is_stream } = route(&method, &path, &query, &headers);
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let mut seen = SeenRequest {
        nth,
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
        prompt: String::new(),
        problems: Vec::new(),
    };
    match purpose {
        Purpose::Answer => seen::read(&mut seen),
        // A request for information may name a model.
        _ => seen.asked.model = seen.body["model"].as_str().unwrap_or_default().to_owned(),
    }
    if let Some(model) = model {
        seen.asked.model = model;
    }
    seen.prompt = seen.asked.prompt();
    seen
}

/// Performs the steps; returns how the connection ends, or none if it stays open.
async fn perform(
    steps: Vec<Step>,
    reader: &mut Reader<ReadHalf<'_>>,
    write: &mut WriteHalf<'_>,
) -> Option<End> {
    for step in steps {
        let is_done = match step {
            Step::Send(piece) => send(&piece, write).await.is_ok(),
            Step::Wait(delay) => waits(&delay, reader).await,
            Step::CloseWriting => write.shutdown().await.is_ok(),
            Step::Reset => return Some(End::Reset),
            Step::Close => return Some(End::Close),
        };
        if !is_done {
            return Some(End::Lost);
        }
    }
    None
}

async fn send(piece: &Piece, write: &mut WriteHalf<'_>) -> io::Result<()> {
    for _ in 0..piece.times {
        write.write_all(&piece.bytes).await?;
    }
    Ok(())
}

/// Returns whether the delay passed before the client disconnected.
async fn waits(delay: &crate::Delay, reader: &mut Reader<ReadHalf<'_>>) -> bool {
    tokio::select! {
        biased;
        () = delay.pass() => true,
        () = reader.closed() => false,
    }
}
