use super::*;

fn load(file: &str, env: &[(&str, &str)], flags: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(FILE_NAME);
    std::fs::write(&path, file).unwrap();
    Config::load(&Sources {
        texts: BTreeMap::new(),
        files: vec![dir.path().join("absent.toml"), path],
        foreign: vec![],
        env: env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        flags: flags
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned(), format!("--set {k}={v}")))
            .collect(),
    })
}

fn refusal(file: &str, env: &[(&str, &str)], flags: &[(&str, &str)]) -> String {
    let text = load(file, env, flags).unwrap_err().to_string();
    let start = text.find("/").unwrap_or(0);
    let end = text.find(FILE_NAME).unwrap_or(start);
    if text.contains(FILE_NAME) { text.replacen(text.get(start..end).unwrap(), "", 1) } else { text }
}

#[test]
fn the_defaults_are_the_reference_table() {
    let config = load("", &[], &[]).unwrap();
    assert_eq!(*config.controller(), ControllerSettings::default());
    assert_eq!(config.budgets(), Budgets::default());
}

#[test]
fn the_last_layer_that_sets_a_value_wins_and_is_named() {
    let file = "[models]\nbrain = \"a\"\n[controller]\ndelta = 0.2\ntime_budget_ms = \"2m\"\n";
    let config = load(file, &[("SETPOINT_BRAIN_MODEL", "b")], &[("controller.delta", "0.1")]).unwrap();
    assert_eq!(config.text("models.brain"), Some("b"));
    assert_eq!(config.controller().delta, 0.1);
    assert_eq!(config.controller().time_budget_ms, 120_000);
    let origin = |key| config.settings().get(key).unwrap().origin.to_string();
    assert_eq!(origin("models.brain"), "$SETPOINT_BRAIN_MODEL");
    assert_eq!(origin("controller.delta"), "--set controller.delta=0.1");
    assert!(origin("controller.time_budget_ms").ends_with("setpoint.toml:5"));
    assert_eq!(origin("controller.alpha"), "built in");
}

#[test]
fn a_bad_value_is_named_with_file_and_line() {
    let said = [
        refusal("[controller]\n\ndelta = 1.5\n", &[], &[]),
        refusal("[controller]\ndelta = \"x\"\n", &[], &[]),
        refusal("[controller]\ndelta = nan\n", &[], &[]),
        refusal("[controller]\nmax_replans = 0\n", &[], &[]),
        refusal("[controller]\nmax_replans = -1\n", &[], &[]),
        refusal("[controller]\nlaw = \"magic\"\n", &[], &[]),
        refusal("[controller]\nurgency = \"loud\"\n", &[], &[]),
        refusal("[controller]\ndelt = 0.2\n", &[], &[]),
        refusal("[controller]\ndetla = 0.2\n", &[], &[]),
        refusal("[run]\nlevle = \"L0\"\n", &[], &[]),
        refusal("[nonsense]\nx = 1\n", &[], &[]),
        refusal("[sandbox]\nfoo = 1\n", &[], &[]),
        refusal("delta = 1\n", &[], &[]),
        refusal("[run]\npreview_plan = 1\n", &[], &[]),
        refusal("[budgets]\ncalls = 1.5\n", &[], &[]),
        refusal("controller = 7\n", &[], &[]),
        refusal("[controller\n", &[], &[]),
        refusal("", &[], &[("controller.delta", "NaN")]),
        refusal("", &[], &[("controller.time_budget_ms", "5 parsecs")]),
        refusal("", &[], &[("budgets.money", "1000001")]),
        refusal("", &[], &[("log.level", "inof")]),
        refusal("", &[("SETPOINT_LOG", "inof")], &[]),
    ]
    .join("\n");
    expect_test::expect![[r#"
        use setpoint.toml:3: `controller.delta` is 1.5; it must be from 0 to 0.999
        use setpoint.toml:2: `controller.delta` is "x"; it must be a finite number
        use setpoint.toml:2: `controller.delta` is "nan"; it must be a finite number
        use setpoint.toml:2: `controller.max_replans` is 0; it must be from 1 to 100
        use setpoint.toml:2: `controller.max_replans` is -1; it must be a whole number, 0 or more
        use setpoint.toml:2: `controller.law` is "magic"; it must be one of reference
        use setpoint.toml:2: `controller.urgency` is "loud"; it must be one of words, sets
        use setpoint.toml:2: there is no key `controller.delt` (did you mean `controller.delta`?)
        use setpoint.toml:2: there is no key `controller.detla` (did you mean `controller.delta`?)
        use setpoint.toml:2: there is no key `run.levle` (did you mean `run.level`?)
        use setpoint.toml:2: there is no key `nonsense.x`
        use setpoint.toml:2: there is no key `sandbox.foo`
        use setpoint.toml:1: there is no key `delta` (did you mean `controller.delta`?)
        use setpoint.toml:2: `run.preview_plan` is 1; it must be true or false
        use setpoint.toml:2: `budgets.calls` is 1.5; it must be a whole number, 0 or more
        use setpoint.toml:1: there is no key `controller`
        read setpoint.toml:1: unclosed table, expected `]`
        use --set controller.delta=NaN: `controller.delta` is "NaN"; it must be a finite number
        use --set controller.time_budget_ms=5 parsecs: `controller.time_budget_ms` is "5 parsecs"; it must be milliseconds, or a number with ms, s, m, h or d
        use --set budgets.money=1000001: `budgets.money` is 1000001.0; it must be from 0 to 1000000
        use --set log.level=inof: `log.level` is "inof"; it must be off, error, warn, info, debug or trace, alone or for a target, with commas between: `info,setpoint_journal=debug`
        use $SETPOINT_LOG: `log.level` is "inof"; it must be off, error, warn, info, debug or trace, alone or for a target, with commas between: `info,setpoint_journal=debug`"#]]
    .assert_eq(&said);
}

/// Files that are none, each with the reason and without a wait for a pipe.
#[test]
fn an_invalid_file_is_named_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("bytes"), b"# fine\nlaw = \"\xff\"\n").unwrap();
    assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    std::fs::create_dir(at("folder")).unwrap();
    std::os::unix::fs::symlink(at("loop"), at("loop")).unwrap();
    std::fs::write(at("large"), vec![b'#'; (1 << 20) + 1]).unwrap();
    let said = ["bytes", "pipe", "folder", "loop", "large"].map(|name| {
        let error = Config::load(&Sources { files: vec![at(name)], ..Sources::default() }).unwrap_err();
        setpoint_protocol::text::error_chain(&error).replace(&format!("{}/", dir.path().display()), "")
    });
    expect_test::expect![[r#"
        failed to read bytes:2: it is not UTF-8
        failed to read pipe: it is a pipe, and only regular files are used
        failed to read folder: it is a directory, and only regular files are used
        failed to read loop: Too many levels of symbolic links (os error 40)
        failed to read large: it has more than 1048576 bytes"#]]
    .assert_eq(&said.join("\n"));
}

#[test]
fn foreign_files_do_not_decide_where_keys_go() {
    let dir = tempfile::tempdir().unwrap();
    let (own, foreign) = (dir.path().join("own.toml"), dir.path().join("foreign.toml"));
    let load = |text: &str| {
        std::fs::write(&own, "[providers.openai]\nbase_url = \"http://mine\"\n").unwrap();
        std::fs::write(&foreign, text).unwrap();
        let files = vec![own.clone(), foreign.clone()];
        Config::load(&Sources { files, foreign: vec![foreign.clone()], ..Sources::default() })
    };
    let config = load("[models]\nbrain = \"openai/gpt-5\"\n").unwrap();
    assert_eq!(config.text("models.brain"), Some("openai/gpt-5"));
    assert_eq!(config.text("providers.openai.base_url"), Some("http://mine"));
    for line in ["base_url = \"http://elsewhere\"", "key_env = \"AWS_SECRET_ACCESS_KEY\"", "api = \"ollama\""]
    {
        let error = load(&format!("[providers.openai]\n{line}\n")).unwrap_err().to_string();
        assert!(error.contains("foreign.toml:2") && error.contains("is not allowed in a file"), "{error}");
    }
}

#[test]
fn provider_names_are_one_word_and_their_settings_are_shown() {
    let config = load("[providers.my-gpu_2]\napi = \"ollama\"\ntools = false\n", &[], &[]).unwrap();
    assert_eq!(config.providers(), ["my-gpu_2"]);
    assert_eq!(config.word("providers.my-gpu_2.tools"), Some(false));
    let shown: Vec<&str> =
        config.shown().map(|(name, ..)| name).filter(|name| name.starts_with("prov")).collect();
    assert_eq!(shown, ["providers.my-gpu_2.api", "providers.my-gpu_2.tools"]);
    let said = [
        refusal("[providers.\"a b\"]\napi = \"openai\"\n", &[], &[]),
        refusal("[providers.x]\napi = \"soap\"\n", &[], &[]),
        refusal("[providers.x]\nkey = \"sk-1\"\n", &[], &[]),
        refusal("[budgets]\nmoney = -1\n", &[], &[]),
    ]
    .join("\n");
    expect_test::expect![[r#"
        use setpoint.toml:2: there is no key `providers.a b.api` (did you mean `providers.*.api`?)
        use setpoint.toml:2: `providers.x.api` is "soap"; it must be one of openai, openai-responses, anthropic, gemini, ollama
        use setpoint.toml:2: there is no key `providers.x.key` (did you mean `audit.key`?)
        use setpoint.toml:2: `budgets.money` is -1; it must be from 0 to 1000000"#]].assert_eq(&said);
}

/// Returns the outcome of the person's own file and one of the working directory: a value with its origin, or the
/// error.
fn beside_own(own: &str, foreign: &str, key: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let (own_path, foreign_path) = (dir.path().join("own.toml"), dir.path().join("foreign.toml"));
    let sources = Sources {
        files: vec![own_path.clone(), foreign_path.clone()],
        texts: [(own_path, own.to_owned()), (foreign_path.clone(), foreign.to_owned())].into(),
        foreign: vec![foreign_path],
        ..Sources::default()
    };
    let said = match Config::load(&sources) {
        Ok(config) => format!("{} by {}", config.settings()[key].value, config.origin(key)),
        Err(error) => error.to_string(),
    };
    said.replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn foreign_files_do_not_raise_limits() {
    let said = [
        beside_own("[budgets]\ncalls = 5\n", "[budgets]\ncalls = 6\n", "budgets.calls"),
        beside_own("[budgets]\ncalls = 5\n", "[budgets]\ncalls = 4\n", "budgets.calls"),
        beside_own("", "[budgets]\ntokens = 1_000\n", "budgets.tokens"),
        beside_own("[budgets]\ntokens = 1\n", "[budgets]\ntokens = 2\n", "budgets.tokens"),
        beside_own("[budgets]\nmoney = 0.5\n", "[budgets]\nmoney = 0.51\n", "budgets.money"),
        beside_own("[budgets]\nmoney = 1\n", "[budgets]\nmoney = 0.9\n", "budgets.money"),
        beside_own("", "[controller]\ntime_budget_ms = \"2m\"\n", "controller.time_budget_ms"),
        beside_own("", "[controller]\ntime_budget_ms = \"24h\"\n", "controller.time_budget_ms"),
        beside_own("", "[controller]\nmax_replans = 100\n", "controller.max_replans"),
        beside_own(
            "[controller]\nmax_replans = 2\n",
            "[controller]\nmax_replans = 3\n",
            "controller.max_replans",
        ),
        beside_own("", "[controller]\nlaw2_rounds = 9\n", "controller.law2_rounds"),
        beside_own("", "[controller]\ntheta = 1.0\n", "controller.theta"),
        beside_own("", "[controller]\ndelta = 0.6\n", "controller.delta"),
        beside_own("", "[models]\nidle_ms = \"2h\"\n", "models.idle_ms"),
        beside_own("[run]\npreview_plan = true\n", "[run]\npreview_plan = false\n", "run.preview_plan"),
        beside_own("", "[run]\npreview_plan = true\n", "run.preview_plan"),
        beside_own("", "[controller]\ndelta = 0.2\n", "controller.delta"),
    ]
    .join("\n");
    expect_test::expect![[r#"
        use foreign.toml:2: `budgets.calls` would change from 5 (own.toml:2) to 6; a file of the working directory, which may come from anyone, can only make it stricter
        4 by foreign.toml:2
        1000 by foreign.toml:2
        use foreign.toml:2: `budgets.tokens` would change from 1 (own.toml:2) to 2; a file of the working directory, which may come from anyone, can only make it stricter
        use foreign.toml:2: `budgets.money` would change from 0.5 (own.toml:2) to 0.51; a file of the working directory, which may come from anyone, can only make it stricter
        0.9 by foreign.toml:2
        120000 by foreign.toml:2
        use foreign.toml:2: `controller.time_budget_ms` would change from 300000 (built in) to 86400000; a file of the working directory, which may come from anyone, can only make it stricter
        use foreign.toml:2: `controller.max_replans` would change from 3 (built in) to 100; a file of the working directory, which may come from anyone, can only make it stricter
        use foreign.toml:2: `controller.max_replans` would change from 2 (own.toml:2) to 3; a file of the working directory, which may come from anyone, can only make it stricter
        use foreign.toml:2: `controller.law2_rounds` would change from 2 (built in) to 9; a file of the working directory, which may come from anyone, can only make it stricter
        use foreign.toml:2: `controller.theta` would change from 0.8 (built in) to 1.0; a file of the working directory, which may come from anyone, can only make it stricter
        use foreign.toml:2: `controller.delta` would change from 0.3 (built in) to 0.6; a file of the working directory, which may come from anyone, can only make it stricter
        use foreign.toml:2: `models.idle_ms` would change from 60000 (built in) to 7200000; a file of the working directory, which may come from anyone, can only make it stricter
        use foreign.toml:2: `run.preview_plan` would change from true (own.toml:2) to false; a file of the working directory, which may come from anyone, can only make it stricter
        true by foreign.toml:2
        0.2 by foreign.toml:2"#]].assert_eq(&said);
}

#[test]
fn servers_are_read_from_the_file() {
    let file = "[mcp.files]\ncommand = [\"srv\", \"-x\"]\nwrites = [\"out\"]\nenv = [\"TOKEN\"]\n[mcp.web]\nurl = \"https://h/p?k=1\"\n\
                bearer_env = \"WEB_KEY\"\ntrust_annotations = true\n";
    let config = load(file, &[], &[]).unwrap();
    let files = ServerSettings {
        name: "files".to_owned(),
        command: vec!["srv".to_owned(), "-x".to_owned()],
        env: vec!["TOKEN".to_owned()],
        writes: vec!["out".to_owned()],
        ..ServerSettings::default()
    };
    let web = ServerSettings {
        name: "web".to_owned(),
        url: Some("https://h/p?k=1".to_owned()),
        bearer_env: Some("WEB_KEY".to_owned()),
        is_trusted: true,
        ..ServerSettings::default()
    };
    assert_eq!(config.servers(), [files, web]);
    let shown = |key: &str| config.lines().into_iter().find(|line| line.key == key).unwrap().value;
    assert_eq!(shown("mcp.web.url"), "https://h/…?…");
    // An option takes a server back, and adds one.
    let config =
        load(file, &[], &[("mcp.files.command", ""), ("mcp.files.writes", ""), ("mcp.files.env", "")]);
    assert_eq!(config.unwrap().servers().len(), 1);
    let config = load("", &[], &[("mcp.x.command", "[\"a b\"]")]).unwrap();
    assert_eq!(config.servers()[0].command, ["a b"]);
}

#[test]
fn a_server_is_one_program_or_one_address() {
    let cases = [
        (
            "[mcp.a]\ncommand = [\"x\"]\nurl = \"http://h\"",
            "`mcp.a.command` is set beside `url`; a server has one of them",
        ),
        ("[mcp.a]\n\noutside = true", "`mcp.a.outside` is set without `command` or `url`"),
        ("[mcp.a]\ncommand = []", "`mcp.a.command` names no program"),
        (
            "[mcp.a]\ncommand = \"x\"",
            "`mcp.a.command` is \"x\"; it must be a list of texts, as [\"one\", \"two\"]",
        ),
        (
            "[mcp.a]\ncommand = [\"x\"]\nbearer_env = \"K\"",
            "`mcp.a.bearer_env` is for a server with `url`; use `env`",
        ),
        ("[mcp.a]\nurl = \"http://h\"\npaths = [\".\"]", "`mcp.a.paths` is for a server with `command`"),
        (
            "[mcp.a]\ncommand = [\"x\"]\noutside = true\nwrites = [\".\"]",
            "`mcp.a.writes` limits a server in the sandbox, but `outside` is true",
        ),
        (
            "[mcp.a_b]\ncommand = [\"x\"]",
            "`mcp.a_b.command` names a server \"a_b\"; a name has 1 to 20 of the characters a-z, 0-9 and -",
        ),
    ];
    for (file, reason) in cases {
        let refused = refusal(file, &[], &[]);
        assert!(refused.starts_with("use setpoint.toml:") && refused.ends_with(reason), "{refused}");
    }
    let many: String = (0..17).map(|n| format!("[mcp.s{n:02}]\ncommand = [\"x\"]\n")).collect();
    assert!(refusal(&many, &[], &[]).ends_with("`mcp.s16.command` is one server more than 16"));
}

#[test]
fn a_secret_has_one_source_and_exact_servers() {
    let file = "[secrets.github]\nenv = \"GH\"\nhosts = [\"api.github.com\", \"127.0.0.1:8080\"]\n[secrets.pem]\nfile = \"k\"\n";
    let config = load(file, &[], &[]).unwrap();
    let servers = vec![("api.github.com".to_owned(), 443), ("127.0.0.1".to_owned(), 8080)];
    let github =
        SecretSettings { name: "github".to_owned(), source: SecretSource::Env("GH".to_owned()), servers };
    let source = SecretSource::File("k".to_owned());
    let pem = SecretSettings { name: "pem".to_owned(), source, servers: vec![] };
    assert_eq!(config.secrets(), [github, pem]);
    for (file, reason) in [
        (
            "[secrets.a]\nenv = \"A\"\nfile = \"f\"",
            "`secrets.a.file` is set beside `env`; a secret has one of them",
        ),
        ("[secrets.a]\nhosts = [\"h\"]", "`secrets.a.hosts` is set without `env` or `file`"),
        ("[secrets.a]\nenv = \"\"", "`secrets.a.env` is empty"),
        ("[secrets.a]\nvalue = \"x\"", "there is no key `secrets.a.value`"),
        ("[secrets.A]\nenv = \"x\"", "there is no key `secrets.A.env`"),
        ("[secrets.a]\nenv = \"A\"\nhosts = [\"*.h\"]", "`secrets.a.hosts` has \"*.h\"; name a server alone"),
    ] {
        let refused = refusal(file, &[], &[]);
        assert!(refused.starts_with("use setpoint.toml:") && refused.contains(reason), "{refused}");
    }
    let many: String = (0..65).map(|n| format!("[secrets.s{n:02}]\nenv = \"x\"\n")).collect();
    assert!(refusal(&many, &[], &[]).ends_with("`secrets.s64.env` is one secret more than 64"));
}

#[test]
fn a_foreign_file_sets_no_secret_and_no_server_for_one() {
    let own = "[secrets.a]\nenv = \"A\"\n";
    for (foreign, key) in [
        ("[secrets.b]\nenv = \"OPENAI_API_KEY\"\n", "secrets.b.env"),
        ("[secrets.a]\nhosts = [\"evil.test\"]\n", "secrets.a.hosts"),
        ("[secrets.a]\nenv = \"OPENAI_API_KEY\"\n", "secrets.a.env"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let (mine, theirs) = (dir.path().join("own.toml"), dir.path().join("foreign.toml"));
        std::fs::write(&mine, own).unwrap();
        std::fs::write(&theirs, foreign).unwrap();
        let files = vec![mine, theirs.clone()];
        let error =
            Config::load(&Sources { files, foreign: vec![theirs], ..Sources::default() }).unwrap_err();
        assert!(error.to_string().contains(&format!("`{key}` is not allowed in a file")), "{error}");
    }
}

#[test]
fn a_foreign_file_neither_starts_nor_changes_a_server() {
    let own = "[mcp.a]\ncommand = [\"x\"]\n";
    for (foreign, key) in [
        ("[mcp.b]\ncommand = [\"evil\"]\n", "mcp.b.command"),
        ("[mcp.a]\ncommand = [\"evil\"]\n", "mcp.a.command"),
        ("[mcp.a]\noutside = true\n", "mcp.a.outside"),
        ("[mcp.a]\ntrust_annotations = true\n", "mcp.a.trust_annotations"),
        ("[mcp.a]\nenv = [\"OPENAI_API_KEY\"]\n", "mcp.a.env"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let (mine, theirs) = (dir.path().join("own.toml"), dir.path().join(FILE_NAME));
        std::fs::write(&mine, own).unwrap();
        std::fs::write(&theirs, foreign).unwrap();
        let sources =
            Sources { files: vec![mine, theirs.clone()], foreign: vec![theirs], ..Sources::default() };
        let error = Config::load(&sources).unwrap_err();
        assert!(matches!(&error, ConfigError::Foreign { key: refused, .. } if refused == key), "{error}");
    }
}

/// Such a file may not set a new key until a rule for it is added.
#[test]
fn every_key_has_a_rule_for_foreign_files() {
    let told: Vec<String> =
        KEYS.iter().map(|key| format!("{:?} {}", foreign::rule(key.name), key.name)).collect();
    expect_test::expect![[r#"
        Told models.brain
        Told models.tool
        Told models.perceiver
        Told models.planner
        Told models.executor
        Told models.agent_validator
        Told models.meta_validator
        Told models.brain_effort
        Told models.tool_effort
        Free models.stream
        Lower models.idle_ms
        Never providers.*.api
        Never providers.*.base_url
        Never providers.*.key_env
        Never providers.*.tools
        Never providers.*.schema
        Never providers.*.extra
        Never mcp.*.command
        Never mcp.*.url
        Never mcp.*.env
        Never mcp.*.bearer_env
        Never mcp.*.paths
        Never mcp.*.writes
        Never mcp.*.outside
        Never mcp.*.trust_annotations
        Never secrets.*.env
        Never secrets.*.file
        Never secrets.*.hosts
        Free controller.law
        Free controller.alpha
        Free controller.beta
        Free controller.lambda
        Free controller.w1
        Free controller.w2
        Free controller.epsilon
        Lower controller.delta
        Free controller.rho
        Lower controller.theta
        Lower controller.time_budget_ms
        Lower controller.max_replans
        Lower controller.law2_rounds
        Free controller.law2_gradient
        Free controller.urgency
        Lower budgets.calls
        Lower budgets.tokens
        Lower budgets.money
        Never memory.recall
        Never memory.reflect
        Never retention.tasks
        Never retention.memory
        Never audit.follow
        Never audit.checkpoints
        Never audit.key
        Never telemetry.otlp_endpoint
        Never telemetry.content
        Never log.level
        SwitchOn run.preview_plan
        Only("L0") run.level
        Never run.container
        Never tools.fetch_private
        Never search.engine
        Never search.key_env
        Never search.searxng_url
        Never run.sandbox"#]]
    .assert_eq(&told.join("\n"));
    assert_eq!(foreign::rule("models.new"), foreign::Rule::Never);
}

#[test]
fn a_model_chosen_by_a_foreign_file_gives_a_notice() {
    let path = PathBuf::from("/repo/setpoint.toml");
    let load = |flags: &[(&str, &str)]| {
        let text = "[models]\nbrain = \"openai/dear\"\nbrain_effort = \"high\"\nstream = false\n";
        let flag = |(k, v): &(&str, &str)| ((*k).to_owned(), (*v).to_owned(), "--model".to_owned());
        let sources = Sources {
            files: vec![path.clone()],
            texts: [(path.clone(), text.to_owned())].into(),
            foreign: vec![path.clone()],
            flags: flags.iter().map(flag).collect(),
            ..Sources::default()
        };
        Config::load(&sources).unwrap().notices().join("\n")
    };
    expect_test::expect![[r#"
        models.brain = openai/dear comes from /repo/setpoint.toml:2, a file of the working directory
        models.brain_effort = high comes from /repo/setpoint.toml:3, a file of the working directory"#]]
    .assert_eq(&load(&[]));
    // The person's own value wins, so there is no notice.
    assert!(!load(&[("models.brain", "playbook")]).contains("models.brain "));
}

#[test]
fn addresses_are_shown_without_parts_that_may_be_keys() {
    let seen = |address: &str| {
        let setting = Setting { value: Value::String(address.to_owned()), origin: Origin::Default };
        Config::display_value("providers.x.base_url", &setting)
    };
    for (address, expected) in [
        ("https://me:pw@h/v1", "https://…@h/…"),
        ("me:pw@h:1", "…@h:1"),
        ("https://me:p@w@h/v1", "https://…@h/…"),
        ("https://h:8443/KEY/v1?k=KEY", "https://h:8443/…?…"),
        ("http://localhost:8000/", "http://localhost:8000"),
        ("localhost:11434", "localhost:11434"),
        ("127.0.0.1:11434/KEY", "127.0.0.1:11434/…"),
        ("me:p/w@h", "…"),
    ] {
        assert_eq!(seen(address), expected, "{address}");
    }
}
