//! Programs that a call gives as text.

use std::fs;

use serde_json::{Value, json};
use setpoint_protocol::tool::{Effect, ErrorKind, SandboxTier, SideEffect};
use setpoint_tools::{CODE_BYTES_MAX, Host, Registry};

use crate::sandbox::world as sandbox_world;
use crate::support::World;

fn program(language: &str, code: &str) -> Value {
    json!({ "language": language, "code": code })
}

/// A program whose words no shell would leave as they are.
const AWKWARD: &str = "text = 'it\\'s \"$HOME\" `pwd` \\\\ %s' % 7\nprint(text)\n";

#[tokio::test]
async fn process_a_program_runs_in_the_sandbox_as_it_is_written() {
    let Some(mut world) = sandbox_world() else { return };
    world.probe = false;
    world.file("helper.py", "def twice(n): return 2 * n\n");
    world.file("helper.js", "exports.twice = n => 2 * n\n");
    let answer = world.run("run_code", program("python", AWKWARD)).await;
    assert!(answer.text.contains("it's \"$HOME\" `pwd` \\ 7\n"), "{}", answer.text);
    assert_eq!((answer.tier, answer.side_effect), (Some(SandboxTier::Full), SideEffect::None));
    for (language, code) in [
        (
            "python",
            "import helper, sys; open('a', 'w').write(str(helper.twice(21))); print(sys.stdin.read())",
        ),
        ("node", "require('fs').writeFileSync('a', String(require('./helper.js').twice(21)))"),
        ("node", "- 1; require('fs').writeFileSync('a', '42')"),
    ] {
        let answer = world.run("run_code", program(language, code)).await;
        assert!(answer.ok && answer.approval.is_none(), "{code}: {}", answer.text);
        assert_eq!(answer.side_effect, SideEffect::Reversible);
        assert_eq!(fs::read_to_string(world.at("a")).unwrap(), "42", "{code}");
        fs::remove_file(world.at("a")).unwrap();
    }
    let answer = world.run("run_code", program("python", "open('/etc/passwd_', 'w')")).await;
    assert_eq!((answer.ok, answer.exit_code), (false, Some(1)), "{}", answer.text);
    assert!(!answer.text.contains("`outside`"), "{}", answer.text);
    let forever = json!({ "language": "python", "code": "while True: print('x')", "timeout_s": 1 });
    let answer = world.run("run_code", forever).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::Timeout), "{}", answer.text);
    assert!(answer.text.contains("bytes cut"), "{}", answer.text);
}

#[tokio::test]
async fn what_a_program_would_change_is_shown_with_its_text() {
    let Some(mut world) = sandbox_world() else { return };
    world.probe = false;
    world.file("old", "old\n");
    let input = program("python", "open('old', 'w').write('new\\n')");
    let need = world.need("run_code", input.clone()).await;
    assert_eq!(need.command, "run with python3 this program:\nopen('old', 'w').write('new\\n')");
    assert_eq!(need.writes, [world.at("old").to_str().unwrap()]);
    assert!(need.preview.unwrap().contains("-old\n+new"));
    assert_eq!(fs::read_to_string(world.at("old")).unwrap(), "old\n");
    let answer = world.run_under("run_code", input, Some(need.digest)).await;
    assert!(answer.ok, "{}", answer.text);
    assert_eq!(fs::read_to_string(world.at("old")).unwrap(), "new\n");
}

#[tokio::test]
async fn process_without_a_sandbox_a_program_asks_before_it_runs() {
    let world = World::new();
    let input = program("python", "open('new', 'w').write('x'); print(6 * 7)");
    let need = world.need("run_code", input.clone()).await;
    assert!(need.command.ends_with("program:\nopen('new', 'w').write('x'); print(6 * 7)"), "{need:?}");
    assert!(!world.at("new").exists());
    // An approval is of one program.
    let other = program("python", "open('new', 'w').write('y'); print(6 * 7)");
    assert!(world.run_under("run_code", other, Some(need.digest.clone())).await.approval.is_some());
    let answer = world.run_under("run_code", input, Some(need.digest)).await;
    assert!(answer.ok && answer.text.contains("42"), "{}", answer.text);
    assert_eq!((answer.side_effect, answer.tier), (SideEffect::Irreversible, Some(SandboxTier::None)));
    assert_eq!(answer.facts.unwrap().0["changed"]["made"], json!([world.at("new")]));
}

#[tokio::test]
async fn a_program_that_cannot_run_says_why() {
    let mut world = World::new();
    let long = program("python", &"#".repeat(CODE_BYTES_MAX + 1));
    for input in [long, program("python", "print(1)\0"), program("cobol", "")] {
        let answer = world.run("run_code", input).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::InvalidInput), "{}", answer.text);
    }
    assert_eq!(world.read("run_code", program("python", "print(1)")).effect, Effect::Unsafe);
    world.probe = true;
    let answer = world.run("run_code", program("python", "print(1)")).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::Blocked), "{}", answer.text);
    world.probe = false;
    world.registry = Registry::built_in(&Host::new("linux", [("PATH".into(), "/nowhere".into())]));
    let answer = world.run("run_code", program("node", "1")).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::MissingTool), "{}", answer.text);
    assert!(answer.text.contains("node: it is not available here; this machine has no"), "{}", answer.text);
}
