use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::config::Config;

/// A key in every place where other programs may have one.
const KEY: &str = "zq7Vx0Kd93hTRbLw2mNe5";

fn check(file: &str, expected: &Expect) {
    let import = Import::of(file).unwrap();
    let text = import.text();
    expected.assert_eq(&text);
    assert!(!text.contains(KEY) && !json!(import).to_string().contains(KEY), "{text}");
    // What is printed is a configuration, with these servers.
    let config = Config::of_text(text.as_bytes()).unwrap();
    let names: Vec<String> = config.servers().into_iter().map(|server| server.name).collect();
    let imported: BTreeSet<String> = import.servers.into_iter().map(|server| server.name).collect();
    assert_eq!(names, imported.into_iter().collect::<Vec<_>>());
}

#[test]
fn claude_files_become_tables_without_values() {
    check(
        r#"{"mcpServers": {
            "File System": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/ada/notes"]},
            "tracker": {"type": "http", "url": "https://tracker.example/mcp",
                "headers": {"Authorization": "Bearer zq7Vx0Kd93hTRbLw2mNe5", "X-Team": "zq7Vx0Kd93hTRbLw2mNe5"}},
            "wiki": {"type": "http", "url": "https://wiki.example/mcp", "headers": {"authorization": "Bearer ${WIKI_TOKEN}"}},
            "notes": {"command": "/opt/notes/bin/serve", "args": ["~/notes"], "cwd": "/srv",
                "env": {"NOTES_KEY": "zq7Vx0Kd93hTRbLw2mNe5", "LANG": "${LANG}", "NOTES_DIR": "${HOME}", "a b": "x"}},
            "old": {"type": "sse", "url": "https://old.example/sse"},
            "off": {"command": "x", "disabled": true}
        }}"#,
        &expect![[r##"
            # called File System in that file
            # npx loads programs from a network, which the sandbox does not have, so it runs with all your rights; install the server and name its own program to keep it in the sandbox
            [mcp.file-system]
            command = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/ada/notes"]
            outside = true

            # set NOTES_DIR: that file takes it from HOME
            # set these variables before Setpoint starts, their values are not taken over: NOTES_KEY
            # not names of variables: a b
            # in the sandbox it sees the working directory alone; name in `paths` (to read) or `writes` the folders that it needs: /opt/notes/bin/serve, ~/notes
            # it starts in the working directory: `cwd` is not taken over
            [mcp.notes]
            command = ["/opt/notes/bin/serve", "~/notes"]
            env = ["LANG", "NOTES_DIR", "NOTES_KEY"]

            # set TRACKER_KEY to its key, which is not taken over
            # headers other than a bearer token are not sent: X-Team
            [mcp.tracker]
            url = "https://tracker.example/mcp"
            bearer_env = "TRACKER_KEY"

            [mcp.wiki]
            url = "https://wiki.example/mcp"
            bearer_env = "WIKI_TOKEN"

            # left out: off: it is switched off in that file
            # left out: old: it speaks HTTP+SSE of 2024-11-05, which is not spoken here; many such servers also have an address for streamable HTTP
        "##]],
    );
}

#[test]
fn files_of_editors_with_comments_become_tables() {
    check(
        r#"{
            // Keys are asked for.
            "inputs": [{"type": "promptString", "id": "key", "password": true}],
            "servers": {
                "git": {"type": "stdio", "command": "mcp-server-git", "args": ["--repository", "${workspaceFolder}"], "cwd": "${workspaceFolder}"},
                "docs": {"url": "https://docs.example/mcp", "headers": {"Authorization": "Bearer ${input:key}"}},
                "pick": {"command": "serve", "args": ["${input:key}"], "envFile": ".env", "dev": {"watch": "src"}}, /* last */
            },
        }"#,
        &expect![[r##"
            # set DOCS_KEY to its key, which is not taken over
            [mcp.docs]
            url = "https://docs.example/mcp"
            bearer_env = "DOCS_KEY"

            [mcp.git]
            command = ["mcp-server-git", "--repository", "."]

            # left out: pick: its command contains a variable, which is not replaced here
        "##]],
    );
}

#[test]
fn a_codex_configuration_becomes_tables() {
    check(
        r#"
        model = "gpt-5"
        [mcp_servers.context]
        command = "uv"
        args = ["run", "context"]
        env_vars = ["CONTEXT_KEY"]
        startup_timeout_sec = 20
        [mcp_servers.context.env]
        LEVEL = "1"
        [mcp_servers.web]
        url = "https://web.example/mcp"
        bearer_token_env_var = "WEB_TOKEN"
        [mcp_servers.web.http_headers]
        X-Region = "eu"
        [mcp_servers.later]
        command = "later"
        enabled = false
        "#,
        &expect![[r##"
            # set these variables before Setpoint starts, their values are not taken over: LEVEL
            # uv loads programs from a network, which the sandbox does not have, so it runs with all your rights; install the server and name its own program to keep it in the sandbox
            # not taken over: startup_timeout_sec
            [mcp.context]
            command = ["uv", "run", "context"]
            env = ["CONTEXT_KEY", "LEVEL"]
            outside = true

            # headers other than a bearer token are not sent: X-Region
            [mcp.web]
            url = "https://web.example/mcp"
            bearer_env = "WEB_TOKEN"

            # left out: later: it is switched off in that file
        "##]],
    );
}

#[test]
fn an_opencode_configuration_becomes_tables() {
    check(
        r#"{"$schema": "https://opencode.ai/config.json", "mcp": {
            "local_one": {"type": "local", "command": ["bun", "x", "one"], "environment": {"ONE": "{env:ONE}", "TWO": "{env:OTHER}"}},
            "far": {"type": "remote", "url": "https://far.example/mcp", "headers": {"Authorization": "Bearer {env:FAR_KEY}"}, "oauth": {}}
        }}"#,
        &expect![[r##"
            # not taken over: oauth
            [mcp.far]
            url = "https://far.example/mcp"
            bearer_env = "FAR_KEY"

            # called local_one in that file
            # set TWO: that file takes it from OTHER
            # bun loads programs from a network, which the sandbox does not have, so it runs with all your rights; install the server and name its own program to keep it in the sandbox
            [mcp.local-one]
            command = ["bun", "x", "one"]
            env = ["ONE", "TWO"]
            outside = true
        "##]],
    );
}

#[test]
fn no_key_leaves_a_command_line_or_an_address() {
    for server in [
        json!({"command": "serve", "args": ["--api-key", KEY]}),
        json!({"command": "serve", "args": [format!("--token={KEY}")]}),
        json!({"command": "serve", "args": ["-k", format!("sk-{KEY}")]}),
        json!({"command": "serve", "args": [format!("ada{KEY}{KEY}")]}),
        json!({"command": "docker", "args": ["run", "-e", format!("TRACKER_TOKEN={KEY}"), "tracker"]}),
        json!({"command": "serve", "args": [format!("postgres://ada:{KEY}@db.example/x")]}),
        json!({"command": ["serve", "--password", KEY]}),
        json!({"command": "serve", "args": ["Authorization: ", format!("Bearer {KEY}")]}),
        json!({"url": format!("https://a.example/mcp?api_key={KEY}")}),
        json!({"url": format!("https://a.example/mcp?x=sk-{KEY}")}),
        json!({"url": format!("https://a.example/{KEY}0000/mcp")}),
        json!({"url": format!("https://ada:{KEY}@a.example/mcp")}),
    ] {
        let import = Import::of(&json!({"mcpServers": {"one": server}}).to_string()).unwrap();
        assert_eq!((import.servers.len(), import.left_out.len()), (0, 1), "{server}: {import:?}");
        assert!(!import.text().contains(KEY), "{}", import.text());
        assert!(import.left_out[0].reason.contains("key"), "{import:?}");
    }
}

#[test]
fn a_variable_that_holds_a_key_is_no_key_of_the_command() {
    for server in [
        json!({"command": "docker", "args": ["run", "-i", "--rm", "-e", "TRACKER_TOKEN", "ghcr.io/tracker/server:1.2"]}),
        json!({"command": "npx", "args": ["-y", "@modelcontextprotocol/server-sequential-thinking@2025.7.1"]}),
        json!({"url": "https://mcp.example/v1/mcp?read_only=true"}),
    ] {
        let import = Import::of(&json!({"mcpServers": {"one": server}}).to_string()).unwrap();
        assert!(import.left_out.is_empty(), "{import:?}");
    }
}

#[test]
fn a_broken_file_is_refused_without_its_content() {
    for (file, reason) in [
        (format!("{{\"mcpServers\": {{\"a\": {KEY}}}}}"), "neither JSON nor JSON with comments"),
        (format!("[mcp_servers.a]\nenv = {{ K = {KEY} }}\n"), "not TOML (line 2)"),
        (format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)), "not TOML"),
        (format!("{{\"mcpServers\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000)), "recursion limit"),
        ("{}".to_owned(), "names no MCP servers"),
        ("model = \"x\"".to_owned(), "names no MCP servers"),
        (String::new(), "names no MCP servers"),
        ("{\"mcpServers\": []}".to_owned(), "names no MCP servers"),
    ] {
        let error = Import::of(&file).unwrap_err().to_string();
        assert!(error.contains(reason) && !error.contains(KEY), "{error}");
        assert!(error.chars().count() < 200, "{error}");
    }
}

#[test]
fn hostile_names_stay_in_their_comments() {
    let odd = "x\n[mcp.evil]\ncommand = [\"rm\"]\u{202e}\u{1b}[2J";
    let server = |value: Value| json!({ "command": "serve", "args": [odd], "env": {odd: "1"}, odd: value });
    let mut servers: Map<String, Value> = (0..300).map(|n| (format!("{odd}{n}"), server(json!(1)))).collect();
    servers.insert("1".to_owned(), json!({"url": format!("https://a.example/{odd}")}));
    servers.insert("2".to_owned(), json!({"url": "https://a.example/", "headers": {odd: "1"}}));
    servers.insert("3".to_owned(), json!({"command": odd, "args": {odd: 1}}));
    servers.insert("4".to_owned(), json!(odd));
    servers.insert("5".to_owned(), json!({"url": "file:///etc/passwd"}));
    let import = Import::of(&json!({ "mcpServers": servers }).to_string()).unwrap();
    assert_eq!(import.servers.len(), SERVERS_MAX);
    let text = import.text();
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()) && !text.contains('\u{202e}'), "{text}");
    let config = Config::of_text(text.as_bytes()).unwrap();
    assert_eq!(config.servers().len(), SERVERS_MAX);
    assert!(config.servers().iter().all(|server| server.name != "evil"), "{text}");
    // The argument itself is kept as it is.
    assert!(config.servers().iter().any(|server| server.command == ["serve", odd]), "{text}");
    assert!(text.len() < 200_000);
}

#[test]
fn each_program_has_places_in_its_order() {
    let places = |origin: ImportOrigin| {
        let places = origin.places(Path::new("/w"), Path::new("/home/ada"), Path::new("/home/ada/.config"));
        places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(places(ImportOrigin::ClaudeCode), "/w/.mcp.json /home/ada/.claude.json");
    assert_eq!(places(ImportOrigin::Codex), "/w/.codex/config.toml /home/ada/.codex/config.toml");
}
