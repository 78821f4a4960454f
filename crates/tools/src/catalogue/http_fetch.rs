//! `http_fetch`: reads a page of the web.
//!
//! A person allows each URL, or a file allows its host: all of a URL is sent, so nothing is looked up before. Headers can
//! be added where a person has bound a secret to a server; a call names the secret, and its value is in the request alone.

use std::borrow::Cow;
use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use secrecy::ExposeSecret;
use setpoint_fetch::{Answer, Body, Fetcher, Headers, Page, Target as Url, markdown};
use setpoint_protocol::Any;
use setpoint_protocol::gate::Cause;
use setpoint_scrub::Scrub;

use crate::approval::{Gate, Plan};
use crate::catalogue::prelude::*;
use crate::host::Host;
use crate::secrets::Secrets;
use crate::typed;

/// Maximum characters of a page in the answer if the call sets none.
pub const FETCH_CHARS_DEFAULT: u64 = 20_000;
/// Maximum characters of a page that a call can set.
pub const FETCH_CHARS_MAX: u64 = 200_000;

pub(crate) struct HttpFetch {
    fetcher: Fetcher,
    keys: Scrub,
    secrets: Secrets,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The whole address, with http:// or https://.
    url: String,
    /// Give the text as it was sent; otherwise HTML becomes Markdown.
    #[serde(default)]
    raw: bool,
    /// Characters of the page to give, 20,000 unless set, at most 200,000.
    max_chars: Option<u64>,
    /// Headers to send, at most 8, each with its value. A value can end in secret://NAME, as in "Bearer secret://NAME".
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

impl HttpFetch {
    pub(crate) fn new(host: &Host) -> Self {
        HttpFetch {
            fetcher: host.fetcher().clone(),
            keys: host.keys().clone(),
            secrets: host.secrets().clone(),
        }
    }

    /// Reads the URL, and refuses one that cannot be fetched with any approval.
    fn url(&self, text: &str) -> Result<Url, ToolError> {
        let url = url(text)?;
        let decoded: Vec<u8> = percent_decode_str(text).collect();
        if [text.as_bytes(), url.as_str().as_bytes(), &decoded].iter().any(|form| self.keys.holds(form)) {
            return Err(ToolError::KeyInUrl);
        }
        match self.fetcher.refusal(&url) {
            Some(source) => Err(ToolError::Fetch { url: url.to_string(), source: Box::new(source) }),
            None => Ok(url),
        }
    }

    /// Returns the headers to send to this URL, with the values of secrets that may go there.
    fn headers(&self, added: &BTreeMap<String, String>, url: &Url) -> Result<Headers, ToolError> {
        if !added.is_empty() && self.secrets.is_empty() {
            let reason =
                "no secret is bound to a server here, and without one no header is sent; leave it out";
            return Err(ToolError::parameter("headers", reason));
        }
        let mut headers = Headers::default();
        for (name, text) in added {
            if [name, text].iter().any(|part| self.keys.holds(part.as_bytes())) {
                return Err(ToolError::KeyInHeader { name: show::line(name) });
            }
            let value = self.secrets.filled(text, url).map_err(ToolError::Secret)?;
            let added = headers.add(name, value.expose_secret());
            added.map_err(|error| ToolError::parameter("headers", error.to_string()))?;
        }
        Ok(headers)
    }
}

/// Returns the names of the secrets that headers refer to.
fn sent(headers: &BTreeMap<String, String>) -> impl Iterator<Item = &str> {
    headers.values().filter_map(|value| Secrets::reference(value).ok().flatten().map(|(_, name)| name))
}

/// Shows the headers as a call wrote them, one line each, with names for secrets.
fn shown(headers: &BTreeMap<String, String>) -> String {
    headers.iter().map(|(name, value)| format!("\n{}: {}", show::line(name), show::line(value))).collect()
}

fn url(text: &str) -> Result<Url, ToolError> {
    Url::parse(text).map_err(|error| ToolError::parameter("url", error.to_string()))
}

impl Typed for HttpFetch {
    type Input = Input;
    const NAME: &'static str = "http_fetch";
    const ABOUT: &'static str = "Reads a page or a text file of the web with one GET; HTML becomes Markdown with its links. \
         Every URL needs a person's consent. A redirect to another host is not followed but named.";
    const GIVES: &'static str = "text; /status";
    const CLASS: CapabilityClass = CapabilityClass::Fetch;
    const EFFECT: Effect = Effect::Unsafe;

    fn about(&self) -> Cow<'static, str> {
        if self.secrets.is_empty() {
            return Self::ABOUT.into();
        }
        let secrets = self.secrets.shown();
        format!(
            "{} Secrets that a header can send, with the only servers they go to: {secrets}.",
            Self::ABOUT
        )
        .into()
    }

    fn input_schema(&self) -> Any {
        let mut schema = typed::schema::<Input>();
        if self.secrets.is_empty()
            && let Some(parameters) = schema.0.get_mut("properties").and_then(Value::as_object_mut)
        {
            parameters.remove("headers");
        }
        schema
    }

    fn target(&self, input: &Input, _: &Place) -> Result<Target, ToolError> {
        let target = Target::new(url(&input.url)?.as_str()).when("raw", input.raw);
        let target = target.with("max_chars", input.max_chars);
        if input.headers.is_empty() {
            Ok(target)
        } else {
            Ok(target.content("headers", &shown(&input.headers)))
        }
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let chars_max = input.max_chars.unwrap_or(FETCH_CHARS_DEFAULT);
        if !(1..=FETCH_CHARS_MAX).contains(&chars_max) {
            return Err(ToolError::parameter("max_chars", format!("it must be 1 to {FETCH_CHARS_MAX}")));
        }
        let url = self.url(&input.url)?;
        let headers = self.headers(&input.headers, &url)?;
        let gate = Gate::new(ctx);
        gate.check(&Plan {
            hosts: vec![url.host().to_owned()],
            cause: Some(Cause::Connects {
                host: url.host().to_owned(),
                sends: sent(&input.headers).map(str::to_owned).collect(),
            }),
            ..gate.plan(HttpFetch::NAME, format!("GET {url}{}", shown(&input.headers)), [])
        })?;
        // What address a name has is known only when it is looked up.
        let denials = ctx.denials.clone();
        let fetcher = self.fetcher.clone().denying(move |address| denials.file()?.denying_address(address));
        let got = tokio::select! {
            got = fetcher.get_with(&url, &headers) => got,
            () = ctx.cancel.cancelled() => return Err(ToolError::Cancelled),
        };
        let source = Some(setpoint_protocol::tool::Source::Web(url.host().to_owned()));
        let answer = match got
            .map_err(|source| ToolError::Fetch { url: url.to_string(), source: Box::new(source) })?
        {
            Answer::Page(page) => {
                let keys = self.keys.clone();
                ctx.blocking(move |_| Ok(read(&url, page, &keys, input.raw, chars_max))).await?
            }
            Answer::Elsewhere { status, to } => {
                let text = format!(
                    "{url} answered {status} and leads to {to}. That is another place, so nothing was fetched from \
                     there; fetch that URL to read it, which needs consent of its own"
                );
                let facts = json!({
                    "url": url.as_str(), "status": status, "redirect": to.as_str(), "complete": false,
                });
                answer::found(text, facts)
            }
        };
        Ok(ToolAnswer { source, ..answer })
    }
}

/// Describes a page. A GET changes nothing by the rules of HTTP, so it has no side effect that could be undone.
fn read(asked: &Url, page: Page, keys: &Scrub, is_raw: bool, chars_max: u64) -> ToolAnswer {
    let Page { url, status, media_type, body } = page;
    let kind = if media_type.is_empty() { "unknown type".to_owned() } else { show::line(&media_type) };
    let mut facts = json!({
        "url": asked.as_str(), "final_url": url.as_str(), "status": status, "content_type": media_type,
    });
    let mut add = |name: &str, value: Value| {
        if let Some(facts) = facts.as_object_mut() {
            facts.insert(name.to_owned(), value);
        }
    };
    let (text, is_html, bytes, mut is_complete, is_lossy) = match body {
        Body::Text { text, is_html, bytes, is_complete, is_lossy } => {
            (text, is_html, bytes, is_complete, is_lossy)
        }
        Body::Other { bytes } => {
            add("bytes", json!(bytes));
            add("complete", json!(false));
            let size = bytes.map_or_else(|| "unknown size".to_owned(), show::amount);
            let text =
                format!("{url} ({status}, {kind}, {size}): it is no text, so its content is not given");
            return answer::found(text, facts);
        }
    };
    let mut notes = Vec::new();
    if !is_complete {
        notes.push(format!("only the first {} were read", show::amount(bytes as u64)));
    }
    if is_lossy {
        notes.push("some bytes are no text in its encoding".to_owned());
    }
    let text = if is_html && !is_raw {
        let page = markdown::from_html(&text, &url);
        is_complete &= page.is_complete;
        add("title", json!(page.title));
        page.text
    } else {
        text
    };
    // Before it is cut: the beginning of a key is not recognised as one.
    let text = keys.text(text);
    let chars = text.chars().count() as u64;
    let is_cut = chars > chars_max;
    let given: String = text.chars().take(usize::try_from(chars_max).unwrap_or(usize::MAX)).collect();
    add("bytes", json!(bytes));
    add("complete", json!(is_complete && !is_cut));
    let amount = show::count(chars, "character", "characters");
    let amount = if is_cut { format!("the first {chars_max} of {amount}") } else { amount };
    let notes: String = notes.iter().map(|note| format!("; {note}")).collect();
    answer::found(format!("{url} ({status}, {kind}, {amount}{notes})\n{given}"), facts)
}
