//! Plans the steps on the connection from a request and a turn. Pure: everything is decided here before anything is
//! sent.

use crate::draft::Draft;
use crate::fault::content::{self, secrets};
use crate::fault::{ErrorPlace, Fault, QuotaForm, RetryAfter, SecretPlace, UnauthorizedForm};
use crate::http::response::Response;
use crate::http::steps::{self, Step};
use crate::json::Json;
use crate::refusal::{Trouble, error_body, error_event, with_retry_delay};
use crate::render::listing::{self, OLLAMA_VERSION};
use crate::script::{Listing, Turn};
use crate::seen::Seen;
use crate::shape;
use crate::wire::{Purpose, Wire};

/// The page of a proxy that cannot reach its server.
const BAD_GATEWAY: &str = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n\
    <center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n";
/// The query of a request that a redirect sent here again.
pub(crate) const HOP: &str = "redirected=";

/// The steps that answer a request.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// The fault that was really injected.
    pub(crate) fault: Option<Fault>,
    /// The tokens that the answer reports, input and output.
    pub(crate) cost: Option<(i128, i128)>,
}

/// Plans a turn of the script.
pub(crate) fn turn(seen: &Seen, turn: &Turn, keeps_alive: bool) -> Plan {
    let fault = turn.fault.as_ref().filter(|fault| fault.applies(seen.wire, seen.is_streaming));
    let mut draft = Draft::new(seen, &turn.answer);
    if let Some(fault) = fault {
        content::apply(fault, &mut draft, seen);
    }
    let refused = fault.and_then(|fault| refusal(fault, seen));
    let cost = draft.usage.filter(|_| refused.is_none()).map(|numbers| (numbers.input, numbers.output));
    let mut response = refused.unwrap_or_else(|| shape::answer(seen, &draft, fault));
    if let Some(bytes) = turn.bytes_at_once {
        response = response.in_pieces_of(bytes);
    }
    let mut steps = faulty(fault, &response, keeps_alive);
    if let Some(delay) = &turn.delay {
        steps.insert(0, Step::Wait(delay.clone()));
    }
    Plan { steps, fault: fault.cloned(), cost }
}

/// Plans the answer to a request for information.
pub(crate) fn listing(seen: &Seen, listing: &Listing, keeps_alive: bool) -> Plan {
    // Faults of streams and content do not apply to it.
    let is_possible = |fault: &&Fault| fault.number() <= 28 && fault.applies(seen.wire, false);
    let fault = listing.fault.as_ref().filter(is_possible);
    let response = fault.and_then(|fault| refusal(fault, seen)).unwrap_or_else(|| listed(seen, listing));
    Plan { steps: faulty(fault, &response, keeps_alive), fault: fault.cloned(), cost: None }
}

/// Plans the refusal of a request that does not reach the script.
pub(crate) fn refused(wire: Wire, trouble: &Trouble, keeps_alive: bool) -> Vec<Step> {
    steps::plain(&error_response(wire, trouble, "", ""), keeps_alive)
}

/// Plans the next redirect of a loop.
pub(crate) fn redirected(seen: &Seen, keeps_alive: bool) -> Vec<Step> {
    steps::plain(&redirect(seen), keeps_alive)
}

fn faulty(fault: Option<&Fault>, response: &Response, keeps_alive: bool) -> Vec<Step> {
    let with_fault = fault.and_then(|fault| steps::with_fault(fault, response, keeps_alive));
    with_fault.unwrap_or_else(|| steps::plain(response, keeps_alive))
}

/// Returns the response of a fault that is a status.
fn refusal(fault: &Fault, seen: &Seen) -> Option<Response> {
    let trouble = match fault {
        Fault::ContextTooLong => Trouble::ContextTooLong,
        Fault::ToolPairing => Trouble::ToolPairing,
        Fault::Unauthorized(UnauthorizedForm::Status401) => Trouble::Unauthorized,
        Fault::Unauthorized(UnauthorizedForm::Status400) => Trouble::BadKey,
        Fault::QuotaSpent(QuotaForm::Status402) => Trouble::Quota(402),
        Fault::QuotaSpent(QuotaForm::Status429) => Trouble::Quota(429),
        Fault::Forbidden => Trouble::Forbidden,
        Fault::ModelNotFound => Trouble::NoSuchModel,
        Fault::RequestTimeout => Trouble::Timeout,
        Fault::TooLarge => Trouble::TooLarge,
        Fault::RateLimited(after) => return Some(rate_limited(seen, after)),
        Fault::InternalError => Trouble::Internal,
        Fault::UnavailableStorm(_) => Trouble::Unavailable,
        Fault::Overloaded => Trouble::Overloaded,
        Fault::BadGateway => return Some(Response::whole(502, "text/html", BAD_GATEWAY)),
        Fault::RedirectLoop => return Some(redirect(seen)),
        Fault::SecretEcho(SecretPlace::Error) => {
            let note = format!(" Received: {}", secrets(seen));
            return Some(error_response(seen.wire, &Trouble::Unauthorized, &seen.asked.model, &note));
        }
        Fault::ErrorWithOk(ErrorPlace::InPlace) => {
            let model = &seen.asked.model;
            let response = if seen.is_streaming {
                shape::stream_of(seen.wire, &[error_event(seen.wire, &Trouble::Internal, model, 0)])
            } else {
                let body = error_body(seen.wire, &Trouble::Internal, model, "");
                Response::whole(200, "application/json", body.to_string())
            };
            return Some(response);
        }
        _ => return None,
    };
    Some(error_response(seen.wire, &trouble, &seen.asked.model, ""))
}

pub(crate) fn error_response(wire: Wire, trouble: &Trouble, model: &str, note: &str) -> Response {
    let body = error_body(wire, trouble, model, note);
    Response::whole(trouble.status(), "application/json", body.to_string())
}

fn rate_limited(seen: &Seen, after: &RetryAfter) -> Response {
    let trouble = Trouble::RateLimited;
    let mut body = error_body(seen.wire, &trouble, &seen.asked.model, "");
    if let (Wire::Gemini, RetryAfter::Seconds(seconds)) = (seen.wire, after) {
        body = with_retry_delay(body, *seconds);
    }
    let response = Response::whole(trouble.status(), "application/json", body.to_string());
    match after {
        RetryAfter::Seconds(seconds) => response.with("retry-after", seconds.to_string()),
        RetryAfter::Date(text) | RetryAfter::Absurd(text) => response.with("retry-after", text.as_str()),
        RetryAfter::Unsaid => response,
    }
}

/// Redirects to the same place, with a count that makes every address a new one.
fn redirect(seen: &Seen) -> Response {
    let kept: Vec<&str> =
        seen.query.split('&').filter(|pair| !pair.is_empty() && !pair.starts_with(HOP)).collect();
    let query = kept.iter().fold(String::new(), |query, pair| format!("{query}{pair}&"));
    let location = format!("{}?{query}{HOP}{}", seen.path, seen.nth);
    Response::whole(307, "text/plain", "").with("location", location)
}

/// Returns a list of models, one model, a version or a greeting.
fn listed(seen: &Seen, listing: &Listing) -> Response {
    let json = |body: Json| Response::whole(200, "application/json", body.to_string());
    let refused = |trouble: &Trouble| error_response(seen.wire, trouble, &seen.asked.model, "");
    match seen.purpose {
        Purpose::Models => json(listing::models(seen.wire, &listing.models)),
        Purpose::Model => match listing.models.iter().find(|model| model.name == seen.asked.model) {
            Some(model) => json(listing::model(seen.wire, model)),
            None => refused(&Trouble::NoSuchModel),
        },
        Purpose::Version => json(Json::Object(vec![("version".into(), OLLAMA_VERSION.into())])),
        Purpose::Root => Response::whole(200, "text/plain", "Ollama is running"),
        Purpose::Answer | Purpose::Unknown => refused(&Trouble::NoSuchPath),
    }
}
