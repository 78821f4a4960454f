//! `models` and `doctor --model` against a local server, on a machine without certificate authorities.

use std::fs;
use std::sync::Arc;

use setpoint_model_server::{Answer, Fault, Hosted, SeenRequest, Turn, Wire};

use crate::support::{Came, Home};

const KEY: &str = "sk-never-to-be-seen-0123456789";

/// A server that needs no authorities is asked, with the key; for another the problem is reported.
#[test]
fn without_certificate_authorities_a_local_server_is_asked() {
    let home = Home::new();
    let server = Hosted::start(Arc::new(|_: &SeenRequest| Answer::text("ready"))).unwrap();
    let run = |address: &str, line: &[&str]| {
        let text = format!(
            "[models]\nbrain = \"mine/test-model\"\n[providers.mine]\nbase_url = \"{address}\"\nkey_env = \"MY_KEY\"\n"
        );
        fs::write(home.config().join("setpoint.toml"), text).unwrap();
        let mut command = home.command(line);
        command.env("SSL_CERT_FILE", "/nowhere/certs.pem").env("SSL_CERT_DIR", "/nowhere/certs");
        let came = Came::of(command.env("MY_KEY", KEY));
        assert!(!(came.out.clone() + &came.err).contains(KEY), "{came:#?}");
        came
    };
    let address = server.base(Wire::Chat);
    let came = run(&address, &["models", "--json"]);
    assert_eq!((came.code, &came.json()["state"]), (0, &"good".into()), "{came:#?}");
    // One server, asked once.
    let seen = server.seen();
    assert_eq!((seen.len(), &seen[0].headers["authorization"]), (1, &format!("Bearer {KEY}")));
    let came = run(&address, &["doctor", "--model"]);
    assert!(came.out.contains("mine/test-model  answers"), "{came:#?}");
    let address = address.replace("http://", "https://");
    for (line, code) in [(&["models"][..], 1), (&["doctor", "--model"], 1), (&["run", "count the files"], 2)]
    {
        let came = run(&address, line);
        assert_eq!(came.code, code, "{came:#?}");
        assert!((came.out.clone() + &came.err).contains("SSL_CERT_FILE with SSL_CERT_DIR"), "{came:#?}");
    }
    assert!(!home.data().join("journal").exists());
}

/// Someone who wonders at a plan sees which texts of the project were before the planner.
#[test]
fn a_task_names_the_texts_and_skills_that_its_planner_was_shown() {
    let home = Home::new();
    let server = Hosted::start(Arc::new(Turn::from(Fault::Unauthorized))).unwrap();
    let text = format!("[providers.openai]\nbase_url = \"{}\"\n", server.base(Wire::Chat));
    fs::write(home.config().join("setpoint.toml"), text).unwrap();
    home.file("AGENTS.md", "Use tabs.\n");
    let head = "---\nname: pages\ndescription: Reads pages.\n---\n";
    home.file(".agents/skills/pages/SKILL.md", format!("{head}Read them.\n"));
    let mut command = home.command(&["run", "--model", "openai/gpt-5", "translate a.txt into French"]);
    let came = Came::of(command.env("OPENAI_API_KEY", KEY));
    assert!(!server.seen().is_empty(), "{came:#?}");
    let listed = home.run(&["tasks", "list", "--json"]).json();
    let task = listed[0]["task_id"].as_str().unwrap();
    let shown = "AGENTS.md, skill pages (.agents/skills/pages/SKILL.md)";
    for line in [vec!["tasks", "show", task], vec!["replay", "-v", task]] {
        let came = home.run(&line);
        assert!(came.out.contains(shown), "{line:?}: {came:#?}");
    }
    let value = home.run(&["tasks", "show", "--json", task]).json();
    assert_eq!(value["guides"], serde_json::json!([{"path": "AGENTS.md", "bytes": 10, "is_cut": false}]));
    assert_eq!(value["skills"][0]["name"], "pages");
}
