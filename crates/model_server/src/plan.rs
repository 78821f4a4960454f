//! Plans the steps on the connection from a request and a turn. Pure: everything is decided here before anything is
//! sent.

use crate::draft::Draft;
use crate::fault::Fault;
use crate::fault::content::{self, secrets};
use crate::http::response::Response;
use crate::http::steps::{Step, steps};
use crate::json::object;
use crate::refusal::{self, Trouble, error_body, error_event};
use crate::render::listing::{self, OLLAMA_VERSION};
use crate::script::{Listing, Turn};
use crate::seen::SeenRequest;
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
pub(crate) fn turn(seen: &SeenRequest, turn: &Turn, keeps_alive: bool) -> Plan {
    let fault = turn.fault.as_ref().filter(|fault| fault.applies(seen.wire, seen.is_streaming));
    let mut draft = Draft::new(seen, &turn.answer);
    if let Some(fault) = fault {
        content::apply(fault, &mut draft, seen);
    }
    let refused = fault.and_then(|fault| refusal(fault, seen));
    let cost = draft.usage.filter(|_| refused.is_none()).map(|usage| (usage.input, usage.output));
    let mut response = refused.unwrap_or_else(|| shape::answer(seen, &draft, fault));
    if let Some(bytes) = turn.bytes_at_once {
        response = response.in_pieces_of(bytes);
    }
    let mut steps = steps(response, fault, keeps_alive);
    if let Some(delay) = &turn.delay {
        steps.insert(0, Step::Wait(delay.clone()));
    }
    Plan { steps, fault: fault.cloned(), cost }
}

/// Plans the answer to a request for information.
pub(crate) fn listing(seen: &SeenRequest, listing: &Listing, keeps_alive: bool) -> Plan {
    // Faults of streams and content do not apply to it.
    let is_possible = |fault: &&Fault| fault.number() <= 28 && fault.applies(seen.wire, false);
    let fault = listing.fault.as_ref().filter(is_possible);
    let response = fault.and_then(|fault| refusal(fault, seen)).unwrap_or_else(|| listed(seen, listing));
    Plan { steps: steps(response, fault, keeps_alive), fault: fault.cloned(), cost: None }
}

/// Plans a response to a request that does not reach the script.
pub(crate) fn plain(response: Response, keeps_alive: bool) -> Plan {
    Plan { steps: steps(response, None, keeps_alive), fault: None, cost: None }
}

/// Returns the response of a fault that is a status.
fn refusal(fault: &Fault, seen: &SeenRequest) -> Option<Response> {
    let (wire, model) = (seen.wire, &seen.asked.model);
    let trouble = match fault {
        Fault::ContextTooLong => refusal::context_too_long(wire),
        Fault::ToolPairing => refusal::tool_pairing(wire),
        Fault::Unauthorized => refusal::UNAUTHORIZED,
        Fault::UnauthorizedAs400 => refusal::BAD_KEY,
        Fault::QuotaSpent => refusal::UNPAID,
        Fault::QuotaSpentAs429 => refusal::QUOTA_SPENT,
        Fault::Forbidden => refusal::FORBIDDEN,
        Fault::ModelNotFound => refusal::no_such_model(wire, model),
        Fault::RequestTimeout => refusal::TIMEOUT,
        Fault::TooLarge => refusal::TOO_LARGE,
        Fault::RateLimitedSeconds => refusal::RATE_LIMITED_FOR_2_S,
        _ if fault.number() == 23 => refusal::RATE_LIMITED,
        Fault::InternalError => refusal::INTERNAL,
        Fault::UnavailableStorm => refusal::UNAVAILABLE,
        Fault::Overloaded => refusal::OVERLOADED,
        Fault::BadGateway => return Some(Response::whole(502, "text/html", BAD_GATEWAY)),
        Fault::RedirectLoop => return Some(redirect(seen)),
        Fault::SecretInError => {
            refusal::UNAUTHORIZED.saying(format!("The API key is not valid. Received: {}", secrets(seen)))
        }
        Fault::ErrorWithOk if seen.is_streaming => {
            return Some(shape::streamed(wire, &[error_event(wire, &refusal::INTERNAL, 0)], 0));
        }
        Fault::ErrorWithOk => {
            let response = error_response(wire, &refusal::INTERNAL);
            return Some(Response { status: 200, ..response });
        }
        _ => return None,
    };
    let response = error_response(wire, &trouble);
    Some(match retry_after(fault) {
        Some(after) => response.with("retry-after", after),
        None => response,
    })
}

/// Returns when a client may ask again, which some servers say badly.
const fn retry_after(fault: &Fault) -> Option<&'static str> {
    match fault {
        Fault::RateLimitedSeconds => Some("2"),
        Fault::RateLimitedDate => Some("Wed, 21 Oct 2015 07:28:00 GMT"),
        Fault::RateLimitedForAges => Some("31536000000"),
        Fault::RateLimitedOverflow => Some("99999999999999999999999"),
        Fault::RateLimitedNegative => Some("-5"),
        Fault::RateLimitedWord => Some("soon"),
        _ => None,
    }
}

pub(crate) fn error_response(wire: Wire, trouble: &Trouble) -> Response {
    Response::whole(trouble.status, "application/json", error_body(wire, trouble).to_string())
}

/// Redirects to the same place, with a count that makes every address a new one.
pub(crate) fn redirect(seen: &SeenRequest) -> Response {
    let kept: Vec<&str> =
        seen.query.split('&').filter(|pair| !pair.is_empty() && !pair.starts_with(HOP)).collect();
    let query = kept.iter().fold(String::new(), |query, pair| format!("{query}{pair}&"));
    let location = format!("{}?{query}{HOP}{}", seen.path, seen.nth);
    Response::whole(307, "text/plain", "").with("location", location)
}

/// Returns a list of models, one model, a version or a greeting.
fn listed(seen: &SeenRequest, listing: &Listing) -> Response {
    let body = match seen.purpose {
        Purpose::Models => listing::models(seen.wire, &listing.models),
        Purpose::Model => match listing.models.iter().find(|model| model.name == seen.asked.model) {
            Some(model) => listing::model(seen.wire, model),
            None => return error_response(seen.wire, &refusal::no_such_model(seen.wire, &seen.asked.model)),
        },
        Purpose::Version => object! { "version": OLLAMA_VERSION },
        Purpose::Answer | Purpose::Unknown => return error_response(seen.wire, &refusal::NO_SUCH_PATH),
    };
    Response::whole(200, "application/json", body.to_string())
}
