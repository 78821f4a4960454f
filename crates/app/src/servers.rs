//! The configured MCP servers: connected for a process that drives tasks, and probed for a person.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use secrecy::SecretString;
use serde::Serialize;
use setpoint_protocol::record::ServerTool as Pin;
use setpoint_protocol::text::error_chain;
use setpoint_protocol::tool::Effect;
use setpoint_runtime::clock;
use setpoint_tools::Host;
use setpoint_tools::servers::{
    Offer, Reach, ServedFiles, ServerListing, ServerPlace, ServerPlan, ServerTool, shown_line,
};
use tokio::task::JoinSet;

use crate::config::ServerSettings;
use crate::program::Program;

/// The state of a server, as it was found by connecting to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerReport {
    pub name: String,
    /// Where it runs: `sandbox`, `outside` or `http`.
    pub place: &'static str,
    /// Its revision of the protocol, if it could be connected to.
    pub revision: Option<String>,
    /// The tools that it offers.
    pub tools: Vec<ToolReport>,
    /// Tools that it lists and that are not offered.
    pub left_out: Vec<LeftOutTool>,
    /// Why it cannot be used.
    pub error: Option<String>,
    /// Milliseconds that connecting and listing took.
    pub duration_ms: u64,
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolReport {
    /// The name by which a model calls it.
    pub name: String,
    /// Its name at the server.
    pub tool: String,
    /// What a call may do, as it is treated here.
    pub effect: Effect,
    /// BLAKE3 over its definition, hexadecimal.
    pub definition: String,
    /// What the server says of it.
    pub description: String,
}

/// A tool that is not offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOutTool {
    pub tool: String,
    /// Why.
    pub reason: String,
}

/// The servers of a process that drives tasks.
#[derive(Default)]
pub(crate) struct Connected {
    /// The tools that they offer.
    pub(crate) tools: Vec<Arc<ServerTool>>,
    /// What a person should know, one line each.
    pub(crate) notices: Vec<String>,
}

impl Connected {
    /// Returns what a task that opens now records of the tools.
    pub(crate) fn pins(&self) -> BTreeMap<String, Pin> {
        self.tools.iter().map(|tool| (tool.name().to_owned(), tool.pin())).collect()
    }
}

impl std::fmt::Debug for Connected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connected").field("notices", &self.notices).finish_non_exhaustive()
    }
}

/// A probed server.
struct Probed {
    name: String,
    place: &'static str,
    revision: Option<String>,
    offer: Offer,
    error: Option<String>,
    duration_ms: u64,
}

impl Program {
    /// Connects to the configured servers, for [`Program::open`]. One that cannot be used is left out, with a notice.
    pub async fn connect_servers(&self) {
        let mut connected = Connected::default();
        for probed in self.probed_servers(&self.host()).await {
            let Probed { name, offer, error, .. } = probed;
            if let Some(error) = error {
                connected.notices.push(format!("the MCP server {name} is left out: {error}"));
            }
            for left_out in &offer.left_out {
                let (tool, reason) = (&left_out.name, &left_out.reason);
                connected.notices.push(format!("{tool} of the MCP server {name} is left out: {reason}"));
            }
            connected.tools.extend(offer.tools);
        }
        drop(self.servers.set(connected));
    }

    /// Connects to every configured server, lists its tools, and ends it again.
    pub async fn survey_servers(&self) -> Vec<ServerReport> {
        self.probed_servers(&self.host()).await.into_iter().map(report).collect()
    }

    /// Connects to all servers at the same time.
    async fn probed_servers(&self, host: &Host) -> Vec<Probed> {
        let mut running = JoinSet::new();
        for settings in self.config.servers() {
            let place = place_of(&settings);
            match self.server_plan(&settings) {
                Ok(plan) => {
                    running.spawn(probe(plan, place, host.clone()));
                }
                Err(error) => {
                    let name = settings.name;
                    let (offer, error) = (Offer::default(), Some(error));
                    running.spawn(async move {
                        Probed { name, place, revision: None, offer, error, duration_ms: 0 }
                    });
                }
            }
        }
        let mut probed = running.join_all().await;
        probed.sort_by(|a, b| a.name.cmp(&b.name));
        probed
    }

    /// Returns how a server is reached, or why it cannot be.
    fn server_plan(&self, settings: &ServerSettings) -> Result<ServerPlan, String> {
        let variable = |name: &String| {
            let value = self.variable(name).filter(|value| !value.is_empty());
            value.map(str::to_owned).ok_or_else(|| format!("the environment variable {name} is not set"))
        };
        let place = match &settings.url {
            Some(url) => {
                let bearer = settings.bearer_env.as_ref().map(variable).transpose()?;
                ServerPlace::Http { url: url.clone(), bearer: bearer.map(SecretString::from) }
            }
            None => {
                let mut env: BTreeMap<String, String> = BTreeMap::new();
                env.insert("HOME".to_owned(), self.surroundings().home);
                for name in &settings.env {
                    env.insert(name.clone(), variable(name)?);
                }
                ServerPlace::Program {
                    command: settings.command.clone(),
                    env,
                    cwd: self.cwd().to_path_buf(),
                    reach: self.reach(settings)?,
                }
            }
        };
        Ok(ServerPlan { name: settings.name.clone(), place, is_trusted: settings.is_trusted })
    }

    /// Returns the files that servers outside the sandbox run.
    pub(crate) fn served_files(&self) -> ServedFiles {
        let plans = self.config.servers().into_iter().filter_map(|one| self.server_plan(&one).ok());
        ServedFiles::of(&plans.collect::<Vec<_>>())
    }

    fn reach(&self, settings: &ServerSettings) -> Result<Reach, String> {
        if settings.is_outside {
            return Ok(Reach::Outside);
        }
        let here = || vec![".".to_owned()];
        let folders =
            |paths: &[String]| paths.iter().map(|path| self.folder(path)).collect::<Result<Vec<_>, _>>();
        let writes = folders(&settings.writes)?;
        Ok(Reach::Sandbox { reads: folders(&settings.paths.clone().unwrap_or_else(here))?, writes })
    }

    /// Returns a folder that the configuration names, without links.
    fn folder(&self, path: &str) -> Result<PathBuf, String> {
        let home = self.surroundings().home;
        let full = match path.strip_prefix("~/") {
            Some(rest) => Path::new(&home).join(rest),
            None if path == "~" => PathBuf::from(home),
            None => self.cwd().join(path),
        };
        full.canonicalize().map_err(|error| format!("the folder {} cannot be used: {error}", full.display()))
    }
}

fn place_of(settings: &ServerSettings) -> &'static str {
    match (&settings.url, settings.is_outside) {
        (Some(_), _) => "http",
        (None, true) => "outside",
        (None, false) => "sandbox",
    }
}

async fn probe(plan: ServerPlan, place: &'static str, host: Host) -> Probed {
    let start = clock::now();
    let server = Arc::new(plan.server(&host));
    let listed = server.tools().await;
    let duration_ms = clock::now().millis_since(start);
    let (revision, offer, error) = match listed {
        Ok(listing) => {
            let ServerListing { revision, .. } = &listing;
            (Some(revision.clone()), Offer::of(&server, listing, &plan), None)
        }
        Err(error) => (None, Offer::default(), Some(error_chain(&error))),
    };
    Probed { name: plan.name, place, revision, offer, error, duration_ms }
}

fn report(probed: Probed) -> ServerReport {
    let tool = |tool: Arc<ServerTool>| ToolReport {
        name: tool.name().to_owned(),
        tool: shown_line(&tool.definition().name),
        effect: tool.effect(),
        definition: tool.definition().hash.clone(),
        description: tool.definition().description.clone(),
    };
    let Probed { name, place, revision, offer, error, duration_ms } = probed;
    let left_out = offer.left_out.into_iter().map(|one| LeftOutTool { tool: one.name, reason: one.reason });
    ServerReport {
        name,
        place,
        revision,
        tools: offer.tools.into_iter().map(tool).collect(),
        left_out: left_out.collect(),
        error,
        duration_ms,
    }
}
