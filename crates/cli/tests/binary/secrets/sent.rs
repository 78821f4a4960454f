//! A secret of the configuration reaches the server that it is bound to, and nothing else.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};

use serde_json::json;
use setpoint_model_server::{CannedRequest, Hosted, SeenRequest, Wire, canned};

use crate::models::command;
use crate::support::thinker::think;
use crate::support::{Came, Home};

use super::hostile::{assert_clean, journal};

const SECRET: &str = "tok_Zq81LmXv0TtR5bNcYw7HdGf2";

#[test]
fn a_configured_secret_reaches_its_server_alone() {
    let home = Home::new();
    let requests: Arc<Mutex<Vec<CannedRequest>>> = Arc::default();
    let kept = Arc::clone(&requests);
    let base = canned(move |request| {
        kept.lock().unwrap().push(request);
        (200, String::new())
    })
    .unwrap();
    let place = base.strip_prefix("http://").unwrap();
    let key = home.config().join("tracker.key");
    fs::write(&key, format!("{SECRET}\n")).unwrap();
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    let settings = format!(
        "[tools]\nfetch_private = true\n[secrets.tracker]\nfile = \"tracker.key\"\nhosts = [\"{place}\"]\n"
    );
    fs::write(home.config().join("setpoint.toml"), settings).unwrap();
    home.file("approve", "host 127.0.0.1\n");
    let step = |n: usize, tool: &str, input: serde_json::Value| {
        json!({
            "intent": format!("step {n} is to call {tool} {input}"),
            "success_criteria": [{ "criterion": format!("call {n} was made"), "mode": "plausible" }],
        })
    };
    let fetch =
        json!({ "url": format!("{base}/tasks"), "headers": { "Authorization": "Bearer secret://tracker" } });
    let read = json!({ "path": key });
    let whole = json!([{ "criterion": "all calls were made", "mode": "plausible" }]);
    let plan = json!({ "subtasks": [step(1, "http_fetch", fetch), step(2, "read_file", read)], "task_criteria": whole });
    let server = Hosted::start(Arc::new(move |seen: &SeenRequest| think(seen, &plan))).unwrap();
    let arguments =
        ["-v", "run", "--json", "--approve", "approve", "--set", "log.level=trace", "look at the tasks"];
    let came = Came::of(&mut command(&home, &server, Wire::Chat, &arguments));
    let task = came.json()["task_id"].as_str().unwrap().to_owned();
    let heads: Vec<String> = requests.lock().unwrap().iter().map(|request| request.head.clone()).collect();
    assert_eq!(heads.len(), 1, "{came:#?}");
    assert!(heads[0].contains(&format!("authorization: Bearer {SECRET}\r\n")), "{heads:?}");
    // The call worked, its file is closed, and the catalogue names it.
    let journal = journal(&home, &task);
    for told in ["(200, unknown type", "it belongs to Setpoint itself", &format!("tracker ({place})")] {
        assert!(journal.contains(told), "{told}: {journal}");
    }
    fs::remove_file(&key).unwrap();
    let prompts: String = server.seen().iter().map(|seen| seen.body.to_string() + "\n").collect();
    let outputs = [("stdout", came.out), ("stderr", came.err), ("journal", journal), ("prompts", prompts)];
    let outputs: Vec<(&str, &str)> = outputs.iter().map(|(name, text)| (*name, text.as_str())).collect();
    assert_clean(&home, SECRET, &outputs);
}
