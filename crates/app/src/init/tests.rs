//! `init` against servers of the test: it writes a configuration that chooses what it says, and loses no file.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use setpoint_model_server::{CannedRequest, canned};

use super::*;
use crate::desk::Health;
use crate::models::survey::survey;
use crate::testing::{CLOSED_ADDRESS, Home, KEY, files, options};

/// Asks only this address.
fn look_at(address: &str) -> InitOptions {
    InitOptions { look_at: vec![address.to_owned()], ..InitOptions::default() }
}

/// Does the same, and replaces files.
fn forced(address: &str) -> InitOptions {
    InitOptions { is_forced: true, ..look_at(address) }
}

async fn init(home: &Home, wishes: &InitOptions, vars: &[(&str, &str)]) -> Result<InitResult, InitError> {
    let launch = home.launch(vars);
    let done =
        initialise(&Program::launched_without_files(&options(None, &[]), &launch).unwrap(), wishes).await;
    assert!(!home.data().exists() && !format!("{done:?}").contains(KEY), "{done:?}");
    done
}

/// Returns an error with its causes and its hint.
fn said(done: Result<InitResult, InitError>) -> String {
    let error = done.unwrap_err();
    format!("{}; {}", error_chain(&error), error.hint())
}

fn configured(home: &Home, key: &str) -> String {
    home.program(&options(None, &[]), &[]).unwrap().config.text(key).unwrap().to_owned()
}

fn own(home: &Home) -> PathBuf {
    home.config().join(config::FILE_NAME)
}

fn table(home: &Home) -> PathBuf {
    home.config().join(MODELS_FILE)
}

/// Starts an Ollama with models of several sizes: name, bytes, longest window, capabilities.
fn ollama(models: &'static [(&str, u64, u64, &[&str])]) -> String {
    canned(move |CannedRequest { path, body, .. }| match path.as_str() {
        "/api/version" => (200, json!({ "version": "0.12.6" }).to_string()),
        "/api/tags" => {
            let tags = models.iter().map(|(name, size, ..)| json!({ "name": name, "size": size }));
            (200, json!({ "models": tags.collect::<Vec<_>>() }).to_string())
        }
        "/api/show" => {
            let asked: Value = serde_json::from_str(&body).unwrap();
            let (.., window, capabilities) =
                models.iter().find(|(name, ..)| asked["model"] == *name).unwrap();
            let info = json!({ "general.architecture": "q", "q.context_length": window });
            (200, json!({ "model_info": info, "capabilities": capabilities }).to_string())
        }
        _ => (404, String::new()),
    })
    .unwrap()
}

const THREE: &[(&str, u64, u64, &[&str])] = &[
    ("embedder:huge", 90_000_000_000, 131_072, &["embedding"]),
    ("narrow:70b", 40_000_000_000, 2_048, &["completion", "tools"]),
    ("wide:8b", 5_000_000_000, 131_072, &["completion"]),
    ("wide:1b", 1_000_000_000, 131_072, &["completion", "tools"]),
];

/// Starts a server with this list of models.
fn listing(data: &Value) -> String {
    let list = json!({ "object": "list", "data": data }).to_string();
    canned(move |asked| if asked.path == "/v1/models" { (200, list.clone()) } else { (404, String::new()) })
        .unwrap()
}

#[tokio::test]
async fn finding_nothing_is_not_an_error_and_writes_nothing() {
    let home = Home::new();
    let done = init(&home, &look_at(CLOSED_ADDRESS), &[]).await.unwrap();
    assert_eq!((&done.brain, done.is_written, &done.files), (&None, false, &vec![]), "{done:?}");
    let variables: Vec<&str> = done.variables.iter().map(|one| one.variable.as_str()).collect();
    assert_eq!(variables, ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"]);
    assert!(done.notes.len() == 1 && done.notes[0].contains("Connection refused"), "{done:?}");
    assert_eq!(files(&home.config()), []);
}

#[tokio::test]
async fn the_largest_suitable_ollama_model_is_chosen_with_its_window() {
    let (home, address) = (Home::new(), ollama(THREE));
    let shown = InitOptions { is_shown_only: true, ..look_at(&address) };
    let shown_first = init(&home, &shown, &[]).await.unwrap();
    assert!(!shown_first.is_written && files(&home.config()).is_empty());
    let done = init(&home, &look_at(&address), &[]).await.unwrap();
    let name = Some("ollama/wide:8b".to_owned());
    assert_eq!((&done.brain, &done.tool, done.is_written), (&name, &name, true));
    // What would be written is what is written.
    assert_eq!(done.files, shown_first.files);
    for file in &done.files {
        assert_eq!(fs::read_to_string(&file.path).unwrap(), file.text);
    }
    // Read again as every command reads it: the model is there, with the values that were written.
    let report = survey(&home.program(&options(None, &[]), &[]).unwrap()).await;
    let model = &report.models[0];
    // A larger window would be possible, but takes memory.
    assert_eq!(
        (model.state, &model.address, model.window_tokens),
        (Health::Good, &Some(address), Some(32_768))
    );
    let table = fs::read_to_string(table(&home)).unwrap();
    assert!(table.contains("131072") && table.contains("tools = false"), "{table}");
    // It can be shown although there is a file by now.
    assert_eq!(init(&home, &shown, &[]).await.unwrap().files, shown_first.files);
}

#[tokio::test]
async fn a_window_that_the_server_reports_is_used() {
    let home = Home::new();
    let address = listing(&json!([
        { "id": "text-embed-x", "max_model_len": 512 },
        { "id": "org/Model-7B", "owned_by": "vllm", "max_model_len": 20_480 },
    ]));
    for spelled in [address.clone(), format!("{address}/v1"), address.replace("http://", "")] {
        init(&home, &forced(&spelled), &[]).await.unwrap();
        let report = survey(&home.program(&options(None, &[]), &[]).unwrap()).await;
        let model = &report.models[1];
        assert_eq!((model.name.as_str(), model.state), ("local/org/Model-7B", Health::Good), "{spelled}");
        assert_eq!(
            (model.window_tokens, model.address.clone()),
            (Some(20_480), Some(format!("{address}/v1")))
        );
    }
    // Written three times, the entry is there once.
    assert_eq!(fs::read_to_string(table(&home)).unwrap().matches("[[model]]").count(), 1);
}

#[tokio::test]
async fn an_existing_file_is_replaced_only_by_force() {
    let text = "# my own\n[models]\nbrain = \"playbook\"\n";
    let (home, address) = (Home::new().own(text), ollama(THREE));
    let refused = said(init(&home, &look_at(&address), &[]).await);
    assert!(refused.contains("setpoint.toml: it already exists; `--force`"), "{refused}");
    assert_eq!(files(&home.config()), [(config::FILE_NAME.to_owned(), text.to_owned())]);
    // A file with only a table of models is also left unchanged, and so is a broken link.
    let entry = "[[model]]\nname = \"mine/*\"\nrank = 2\n";
    fs::remove_file(own(&home)).unwrap();
    fs::write(table(&home), entry).unwrap();
    let refused = said(init(&home, &look_at(&address), &[]).await);
    assert!(refused.contains("models.toml") && !own(&home).exists(), "{refused}");
    symlink("nowhere", own(&home)).unwrap();
    init(&home, &look_at(&address), &[]).await.unwrap_err();
    fs::remove_file(own(&home)).unwrap();
    // Forced: both files are kept, and the entries of the table still apply.
    let home = home.own(text);
    init(&home, &forced(&address), &[]).await.unwrap();
    assert_eq!(fs::read_to_string(own(&home).with_extension("toml.bak")).unwrap(), text);
    assert_eq!(fs::read_to_string(table(&home).with_extension("toml.bak")).unwrap(), entry);
    let joined = fs::read_to_string(table(&home)).unwrap();
    assert!(joined.starts_with(entry) && joined.contains("ollama/wide:8b"), "{joined}");
    let again = init(&home, &forced(&address), &[]).await.unwrap();
    assert!(again.files[0].kept.as_ref().unwrap().ends_with("setpoint.toml.bak2"), "{again:?}");
    assert!(files(&home.config()).iter().all(|(name, _)| !name.ends_with(".tmp")));
}

/// A server chooses its models' names: whatever they contain, the file can be read and says nothing else.
#[tokio::test]
async fn names_from_a_server_do_no_harm_in_a_file() {
    for name in ["a\"b", "a'b", "a\"'b\\", "a\"\"\"b", "x # y", "[models]", "日本/é", "a b", "\"", "*"] {
        let home = Home::new();
        let hostile =
            ["evil\n[providers.openai]\nbase_url = 'http://x'", "evil\u{1b}[2J", "evil\u{202e}", name];
        let address =
            listing(&hostile.iter().map(|id| json!({ "id": id, "max_model_len": 9_000 })).collect());
        let done = init(&home, &look_at(&address), &[]).await.unwrap();
        assert_eq!(configured(&home, "models.brain"), format!("local/{name}"));
        let text: String = files(&home.config()).into_iter().map(|(_, text)| text).collect();
        let all = text + &done.found.concat();
        assert!(!all.contains("evil") && !all.contains('\u{1b}'), "{all}");
    }
}

#[tokio::test]
async fn a_useless_server_is_reported_and_not_chosen() {
    for (address, said) in [
        (ollama(&[]), "`ollama pull MODEL` gets one"),
        (ollama(&[("narrow:7b", 1, 2_048, &["completion"])]), "no model that a task could use"),
        (canned(|_| (200, "<html>".to_owned())).unwrap(), "not a list of models"),
        (canned(|_| (401, String::new())).unwrap(), "401"),
        (canned(|_| (200, "[".repeat(5_000_000))).unwrap(), "4194304 bytes"),
    ] {
        let home = Home::new();
        let done = init(&home, &look_at(&address), &[]).await.unwrap();
        assert!(done.brain.is_none() && done.notes.concat().contains(said), "{said}: {done:?}");
        assert_eq!(files(&home.config()), []);
    }
}

#[tokio::test]
async fn servers_that_the_environment_names_are_asked() {
    let address = ollama(THREE);
    let home = Home::new();
    let done = init(&home, &look_at(CLOSED_ADDRESS), &[("OLLAMA_HOST", &address)]).await.unwrap();
    assert_eq!(done.brain.as_deref(), Some("ollama/wide:8b"), "{done:?}");
    // A server of one's own that speaks OpenAI's protocol is preferred to another provider's key, and needs no key.
    let home = Home::new();
    let server = listing(&json!([{ "id": "own" }]));
    let vars = [("OPENAI_BASE_URL", server.as_str()), ("OPENAI_MODEL", "named")];
    let done =
        init(&home, &look_at(CLOSED_ADDRESS), &[vars[0], vars[1], ("ANTHROPIC_API_KEY", KEY)]).await.unwrap();
    assert_eq!((done.brain.as_deref(), done.notes.len()), (Some("openai/named"), 1), "{done:?}");
    assert!(done.notes[0].starts_with(&format!("--look-at {CLOSED_ADDRESS}: could not connect")), "{done:?}");
    let written = fs::read_to_string(own(&home)).unwrap();
    assert!(written.contains("# brain = \"openai/own\""), "{written}");
    assert!(written.contains(&format!("base_url = \"{server}/v1\"")), "{written}");
    // An address without a model's name chooses nothing, and says whose name is missing.
    for (variable, provider) in
        [("OPENAI_BASE_URL", "openai"), ("ANTHROPIC_BASE_URL", "anthropic"), ("OLLAMA_HOST", "ollama")]
    {
        let keys = [("OPENAI_API_KEY", KEY), ("ANTHROPIC_API_KEY", KEY)];
        let key = keys.into_iter().find(|(key, _)| key.to_lowercase().starts_with(provider));
        let vars: Vec<_> = key.into_iter().chain([(variable, CLOSED_ADDRESS)]).collect();
        let done = init(&Home::new(), &look_at(CLOSED_ADDRESS), &vars).await.unwrap();
        let unnamed = UnnamedProvider { provider: provider.to_owned(), origin: format!("${variable}") };
        assert_eq!((done.brain, done.unnamed), (None, vec![unnamed]));
        assert!(done.variables.iter().all(|one| one.provider != provider), "{:?}", done.variables);
    }
}

#[tokio::test]
async fn what_overrides_the_file_is_reported() {
    // A configuration that cannot be read is replaced like any other.
    let home = Home::new().own("[controller\n");
    let key = ("OPENAI_API_KEY", KEY);
    init(&home, &forced(CLOSED_ADDRESS), &[key]).await.unwrap();
    assert!(configured(&home, "models.brain").starts_with("openai/"));
    let notes = async |vars: &[(&str, &str)]| {
        init(&home, &forced(CLOSED_ADDRESS), vars).await.unwrap().notes.concat()
    };
    let said = notes(&[key, ("SETPOINT_BRAIN_MODEL", "playbook")]).await;
    assert!(said.contains("SETPOINT_BRAIN_MODEL is set, and overrides the file"), "{said}");
    let here = home.work().join(config::FILE_NAME);
    fs::write(&here, "[models]\nbrain = \"playbook\"\n").unwrap();
    let said = notes(&[key]).await;
    assert!(
        said.contains("models.brain = playbook comes from") && said.contains("overrides the file"),
        "{said}"
    );
    fs::write(&here, "[models\n").unwrap();
    let said = notes(&[key]).await;
    assert!(said.contains("it will not be used"), "{said}");
}

#[tokio::test]
async fn a_failed_init_is_reported_and_leaves_no_file() {
    let home = Home::new();
    let refused = init(&home, &look_at("ftp://x"), &[]).await.unwrap_err();
    assert!(refused.is_usage() && refused.hint().starts_with("an address looks like"), "{refused:?}");
    let refused = said(init(&home, &look_at("http://me:secret@x"), &[]).await);
    assert!(!refused.contains("secret"), "{refused}");
    // Its folder cannot be created, because something else is in its place.
    let taken = home.work().join("taken");
    fs::write(&taken, "").unwrap();
    let vars = [("XDG_CONFIG_HOME", taken.to_str().unwrap()), ("OPENAI_API_KEY", KEY)];
    let refused = said(init(&home, &look_at(CLOSED_ADDRESS), &vars).await);
    assert!(
        refused.starts_with("failed to write ") && refused.contains("; check that its folder"),
        "{refused}"
    );
    // A file that is not a table is not extended.
    fs::write(table(&home), "[[model]\n").unwrap();
    let before = files(&home.config());
    let refused = said(init(&home, &forced(&ollama(THREE)), &[]).await);
    assert!(refused.contains("models.toml"), "{refused}");
    assert_eq!(files(&home.config()), before);
}
