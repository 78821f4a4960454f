//! `init`: writes a configuration that chooses what it says, and loses no existing file.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::canned::canned;
use crate::support::tree::tree;
use crate::support::{Came, Home};

const KEY: &str = "sk-never-to-be-seen-0123456789";

/// An address without a server: no process can listen on this reserved port without rights.
const NOBODY: &str = "http://127.0.0.1:1";

fn file(home: &Home) -> PathBuf {
    home.config().join("setpoint.toml")
}

fn table(home: &Home) -> PathBuf {
    home.config().join("models.toml")
}

fn init(home: &Home, arguments: &[&str], env: &[(&str, &str)]) -> Came {
    let mut line = vec!["init"];
    line.extend(arguments);
    let came = Came::of(home.command(&line).envs(env.iter().copied()));
    assert!(!(came.out.clone() + &came.err).contains(KEY), "{came:#?}");
    assert!(!home.data().exists(), "{came:#?}");
    came
}

/// Returns value and origin of a key, read by the program itself from the files without a request to any
/// server.
fn configured(home: &Home, key: &str) -> (Value, String) {
    let shown = home.run(&["config", "--json"]).json();
    let line = shown.as_array().unwrap().iter().find(|line| line["key"] == key).unwrap().clone();
    (line["value"].clone(), line["origin"].as_str().unwrap().to_owned())
}

/// Starts an Ollama with models of several sizes: name, bytes, longest window, capabilities.
fn ollama(models: &'static [(&str, u64, u64, &[&str])]) -> String {
    canned(move |path, body| match path {
        "/api/version" => (200, json!({ "version": "0.12.6" }).to_string()),
        "/api/tags" => {
            let tags: Vec<Value> =
                models.iter().map(|(name, size, ..)| json!({ "name": name, "size": size })).collect();
            (200, json!({ "models": tags }).to_string())
        }
        "/api/show" => {
            let asked: Value = serde_json::from_str(body).unwrap();
            let found = models.iter().find(|(name, ..)| asked["model"] == *name);
            found.map_or((404, String::new()), |(_, _, window, capabilities)| {
                let info = json!({ "general.architecture": "q", "q.context_length": window });
                (200, json!({ "model_info": info, "capabilities": capabilities }).to_string())
            })
        }
        _ => (404, String::new()),
    })
}

const THREE: &[(&str, u64, u64, &[&str])] = &[
    ("embedder:huge", 90_000_000_000, 131_072, &["embedding"]),
    ("narrow:70b", 40_000_000_000, 2_048, &["completion", "tools"]),
    ("wide:8b", 5_000_000_000, 131_072, &["completion"]),
    ("wide:1b", 1_000_000_000, 131_072, &["completion", "tools"]),
];

#[test]
fn finding_nothing_is_not_an_error_and_writes_nothing() {
    let home = Home::new();
    let before = tree(&home.config());
    let came = init(&home, &["--look-at", NOBODY], &[]);
    assert_eq!(came.code, 0, "{came:#?}");
    for part in
        ["the embedded brain answers (playbook)", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"]
    {
        assert!(came.out.contains(part), "{part:?} is not in {came:#?}");
    }
    assert!(came.err.contains("Connection refused"), "{came:#?}");
    let value = init(&home, &["--look-at", NOBODY, "--json"], &[]).json();
    assert_eq!(
        (&value["brain"], &value["is_written"], &value["files"]),
        (&Value::Null, &false.into(), &json!([]))
    );
    assert_eq!(tree(&home.config()), before);
}

#[test]
fn a_key_in_the_environment_chooses_and_is_not_written() {
    let home = Home::new();
    let env = [("OPENAI_API_KEY", KEY), ("ANTHROPIC_API_KEY", KEY)];
    let came = init(&home, &["--look-at", NOBODY], &env);
    assert_eq!(came.code, 0, "{came:#?}");
    let text = fs::read_to_string(file(&home)).unwrap();
    assert!(!text.contains(KEY) && text.contains("key_env = \"OPENAI_API_KEY\""), "{text}");
    assert!(text.contains("# brain = \"anthropic/"), "{text}");
    assert!(!table(&home).exists());
    let (value, origin) = configured(&home, "models.brain");
    assert!(origin.starts_with(file(&home).to_str().unwrap()), "{origin}");
    assert!(came.out.contains(&format!("models.brain = {}", value.as_str().unwrap())), "{came:#?}");
    // The file chooses the model if the key is set, and names the variable if it is not; no server is asked.
    let mut doctor = home.command(&["doctor"]);
    let doctor = Came::of(doctor.envs(env));
    assert!(
        doctor.out.contains(&format!("models.brain is {}, by {origin}", value.as_str().unwrap())),
        "{doctor:#?}"
    );
    let run = home.run(&["run", "count the files"]);
    assert!(run.code == 2 && run.err.contains("OPENAI_API_KEY is not set"), "{run:#?}");
}

#[test]
fn the_largest_suitable_ollama_model_is_chosen_with_its_window() {
    let home = Home::new();
    let address = ollama(THREE);
    let came = init(&home, &["--look-at", &address, "--json"], &[]);
    let value = came.json();
    assert_eq!(
        (came.code, &value["brain"], &value["tool"]),
        (0, &"ollama/wide:8b".into(), &"ollama/wide:8b".into())
    );
    assert_eq!(value["files"].as_array().unwrap().len(), 2, "{value:#}");
    // Read again as every command reads it: the model is there, with the values that were written.
    let shown = home.run(&["models", "--json"]);
    let value = shown.json();
    assert_eq!(shown.code, 0, "{value:#}");
    assert_eq!(value["models"][0]["name"], "ollama/wide:8b");
    assert_eq!(value["models"][0]["address"], address);
    // A larger window would be possible, but takes memory.
    assert_eq!(value["models"][0]["window_tokens"], 32_768);
    let table = fs::read_to_string(table(&home)).unwrap();
    assert!(table.contains("131072") && table.contains("tools = false"), "{table}");
}

#[test]
fn a_window_that_the_server_reports_is_used() {
    let home = Home::new();
    let list = json!({ "object": "list", "data": [
        { "id": "text-embed-x", "max_model_len": 512 },
        { "id": "org/Model-7B", "owned_by": "vllm", "max_model_len": 20_480 },
    ]});
    let address = canned(
        move |path, _| if path == "/v1/models" { (200, list.to_string()) } else { (404, String::new()) },
    );
    for look_at in [address.clone(), format!("{address}/v1"), address.replace("http://", "")] {
        let came = init(&home, &["--look-at", &look_at, "--force"], &[]);
        assert_eq!(came.code, 0, "{came:#?}");
        let shown = home.run(&["models", "--json"]);
        let model = &shown.json()["models"][1];
        assert_eq!((shown.code, &model["name"]), (0, &"local/org/Model-7B".into()), "{shown:#?}");
        assert_eq!(
            (&model["window_tokens"], &model["address"]),
            (&20_480.into(), &format!("{address}/v1").into())
        );
    }
    // Written three times, the entry is there once.
    assert_eq!(fs::read_to_string(table(&home)).unwrap().matches("[[model]]").count(), 1);
}

#[test]
fn an_existing_file_is_replaced_only_by_force() {
    let home = Home::new();
    let address = ollama(THREE);
    let own = "# my own\n[models]\nbrain = \"playbook\"\n";
    fs::write(file(&home), own).unwrap();
    let came = init(&home, &["--look-at", &address], &[]);
    assert_eq!((came.code, came.out.as_str()), (2, ""), "{came:#?}");
    assert!(came.err.contains("it already exists") && came.err.contains("hint: `--force`"), "{came:#?}");
    assert_eq!(fs::read_to_string(file(&home)).unwrap(), own);
    // A file with only a table of models is also left unchanged, and so is a broken link.
    let entry = "[[model]]\nname = \"mine/*\"\nrank = 2\n";
    fs::remove_file(file(&home)).unwrap();
    fs::write(table(&home), entry).unwrap();
    let came = init(&home, &["--look-at", &address], &[]);
    assert!(came.code == 2 && came.err.contains("models.toml"), "{came:#?}");
    assert!(!file(&home).exists());
    symlink("nowhere", file(&home)).unwrap();
    assert_eq!(init(&home, &["--look-at", &address], &[]).code, 2);
    fs::remove_file(file(&home)).unwrap();
    // With `--force`: both files are kept, and the entries of the table still apply.
    fs::write(file(&home), own).unwrap();
    let came = init(&home, &["--look-at", &address, "--force"], &[]);
    assert_eq!(came.code, 0, "{came:#?}");
    assert_eq!(fs::read_to_string(file(&home).with_extension("toml.bak")).unwrap(), own);
    assert_eq!(fs::read_to_string(table(&home).with_extension("toml.bak")).unwrap(), entry);
    let joined = fs::read_to_string(table(&home)).unwrap();
    assert!(joined.starts_with(entry) && joined.contains("ollama/wide:8b"), "{joined}");
    let again = init(&home, &["--look-at", &address, "--force", "--json"], &[]).json();
    assert!(again["files"][0]["kept"].as_str().unwrap().ends_with("setpoint.toml.bak2"), "{again:#}");
    assert!(tree(&home.config()).keys().all(|path| !path.to_str().unwrap().ends_with(".tmp")));
}

#[test]
fn print_shows_what_would_be_written() {
    let home = Home::new();
    let address = ollama(THREE);
    for flag in ["--print", "--dry-run"] {
        let came = init(&home, &["--look-at", &address, flag], &[]);
        assert_eq!(came.code, 0, "{came:#?}");
        assert!(!file(&home).exists() && !table(&home).exists());
        assert!(
            came.out.contains("brain = \"ollama/wide:8b\"") && came.out.contains("[[model]]"),
            "{came:#?}"
        );
    }
    let shown = init(&home, &["--look-at", &address, "--print", "--json"], &[]).json();
    assert_eq!(shown["is_written"], false);
    init(&home, &["--look-at", &address], &[]);
    for (n, path) in [file(&home), table(&home)].into_iter().enumerate() {
        assert_eq!(shown["files"][n]["text"], fs::read_to_string(&path).unwrap());
        assert_eq!(shown["files"][n]["path"], path.to_str().unwrap());
    }
    // `--print` also works if there is a file already.
    assert_eq!(init(&home, &["--look-at", &address, "--print"], &[]).code, 0);
}

/// A server chooses its models' names: whatever they contain, the file can be read and says nothing else.
#[test]
fn names_from_a_server_do_no_harm_in_a_file() {
    for name in ["a\"b", "a'b", "a\"'b\\", "a\"\"\"b", "x # y", "[models]", "日本/é", "a b", "\"", "*"] {
        let home = Home::new();
        let hostile =
            ["evil\n[providers.openai]\nbase_url = 'http://x'", "evil\u{1b}[2J", "evil\u{202e}", name];
        let list: Vec<Value> = hostile.iter().map(|id| json!({ "id": id, "max_model_len": 9_000 })).collect();
        let body = json!({ "data": list }).to_string();
        let address = canned(
            move |path, _| if path == "/v1/models" { (200, body.clone()) } else { (404, String::new()) },
        );
        let came = init(&home, &["--look-at", &address], &[]);
        assert_eq!(came.code, 0, "{name:?}: {came:#?}");
        assert_eq!(configured(&home, "models.brain").0, format!("local/{name}"));
        let text = fs::read_to_string(file(&home)).unwrap() + &fs::read_to_string(table(&home)).unwrap();
        assert!(!text.contains("evil") && !text.contains('\u{1b}') && !came.out.contains('\u{1b}'), "{text}");
    }
}

#[test]
fn a_useless_server_is_reported_and_not_chosen() {
    for (address, said) in [
        (ollama(&[]), "`ollama pull MODEL` gets one"),
        (ollama(&[("narrow:7b", 1, 2_048, &["completion"])]), "no model that a task could use"),
        (canned(|_, _| (200, "<html>".to_owned())), "not a list of models"),
        (canned(|_, _| (401, String::new())), "401"),
        (canned(|_, _| (200, "[".repeat(5_000_000))), "4194304 bytes"),
    ] {
        let home = Home::new();
        let came = init(&home, &["--look-at", &address], &[]);
        assert_eq!(came.code, 0, "{came:#?}");
        assert!(
            came.err.contains(said) && came.out.contains("the embedded brain answers"),
            "{said:?}: {came:#?}"
        );
        assert!(!file(&home).exists());
    }
}

#[test]
fn servers_that_the_environment_names_are_asked() {
    let home = Home::new();
    let address = ollama(THREE);
    let value = init(&home, &["--look-at", NOBODY, "--json"], &[("OLLAMA_HOST", &address)]).json();
    assert_eq!(value["brain"], "ollama/wide:8b", "{value:#}");
    // A server of one's own that speaks OpenAI's protocol is preferred to another provider's key, and needs
    // no key.
    let home = Home::new();
    let list = |path: &str, _: &str| {
        (if path == "/v1/models" { 200 } else { 404 }, json!({ "data": [{ "id": "own" }] }).to_string())
    };
    let own = canned(list);
    let env = [("OPENAI_BASE_URL", own.as_str()), ("OPENAI_MODEL", "named")];
    let value = init(&home, &["--look-at", NOBODY, "--json"], &env).json();
    assert_eq!(
        (&value["brain"], &value["notes"]),
        (
            &"openai/named".into(),
            &json!([format!(
                "--look-at {NOBODY}: could not connect: client error (Connect): tcp connect error: Connection refused (os error 111)"
            )])
        )
    );
    assert_eq!(configured(&home, "providers.openai.base_url").0, format!("{own}/…"));
    let written = fs::read_to_string(file(&home)).unwrap();
    assert!(written.contains("# brain = \"openai/own\""), "{written}");
    assert!(written.contains(&format!("base_url = \"{own}/v1\"")), "{written}");
    // Settings that override the file are reported.
    let env = [("OLLAMA_HOST", address.as_str()), ("SETPOINT_BRAIN_MODEL", "playbook")];
    let came = init(&home, &["--look-at", NOBODY, "--force"], &env);
    assert!(
        came.code == 0 && came.err.contains("SETPOINT_BRAIN_MODEL is set, and overrides the file"),
        "{came:#?}"
    );
}

#[test]
fn a_failed_init_is_reported_and_leaves_no_file() {
    let home = Home::new();
    let came = init(&home, &["--look-at", "ftp://x"], &[]);
    assert!(came.code == 2 && came.err.contains("\nhint: an address looks like"), "{came:#?}");
    let came = init(&home, &["--look-at", "http://me:secret@x"], &[]);
    assert!(came.code == 2 && !came.err.contains("secret"), "{came:#?}");
    // Its folder cannot be created, because something else is in its place.
    let taken = home.file("taken", "");
    let mut command = home.command(&["init", "--look-at", NOBODY]);
    let came = Came::of(command.env("XDG_CONFIG_HOME", &taken).env("OPENAI_API_KEY", KEY));
    assert_eq!(came.code, 2, "{came:#?}");
    assert!(came.err.contains("failed to write") && came.err.contains("\nhint: "), "{came:#?}");
    // A file that is not a table is not extended.
    let address = ollama(THREE);
    fs::write(table(&home), "[[model]\n").unwrap();
    let before = tree(&home.config());
    let came = init(&home, &["--look-at", &address, "--force"], &[]);
    assert!(came.code == 2 && came.err.contains("models.toml"), "{came:#?}");
    assert_eq!(tree(&home.config()), before);
}
