//! The steps of answering on a connection, as a list of bytes, waits and ends. The list is data, so that the effect of
//! a fault can be tested without a connection.

use std::time::Duration;

use super::response::{Framing, Piece, Response, chunk};
use crate::delay::Delay;
use crate::fault::{Fault, WrongLength};

/// Bytes that are neither TLS nor HTTP.
pub(crate) const GARBAGE: &[u8] = b"\x00\xff\x13\x37 neither TLS nor HTTP \xfe\x80\r\n\x1b";
/// How far a wrong length exceeds the real one, in bytes.
const CLAIMED_TOO_MANY: u64 = 1000;

/// A step of answering.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Send(Piece),
    /// Bytes in drops with a pause between them.
    Drip {
        bytes: Vec<u8>,
        at_once: usize,
        every: Duration,
    },
    Wait(Delay),
    /// The server closes its side and keeps reading.
    CloseWriting,
    /// The connection is reset; unsent data is lost.
    Reset,
    /// The connection is closed.
    Close,
}

/// Returns the steps of an answer without a fault.
pub(crate) fn plain(response: &Response, keeps_alive: bool) -> Vec<Step> {
    let mut steps = vec![Step::Send(Piece::Bytes(response.head(keeps_alive)))];
    steps.extend(response.framed_body().into_iter().map(Step::Send));
    if !keeps_alive || response.framing == Framing::Close {
        steps.push(Step::Close);
    }
    steps
}

/// Returns the steps of an answer with a transport fault; `None` for other faults.
pub(crate) fn with_fault(fault: &Fault, response: &Response, keeps_alive: bool) -> Option<Vec<Step>> {
    let head = || Step::Send(Piece::Bytes(response.head(keeps_alive)));
    let halves = || split_in_half(response.framed_body());
    let steps = match fault {
        Fault::RefuseConnect(_) | Fault::ResetBeforeHead => vec![Step::Reset],
        Fault::Hang(delay) => vec![Step::Wait(delay.clone()), Step::Close],
        Fault::TlsGarbage => vec![Step::Send(Piece::Bytes(GARBAGE.to_vec())), Step::Close],
        Fault::ResetInBody => {
            let (first, _) = halves();
            [vec![head()], first, vec![Step::Reset]].concat()
        }
        Fault::HalfClose(delay) => {
            let (first, _) = halves();
            let ends = vec![Step::CloseWriting, Step::Wait(delay.clone()), Step::Close];
            [vec![head()], first, ends].concat()
        }
        Fault::PauseInBody(delay) => {
            let (first, second) = halves();
            let mut steps = [vec![head()], first, vec![Step::Wait(delay.clone())], second].concat();
            steps.extend((!keeps_alive).then_some(Step::Close));
            steps
        }
        Fault::Drip { bytes, every } => {
            let drops = response.framed_body().into_iter().map(|piece| match piece {
                Piece::Bytes(all) => Step::Drip { bytes: all, at_once: (*bytes).max(1), every: *every },
                repeat @ Piece::Repeat { .. } => Step::Send(repeat),
            });
            let mut steps = vec![head()];
            steps.extend(drops);
            steps.extend((!keeps_alive).then_some(Step::Close));
            steps
        }
        Fault::TruncatedChunks => truncated_chunks(response.clone()),
        Fault::WrongLength(form) => wrong_length(*form, response.clone(), keeps_alive),
        _ => return None,
    };
    Some(steps)
}

/// Splits pieces at half of their bytes; a repeated block is not split.
fn split_in_half(pieces: Vec<Piece>) -> (Vec<Step>, Vec<Step>) {
    let total = pieces.iter().map(Piece::bytes).fold(0, u64::saturating_add);
    let mut left = usize::try_from(total / 2).unwrap_or(usize::MAX);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for piece in pieces {
        match piece {
            Piece::Bytes(mut bytes) => {
                let rest = bytes.split_off(left.min(bytes.len()));
                left -= bytes.len();
                first.extend((!bytes.is_empty()).then_some(Step::Send(Piece::Bytes(bytes))));
                second.extend((!rest.is_empty()).then_some(Step::Send(Piece::Bytes(rest))));
            }
            repeat @ Piece::Repeat { .. } => {
                let length = usize::try_from(repeat.bytes()).unwrap_or(usize::MAX);
                let half = if length <= left { &mut first } else { &mut second };
                left = left.saturating_sub(length);
                half.push(Step::Send(repeat));
            }
        }
    }
    (first, second)
}

/// Returns the pieces before the middle one complete, and only the beginning of that one.
fn truncated_chunks(mut response: Response) -> Vec<Step> {
    response.framing = Framing::Chunked;
    let mut steps = vec![Step::Send(Piece::Bytes(response.head(true)))];
    let pieces = &response.body;
    let middle = pieces.len() / 2;
    for (place, piece) in pieces.iter().enumerate().take(middle + 1) {
        let block = match piece {
            Piece::Bytes(bytes) => bytes,
            Piece::Repeat { block, .. } => block,
        };
        let mut chunk = chunk(block);
        if place == middle {
            // The length stays; half of the announced bytes and the line end are missing.
            chunk.truncate(chunk.len().saturating_sub(block.len().div_ceil(2) + 2));
        }
        steps.push(Step::Send(Piece::Bytes(chunk)));
    }
    steps.push(Step::Close);
    steps
}

fn wrong_length(form: WrongLength, mut response: Response, keeps_alive: bool) -> Vec<Step> {
    let real = response.body_bytes();
    let claimed = match form {
        WrongLength::More => real.saturating_add(CLAIMED_TOO_MANY).to_string(),
        WrongLength::Less => (real / 2).to_string(),
        WrongLength::Word => "many".to_owned(),
    };
    response.framing = Framing::Claimed(claimed);
    let mut steps = plain(&response, keeps_alive);
    // If too little was announced, the connection stays open: the rest is then taken for the next answer.
    if form != WrongLength::Less && keeps_alive {
        steps.push(Step::Close);
    }
    steps
}
