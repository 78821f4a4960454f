//! The tools of MCP servers as tools of the catalogue.
//!
//! A server is another program, and what it says is foreign text. Each call of its tools asks a person, unless the server
//! says that the tool only reads and the person's configuration trusts this server's word. What holds of a tool for a task
//! (its definition, and whether it counts as one that only reads) is recorded when the task opens, so that a call reads
//! the same in a replay without the server, and a tool that was changed meanwhile is refused.

mod files;
mod launch;
mod name;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use secrecy::SecretString;
use serde_json::{Map, Value, json};
use setpoint_mcp::{Definition, Endpoint, LeftOut, Listing, McpError, Outcome, Server};
use setpoint_protocol::Any;
use setpoint_protocol::gate::Cause;
use setpoint_protocol::record::{ServerTool as Pin, Surroundings};
use setpoint_protocol::tool::{
    CallReading, CapabilityClass, Effect, ErrorKind, SideEffect, Source, ToolAnswer, ToolCall, ToolSpec,
};

use self::launch::Program;
use crate::approval::Gate;
use crate::error::ToolError;
use crate::host::Host;
use crate::target;
use crate::tool::{Tool, ToolCtx};
use crate::typed::tool_ids;

pub use setpoint_mcp::Listing as ServerListing;
pub use setpoint_mcp::show::line as shown_line;

pub use self::files::ServedFiles;
pub use self::name::{SERVER_NAME_CHARS_MAX, is_server_name};

/// The name of all these tools for the gate.
const TOOL: &str = "mcp";

/// A configured server.
#[derive(Clone, Debug)]
pub struct ServerPlan {
    /// Its name; see [`is_server_name`].
    pub name: String,
    /// Where it is.
    pub place: ServerPlace,
    /// Whether a tool that it describes as one that only reads counts as such.
    pub is_trusted: bool,
}

/// Where a server is.
#[derive(Clone, Debug)]
pub enum ServerPlace {
    /// A program.
    Program {
        /// The program and its arguments.
        command: Vec<String>,
        /// Variables that it gets beside `PATH` and `TMPDIR`.
        env: BTreeMap<String, String>,
        /// The folder in which it starts.
        cwd: PathBuf,
        /// What it may see and change.
        reach: Reach,
    },
    /// An address.
    Http {
        url: String,
        /// The key that is sent with every request.
        bearer: Option<SecretString>,
    },
}

/// What a server's program may see and change.
#[derive(Clone, Debug)]
pub enum Reach {
    /// What the person may.
    Outside,
    /// In the sandbox: these folders beside the programs of the system, and no network. Links are resolved.
    Sandbox {
        /// Folders that it may read; the first is where it starts, if it may write to none.
        reads: Vec<PathBuf>,
        /// Folders that it may change.
        writes: Vec<PathBuf>,
    },
}

impl ServerPlan {
    /// Returns whether what is sent to it may leave this machine.
    #[must_use]
    pub fn reaches_out(&self) -> bool {
        !matches!(self.place, ServerPlace::Program { reach: Reach::Sandbox { .. }, .. })
    }

    /// Returns the server, not connected yet.
    #[must_use]
    pub fn server(&self, host: &Host) -> Server {
        let endpoint = match &self.place {
            ServerPlace::Program { command, env, cwd, reach } => Endpoint::Stdio(Arc::new(Program {
                command: command.clone(),
                env: env.clone(),
                cwd: cwd.clone(),
                reach: reach.clone(),
                host: host.clone(),
            })),
            ServerPlace::Http { url, bearer } => Endpoint::Http { url: url.clone(), bearer: bearer.clone() },
        };
        Server::new(&self.name, endpoint)
    }
}

/// The tools that a server offers.
#[derive(Default)]
pub struct Offer {
    /// The tools.
    pub tools: Vec<Arc<ServerTool>>,
    /// Those that are not offered.
    pub left_out: Vec<LeftOut>,
}

impl Offer {
    /// Returns what a listed server offers.
    #[must_use]
    pub fn of(server: &Arc<Server>, listing: Listing, plan: &ServerPlan) -> Self {
        let mut offer = Offer { tools: Vec::new(), left_out: listing.left_out };
        for definition in listing.tools {
            let name = name::of_tool(server.name(), &definition.name);
            if offer.tools.iter().any(|tool| tool.name == name) {
                let reason = format!("another tool of this server is called {name} here");
                offer.left_out.push(LeftOut { name: setpoint_mcp::show::line(&definition.name), reason });
                continue;
            }
            let is_read_only = plan.is_trusted && definition.claims_read_only;
            offer.tools.push(Arc::new(ServerTool {
                name,
                server: Arc::clone(server),
                definition,
                is_read_only,
                reaches_out: plan.reaches_out(),
            }));
        }
        offer
    }
}

/// A tool of a server.
#[derive(Debug)]
pub struct ServerTool {
    name: String,
    server: Arc<Server>,
    definition: Definition,
    is_read_only: bool,
    /// What is sent to it may leave this machine.
    reaches_out: bool,
}

impl ServerTool {
    /// Returns the name by which a model calls it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its definition.
    #[must_use]
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Returns what a call may do.
    #[must_use]
    pub fn effect(&self) -> Effect {
        effect(self.is_read_only)
    }

    /// Returns what is recorded of it when a task opens.
    #[must_use]
    pub fn pin(&self) -> Pin {
        Pin { definition: self.definition.hash.clone(), is_read_only: self.is_read_only }
    }

    /// Returns the call as a person is asked about it; equal texts are equal calls.
    fn command(&self, arguments: &Map<String, Value>) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        let tool = match &self.definition.name {
            plain if plain.chars().all(is_plain) => plain.clone(),
            odd => json!(setpoint_mcp::show::line(odd)).to_string(),
        };
        format!("mcp {} {tool} {}", self.server.name(), Any(Value::Object(arguments.clone())).to_text())
    }

    async fn called(&self, input: &Any, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let arguments = match &input.0 {
            Value::Null => Map::new(),
            Value::Object(arguments) => arguments.clone(),
            _ => {
                return Err(ToolError::parameter("input", "it must be an object with the tool's parameters"));
            }
        };
        let pin = ctx.surroundings.server_tools.get(&self.name);
        if pin.is_some_and(|pin| pin.definition != self.definition.hash) {
            let (server, tool) =
                (self.server.name().to_owned(), setpoint_mcp::show::line(&self.definition.name));
            return Err(McpError::Changed { server, tool }.into());
        }
        let is_read_only = self.is_read_only && pin.is_some_and(|pin| pin.is_read_only);
        let gate = Gate::new(ctx);
        let mut plan = gate.plan(TOOL, self.command(&arguments), []);
        let name = setpoint_mcp::show::line(&self.definition.name);
        let place = Source::Server(self.server.name().to_owned());
        plan.cause = Some(Cause::Calls {
            tool: name,
            server: place.clone(),
            is_trusted: is_read_only,
            is_connected: self.reaches_out,
        });
        // Consent to a tool is not consent to another one under its name.
        plan.content = Some(self.definition.hash.clone());
        gate.check(&plan)?;
        let called = self.server.call(&self.definition, arguments, &ctx.cancel).await;
        Ok(ToolAnswer { source: Some(place), ..answer(called, is_read_only) })
    }
}

/// Returns the answer of a call that was sent.
fn answer(called: Result<Outcome, McpError>, is_read_only: bool) -> ToolAnswer {
    let side_effect = if is_read_only { SideEffect::None } else { SideEffect::Irreversible };
    match called {
        Ok(Outcome { is_ok, text, structured }) => ToolAnswer {
            ok: is_ok,
            error_kind: (!is_ok).then_some(ErrorKind::Exit),
            text,
            facts: structured.map(|value| Any(value).shallow()),
            side_effect,
            ..ToolAnswer::default()
        },
        // The call was not sent, or the server says that it did not carry it out.
        Err(error @ (McpError::Changed { .. } | McpError::Gone { .. } | McpError::GivenUp { .. })) => {
            ToolError::from(error).into_answer()
        }
        Err(error) => ToolAnswer { side_effect, ..ToolError::from(error).into_answer() },
    }
}

fn effect(is_read_only: bool) -> Effect {
    if is_read_only { Effect::ReadOnly } else { Effect::Unsafe }
}

/// Returns the reading of a call of a server's tool, `None` for a call of another tool. It depends on what was recorded
/// when the task opened, and not on whether the server is there.
pub(crate) fn reading(call: &ToolCall, surroundings: &Surroundings) -> Option<CallReading> {
    if !name::is_of_tool(&call.tool) {
        return None;
    }
    let pin = surroundings.server_tools.get(&call.tool);
    Some(CallReading {
        tools: tool_ids(&call.tool),
        target: target::bounded(call.input.to_text()),
        beyond: Some(String::new()),
        effect: effect(pin.is_some_and(|pin| pin.is_read_only)),
        volatile: false,
    })
}

#[async_trait]
impl Tool for ServerTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.clone(),
            description: self.definition.description.clone(),
            gives: String::new(),
            input_schema: self.definition.input_schema.clone(),
            class: CapabilityClass::Server,
            volatile: false,
            core: false,
        }
    }

    fn read(&self, input: &Any, surroundings: &Surroundings) -> CallReading {
        let call = ToolCall { tool: self.name.clone(), input: input.clone() };
        reading(&call, surroundings)
            .unwrap_or_else(|| crate::typed::unreadable(&self.name, input, Effect::Unsafe))
    }

    async fn run(&self, input: &Any, ctx: &ToolCtx) -> ToolAnswer {
        self.called(input, ctx).await.unwrap_or_else(ToolError::into_answer)
    }
}
