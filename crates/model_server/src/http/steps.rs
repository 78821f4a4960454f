//! The steps of answering on a connection, as a list of bytes, waits and ends.

use super::response::{Framing, Piece, Response, chunk};
use crate::delay::Delay;
use crate::fault::{DROP_EVERY, Fault};

/// Bytes that are neither TLS nor HTTP.
pub(crate) const GARBAGE: &[u8] = b"\x00\xff\x13\x37 neither TLS nor HTTP \xfe\x80\r\n\x1b";
/// How far a wrong length exceeds the real one, in bytes.
const CLAIMED_TOO_MANY: u64 = 1000;

/// A step of answering.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Send(Piece),
    Wait(Delay),
    /// The server closes its side and keeps reading.
    CloseWriting,
    /// The connection is reset; unsent data is lost.
    Reset,
    /// The connection is closed.
    Close,
}

/// Returns the steps of an answer, changed by the fault if it is one of transport. Those of a body expect no repeated
/// piece in it: faults that need one are not of transport, and an answer has one fault.
pub(crate) fn steps(mut response: Response, fault: Option<&Fault>, keeps_alive: bool) -> Vec<Step> {
    match fault {
        Some(Fault::LengthSaysMore) => {
            let claimed = response.body_bytes().saturating_add(CLAIMED_TOO_MANY);
            response.framing = Framing::Claimed(claimed.to_string());
        }
        Some(Fault::LengthSaysLess) => {
            response.framing = Framing::Claimed((response.body_bytes() / 2).to_string());
        }
        Some(Fault::LengthIsAWord) => response.framing = Framing::Claimed("many".to_owned()),
        Some(Fault::TruncatedChunks) => response.framing = Framing::Chunked,
        _ => {}
    }
    let head = Step::Send(response.head(keeps_alive));
    let whole = || response.framed_body().into_iter().flat_map(|piece| piece.bytes).collect::<Vec<u8>>();
    let halves = || {
        let mut first = whole();
        let second = first.split_off(first.len() / 2);
        (Step::Send(first.into()), Step::Send(second.into()))
    };
    let mut steps = vec![head];
    match fault {
        Some(Fault::RefuseConnect(_) | Fault::ResetBeforeHead) => return vec![Step::Reset],
        Some(Fault::Hang(delay)) => return vec![Step::Wait(delay.clone()), Step::Close],
        Some(Fault::TlsGarbage) => return vec![Step::Send(GARBAGE.into()), Step::Close],
        Some(Fault::ResetInBody) => steps.extend([halves().0, Step::Reset]),
        Some(Fault::HalfClose(delay)) => {
            steps.extend([halves().0, Step::CloseWriting, Step::Wait(delay.clone()), Step::Close]);
        }
        Some(Fault::PauseInBody(delay)) => {
            let (first, second) = halves();
            steps.extend([first, Step::Wait(delay.clone()), second]);
        }
        Some(Fault::Drip(bytes)) => steps.extend(
            whole()
                .chunks((*bytes).max(1))
                .flat_map(|drop| [Step::Wait(Delay::For(DROP_EVERY)), Step::Send(drop.into())]),
        ),
        Some(Fault::TruncatedChunks) => {
            // The length stays; half of the announced bytes and the line end are missing.
            let pieces = response.body.iter().take(response.body.len() / 2 + 1);
            let missing = pieces.clone().next_back().map_or(0, |piece| piece.bytes.len().div_ceil(2) + 2);
            let mut sent: Vec<u8> = pieces.flat_map(|piece| chunk(&piece.bytes)).collect();
            sent.truncate(sent.len().saturating_sub(missing));
            steps.extend([Step::Send(sent.into()), Step::Close]);
        }
        _ => steps.extend(response.framed_body().into_iter().map(Step::Send)),
    }
    // If too little was announced, the connection stays open: the rest is then taken for the next answer.
    let is_unfinished = matches!(fault, Some(Fault::LengthSaysMore | Fault::LengthIsAWord));
    if !keeps_alive || response.framing == Framing::Close || is_unfinished {
        steps.push(Step::Close);
    }
    steps
}
