//! Playbooks that change files: `manifest-create`, `manifest-verify`, `archive-directory`, `rename-files`.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::{Want, below, case, hold, is_file, odd_home, texts, worded};
use crate::support::{Home, shell, tree::tree};

#[test]
fn manifests() {
    let home = odd_home();
    for name in ["a", "sub/b c", "sub/.d"] {
        home.file(format!("dist/{name}"), name);
        home.file(format!("other/{name}"), name);
    }
    let files = below(&home, "odd dir").iter().filter(|(_, path)| is_file(path)).count();
    let three = || Want::Answer(vec![("/entries", json!(3)), ("/problems", json!([]))]);
    let first = [
        case("create a checksum manifest of ./dist in ./dist.sha256", three()),
        case("compute the hashes of all files in other and save them to ./sums.txt", three()),
        case("generate a manifest for 'odd dir'", Want::Answer(vec![("/entries", json!(files))])),
        case("write sha256 checksums of gone to ./x.sha256", Want::Refused("gone does not exist in ")),
        case(
            "generate a manifest for 'odd dir/empty'",
            Want::Gap("holds at least one file", vec![("/entries", json!(0))]),
        ),
    ];
    hold(&home, &first);
    // `sha256sum` accepts what the playbook writes.
    shell(&home.work().join("dist"), "sha256sum --quiet -c ../dist.sha256");
    let good =
        || Want::Answer(vec![("/entries", json!(3)), ("/matched", json!(3)), ("/problem_count", json!(0))]);
    let ways = [
        "verify {} against ./dist",
        "verify {} in ./dist",
        "check the files in ./dist against the manifest {}",
    ];
    let mut cases = worded(&ways, "dist.sha256", good);
    cases.extend(worded(&ways, "sums.txt", good));
    let sums = fs::read_to_string(home.work().join("dist.sha256")).unwrap();
    home.file("commented.sha256", format!("# the release of today\n{sums}"));
    cases.extend(worded(&ways, "commented.sha256", good));
    cases.push(case(
        "verify 'odd dir.sha256' against 'odd dir'",
        Want::Answer(vec![("/matched", json!(files))]),
    ));
    hold(&home, &cases);
    home.file("dist/a", "changed");
    fs::remove_file(home.work().join("dist/sub/b c")).unwrap();
    let problems = json!([{"path": "a", "what": "changed"}, {"path": "sub/b c", "what": "missing"}]);
    home.file(
        "crlf.sha256",
        fs::read_to_string(home.work().join("dist.sha256")).unwrap().replace('\n', "\r\n"),
    );
    let mut cases = Vec::new();
    for manifest in ["dist.sha256", "crlf.sha256"] {
        cases.extend(worded(&ways, manifest, || {
            let values =
                vec![("/problem_count", json!(2)), ("/matched", json!(1)), ("/problems", problems.clone())];
            Want::Gap("is there and unchanged", values)
        }));
    }
    home.file("no manifest.sha256", "hello\n");
    cases.push(case("verify 'no manifest.sha256' against dist", Want::Refused("")));
    cases.push(case("verify gone.sha256 against dist", Want::Refused("gone.sha256 does not exist in ")));
    // An existing manifest is not replaced without consent.
    cases.push(case("create a checksum manifest of ./dist in ./dist.sha256", Want::Consent));
    hold(&home, &cases);
}

#[test]
fn archives() {
    let home = odd_home();
    home.file("plain/a", "12345");
    home.file("plain/sub/b", "678");
    fs::hard_link(home.work().join("plain/a"), home.work().join("plain/again")).unwrap();
    let odd = below(&home, "odd dir");
    let bytes: u64 =
        odd.iter().filter(|(_, path)| is_file(path)).map(|(_, path)| fs::metadata(path).unwrap().len()).sum();
    let cases = [
        case(
            "archive 'odd dir' to ./odd.tar.gz",
            Want::Answer(vec![("/entries", json!(odd.len() + 1)), ("/bytes", json!(bytes))]),
        ),
        case(
            "create a tarball of ./plain named ./p.tgz",
            Want::Answer(vec![
                ("/entries", json!(5)),
                ("/bytes", json!(13)),
                ("/left_out", texts(&["2 files have several names, and were packed under each of them"])),
            ]),
        ),
        case(
            "compress plain into ./p.tar",
            Want::Answer(vec![("/entries", json!(5)), ("/bytes", json!(13))]),
        ),
        case(
            "archive 'odd dir/empty' to ./e.tar.gz",
            Want::Answer(vec![("/entries", json!(1)), ("/bytes", json!(0))]),
        ),
        case("archive plain to ./p.zip", Want::Refused(".tar.gz")),
        case("archive plain to ./p.tar.xz", Want::Refused(".tar.gz")),
        case("archive gone to ./g.tar.gz", Want::Refused("gone does not exist in ")),
        case("archive plain to ./p.tgz", Want::Consent),
    ];
    hold(&home, &cases);
    let out = home.work().join("out");
    fs::create_dir(&out).unwrap();
    shell(&out, "tar -xzf ../odd.tar.gz");
    shell(&home.work(), "diff -r --no-dereference 'odd dir' 'out/odd dir'");
    assert!(!home.work().join("g.tar.gz").exists() && !home.work().join("p.zip").exists());
}

#[test]
fn renamed_files() {
    let home = Home::new();
    // At this level a rename asks, which tells it from a preview.
    std::fs::write(home.config().join("setpoint.toml"), "[run]\nlevel = \"L0\"\n").unwrap();
    // An extension counts only at the end of a name.
    for name in
        ["IMG_1.jpeg", "IMG_2.jpeg", "IMG_3.jpeg.bak", "my.jpegs", ".jpeg", "other.txt", "sub/IMG_3.jpeg"]
    {
        home.file(format!("photos/{name}"), name);
    }
    home.file("packed/a.tar.gz", "");
    home.file("packed/b.tar.gz.sig", "");
    let at = |name: &str| {
        home.work().canonicalize().unwrap().join("photos").join(name).to_str().unwrap().to_owned()
    };
    let pairs = |from: &str, to: &str| {
        json!([
            {"from": at(&format!("IMG_1.{from}")), "to": at(&format!("IMG_1.{to}"))},
            {"from": at(&format!("IMG_2.{from}")), "to": at(&format!("IMG_2.{to}"))},
        ])
    };
    let mut cases = worded(
        &[
            "preview renaming .jpeg to .jpg in {}",
            "show me a preview of renaming .jpeg files to .jpg in {}",
            "dry run renaming .jpeg to .jpg in {}",
        ],
        "photos",
        || {
            Want::Answer(vec![
                ("/count", json!(2)),
                ("/renames", pairs("jpeg", "jpg")),
                ("/applied", json!(false)),
            ])
        },
    );
    cases.push(case(
        "preview renaming .png to .jpg in photos",
        Want::Gap("has .png in its name", vec![("/count", json!(0))]),
    ));
    // A goal that says rename renames, and asks first.
    for way in [
        "rename .jpeg files to .jpg in photos",
        "really rename .jpeg to .jpg in photos",
        "replace IMG_ with 'x' in the file names in photos",
        "replace 'IMG_' with \"\" in the file names in photos",
    ] {
        cases.push(case(way, Want::Consent));
    }
    cases.push(case(
        "rename .png files to .jpg in photos",
        Want::Gap("has .png in its name", vec![("/count", json!(0))]),
    ));
    // English words are not read as a part of a name, and a whole name is not replaced within longer ones.
    for way in [
        "rename files in photos to lowercase",
        "rename files to lowercase in photos",
        "rename all jpeg files to png in photos",
        "rename IMG_1.jpeg to a.jpeg in photos",
        "rename 'IMG_1.jpeg' to 'a.jpeg' in photos",
        "replace spaces with underscores in the file names in photos",
        "replace 'IMG' with nothing in the file names in photos",
    ] {
        cases.push(case(way, Want::Refused("no playbook")));
    }
    cases.push(case("preview renaming .tar.gz to .tgz in packed", Want::Answer(vec![("/count", json!(1))])));
    home.file("cased/x.jpeg", "");
    home.file("cased/y.JPEG", "");
    let said = texts(&["1 file has the text in its name with other capitals, and keeps it"]);
    let values = vec![("/count", json!(1)), ("/left_out", said)];
    cases.push(case("preview renaming .jpeg to .jpg in cased", Want::Answer(values)));
    // "In the file names" means anywhere in them, even for a text that looks like an extension.
    let anywhere = "preview renaming '.jpeg' to '.jpg' in the file names in photos";
    cases.push(case(anywhere, Want::Answer(vec![("/count", json!(5))])));
    for way in [
        "preview replacing '.jpeg' with '.jpg' in the file names in photos",
        "replace '.jpeg' with '.jpg' in the file names in photos but only show me",
        "change '.jpeg' to '.jpg' in the names of the files in photos, but only show me",
        "rename the files in photos, replacing '.jpeg' with '.jpg', but only show me",
    ] {
        let values = vec![("/applied", json!(false)), ("/entries_before", Value::Null)];
        cases.push(case(way, Want::Answer(values)));
    }
    cases.push(case("rename .jpeg to .jpg in gone", Want::Refused("gone does not exist in ")));
    let before = tree(&home.work());
    hold(&home, &cases);
    assert_eq!(tree(&home.work()), before, "nothing was renamed");

    let refused = home.run(&["run", "rename .jpeg files to .jpg in photos"]);
    let digest: BTreeSet<&str> = refused.out.split_whitespace().filter(|word| word.len() == 64).collect();
    let rules: String = digest.iter().map(|digest| format!("command {digest}\n")).collect();
    let file = home.file("approvals", rules);
    let came = home.run(&[
        "run",
        "--json",
        "--approve",
        file.to_str().unwrap(),
        "rename .jpeg files to .jpg in photos",
    ]);
    let output = &came.json()["output"];
    assert_eq!(
        (came.code, &output["renames"], &output["applied"]),
        (0, &pairs("jpeg", "jpg"), &json!(true)),
        "{came:#?}"
    );
    let names: BTreeSet<String> =
        below(&home, "photos").into_iter().map(|(told, _)| told).filter(|told| told.contains('.')).collect();
    let expected = [
        "photos/.jpeg",
        "photos/IMG_1.jpg",
        "photos/IMG_2.jpg",
        "photos/IMG_3.jpeg.bak",
        "photos/my.jpegs",
        "photos/other.txt",
        "photos/sub/IMG_3.jpeg",
    ];
    assert_eq!(names, expected.map(str::to_owned).into());
}

/// A manifest's lines about files elsewhere say nothing about the folder.
#[test]
fn manifests_that_lead_elsewhere() {
    let home = Home::new();
    let script = r#"
        mkdir rel && echo a > rel/a && echo b > rel/b && cp -r rel copy && echo tampered > copy/a
        (cd rel; sha256sum "$PWD/a") > abs.sha256
        (cd copy; sha256sum ../rel/a b x/../../rel/b 2> /dev/null) > up.sha256
        mkdir far && ln -s ../rel far/in && cp rel/b far/b && ln -s b far/c && (cd far; sha256sum in/a b c) > linked.sha256
        (cd rel; sha256sum ./a "$PWD/b"; cd ..; mkdir rel/x; cd rel; sha256sum x/../a) > own.sha256
    "#;
    shell(&home.work(), script);
    let said = || texts(&["1 path of the manifest leads out of the folder, and says nothing about it"]);
    let one =
        || Want::Gap("lies below ./copy", vec![("/outside", json!(1)), ("/left_out/0", said()[0].clone())]);
    let mut cases = worded(&["verify {} against ./copy"], "abs.sha256", one);
    cases.extend(worded(&["verify {} against ./copy"], "up.sha256", one));
    let said = json!("1 path of the manifest leads out of the folder by a link, and says nothing about it");
    let linked = vec![("/matched", json!(3)), ("/left_out/0", said)];
    cases.push(case("verify linked.sha256 against far", Want::Gap("everything could be read", linked)));
    let own = || Want::Answer(vec![("/entries", json!(3)), ("/outside", json!(0))]);
    cases.extend(worded(&["verify {} against ./rel", "verify {} against ./copy/../rel"], "own.sha256", own));
    hold(&home, &cases);
}

/// A file named for MD5 is not filled with SHA-256, and BLAKE2 is not mistaken for SHA-512.
#[test]
fn manifests_of_other_sums() {
    let home = Home::new();
    home.file("simple/a", "a");
    let script = r"
        cd simple && b2sum a > ../b2sums.txt && md5sum a > ../md5sums.txt && sha1sum a > ../SHA1SUMS
        b2sum --tag a > ../tagged.txt && sha512sum a > ../a.sha512
        mkdir ../tags && cd ../tags && printf a > a && printf b > 'b\c' && sha512sum --tag a 'b\c' > ../bsd.sha512 && sha256sum --tag a 'b\c' > ../bsd.sha256
    ";
    shell(&home.work(), script);
    let mut cases = Vec::new();
    for name in ["m3.sha512", "self.md5", "md5sums.txt", "x.b2", "x.sha1.txt"] {
        let goal = format!("create a manifest of ./simple in {name}");
        cases.push(case(goal, Want::Refused("end the name in .sha256")));
    }
    for (name, said) in [
        ("b2sums.txt", "BLAKE2 sums are not verified here"),
        ("md5sums.txt", "MD5 sums are not verified here"),
        ("SHA1SUMS", "SHA-1 sums are not verified here"),
    ] {
        cases.push(case(format!("verify the manifest {name} against ./simple"), Want::Refused(said)));
    }
    cases
        .push(case("verify the manifest tagged.txt against ./simple", Want::Unmet("has at least one entry")));
    cases.push(case("verify a.sha512 against ./simple", Want::Answer(vec![("/matched", json!(1))])));
    for name in ["bsd.sha512", "bsd.sha256"] {
        let goal = format!("verify {name} against ./tags");
        cases.push(case(goal, Want::Answer(vec![("/matched", json!(2))])));
    }
    for name in ["b2-backup.sha256", "md5.sha256", "sums.txt"] {
        let goal = format!("create a manifest of ./simple in {name}");
        cases.push(case(goal, Want::Answer(vec![("/entries", json!(1))])));
    }
    // The sums must be of the algorithm that the goal names.
    shell(
        &home.work(),
        "sha512sum simple/* > std.sha512; sha256sum simple/* > std.sha256; sha512sum --tag simple/* > tag.sha512",
    );
    for (kind, manifest, is_so) in [
        ("sha512", "std.sha512", true),
        ("sha512", "tag.sha512", true),
        ("sha-256", "std.sha256", true),
        ("sha256", "std.sha512", false),
        ("sha256", "tag.sha512", false),
        ("SHA512", "std.sha256", false),
    ] {
        let other = "no sums of another algorithm than the goal names";
        let want = if is_so { Want::Answer(vec![]) } else { Want::Gap(other, vec![]) };
        cases.push(case(format!("verify the {kind} manifest {manifest} against ."), want));
    }
    // Usual names of manifests.
    shell(
        &home.work(),
        "mkdir named && cd named && echo a > a && sha256sum a > SHA256SUMS && sha512sum a > x.sha512",
    );
    for name in ["SHASUMS256.txt", "CHECKSUM", "sha256sum.txt", "CHECKSUMS"] {
        shell(&home.work(), &format!("cp named/SHA256SUMS named/{name}"));
    }
    for name in ["SHASUMS256.txt", "SHA256SUMS", "CHECKSUM", "x.sha512", "sha256sum.txt", "CHECKSUMS"] {
        let goal = format!("verify named/{name}");
        cases.push(case(goal, Want::Answer(vec![("/matched", json!(1))])));
    }
    hold(&home, &cases);
    assert!(!home.work().join("self.md5").exists() && !home.work().join("m3.sha512").exists());
}

/// A manifest leaves out itself, but lists other files that have the same name.
#[test]
fn manifests_among_their_files() {
    let home = Home::new();
    for name in ["a", "sub/m.sha256", "m.sha256.old", "sub/m[1].sha256"] {
        home.file(format!("dist/{name}"), name);
    }
    home.file("dist/longer.sha256", format!("{}\n", "0".repeat(64) + "  gone").repeat(20));
    let cases = [
        case("create a manifest of ./dist in dist/m.sha256", Want::Answer(vec![("/entries", json!(5))])),
        case("create a manifest of ./dist in 'dist/m[1].sha256'", Want::Answer(vec![("/entries", json!(6))])),
        case("create a manifest of ./dist in ./longer.sha256", Want::Answer(vec![("/entries", json!(7))])),
    ];
    hold(&home, &cases);
}

/// If every listed file is missing, the answer says that the folder can be named; files that the manifest does not list are counted.
#[test]
fn manifests_of_another_folder() {
    let home = Home::new();
    home.file("dist/a", "a");
    home.file("dist/sub/b", "b");
    shell(&home.work(), "cd dist && sha256sum a sub/b > ../dist.sha256; sha256sum a ./a > some.sha256");
    let work = home.work().canonicalize().unwrap();
    let nothing = format!(
        "none of the listed files is below {}: name the folder that the paths are relative to (`verify MANIFEST \
         against ./FOLDER`)",
        work.display()
    );
    let cases = [
        case(
            "verify dist.sha256",
            Want::Gap(
                "is there and unchanged",
                vec![("/left_out", json!(["3 files in the folder are not listed in the manifest", nothing]))],
            ),
        ),
        case(
            "verify dist/some.sha256",
            Want::Answer(vec![
                ("/matched", json!(2)),
                ("/left_out", texts(&["1 file in the folder is not listed in the manifest"])),
            ]),
        ),
        case("verify dist.sha256 against ./dist", Want::Answer(vec![("/matched", json!(2))])),
    ];
    hold(&home, &cases);
}

/// The earliest time that tar can store is 1970, and a named link means its target.
#[test]
fn archives_of_odd_folders() {
    let home = Home::new();
    home.file("plain/a", "12345");
    home.file("plain/old", "678");
    std::os::unix::fs::symlink("plain", home.work().join("edl")).unwrap();
    let values = || vec![("/entries", json!(3)), ("/bytes", json!(8))];
    hold(&home, &[case("archive ./edl to ./edl.tar.gz", Want::Answer(values()))]);
    shell(&home.work(), "touch -d 1969-01-01 plain/old plain/a && touch -h -d 1950-05-05 plain");
    let told = "3 files or folders are older than 1970, and were packed with the time of its beginning";
    let mut old = values();
    old.push(("/left_out", texts(&[told])));
    let cases = [
        case("archive ./plain to ./plain.tar.gz", Want::Answer(old)),
        case("zip up ./plain", Want::Refused("archive-directory is close, for example: ")),
    ];
    hold(&home, &cases);
    assert_eq!(shell(&home.work(), "tar -tvf plain.tar.gz 2>&1 | grep -c 1970-01-01").trim(), "3");
}

/// Text in quotes is taken literally, and an existing name is named in the answer.
#[test]
fn renames_to_the_letter() {
    let home = Home::new();
    for name in [
        "stars/ab",
        "stars/b",
        "stars/*b",
        "stars/5*",
        "stars/5 a",
        "cf/a.txt",
        "cf/a.md",
        "cf/b.txt",
        "cf/d.txt",
    ] {
        home.file(name, name);
    }
    fs::create_dir(home.work().join("cf/d.md")).unwrap();
    home.file("twice/x-", "");
    home.file("twice/x", "");
    home.file("twice/-x", "");
    let work = home.work().canonicalize().unwrap();
    let at = |name: &str| work.join(name).to_str().unwrap().to_owned();
    let pair = |from: &str, to: &str| json!({"from": at(from), "to": at(to)});
    let listed = |pairs: Vec<Value>| vec![("/count", json!(pairs.len())), ("/renames", json!(pairs))];
    let mut cases = Vec::new();
    for (goal, pairs) in [
        ("preview replacing \"*b\" with \"c\" in the file names in stars", vec![pair("stars/*b", "stars/c")]),
        (
            "preview replacing \"5*\" with \"five\" in the file names in stars",
            vec![pair("stars/5*", "stars/five")],
        ),
        (
            "preview replacing \" \" with \"*\" in the file names in stars",
            vec![pair("stars/5 a", "stars/5*a")],
        ),
        (
            "preview replacing \"*\" with \"_\" in the file names in stars",
            vec![pair("stars/*b", "stars/_b"), pair("stars/5*", "stars/5_")],
        ),
    ] {
        cases.push(case(goal, Want::Answer(listed(pairs))));
    }
    cases.push(case(
        "preview renaming *.txt to *.htm in cf",
        Want::Answer(listed(
            ["a", "b", "d"].map(|name| pair(&format!("cf/{name}.txt"), &format!("cf/{name}.htm"))).into(),
        )),
    ));
    cases.push(case(
        "preview replacing \"\" with \"_\" in the file names in stars",
        Want::Refused("it is empty"),
    ));
    let mut taken = listed(vec![pair("cf/b.txt", "cf/b.md")]);
    let first = format!(
        "2 files cannot get their new names (the first: {} to a.md: something has this name already)",
        at("cf/a.txt")
    );
    taken.extend([("/conflict_count", json!(2)), ("/left_out", json!([first]))]);
    cases.push(case("preview renaming .txt to .md in cf", Want::Gap("every new name in cf is free", taken)));
    let values = vec![("/count", json!(0)), ("/conflict_count", json!(2))];
    let goal = "preview replacing '-' with '' in the file names in twice";
    cases.push(case(goal, Want::Gap("every new name in twice is free", values)));
    hold(&home, &cases);
}

/// A list that is too long for an answer is shortened, and the answer says so.
#[test]
fn renames_of_many() {
    let home = Home::new();
    let (many, long) = (1_500, 300);
    for n in 0..many {
        home.file(format!("many/f{n}.txt"), "");
    }
    for n in 0..long {
        home.file(format!("long/{n:03}{}.txt", "x".repeat(240)), "");
    }
    let cases = [
        case(
            "preview renaming .txt to .md in many",
            Want::Answer(vec![
                ("/count", json!(many)),
                ("/left_out", texts(&["200 of 1500 renames are listed"])),
                ("/renames/199/from", json!(home.work().canonicalize().unwrap().join("many/f1177.txt"))),
                ("/renames/200", Value::Null),
            ]),
        ),
        case(
            "preview renaming .txt to .md in long",
            Want::Answer(vec![
                ("/count", json!(long)),
                ("/complete", json!(true)),
                ("/renames/199", Value::Null),
            ]),
        ),
    ];
    hold(&home, &cases);
    // Renaming the target breaks a link; a link that was broken before is not counted.
    std::os::unix::fs::symlink("f1.txt", home.work().join("many/current.md")).unwrap();
    std::os::unix::fs::symlink("f1", home.work().join("many/old.md")).unwrap();
    let rules = home.file("approvals", "path many/**\n");
    let folder = home.work().canonicalize().unwrap().join("many");
    let [link, name] = ["current.md", "f1.txt"].map(|name| folder.join(name).display().to_string());
    let left = format!("1 symbolic link leads to a file by its old name ({link} to {name})");
    let came = home.run(&[
        "run",
        "--json",
        "--approve",
        rules.to_str().unwrap(),
        "rename .txt files to .md in many",
    ]);
    let output = &came.json()["output"];
    assert_eq!(
        (came.code, &output["count"], &output["left_out"]),
        (3, &json!(many), &texts(&[&left, "200 of 1500 renames are listed"])),
        "{came:#?}"
    );
    assert!(below(&home, "many").iter().all(|(told, _)| told.ends_with(".md")));
}
