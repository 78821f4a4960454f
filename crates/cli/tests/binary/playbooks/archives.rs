//! `archive-directory`: everything in it, nothing overwritten.

use serde_json::json;

use super::{accepted, at_once, given_up, goal, goal_approved, lines, number, odd_home, plain_path};
use crate::support::{Home, shell};

pub(super) const PLAYBOOKS: &[&str] = &["archive-directory"];

const ARCHIVE: &str = "archive 'odd dir' to packed.tar.gz";

/// Unpacks an archive and holds it against the directory, links as links.
fn holds_everything(home: &Home, archive: &str) {
    let script =
        format!("mkdir out && tar -xzf {archive} -C out && diff -r --no-dereference 'odd dir' 'out/odd dir'");
    shell(&home.work(), &script);
    let below = "find . -mindepth 1 -printf '%y %P %l\\n' | cat -v";
    assert_eq!(
        lines(home, &format!("cd 'out/odd dir' && {below}")),
        lines(home, &format!("cd 'odd dir' && {below}"))
    );
    shell(&home.work(), "rm -r out");
}

#[test]
fn an_archive_holds_everything_under_its_old_name() {
    let home = odd_home();
    shell(&home.work(), r"printf x > $'odd dir/two\nlines'; ln 'odd dir/a b.txt' 'odd dir/second name'");
    let output = at_once(&home, ARCHIVE);
    assert_eq!(plain_path(&home, &output["archive"]), "packed.tar.gz");
    assert_eq!(output["bytes"], json!(number(&home, "find 'odd dir' -type f -exec cat {} + | wc -c")));
    holds_everything(&home, "packed.tar.gz");
    assert_eq!(shell(&home.work(), "ls -A"), "odd dir\npacked.tar.gz");

    let output = at_once(&home, "back up the 'odd dir' directory and verify it");
    assert_eq!(plain_path(&home, &output["archive"]), "odd dir.tar.gz");
    holds_everything(&home, "'odd dir.tar.gz'");
}

#[test]
fn an_empty_directory_makes_an_archive_and_a_missing_one_none() {
    let home = odd_home();
    let output = at_once(&home, "create a tarball of './odd dir/empty' named nothing.tgz");
    assert_eq!(output["bytes"], json!(0));
    assert_eq!(shell(&home.work(), "tar -tzf nothing.tgz").trim_end_matches('/'), "empty");
    let before = lines(&home, "find . | cat -v");
    given_up(goal(&home, "archive 'no dir' to no.tar.gz"), 4);
    given_up(goal_approved(&home, "archive 'no dir' to no.tar.gz", "path /\n"), 4);
    assert_eq!(lines(&home, "find . | cat -v"), before);
}

/// The old archive has as many bytes as the new one would have, so that only looking at what was written tells them apart.
#[test]
fn an_old_archive_is_not_taken_for_the_new_one() {
    let home = odd_home();
    at_once(&home, ARCHIVE);
    let old = shell(&home.work(), "md5sum < packed.tar.gz; printf 'ALPHA\\nneedle\\n' > 'odd dir/a b.txt'");
    let result = given_up(goal(&home, ARCHIVE), 5);
    assert_eq!(result["ended_by"], json!("consent"));
    assert_eq!(shell(&home.work(), "md5sum < packed.tar.gz; ls"), format!("{old}\nodd dir\npacked.tar.gz"));

    let rule = format!("path {}\n", home.work().join("packed.tar.gz").display());
    accepted(&home, goal_approved(&home, ARCHIVE, &rule));
    holds_everything(&home, "packed.tar.gz");
}

#[test]
fn an_archive_may_lie_in_what_it_packs() {
    let home = odd_home();
    let output = at_once(&home, "archive 'odd dir' to 'odd dir/self.tar.gz'");
    let others = "find 'odd dir' -type f ! -name self.tar.gz -exec cat {} + | wc -c";
    assert_eq!(output["bytes"], json!(number(&home, others)));
    let listed =
        lines(&home, "tar -tzf 'odd dir/self.tar.gz' --quoting-style=literal | sed 's,/$,,' | cat -v");
    let there = lines(&home, "find 'odd dir' ! -name self.tar.gz | cat -v");
    assert_eq!(listed, there);
}
