//! Archives: packed here and read by `tar`, packed by `tar` and read here, and hostile ones.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use setpoint_protocol::tool::{ErrorKind, SideEffect};

use crate::support::{World, number, output};

fn tree(world: &World) {
    for name in ["d/a b.txt", "d/.hidden", "d/sub/new\nline", "d/日本", "d/empty"] {
        world.file(name, name.repeat(100));
    }
    world.file("d/empty", "");
    world.file(format!("d/{}/{}", "long".repeat(40), "name".repeat(40)), "long");
    std::fs::write(world.at("d").join(OsStr::from_bytes(b"caf\xe9")), "latin").unwrap();
    symlink("a b.txt", world.at("d/link")).unwrap();
    symlink("/nowhere", world.at("d/dangling")).unwrap();
    std::fs::hard_link(world.at("d/a b.txt"), world.at("d/twice")).unwrap();
    std::fs::create_dir(world.at("d/empty folder")).unwrap();
}

#[tokio::test]
async fn tar_unpacks_our_archives() {
    let world = World::new();
    tree(&world);
    for archive in ["d.tar.gz", "d.tgz", "d.tar"] {
        let answer = world
            .run("archive_create", json!({"source": "d", "archive": format!("$PROJECT/out/{archive}")}))
            .await;
        assert!(answer.ok, "{}", answer.text);
        assert_eq!(answer.side_effect, SideEffect::Reversible);
        assert!(answer.created.contains(&world.at("out").join(archive).to_str().unwrap().to_owned()));
        std::fs::create_dir(world.at("unpacked")).unwrap();
        output(
            &world.at("unpacked"),
            &format!("tar -xf ../out/{archive} && diff -r --no-dereference d ../d && rm -r ../unpacked"),
        );
        let facts = answer.facts.unwrap();
        let usage = world.facts("disk_usage", json!({"path": "d"})).await;
        assert_eq!(facts["bytes"], usage["total_bytes"]);
        let sum = output(&world.at("out"), &format!("sha256sum {archive} | cut -c 1-64"));
        assert_eq!(facts["sha256"], json!(sum.trim()));
    }
}

#[tokio::test]
async fn the_list_agrees_with_tar_and_the_files() {
    let world = World::new();
    tree(&world);
    world.run("archive_create", json!({"source": "d", "archive": "$PROJECT/ours.tar.gz"})).await;
    output(&world.at("."), "tar -cf theirs.tar d && tar -czf theirs.tgz d");
    for archive in ["ours.tar.gz", "theirs.tar", "theirs.tgz"] {
        let facts = world.facts("archive_list", json!({"archive": archive})).await;
        assert_eq!(
            facts["count"],
            json!(number(&world.at("."), &format!("tar -tf {archive} | wc -l"))),
            "{archive}"
        );
        for entry in
            facts["entries"].as_array().unwrap().iter().filter(|entry| entry["kind"] == json!("file"))
        {
            let path = world.at(entry["path"].as_str().unwrap());
            // A name that is not UTF-8 cannot be written back.
            let Ok(content) = std::fs::read(&path) else { continue };
            assert_eq!(entry["bytes"], json!(content.len()));
            let sum =
                output(path.parent().unwrap(), &format!("sha256sum < '{}' | cut -c 1-64", path.display()));
            assert_eq!(entry["sha256"], json!(sum.trim()), "{archive}: {}", path.display());
        }
        assert_eq!((facts["outside"].clone(), facts["complete"].clone()), (json!(0), json!(true)));
    }
    let ours = world.facts("archive_list", json!({"archive": "ours.tar.gz"})).await;
    assert_eq!(ours["bytes"], world.facts("disk_usage", json!({"path": "d"})).await["total_bytes"]);
}

#[tokio::test]
async fn an_archive_neither_packs_itself_nor_replaces_a_file() {
    let world = World::new();
    world.file("d/a", "a");
    let input = json!({"source": "d", "archive": "$PROJECT/d/self.tar.gz"});
    assert!(world.run("archive_create", input.clone()).await.ok);
    let listed = world.facts("archive_list", json!({"archive": "d/self.tar.gz"})).await;
    let paths: Vec<&Value> =
        listed["entries"].as_array().unwrap().iter().map(|entry| &entry["path"]).collect();
    assert_eq!(paths, ["d", "d/a"]);

    let old = std::fs::read(world.at("d/self.tar.gz")).unwrap();
    let again = world.run("archive_create", input.clone()).await;
    assert_eq!(again.error_kind, Some(ErrorKind::ApprovalRequired), "{}", again.text);
    assert_eq!(std::fs::read(world.at("d/self.tar.gz")).unwrap(), old);
    let answer = world.run_allowed("archive_create", input).await;
    assert!(answer.ok && answer.created.is_empty(), "{}", answer.text);
    assert_eq!(output(&world.at("d"), "ls -A").trim(), "a\nself.tar.gz");
}

#[tokio::test]
async fn impossible_archives_are_rejected() {
    let world = World::new();
    world.file("d/a", "a");
    for (input, kind) in [
        (json!({"source": "none", "archive": "a.tar"}), ErrorKind::NotFound),
        (json!({"source": "d", "archive": "a.zip"}), ErrorKind::InvalidInput),
        (json!({"source": "d", "archive": "d/a/b.tar"}), ErrorKind::InvalidInput),
    ] {
        assert_eq!(world.run("archive_create", input.clone()).await.error_kind, Some(kind), "{input}");
    }
    let one = world.run("archive_create", json!({"source": "d/a", "archive": "one.tgz"})).await;
    assert!(one.ok, "{}", one.text);
    assert_eq!(output(&world.at("."), "tar -tf one.tgz").trim(), "a");
}

#[tokio::test]
async fn damaged_and_hostile_archives_are_reported() {
    let world = World::new();
    tree(&world);
    output(&world.at("."), "tar -czf whole.tgz d && head -c 300 whole.tgz > cut.tgz && tar -cf whole.tar d");
    output(
        &world.at("."),
        "head -c 1500 whole.tar > cut.tar && printf 'no archive at all' > text.tar && : > empty.tar",
    );
    output(&world.at("."), "gzip -c text.tar > text.tgz && tar -cf nothing.tar -T /dev/null");
    for archive in ["cut.tgz", "cut.tar", "text.tar", "empty.tar", "text.tgz"] {
        let answer = world.run("archive_list", json!({"archive": archive})).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::InvalidData), "{archive}: {}", answer.text);
    }
    assert_eq!(world.facts("archive_list", json!({"archive": "nothing.tar"})).await["count"], json!(0));
    assert_eq!(
        world.run("archive_list", json!({"archive": "none"})).await.error_kind,
        Some(ErrorKind::NotFound)
    );

    let mut builder = tar::Builder::new(Vec::new());
    for name in ["../escape", "/absolute", "fine"] {
        let mut header = tar::Header::new_gnu();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(0);
        header.set_cksum();
        builder.append(&header, std::io::empty()).unwrap();
    }
    world.file("hostile.tar", builder.into_inner().unwrap());
    let answer = world.run("archive_list", json!({"archive": "hostile.tar"})).await;
    assert_eq!(answer.facts.unwrap()["outside"], json!(2));
    assert!(answer.text.contains("CAUTION"), "{}", answer.text);
}

/// A quarter of a gibibyte of zeroes in a megabyte or two; read block by block, or cut by the time limit.
#[tokio::test]
async fn a_bomb_is_listed_without_unpacking() {
    let world = World::new();
    let bytes: u64 = 256 * 1024 * 1024;
    let mut header = tar::Header::new_gnu();
    header.set_path("zeroes").unwrap();
    header.set_size(bytes);
    header.set_cksum();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(header.as_bytes()).unwrap();
    let block = vec![0; 1024 * 1024];
    (0..bytes / block.len() as u64).for_each(|_| encoder.write_all(&block).unwrap());
    encoder.write_all(&[0; 1024]).unwrap();
    let archive = encoder.finish().unwrap();
    assert!((archive.len() as u64) < bytes / 50);
    world.file("bomb.tgz", archive);
    let facts = world.facts("archive_list", json!({"archive": "bomb.tgz"})).await;
    assert!(facts["bytes"] == json!(bytes) || facts["complete"] == json!(false), "{facts}");
}
