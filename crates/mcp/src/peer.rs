//! One connection to a server, through the library that speaks the protocol.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ClientResult, ErrorData,
    Implementation, JsonObject, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerNotification,
    ServerRequest,
};
use rmcp::service::{
    ClientCacheConfig, ClientInitializeError, ClientLifecycleMode, ClientServiceExt, NotificationContext,
    RequestContext, RoleClient, RunningService, Service, ServiceError,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, StreamableHttpClientTransportConfig,
};
use rmcp::transport::{DynamicTransportError, StreamableHttpClientTransport};
use secrecy::ExposeSecret;
use tokio::time::Instant;

use crate::definition::{Definition, Listing};
use crate::endpoint::{self, Endpoint, Process};
use crate::error::McpError;
use crate::limits::{
    CALL_MS_MAX, CLOSE_MS_MAX, CONNECT_MS_MAX, LIST_MS_MAX, MESSAGE_BYTES_MAX, PAGES_MAX, TOOLS_MAX,
};
use crate::meter::{Meter, Metered};
use crate::outcome::Outcome;
use crate::show;

/// The revisions that are spoken, the preferred first. The library knows constants for more.
const MODERN: ProtocolVersion = ProtocolVersion::V_2026_07_28;
/// The newest revision with a handshake, in which an older server answers with its own.
const WITH_HANDSHAKE: ProtocolVersion = ProtocolVersion::V_2025_11_25;
/// Attempts to open the stream of an HTTP server again.
const STREAM_RETRIES_MAX: usize = 3;
/// What is attempted, as errors word it.
const DOING_CONNECT: &str = "connect to";
const DOING_LIST: &str = "list the tools of";
const DOING_CALL: &str = "get an answer from";

/// An open connection.
pub(crate) struct Peer {
    server: String,
    service: RunningService<RoleClient, Manners>,
    meter: Arc<Meter>,
    /// The program, if there is one. It ends when this is dropped.
    process: Option<Box<dyn Process>>,
}

/// How this client behaves towards a server that asks for something: it answers pings and refuses everything else.
struct Manners {
    meter: Arc<Meter>,
}

impl Service<RoleClient> for Manners {
    async fn handle_request(
        &self,
        request: ServerRequest,
        _context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        self.meter.count_notification();
        match request {
            ServerRequest::PingRequest(_) => Ok(ClientResult::empty(())),
            _ => Err(ErrorData::new(
                rmcp::model::ErrorCode::METHOD_NOT_FOUND,
                Cow::Borrowed("this client offers no capabilities"),
                None,
            )),
        }
    }

    async fn handle_notification(
        &self,
        _notification: ServerNotification,
        _context: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        self.meter.count_notification();
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("setpoint", env!("CARGO_PKG_VERSION")),
        )
        .with_protocol_version(WITH_HANDSHAKE)
    }
}

impl Peer {
    /// Connects and agrees on a revision. Older servers answer the probe of the newer one in many ways: with an empty
    /// result, with an error without an id (as HTTP servers that want a session first), or by ending. So after any answer
    /// that is not of the protocol the handshake is tried on a connection of its own. Nothing has been called by then.
    pub(crate) async fn connect(server: &str, endpoint: &Endpoint) -> Result<Self, McpError> {
        let end = Instant::now() + Duration::from_millis(CONNECT_MS_MAX);
        let probe = ClientLifecycleMode::Auto {
            preferred_versions: vec![MODERN],
            legacy_version: Some(WITH_HANDSHAKE),
        };
        match Peer::connect_by(server, endpoint, probe, end).await {
            Err(McpError::NotConnected { .. }) => {
                Peer::connect_by(server, endpoint, ClientLifecycleMode::Initialize, end).await
            }
            done => done,
        }
    }

    async fn connect_by(
        server: &str,
        endpoint: &Endpoint,
        lifecycle: ClientLifecycleMode,
        end: Instant,
    ) -> Result<Self, McpError> {
        let meter = Arc::new(Meter::default());
        let manners = Manners { meter: Arc::clone(&meter) };
        let (made, process) = match endpoint {
            Endpoint::Stdio(launch) => {
                let launched = launch.launch().await;
                let launched =
                    launched.map_err(|source| McpError::NotStarted { server: server.to_owned(), source })?;
                let (read, write) = tokio::io::split(launched.stream);
                let transport = AsyncRwTransport::new_client(Metered::new(read, Arc::clone(&meter)), write)
                    .with_max_line_length(MESSAGE_BYTES_MAX + 1);
                let made = manners.serve_with_lifecycle(transport, lifecycle);
                (tokio::time::timeout_at(end, made).await, Some(launched.process))
            }
            Endpoint::Http { url, bearer } => {
                let client = endpoint::client(server, url, bearer.as_ref())?;
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .max_sse_event_size(MESSAGE_BYTES_MAX)
                    .max_json_response_size(MESSAGE_BYTES_MAX)
                    // A call is never sent twice.
                    .reinit_on_expired_session(false);
                let mut retries = ExponentialBackoff::default();
                retries.max_times = Some(STREAM_RETRIES_MAX);
                config.retry_config = Arc::new(retries);
                if let Some(key) = bearer {
                    config = config.auth_header(key.expose_secret());
                }
                let transport = StreamableHttpClientTransport::with_client(client, config);
                let made = manners.serve_with_lifecycle(transport, lifecycle);
                (tokio::time::timeout_at(end, made).await, None)
            }
        };
        let trouble = || Trouble::of(server, &meter, process.as_deref());
        let service = match made {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => return Err(trouble().await.not_connected(&error)),
            Err(_) => return Err(trouble().await.timed_out(DOING_CONNECT, CONNECT_MS_MAX)),
        };
        let (stop, running) = (meter.stop.clone(), service.cancellation_token());
        tokio::spawn(async move {
            stop.cancelled().await;
            running.cancel();
        });
        // A list from a cache would hide a changed definition.
        service.peer().set_response_cache_config(ClientCacheConfig::disabled()).await;
        Ok(Peer { server: server.to_owned(), service, meter, process })
    }

    /// Returns whether it can still be used, as far as is known.
    pub(crate) fn is_open(&self) -> bool {
        !self.service.is_closed() && !self.service.peer().is_transport_closed()
    }

    /// Lists all tools.
    pub(crate) async fn list(&self) -> Result<Listing, McpError> {
        let revision = self.service.peer().peer_info().map(|info| info.protocol_version.to_string());
        let mut listing =
            Listing { revision: show::said(&revision.unwrap_or_default()), ..Listing::default() };
        let (mut seen, mut bytes, mut count) = (BTreeSet::new(), 0, 0);
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let page = self.page(cursor).await?;
            count += page.tools.len();
            if count > TOOLS_MAX {
                return Err(self.too_many("tools", TOOLS_MAX));
            }
            for tool in &page.tools {
                listing.add(tool, &mut seen, &mut bytes);
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(listing);
            }
        }
        Err(self.too_many("pages", PAGES_MAX))
    }

    /// Checks that a tool is still defined as it was.
    pub(crate) async fn verify(&self, known: &Definition) -> Result<(), McpError> {
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let page = self.page(cursor).await?;
            if let Some(now) = page.tools.iter().find(|tool| tool.name == known.name) {
                return match Definition::read(now) {
                    Ok(now) if now.hash == known.hash => Ok(()),
                    _ => {
                        Err(McpError::Changed { server: self.server.clone(), tool: show::line(&known.name) })
                    }
                };
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Err(McpError::Gone { server: self.server.clone(), tool: show::line(&known.name) });
            }
        }
        Err(self.too_many("pages", PAGES_MAX))
    }

    async fn page(&self, cursor: Option<String>) -> Result<ListToolsResult, McpError> {
        self.meter.restart();
        let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        self.within(DOING_LIST, LIST_MS_MAX, self.service.peer().list_tools(params)).await
    }

    fn too_many(&self, what: &'static str, max: usize) -> McpError {
        McpError::TooMany { server: self.server.clone(), what, max }
    }

    /// Calls a tool once. Dropping the future tells the server that the call is cancelled.
    pub(crate) async fn call(&self, tool: &str, arguments: JsonObject) -> Result<Outcome, McpError> {
        self.meter.restart();
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let answer = self.within(DOING_CALL, CALL_MS_MAX, self.service.peer().call_tool_once(params));
        match answer.await? {
            CallToolResponse::Complete(result) => Ok(Outcome::of(result)),
            CallToolResponse::InputRequired(_) => {
                Err(self.unfit("it asks for input, which this client does not give"))
            }
            CallToolResponse::Task(_) => {
                Err(self.unfit("it answers with a task of its own, which this client does not follow"))
            }
            _ => Err(self.unfit("it answers in a way that this client does not know")),
        }
    }

    fn unfit(&self, reason: &str) -> McpError {
        McpError::Unfit { server: self.server.clone(), doing: DOING_CALL, reason: reason.to_owned() }
    }

    async fn within<T>(
        &self,
        doing: &'static str,
        ms: u64,
        work: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, McpError> {
        let trouble = Trouble::of(&self.server, &self.meter, self.process.as_deref());
        match tokio::time::timeout(Duration::from_millis(ms), work).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => Err(trouble.await.failed(doing, &error)),
            Err(_) => Err(trouble.await.timed_out(doing, ms)),
        }
    }

    /// Tells the server that the connection ends, and ends its program.
    pub(crate) async fn close(mut self) {
        drop(self.service.close_with_timeout(Duration::from_millis(CLOSE_MS_MAX)).await);
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.meter.stop.cancel();
    }
}

/// What is known when something fails.
struct Trouble<'a> {
    server: &'a str,
    meter: &'a Meter,
    /// What its program printed last, to go on with a sentence.
    said: String,
    is_program: bool,
}

impl<'a> Trouble<'a> {
    async fn of(server: &'a str, meter: &'a Meter, process: Option<&'a dyn Process>) -> Self {
        let words = match process {
            Some(process) => show::said(&process.last_words().await),
            None => String::new(),
        };
        let said = if words.is_empty() { words } else { format!("; it said: {words}") };
        Trouble { server, meter, said, is_program: process.is_some() }
    }

    fn said(&self) -> String {
        self.said.clone()
    }

    fn server(&self) -> String {
        self.server.to_owned()
    }

    fn flooded(&self) -> Option<McpError> {
        Some(McpError::Flooded { server: self.server(), what: self.meter.excess()? })
    }

    fn timed_out(&self, doing: &'static str, ms: u64) -> McpError {
        let timed_out = || McpError::TimedOut { server: self.server(), doing, ms, said: self.said() };
        self.flooded().unwrap_or_else(timed_out)
    }

    fn not_connected(&self, error: &ClientInitializeError) -> McpError {
        let error = match error {
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => fallback,
            error => error,
        };
        let reason = match error {
            ClientInitializeError::TransportError { error, .. } => of_transport(error),
            ClientInitializeError::ConnectionClosed(_) => "it ended the connection".to_owned(),
            ClientInitializeError::ExpectedInitResponse(_) | ClientInitializeError::ExpectedInitResult(_) => {
                "its answer is not one of the protocol".to_owned()
            }
            error => show::said(&chain(error)),
        };
        let advice = if self.is_program { "run it by hand to see what it prints" } else { "check `url`" };
        let not_connected =
            || McpError::NotConnected { server: self.server(), reason, said: self.said(), advice };
        self.flooded().unwrap_or_else(not_connected)
    }

    fn failed(&self, doing: &'static str, error: &ServiceError) -> McpError {
        if let Some(flooded) = self.flooded() {
            return flooded;
        }
        let server = self.server();
        match error {
            ServiceError::McpError(error) => {
                McpError::Refused { server, doing, code: error.code.0, message: show::said(&error.message) }
            }
            ServiceError::UnexpectedResponse => {
                McpError::Unfit { server, doing, reason: "its answer does not fit the request".to_owned() }
            }
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => {
                McpError::Died { server, doing, said: self.said() }
            }
            ServiceError::TransportSend(error) => {
                McpError::Died { server, doing, said: format!("; {}", of_transport(error)) }
            }
            error => McpError::Died { server, doing, said: format!("; {}", show::said(&chain(error))) },
        }
    }
}

/// Returns why a server could not be sent to, without the library's own types.
fn of_transport(error: &DynamicTransportError) -> String {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error.error.as_ref());
    while let Some(inner) = source {
        if inner.is::<AuthRequiredError>() || inner.is::<InsufficientScopeError>() {
            return "it wants a key that it accepts (401 or 403); `bearer_env` names the variable that holds one, and OAuth is \
                    not spoken"
                .to_owned();
        }
        source = inner.source();
    }
    show::said(&chain(error.error.as_ref()))
}

/// Returns an error with its sources in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text.push_str(&format!(": {inner}"));
        source = inner.source();
    }
    text
}
