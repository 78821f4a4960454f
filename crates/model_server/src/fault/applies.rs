//! Where a fault can be made.

use super::{Endless, ErrorPlace, Fault, FinishLie, UnauthorizedForm};
use crate::wire::Wire;

impl Fault {
    /// Whether a turn can make it on this wire, streamed or not.
    ///
    /// What cannot be made: a fault before any connection; a fault of events where there are none; a fault of
    /// indices or of pieces of arguments on wires that have neither; a lie in a word that the wire has not.
    #[must_use]
    pub const fn applies(&self, wire: Wire, is_streaming: bool) -> bool {
        match self {
            Self::DnsFailure => false,
            Self::EndWithoutDone
            | Self::ErrorWithOk(ErrorPlace::AfterText)
            | Self::DuplicateEvent
            | Self::EndlessCall(Endless::OneStream) => is_streaming,
            // Calls come whole there, and there is nothing to interleave.
            Self::InterleavedCalls => is_streaming && !matches!(wire, Wire::Gemini | Wire::Ollama),
            // Without a stream only choices and candidates have an index, and Ollama's calls.
            Self::ReorderedIndex => is_streaming || matches!(wire, Wire::Chat | Wire::Gemini | Wire::Ollama),
            Self::Unauthorized(UnauthorizedForm::Status400) => matches!(wire, Wire::Gemini),
            // Only two wires have a word for a call that one could lie with.
            Self::FinishLie(FinishLie::ToolCalls | FinishLie::Stop) => {
                matches!(wire, Wire::Chat | Wire::Anthropic)
            }
            _ => true,
        }
    }
}
