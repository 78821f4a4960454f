//! A server of a model that says the key of its provider again, wherever it can: no file and no stream has it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};
use setpoint_model_server::question::{self, Site};
use setpoint_model_server::{Answer, Hosted, SeenRequest, Turn, Wire};

use crate::models::{KEY, command};
use crate::support::thinker::site;
use crate::support::tree::tree;
use crate::support::{Came, Home};

use super::{ENCODINGS, Search, encoded};

/// Asserts that nothing below the home, its workspaces and recordings included, and no output has the key in any
/// encoding.
pub(super) fn assert_clean(home: &Home, key: &str, outputs: &[(&str, &str)]) {
    let root = home.work().parent().unwrap().to_owned();
    let files =
        tree(&root).into_iter().filter_map(|(path, bytes)| Some((path.display().to_string(), bytes?)));
    let texts = files.map(|(path, bytes)| (path, String::from_utf8_lossy(&bytes).into_owned()));
    let outputs = outputs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let search = Search::new(&[key.to_owned()]);
    for (place, text) in texts.chain(outputs) {
        let leaks = search.leaks(&format!("{place}\n{text}"));
        assert!(leaks.is_empty(), "{place}: {leaks:?}");
    }
    // The search finds what there is.
    assert_eq!(search.leaks(&encoded(key).join("\n")).len(), ENCODINGS.len());
}

/// Returns what a program that does not know the key shows of the task: what the journal holds.
pub(super) fn journal(home: &Home, task: &str) -> String {
    let came = home.run(&["tasks", "export", task]);
    assert_eq!(came.code, 0, "{}", came.err);
    came.out
}

/// Returns all encodings of the key that the request brought, with this before each.
fn echo(seen: &SeenRequest, before: &str) -> String {
    let key = seen.headers["authorization"].strip_prefix("Bearer ").unwrap();
    encoded(key).map(|form| format!("{before}{form}")).join("\n")
}

/// Answers every role; the words, the calls, the file that is written and its name repeat the key.
fn repeat(seen: &SeenRequest, plan: &Value) -> Turn {
    let question = &*seen.asked.told();
    let said = |value: Value| Answer::text(&value.to_string());
    let answer = match site(seen) {
        Site::Perceive => said(json!({ "title": format!("a title {}", echo(seen, "t")) })),
        Site::Plan => said(plan.clone()),
        Site::Report => said(json!({ "achieved": echo(seen, "a "), "next_moves": [echo(seen, "n ")] })),
        Site::Execute if !question.contains("created ") => {
            let key = seen.headers["authorization"].strip_prefix("Bearer ").unwrap();
            let mut input = json!({ "path": format!("{key}.txt"), "content": echo(seen, "c ") });
            // The first call is refused, because the tool has no parameter of this name.
            if !question.contains("no such parameter") {
                input[key] = json!([echo(seen, "x")]);
            }
            Answer::call("write_file", &input.to_string())
        }
        Site::Execute => said(json!({ "status": "completed", "output": echo(seen, "o=") })),
        Site::Judge | Site::Merge => {
            let verdicts = question::criteria(question).map(|id| {
                json!({ "criterion_id": id, "verdict": "pass", "evidence": echo(seen, "e "), "cites": ["output"] })
            });
            said(json!({ "verdicts": verdicts.collect::<Vec<_>>(), "summary": echo(seen, "s ") }))
        }
    };
    // In pieces that split every encoding.
    Turn { bytes_at_once: Some(5), ..Turn::from(answer) }
}

#[test]
fn an_echoed_key_is_in_no_file_and_no_stream() {
    let home = Home::new();
    let step = json!({
        "intent": "write what the server says",
        "success_criteria": [{ "criterion": "it was written", "mode": "plausible" }],
    });
    let whole = json!([{ "criterion": "all of it was written", "mode": "plausible" }]);
    let plan = json!({ "subtasks": [step], "task_criteria": whole });
    let server = Hosted::start(Arc::new(move |seen: &SeenRequest| repeat(seen, &plan))).unwrap();
    let arguments =
        ["-v", "run", "--json", "--record", "tape.jsonl", "--set", "log.level=trace", "look around"];
    let came = Came::of(&mut command(&home, &server, Wire::Chat, &arguments));
    let result = came.json();
    assert!(result["output"].to_string().contains("{secret}"), "the key came back: {came:#?}");
    let task = result["task_id"].as_str().unwrap();
    let shown = home.run(&["tasks", "show", task]);
    let journal = journal(&home, task);
    // The file was written on behalf of the model, without the key in its name and content.
    let written = std::fs::read_to_string(home.work().join("{secret}.txt")).unwrap();
    assert_eq!(written.matches("{secret}").count(), ENCODINGS.len(), "{written}");
    for (name, text) in
        [("journal", &journal), ("tape", &std::fs::read_to_string(home.work().join("tape.jsonl")).unwrap())]
    {
        assert!(text.matches("{secret}").count() > ENCODINGS.len(), "{name} has what came back");
    }
    let prompts: String = server.seen().iter().map(|seen| seen.asked.told() + "\n").collect();
    let outputs = [
        ("stdout", &came.out),
        ("stderr", &came.err),
        ("journal", &journal),
        ("shown", &shown.out),
        ("prompts", &prompts),
    ];
    assert_clean(&home, KEY, &outputs.map(|(name, text)| (name, text.as_str())));
}

/// Starts a server that answers every request with a refusal that repeats the key in its status line, its headers and its
/// body.
fn refusing(status: u16) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let serve = move |mut stream: TcpStream| {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut key, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) <= 2 {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            match name.to_lowercase().as_str() {
                "authorization" => key = value.trim().trim_start_matches("Bearer ").to_owned(),
                "content-length" => length = value.trim().parse().unwrap(),
                _ => {}
            }
        }
        drop(reader.take(length).read_to_end(&mut Vec::new()));
        let forms = encoded(&key);
        let message = format!("the key {} is wrong", forms.join(", or "));
        let body =
            json!({ "error": { "message": message, "type": forms[1], "code": forms[2], "param": forms[4] } });
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {status} {key}\r\nretry-after: {key}\r\nwww-authenticate: Bearer {key}\r\nx-request-id: {}\r\n\
             content-type: application/json; k={key}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            forms[1],
            body.len()
        );
        // A client that went away needs no answer.
        drop(stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())));
    };
    thread::spawn(move || listener.incoming().map_while(Result::ok).for_each(serve));
    address
}

#[test]
fn a_key_in_a_refusal_is_in_no_file_and_no_stream() {
    for status in [400, 401, 404, 500] {
        let home = Home::new();
        let base = refusing(status);
        let ask = |arguments: &[&str]| {
            let mut command = home.command(arguments);
            command.args(["--model", "test/test-model"]);
            for setting in [
                "providers.test.api=openai",
                &format!("providers.test.base_url={base}/v1"),
                "providers.test.key_env=TEST_KEY",
            ] {
                command.args(["--set", setting]);
            }
            Came::of(command.env("TEST_KEY", KEY))
        };
        let run = ask(&[
            "-v",
            "run",
            "--json",
            "--record",
            "tape.jsonl",
            "--set",
            "log.level=trace",
            "look around",
        ]);
        let task = run.json()["task_id"].as_str().unwrap().to_owned();
        let journal = journal(&home, &task);
        assert!(journal.contains("{secret}") || status == 404, "{status}: the message came back: {journal}");
        let (doctor, models) = (ask(&["doctor"]), ask(&["models"]));
        let all = [&run, &doctor, &models];
        let mut outputs: Vec<(&str, &str)> =
            all.iter().flat_map(|came| [("stdout", came.out.as_str()), ("stderr", &came.err)]).collect();
        outputs.push(("journal", &journal));
        assert_clean(&home, KEY, &outputs);
    }
}
