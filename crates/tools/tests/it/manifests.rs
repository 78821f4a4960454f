//! Manifests: written here and read by `sha256sum`, and the other way round.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use serde_json::json;
use setpoint_protocol::tool::ErrorKind;

use crate::support::{World, number, output};

fn tree(world: &World) {
    for name in ["d/a b", "d/.hidden", "d/sub/new\nline", "d/back\\slash", "d/日本", "d/ leading", "d/*star"]
    {
        world.file(name, name);
    }
    std::fs::write(world.at("d").join(OsStr::from_bytes(b"caf\xe9")), "latin").unwrap();
    symlink("a b", world.at("d/link")).unwrap();
}

#[tokio::test]
async fn sha256sum_reads_our_manifests() {
    let world = World::new();
    tree(&world);
    let answer = world.run("manifest_create", json!({"root": "d", "manifest": "sums"})).await;
    assert!(answer.ok, "{}", answer.text);
    assert_eq!(answer.created, [world.at("sums").to_str().unwrap()]);
    let facts = answer.facts.unwrap();
    let files = number(&world.at("d"), "find . -type f -printf x | wc -c");
    assert_eq!(facts["count"], json!(files));
    output(&world.at("d"), "sha256sum --check --strict --quiet ../sums");
    assert_eq!(number(&world.at("."), "wc -l < sums"), files);
    let inside = world.run("manifest_create", json!({"root": "d", "manifest": "$PROJECT/d/SUMS"})).await;
    assert_eq!(inside.facts.unwrap()["count"], json!(files), "a manifest does not list itself");
}

#[tokio::test]
async fn manifests_of_sha256sum_are_verified() {
    let world = World::new();
    tree(&world);
    output(&world.at("d"), "find . -type f -print0 | sort -z | xargs -0 sha256sum > ../sums");
    output(&world.at("d"), "find . -type f -print0 | xargs -0 sha512sum --binary > ../sums512");
    output(&world.at("d"), "find . -type f -print0 | xargs -0 sha256sum --tag > ../tags");
    let files = json!(number(&world.at("d"), "find . -type f -printf x | wc -c"));
    for manifest in ["sums", "sums512", "tags"] {
        let facts = world.facts("manifest_verify", json!({"manifest": manifest, "root": "d"})).await;
        assert_eq!(
            (facts["ok"].clone(), facts["count"].clone(), facts["malformed"].clone()),
            (json!(true), files.clone(), json!(0)),
            "{manifest}"
        );
    }
}

#[tokio::test]
async fn every_difference_is_reported() {
    let world = World::new();
    tree(&world);
    world
        .run("manifest_create", json!({"root": "d", "manifest": "$PROJECT/d/sums", "algorithm": "blake3"}))
        .await;
    let verify = || world.facts("manifest_verify", json!({"manifest": "d/sums"}));
    assert_eq!(verify().await["ok"], json!(true));
    world.file("d/a b", "changed");
    std::fs::remove_file(world.at("d/sub/new\nline")).unwrap();
    std::fs::remove_file(world.at("d/日本")).unwrap();
    std::fs::create_dir(world.at("d/日本")).unwrap();
    world.file("d/extra", "not listed");
    let facts = verify().await;
    assert_eq!(facts["changed"], json!(["a b", "日本"]));
    assert_eq!(facts["missing"], json!(["sub/new\nline"]));
    assert_eq!((facts["ok"].clone(), facts["matched"].clone()), (json!(false), json!(5)));
}

#[tokio::test]
async fn malformed_and_empty_manifests_are_not_valid() {
    let world = World::new();
    world.file("d/a", "a");
    output(
        &world.at("d"),
        "sha256sum a > ../crlf && sed -i 's/$/\\r/' ../crlf && (cat ../crlf; echo garbage; echo) > ../mixed",
    );
    world.file("empty", "");
    let facts =
        |manifest: &'static str| world.facts("manifest_verify", json!({"manifest": manifest, "root": "d"}));
    assert_eq!(facts("crlf").await["ok"], json!(true));
    let mixed = facts("mixed").await;
    assert_eq!(
        (mixed["ok"].clone(), mixed["malformed"].clone(), mixed["matched"].clone()),
        (json!(false), json!(1), json!(1))
    );
    assert_eq!(facts("empty").await["ok"], json!(false));
    assert_eq!(
        world.run("manifest_verify", json!({"manifest": "none"})).await.error_kind,
        Some(ErrorKind::NotFound)
    );
    let root = world.run("manifest_verify", json!({"manifest": "crlf", "root": "none"})).await;
    assert_eq!(root.error_kind, Some(ErrorKind::NotFound));
}

#[tokio::test]
async fn a_manifest_never_replaces_a_file() {
    let world = World::new();
    world.file("d/a", "a");
    world.file("sums", "precious");
    let input = json!({"root": "d", "manifest": "sums"});
    assert_eq!(
        world.run("manifest_create", input.clone()).await.error_kind,
        Some(ErrorKind::ApprovalRequired)
    );
    assert_eq!(std::fs::read(world.at("sums")).unwrap(), b"precious");
    let answer = world.run_allowed("manifest_create", input).await;
    assert!(answer.ok, "{}", answer.text);
    output(&world.at("d"), "sha256sum --check --quiet ../sums");
}
