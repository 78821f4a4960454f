//! `mcp`: connects to the configured MCP servers and shows what they offer now.

mod import;

use clap::{Args, Subcommand};
use setpoint_app::Error;
use setpoint_app::servers::{ServerReport, ToolReport};
use setpoint_protocol::tool::Effect;

use crate::text::table::{Cell, table};
use crate::text::{Line, Tone};
use crate::{App, Exit, Io};

/// At most this many characters of a description are shown.
const ABOUT_CHARS_MAX: usize = 60;
/// Characters of a definition's hash that are shown.
const HASH_CHARS: usize = 12;

/// Connect to the configured MCP servers, and list the tools that they offer now
///
/// Starts or reaches every server of `[mcp.NAME]`, lists its tools with what a call may do and the hash of the
/// definition, and ends it. Fails if one of them cannot be used.
#[derive(Args, Debug)]
pub struct Mcp {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Import(import::Import),
}

impl Mcp {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        if let Some(Verb::Import(import)) = self.verb {
            return import.run(app, io);
        }
        let servers = app.host.desk().servers().await;
        io.out.show(&app.options, &serde_json::json!({ "servers": servers }), || lines(&servers))?;
        let has_failed = servers.iter().any(|server| server.error.is_some());
        Ok(if has_failed { Exit::USAGE } else { Exit::DONE })
    }
}

fn lines(servers: &[ServerReport]) -> Vec<Line> {
    if servers.is_empty() {
        return vec![Line::plain(
            "no MCP server is configured; `[mcp.NAME]` in your own setpoint.toml adds one",
        )];
    }
    servers.iter().flat_map(of_server).collect()
}

fn of_server(server: &ServerReport) -> Vec<Line> {
    let head = Line::new().and(Tone::Name, &server.name).and(Tone::Dim, &format!("  {}  ", server.place));
    let took = format!("  {} ms", server.duration_ms);
    if let Some(error) = &server.error {
        return vec![head.and(Tone::Bad, "failed").and(Tone::Dim, &took), Line::plain(&format!("  {error}"))];
    }
    let revision = server.revision.as_deref().unwrap_or_default();
    let count =
        if server.tools.len() == 1 { "1 tool".to_owned() } else { format!("{} tools", server.tools.len()) };
    let about = format!("  {revision}  {count}");
    let mut lines = vec![head.and(Tone::Good, "ready").and(Tone::Dim, &about).and(Tone::Dim, &took)];
    lines.extend(table(
        &["", "tool", "effect", "definition", ""],
        &server.tools.iter().map(row).collect::<Vec<_>>(),
    ));
    for left_out in &server.left_out {
        lines.push(
            Line::new().and(Tone::Care, &format!("  left out: {}: {}", left_out.tool, left_out.reason)),
        );
    }
    lines
}

fn row(tool: &ToolReport) -> Vec<Cell> {
    let (tone, effect) = match tool.effect {
        Effect::ReadOnly => (Tone::Good, "reads"),
        Effect::Unsafe => (Tone::Care, "asks"),
    };
    let about = tool.description.lines().next().unwrap_or_default();
    vec![
        (Tone::Plain, String::new()),
        (Tone::Name, tool.name.clone()),
        (tone, effect.to_owned()),
        (Tone::Dim, tool.definition.chars().take(HASH_CHARS).collect()),
        (Tone::Dim, setpoint_protocol::text::clip(about, ABOUT_CHARS_MAX)),
    ]
}
