//! The list of all faults, their numbers and names.

use super::{
    BadNumber, BadUsage, EmptyReply, Endless, ErrorPlace, Fault, FinishLie, Hostile, Measures, NearMiss,
    QuotaForm, RetryAfter, SecretPlace, UnauthorizedForm, WrongFields, WrongLength,
};

/// Retry times that no client should accept: a thousand years, more than 64 bits, a negative one, a word.
const ABSURD: [&str; 4] = ["31536000000", "99999999999999999999999", "-5", "soon"];

impl Fault {
    /// Returns every fault in every form, with these measures.
    #[must_use]
    pub fn all_with(measures: &Measures) -> Vec<Self> {
        let mut all = transport(measures);
        all.extend(status(measures));
        all.extend(stream(measures));
        all.extend(content(measures));
        all
    }

    /// Returns its number in the list, from 1 to 59; the forms of a fault share it.
    #[must_use]
    pub fn number(&self) -> u8 {
        self.entry().0
    }

    /// Returns its stable name; every form has its own.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.entry().1
    }

    fn entry(&self) -> (u8, &'static str) {
        match self {
            Self::RefuseConnect(_) => (1, "refuse_connect"),
            Self::Hang(_) => (2, "hang"),
            Self::DnsFailure => (3, "dns_failure"),
            Self::TlsGarbage => (4, "tls_garbage"),
            Self::ResetBeforeHead => (5, "reset_before_head"),
            Self::ResetInBody => (6, "reset_in_body"),
            Self::HalfClose(_) => (7, "half_close"),
            Self::Drip { .. } => (8, "drip"),
            Self::PauseInBody(_) => (9, "pause_in_body"),
            Self::EndWithoutDone => (10, "end_without_done"),
            Self::TruncatedChunks => (11, "truncated_chunks"),
            Self::WrongLength(WrongLength::More) => (12, "length_says_more"),
            Self::WrongLength(WrongLength::Less) => (12, "length_says_less"),
            Self::WrongLength(WrongLength::Word) => (12, "length_is_a_word"),
            Self::GzipBomb(_) => (13, "gzip_bomb"),
            Self::RedirectLoop => (14, "redirect_loop"),
            Self::ContextTooLong => (15, "context_too_long"),
            Self::ToolPairing => (16, "tool_pairing"),
            Self::Unauthorized(UnauthorizedForm::Status401) => (17, "unauthorized"),
            Self::Unauthorized(UnauthorizedForm::Status400) => (17, "unauthorized_as_400"),
            Self::QuotaSpent(QuotaForm::Status402) => (18, "quota_spent"),
            Self::QuotaSpent(QuotaForm::Status429) => (18, "quota_spent_as_429"),
            Self::Forbidden => (19, "forbidden"),
            Self::ModelNotFound => (20, "model_not_found"),
            Self::RequestTimeout => (21, "request_timeout"),
            Self::TooLarge => (22, "too_large"),
            Self::RateLimited(RetryAfter::Seconds(_)) => (23, "rate_limited_seconds"),
            Self::RateLimited(RetryAfter::Date(_)) => (23, "rate_limited_date"),
            Self::RateLimited(RetryAfter::Absurd(text)) => (23, absurd_name(text)),
            Self::RateLimited(RetryAfter::Unsaid) => (23, "rate_limited_unsaid"),
            Self::InternalError => (24, "internal_error"),
            Self::BadGateway => (25, "bad_gateway"),
            Self::UnavailableStorm(_) => (26, "unavailable_storm"),
            Self::Overloaded => (27, "overloaded"),
            Self::ErrorWithOk(ErrorPlace::InPlace) => (28, "error_with_ok"),
            Self::ErrorWithOk(ErrorPlace::AfterText) => (28, "error_after_text"),
            Self::CutInCharacter => (29, "cut_in_character"),
            Self::CutInText => (30, "cut_in_text"),
            Self::CutInArguments => (31, "cut_in_arguments"),
            Self::DuplicateEvent => (32, "duplicate_event"),
            Self::ReorderedIndex => (33, "reordered_index"),
            Self::InterleavedCalls => (34, "interleaved_calls"),
            Self::UnknownEvent => (35, "unknown_event"),
            Self::HugeLine(_) => (36, "huge_line"),
            Self::BadUsage(BadUsage::Missing) => (37, "usage_missing"),
            Self::BadUsage(BadUsage::Negative) => (37, "usage_negative"),
            Self::BadUsage(BadUsage::Huge) => (37, "usage_huge"),
            Self::MalformedArguments => (38, "malformed_arguments"),
            Self::TruncatedArguments => (39, "truncated_arguments"),
            Self::WrongTypes => (40, "wrong_types"),
            Self::WrongFields(WrongFields::Extra) => (41, "extra_fields"),
            Self::WrongFields(WrongFields::Missing) => (41, "missing_fields"),
            Self::DuplicateKeys => (42, "duplicate_keys"),
            Self::DeepArguments(_) => (43, "deep_arguments"),
            Self::BadNumber(BadNumber::TooLarge) => (44, "number_too_large"),
            Self::BadNumber(BadNumber::NotANumber) => (44, "number_nan"),
            Self::EmptyReply(EmptyReply::Text) => (45, "empty_text"),
            Self::EmptyReply(EmptyReply::Nothing) => (45, "empty_reply"),
            Self::OnlyWhitespace => (46, "only_whitespace"),
            Self::NullContent => (47, "null_content"),
            Self::ManyCalls(_) => (48, "many_calls"),
            Self::UnknownTool => (49, "unknown_tool"),
            Self::NearMissName(NearMiss::Case) => (50, "near_miss_case"),
            Self::NearMissName(NearMiss::Homoglyph) => (50, "near_miss_homoglyph"),
            Self::NearMissName(NearMiss::Prefix) => (50, "near_miss_prefix"),
            Self::CallInProse => (51, "call_in_prose"),
            Self::DuplicateCallIds => (52, "duplicate_call_ids"),
            Self::ReusedCallId => (53, "reused_call_id"),
            Self::HugeText(_) => (54, "huge_text"),
            Self::HostileText(Hostile::Ansi) => (55, "text_ansi"),
            Self::HostileText(Hostile::Osc8) => (55, "text_osc8"),
            Self::HostileText(Hostile::Osc52) => (55, "text_osc52"),
            Self::HostileText(Hostile::Bidi) => (55, "text_bidi"),
            Self::HostileText(Hostile::ZeroWidth) => (55, "text_zero_width"),
            Self::HostileText(Hostile::Nul) => (55, "text_nul"),
            Self::FinishLie(FinishLie::Length) => (56, "finish_lies_length"),
            Self::FinishLie(FinishLie::ToolCalls) => (56, "finish_lies_tool_calls"),
            Self::FinishLie(FinishLie::Stop) => (56, "finish_lies_stop"),
            Self::FinishLie(FinishLie::Unknown) => (56, "finish_unknown"),
            Self::FinishLie(FinishLie::Missing) => (56, "finish_missing"),
            Self::EndlessCall(Endless::EveryTurn) => (57, "endless_call"),
            Self::EndlessCall(Endless::OneStream) => (57, "endless_call_stream"),
            Self::RoleConfusion => (58, "role_confusion"),
            Self::SecretEcho(SecretPlace::Error) => (59, "secret_in_error"),
            Self::SecretEcho(SecretPlace::Text) => (59, "secret_in_text"),
        }
    }
}

/// Returns the name of an absurd form, which its prefix identifies.
fn absurd_name(text: &str) -> &'static str {
    match text.as_bytes() {
        [b'-', ..] => "rate_limited_negative",
        [b'0'..=b'9', rest @ ..] if rest.len() > 20 => "rate_limited_overflow",
        [b'0'..=b'9', ..] => "rate_limited_for_ages",
        _ => "rate_limited_word",
    }
}

fn transport(measures: &Measures) -> Vec<Fault> {
    vec![
        Fault::RefuseConnect(measures.refusal.clone()),
        Fault::Hang(measures.hang.clone()),
        Fault::DnsFailure,
        Fault::TlsGarbage,
        Fault::ResetBeforeHead,
        Fault::ResetInBody,
        Fault::HalfClose(measures.half_open.clone()),
        Fault::Drip { bytes: measures.drip_bytes, every: measures.drip_every },
        Fault::PauseInBody(measures.pause.clone()),
        Fault::EndWithoutDone,
        Fault::TruncatedChunks,
        Fault::WrongLength(WrongLength::More),
        Fault::WrongLength(WrongLength::Less),
        Fault::WrongLength(WrongLength::Word),
        Fault::GzipBomb(measures.bomb_bytes),
        Fault::RedirectLoop,
    ]
}

fn status(measures: &Measures) -> Vec<Fault> {
    let mut faults = vec![
        Fault::ContextTooLong,
        Fault::ToolPairing,
        Fault::Unauthorized(UnauthorizedForm::Status401),
        Fault::Unauthorized(UnauthorizedForm::Status400),
        Fault::QuotaSpent(QuotaForm::Status402),
        Fault::QuotaSpent(QuotaForm::Status429),
        Fault::Forbidden,
        Fault::ModelNotFound,
        Fault::RequestTimeout,
        Fault::TooLarge,
        Fault::RateLimited(RetryAfter::Seconds(measures.retry_after_seconds)),
        Fault::RateLimited(RetryAfter::Date(measures.retry_after_date.clone())),
    ];
    faults.extend(ABSURD.map(|text| Fault::RateLimited(RetryAfter::Absurd(text.to_owned()))));
    faults.extend([
        Fault::RateLimited(RetryAfter::Unsaid),
        Fault::InternalError,
        Fault::BadGateway,
        Fault::UnavailableStorm(measures.storm),
        Fault::Overloaded,
        Fault::ErrorWithOk(ErrorPlace::InPlace),
        Fault::ErrorWithOk(ErrorPlace::AfterText),
    ]);
    faults
}

fn stream(measures: &Measures) -> Vec<Fault> {
    vec![
        Fault::CutInCharacter,
        Fault::CutInText,
        Fault::CutInArguments,
        Fault::DuplicateEvent,
        Fault::ReorderedIndex,
        Fault::InterleavedCalls,
        Fault::UnknownEvent,
        Fault::HugeLine(measures.line_bytes),
        Fault::BadUsage(BadUsage::Missing),
        Fault::BadUsage(BadUsage::Negative),
        Fault::BadUsage(BadUsage::Huge),
    ]
}

fn content(measures: &Measures) -> Vec<Fault> {
    vec![
        Fault::MalformedArguments,
        Fault::TruncatedArguments,
        Fault::WrongTypes,
        Fault::WrongFields(WrongFields::Extra),
        Fault::WrongFields(WrongFields::Missing),
        Fault::DuplicateKeys,
        Fault::DeepArguments(measures.depth),
        Fault::BadNumber(BadNumber::TooLarge),
        Fault::BadNumber(BadNumber::NotANumber),
        Fault::EmptyReply(EmptyReply::Text),
        Fault::EmptyReply(EmptyReply::Nothing),
        Fault::OnlyWhitespace,
        Fault::NullContent,
        Fault::ManyCalls(measures.calls),
        Fault::UnknownTool,
        Fault::NearMissName(NearMiss::Case),
        Fault::NearMissName(NearMiss::Homoglyph),
        Fault::NearMissName(NearMiss::Prefix),
        Fault::CallInProse,
        Fault::DuplicateCallIds,
        Fault::ReusedCallId,
        Fault::HugeText(measures.text_bytes),
        Fault::HostileText(Hostile::Ansi),
        Fault::HostileText(Hostile::Osc8),
        Fault::HostileText(Hostile::Osc52),
        Fault::HostileText(Hostile::Bidi),
        Fault::HostileText(Hostile::ZeroWidth),
        Fault::HostileText(Hostile::Nul),
        Fault::FinishLie(FinishLie::Length),
        Fault::FinishLie(FinishLie::ToolCalls),
        Fault::FinishLie(FinishLie::Stop),
        Fault::FinishLie(FinishLie::Unknown),
        Fault::FinishLie(FinishLie::Missing),
        Fault::EndlessCall(Endless::EveryTurn),
        Fault::EndlessCall(Endless::OneStream),
        Fault::RoleConfusion,
        Fault::SecretEcho(SecretPlace::Error),
        Fault::SecretEcho(SecretPlace::Text),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::Group;
    use super::*;

    #[test]
    fn there_are_59_faults_in_four_groups_with_unique_names() {
        let all = Fault::all();
        let numbers: BTreeSet<u8> = all.iter().map(Fault::number).collect();
        assert_eq!(numbers, (1..=59).collect());
        let names: BTreeSet<&str> = all.iter().map(Fault::name).collect();
        assert_eq!(names.len(), all.len());
        let count = |group| {
            let of_group = all.iter().filter(|fault| fault.group() == group).map(Fault::number);
            of_group.collect::<BTreeSet<u8>>().len()
        };
        let counts = [Group::Transport, Group::Status, Group::Stream, Group::Content].map(count);
        assert_eq!(counts, [14, 14, 9, 22]);
    }

    #[test]
    fn a_name_finds_its_fault() {
        for fault in Fault::all() {
            assert_eq!(Fault::by_name(fault.name()).unwrap().name(), fault.name());
        }
        assert!(Fault::by_name("no_such_fault").is_none());
    }
}
