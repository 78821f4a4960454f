//! `git-report`: the state of a repository.

use serde_json::{Value, json};

use super::{array, at_once, given_up, goal, lines, number, sorted};
use crate::support::{Home, shell};

pub(super) const PLAYBOOKS: &[&str] = &["git-report"];

/// Git that knows nothing of the tester.
const GIT: &str = r#"
    export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
    commit() { git -c user.name="$1" -c user.email=x@example.org commit -q --allow-empty -m "$2"; }
"#;

fn repository() -> Home {
    let home = Home::new();
    let script = r#"
        git init -q 're po'; cd 're po'; git checkout -q -b 'topic/ünï'
        printf 'one\n' > 'a b.txt'; printf 'two\n' > ./-dash; git add -A
        commit 'Ada Löwe' 'first: "quoted" and	tabbed'; commit Bob second; commit 'Ada Löwe' 'third one'
        printf 'more\n' >> 'a b.txt'; printf 'new\n' > 'new file'; mkdir sub; printf s > sub/staged; git add sub
    "#;
    shell(&home.work(), &format!("{GIT}{script}"));
    home
}

#[test]
fn the_report_says_what_git_says() {
    let home = repository();
    let output = at_once(&home, "report on the git repository in './re po'");
    assert_eq!(output["commits"], json!(number(&home, "git -C 're po' log --oneline | wc -l")));
    assert_eq!(output["branch"], json!("topic/ünï"));
    let authors = array(&output["authors"])
        .iter()
        .map(|author| format!("{} {}", author["commits"], author["name"].as_str().unwrap()))
        .collect();
    let counted = lines(&home, "git -C 're po' log --format=%an | sort | uniq -c | sed 's/^ *//'");
    assert_eq!(sorted(authors), counted);
    assert_eq!(
        output["last_commit"]["hash"],
        json!(shell(&home.work(), "cat 're po/.git/refs/heads/topic/ünï'"))
    );
    assert!(output["last_commit"].to_string().contains("third one"), "{output:#}");
    let text = output["changed"].to_string();
    assert!(text.contains("a b.txt") && text.contains("sub/staged") && !text.contains("-dash"), "{text}");
    assert_eq!((&output["changed_count"], &output["untracked_count"]), (&json!(2), &json!(1)));
    assert!(output["untracked"].to_string().contains("new file"), "{output:#}");
}

#[test]
fn a_directory_in_a_repository_is_enough() {
    let home = repository();
    let output = at_once(&home, "give me a git report on 're po/sub'");
    assert_eq!(output["commits"], json!(3));
}

#[test]
fn a_repository_without_commits_has_none() {
    let home = Home::new();
    shell(&home.work(), &format!("{GIT} git init -q fresh; cd fresh; git checkout -q -b trunk; : > x"));
    let output = at_once(&home, "what is the state of the git repo in fresh?");
    assert_eq!((&output["commits"], &output["branch"]), (&json!(0), &json!("trunk")));
    assert_eq!((&output["last_commit"], &output["untracked_count"]), (&Value::Null, &json!(1)));
}

#[test]
fn what_is_no_repository_has_no_report() {
    let home = Home::new();
    shell(&home.work(), "mkdir plain; echo x > plain/f");
    for text in ["give me a git report on plain", "report on the git repository in ./none"] {
        let result = given_up(goal(&home, text), 4);
        assert_eq!(result["output"], Value::Null, "{result:#}");
    }
}
