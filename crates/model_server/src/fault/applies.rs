//! Decides where a fault can be injected.

use super::{Endless, ErrorPlace, Fault, FinishLie, UnauthorizedForm};
use crate::wire::Wire;

impl Fault {
    /// Whether a turn can inject the fault on this wire, streamed or not.
    ///
    /// Not possible: a fault before any connection; a fault of events without a stream; a fault of indices or argument
    /// pieces on wires without them; a lie in a word that the wire does not have.
    #[must_use]
    pub const fn applies(&self, wire: Wire, is_streaming: bool) -> bool {
        match self {
            Self::DnsFailure => false,
            Self::EndWithoutDone
            | Self::ErrorWithOk(ErrorPlace::AfterText)
            | Self::DuplicateEvent
            | Self::EndlessCall(Endless::OneStream) => is_streaming,
            // These wires send calls whole, so nothing can be interleaved.
            Self::InterleavedCalls => is_streaming && !matches!(wire, Wire::Gemini | Wire::Ollama),
            // Without a stream, only choices, candidates and Ollama's calls have an index.
            Self::ReorderedIndex => is_streaming || matches!(wire, Wire::Chat | Wire::Gemini | Wire::Ollama),
            Self::Unauthorized(UnauthorizedForm::Status400) => matches!(wire, Wire::Gemini),
            // Only two wires have a finish reason for calls.
            Self::FinishLie(FinishLie::ToolCalls | FinishLie::Stop) => {
                matches!(wire, Wire::Chat | Wire::Anthropic)
            }
            _ => true,
        }
    }
}
