//! `csv-summary` and `json-summary`: real-life tables.

use serde_json::{Value, json};

use super::{Want, case, hold, texts, worded};
use crate::support::{Came, Home};

const SUMMARISE: &[&str] = &["summarise {}", "describe {}", "give me an overview of {}"];

type Figures<'a> = (&'a str, &'a str, u64, u64, Value, Value, Value, u64);

fn columns(figures: &[Figures<'_>]) -> Value {
    let column = |(name, kind, empty, distinct, min, max, mean, numbers): &Figures<'_>| json!({"name": name, "type": kind, "empty": empty, "distinct": distinct, "min": min, "max": max, "mean": mean, "numbers": numbers});
    figures.iter().map(column).collect()
}

#[test]
fn tables() {
    let home = Home::new();
    let no = Value::Null;
    let n = |number: f64| json!(number);
    let plain = columns(&[
        ("id", "integer", 0, 3, json!(1), json!(3), n(2.0), 3),
        ("name", "text", 0, 3, no.clone(), no.clone(), no.clone(), 0),
        ("v", "number", 1, 2, n(1.5), n(2.5), n(2.0), 2),
        ("when", "date", 0, 2, json!("2026-01-02"), json!("2026-02-01"), no.clone(), 0),
    ]);
    let content = "id,name,v,when\n1,ann,1.5,2026-01-02\n2,bob,2.5,2026-02-01\n3,\"c, d\",,2026-02-01\n";
    home.file("plain.csv", content);
    home.file("crlf.csv", content.replace('\n', "\r\n"));
    home.file("bom.csv", format!("\u{feff}{content}"));
    home.file("semi.csv", content.replace("\"c, d\"", "c d").replace(',', ";"));
    home.file("no end.csv", content.trim_end());
    let mut cases = Vec::new();
    for (file, separator) in
        [("plain.csv", ","), ("crlf.csv", ","), ("bom.csv", ","), ("semi.csv", ";"), ("'no end.csv'", ",")]
    {
        cases.extend(worded(SUMMARISE, file, || {
            Want::Answer(vec![
                ("/rows", json!(3)),
                ("/column_count", json!(4)),
                ("/columns", plain.clone()),
                ("/separator", json!(separator)),
                ("/complete", json!(true)),
            ])
        }));
    }
    home.file("quoted.csv", "a,\"b \"\"c\"\"\"\n\"x\ny\",1\n\"\",2\n\"q\"\"\",\"3\"\n");
    cases.push(case(
        "summarise quoted.csv",
        Want::Answer(vec![
            ("/rows", json!(3)),
            (
                "/columns",
                columns(&[
                    ("a", "text", 1, 2, no.clone(), no.clone(), no, 0),
                    ("b \"c\"", "integer", 0, 3, json!(1), json!(3), n(2.0), 3),
                ]),
            ),
        ]),
    ));
    home.file("tabs.tsv", "a\tb\n1\tx,y\n");
    let values = vec![("/rows", json!(1)), ("/separator", json!("\t")), ("/columns/1/name", json!("b"))];
    cases.push(case("summarise tabs.tsv", Want::Answer(values)));
    home.file("only head.csv", "a,b\n");
    let values = vec![("/rows", json!(0)), ("/columns/0/type", json!("empty"))];
    cases.push(case("summarise 'only head.csv'", Want::Answer(values)));
    // Numbers in a text column are counted as numbers.
    home.file("mixed.csv", "price\n1\n2\nn/a\n\"1,000\"\n");
    let values = vec![("/columns/0/type", json!("text")), ("/columns/0/numbers", json!(2))];
    cases.push(case("summarise mixed.csv", Want::Answer(values)));
    home.file("ragged.csv", "a,b,c\n1,2\n1,2,3\n1,2,3,4\n");
    cases.extend(worded(SUMMARISE, "ragged.csv", || {
        let said = texts(&[
            "2 rows have more or fewer values than there are columns",
            "the first row with another number of values is row 1, the names not counted",
        ]);
        Want::Gap("as many values as there are columns", vec![("/ragged", json!(2)), ("/left_out", said)])
    }));
    home.file("headless.csv", "1,2\n3,4\n");
    cases.push(case(
        "summarise headless.csv",
        Want::Gap("the first row holds names", vec![("/rows", json!(1))]),
    ));
    let wide: Vec<String> = (0..3_000).map(|n| format!("c{n}")).collect();
    home.file("wide.csv", format!("{}\n{}\n", wide.join(","), vec!["1"; 3_000].join(",")));
    cases.push(case(
        "summarise wide.csv",
        Want::Answer(vec![
            ("/column_count", json!(3_000)),
            ("/columns/249/name", json!("c249")),
            ("/left_out", texts(&["250 of 3000 columns are listed"])),
        ]),
    ));
    // Dates whose order differs from that of their texts, ids beyond exact arithmetic, an unclosed quote, and
    // the line with which spreadsheets name the separator.
    home.file(
        "times.csv",
        "t,u\n2026-01-01T08:00:00,2026-01-01T10:00:00+05:00\n2026-01-01 09:00:00,2026-01-01T06:00:00+00:00\n",
    );
    let no = Value::Null;
    let times = columns(&[
        ("t", "date", 0, 2, no.clone(), no.clone(), no.clone(), 0),
        ("u", "date", 0, 2, no.clone(), no.clone(), no.clone(), 0),
    ]);
    cases.push(case("summarise times.csv", Want::Answer(vec![("/columns", times)])));
    home.file("leap.csv", "day,not\n2024-02-29,2023-02-29\n2000-02-29,1900-02-29\n");
    let days = columns(&[
        ("day", "date", 0, 2, json!("2000-02-29"), json!("2024-02-29"), no.clone(), 0),
        ("not", "text", 0, 2, no.clone(), no.clone(), no.clone(), 0),
    ]);
    cases.push(case("summarise leap.csv", Want::Answer(vec![("/columns", days)])));
    home.file("ids.csv", "id\n1234567890123456789\n1234567890123456790\n");
    let ids = columns(&[("id", "text", 0, 2, no.clone(), no.clone(), no, 0)]);
    cases.push(case("summarise ids.csv", Want::Answer(vec![("/columns", ids)])));
    let separable = "one character alone can separate the values";
    let said = |rival: &str| {
        let commas = [
            "1 column holds figures in a form that is not read as numbers or dates, and was taken for text (price, eur: 1,5)",
        ];
        let commas = if rival == "," { commas.as_slice() } else { &[] };
        let rival = format!("“{rival}” could separate the values as well");
        texts(&[commas, &[rival.as_str()]].concat())
    };
    home.file("german.csv", "Datum;Netto, EUR;Brutto, EUR\n01.02.2026;1,50;2,75\n02.02.2026;3,25;4,00\n");
    let values = vec![("/column_count", json!(3)), ("/separator", json!(";"))];
    cases.push(case("summarise german.csv", Want::Gap(separable, values)));
    home.file("price.csv", "name;price, eur\nx;1,5\n");
    cases.push(case("summarise price.csv", Want::Gap(separable, vec![("/left_out", said(","))])));
    // A title that contains the separator of the values, and characters that separate the values of some
    // tables only.
    for (file, rival, content) in [
        ("users.csv", ":", "user:uid:shell\nroot:0:/bin/sh\nada:1000:/bin/zsh\n"),
        ("widths.csv", " ", "name    age\nAda      36\nGrace   107\n"),
    ] {
        home.file(file, content);
        let said = vec![("/left_out", said(rival))];
        cases.push(case(format!("summarise {file}"), Want::Gap(separable, said)));
    }
    home.file("tags.csv", "id,tags;x,y\n1,p;q\n");
    let values = vec![("/left_out", texts(&["“,” could separate the values as well"]))];
    cases.push(case("summarise tags.csv", Want::Gap(separable, values)));
    home.file("title.csv", "Stand: 1.1.2026, Quelle: X\nid;1,n\n1;2,5\n");
    let values = vec![("/left_out/2", json!("“;” could separate the values as well"))];
    cases.push(case("summarise title.csv", Want::Gap(separable, values)));
    // A list within a column, and a column of two words each, are not split; a title above the names is
    // recognised by the numbers below them.
    home.file("skills.csv", "id,skills\n1,python;sql\n2,go;rust\n");
    cases.push(case("summarise skills.csv", Want::Answer(vec![("/column_count", json!(2))])));
    home.file("names.csv", "full name\nAda Lovelace\nGrace Hopper\n");
    cases.push(case("summarise names.csv", Want::Answer(vec![("/column_count", json!(1))])));
    home.file("pandas.csv", ",0,1,2\n0,1.5,2,x\n1,2.5,3,y\n");
    cases.push(case("summarise pandas.csv", Want::Answer(vec![("/column_count", json!(4))])));
    home.file("euro.csv", "name;price\nx;1,5\ny;2,25\n");
    let told = "1 column holds figures in a form that is not read as numbers or dates, and was taken for text (price: 1,5)";
    let values = vec![("/left_out", texts(&[told]))];
    cases.push(case("summarise euro.csv", Want::Answer(values.clone())));
    // `NA` and the like count as values; the answer says why such a column is text.
    home.file("missing.csv", "id,a,b,c\n1,NA,x,7\n2,2.5,NA,NULL\n3,3,n/a,-\n4,nan,y,8\n");
    let told = "2 columns hold numbers beside other values, and were taken for texts (a: NA, c: NULL)";
    let missing = vec![
        ("/columns/1/type", json!("text")),
        ("/columns/1/empty", json!(0)),
        ("/columns/1/numbers", json!(2)),
        ("/left_out", texts(&[told])),
    ];
    cases.push(case("summarise missing.csv", Want::Answer(missing)));
    home.file("one missing.csv", "name;price\nx;1,5\ny;N/A\n");
    cases.push(case("summarise 'one missing.csv'", Want::Answer(values)));
    home.file("no numbers.csv", "grade\nNA\nA\nnull\n-\n");
    cases.push(case("summarise 'no numbers.csv'", Want::Answer(vec![("/left_out", Value::Null)])));
    let long = "How much do you agree? ".repeat(15);
    home.file("survey.csv", format!("id,{long}\n1,\u{a0}\n2,5\n"));
    let values = vec![("/columns/1/name", json!(long)), ("/columns/1/empty", json!(0))];
    cases.push(case("summarise survey.csv", Want::Answer(values)));
    home.file("inches.csv", "id\tname\n1\t\"a\n2\t\"b\n3\tc\n");
    let values = vec![("/irregular_quotes", json!(2))];
    cases.push(case("summarise inches.csv", Want::Gap("every quote is closed where its value ends", values)));
    home.file("far.csv", "id,v\n1,9007199254740993.0\n");
    cases.push(case("summarise far.csv", Want::Answer(vec![("/columns/1/type", json!("text"))])));
    // Thousands as many Europeans write them; a title, a table of Markdown; years as column names and years
    // as values.
    home.file("thousands.csv", "Artikel;Preis;Umsatz\nA;1,50;1.500\nB;2,75;12.750\nC;0,99;999\n");
    let said = texts(&[
        "1 column holds figures in a form that is not read as numbers or dates, and was taken for text (Preis: 1,50)",
        "a point may separate thousands instead of a fraction",
    ]);
    cases.push(case("summarise thousands.csv", Want::Gap("separate thousands", vec![("/left_out", said)])));
    // A single column, tabs and commas say no more about it than semicolons do.
    for (file, content) in [
        ("towns.csv", "city,population\nA,1.234\nB,12.500\nC,500\n"),
        ("one.csv", "price\n1.234\n2.500\n12.000\n"),
        ("one.tsv", "id\tprice\na\t1.234\nb\t2.500\nc\t12.000\n"),
    ] {
        home.file(file, content);
        let goal = format!("summarise {file}");
        cases.push(case(&goal, Want::Gap("separate thousands", vec![])));
    }
    for (file, content) in
        [("fractions.csv", "a;b\n0.125;1.5\n1.500;2.25\n"), ("points.csv", "a,b\n1.125,0.5\n1.500,2.25\n")]
    {
        home.file(file, content);
        let values = vec![("/columns/0/max", json!(1.5))];
        cases.push(case(format!("summarise {file}"), Want::Answer(values)));
    }
    for (file, content) in [
        (
            "account.csv",
            "Kontoauszug;;;\nKonto;DE12;;\nDatum;Text;Betrag;Saldo\n01.01.2026;Miete;-500,00;1,00\n",
        ),
        ("mark.csv", "| a | b |\n|---|---|\n| 1 | 2 |\n"),
        ("born.csv", "Ada,1999\nBob,2001\n"),
        ("dated.csv", "2026-01-01,Ann\n2026-01-02,Bob\n"),
        ("mails.csv", "ann@x.org,Ann\nbob@x.org,Bob\n"),
        ("report.csv", "Report,\nid,name\n1,Ann\n"),
        ("year.csv", "Sales,2026\nid,amt\n1,2\n3,4\n"),
        ("ruled.csv", "id|name\n---|---\n1|Ann\n"),
        ("joined.csv", "name,city\nAnn,Paris\nName,City\nBob,Rome\n"),
        ("customers.csv", "Customer list, exported\nname,city\nAnn,Paris\n"),
        ("comment.csv", "# exported by Ann\nid,n\n1,2\n"),
        ("noted.csv", "# all of them, 2026\nAnn,Paris\nBob,Rome\n"),
        ("dates.csv", "2026-01-01,2026-01-02\n2026-01-03,2026-01-04\n"),
        ("gap.csv", "a,,\n1,,x\n2,,y\n"),
        ("units.csv", "name,weight,height\n,kg,cm\nAnn,60,170\nBob,80,NA\n"),
        ("signs.csv", "price,share\n€,%\n1,2\n3,4\n"),
    ] {
        home.file(file, content);
        cases.push(case(format!("summarise {file}"), Want::Gap("the first row holds names", vec![])));
    }
    home.file("years.csv", "region,2024,2025\nnorth,10,20\nsouth,30,40\n");
    cases.push(case("summarise years.csv", Want::Answer(vec![("/columns/1/max", json!(30))])));
    for (file, content) in [
        ("none.csv", ""),
        ("tabs none.tsv", ""),
        ("number.csv", "#,name\n1,Ann\n2,Bob\n"),
        ("hash.csv", "#id,name\n1,Ann\n2,Bob\n"),
        ("led hash.csv", "# id,name\n1,Ann\n2,Bob\n"),
        ("days.csv", "city,2020-01-01,2020-02-01\nParis,1,2.5\nRome,3,NA\n"),
        ("trailing.csv", "name,n,\nAnn,1,\nBob,2,\n"),
        ("trailing two.csv", ",name,,\n0,Ann,,\n1,Bob,,\n"),
        ("alike.csv", "name\nAnn\nname\n"),
        ("led.csv", "full name, city\nAnn, Paris\nBob, Rome\n"),
        ("short.csv", "first, last\nAnn,Smith\n"),
        ("absent.csv", "name,score,note\nAnn,absent,\nBob,3,x\nCleo,4,\n"),
    ] {
        home.file(file, content);
        cases.push(case(format!("summarise '{file}'"), Want::Answer(vec![])));
    }
    home.file("index.csv", ",v\n0,1\n1,2\n");
    cases.push(case("summarise index.csv", Want::Answer(vec![("/rows", json!(2))])));
    home.file("latin.csv", b"name,st\xe4dt\nx,K\xf6ln\ny,K\xe4ln\n");
    let said = texts(&["3 values are not UTF-8, so that letters of them are shown as \u{fffd}"]);
    let values = vec![("/columns/1/distinct", json!(2)), ("/left_out", said)];
    cases.push(case("summarise latin.csv", Want::Answer(values)));
    home.file("head.csv", "\"name, first\";price;qty\n\"a\";1;2\n\"b\";3;4\n");
    let values = vec![("/column_count", json!(3)), ("/columns/0/name", json!("name, first"))];
    cases.push(case("summarise head.csv", Want::Answer(values)));
    home.file("codes.csv", "code\n01067\n10115\n");
    cases.push(case("summarise codes.csv", Want::Answer(vec![("/columns/0/type", json!("text"))])));
    home.file("open.csv", "id,v\n1,\"a\n2,b\n3,c\n");
    let said = texts(&["a quote is never closed, so the end of the file was taken for one value"]);
    cases.push(case("summarise open.csv", Want::Gap("every quote is closed", vec![("/left_out", said)])));
    home.file("sep.csv", "sep=;\na;b\n1;2\n");
    cases.push(case("summarise sep.csv", Want::Gap("the first row holds names", vec![])));
    let utf16: Vec<u8> = "a,b\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    home.file("utf16.csv", utf16);
    cases.push(case("summarise utf16.csv", Want::Refused("it is no text")));
    cases.push(case("summarise nope.csv", Want::Refused("nope.csv does not exist in ")));
    std::fs::create_dir(home.work().join("dir.csv")).unwrap();
    cases.push(case("summarise dir.csv", Want::Refused("dir.csv is a directory, not a file")));
    hold(&home, &cases);
}

#[test]
fn json_files() {
    let home = Home::new();
    let mut cases = Vec::new();
    for (name, content, kind, length, depth, keys) in [
        (
            "object.json",
            r#"{"b": 1, "a": {"x": [1, {"y": 2}]}, "é\"\u0041": null}"#,
            "object",
            json!(3),
            4,
            vec!["b", "a", "é\"A"],
        ),
        ("array.json", r#"[{"b": 1}, {"a": {"c": 1}, "b": 2}, 3]"#, "array", json!(3), 3, vec!["b", "a"]),
        ("empty.json", "{}", "object", json!(0), 0, vec![]),
        ("text.json", " \"a: {b}\" ", "string", Value::Null, 0, vec![]),
        ("number.json", "-12.5e3", "number", Value::Null, 0, vec![]),
        ("null.json", "null\n", "null", Value::Null, 0, vec![]),
        ("true.json", "true", "boolean", Value::Null, 0, vec![]),
        ("false.json", " false\n", "boolean", Value::Null, 0, vec![]),
        ("tricky.json", r#"{"k:{": "},[\\", "[": ["\"", {}]}"#, "object", json!(2), 2, vec!["k:{", "["]),
    ] {
        home.file(name, content);
        cases.extend(worded(
            &["summarise {}", "describe the structure of {}", "what keys are in {}?"],
            name,
            || {
                Want::Answer(vec![
                    ("/type", json!(kind)),
                    ("/length", length.clone()),
                    ("/depth", json!(depth)),
                    ("/keys", json!(keys)),
                ])
            },
        ));
    }
    home.file("lines.jsonl", "{\"b\": 1, \"a\": 2}\n\n{\"c\": \"x\"}\r\n[1]\nnull\n");
    cases.extend(worded(&["summarise {}", "give me an overview of {}"], "lines.jsonl", || {
        Want::Answer(vec![("/rows", json!(4)), ("/malformed", json!(0)), ("/keys", texts(&["a", "b", "c"]))])
    }));
    for (name, content, said) in [
        ("mixed.jsonl", "{\"a\":1}\n[1]\n5\n", texts(&["2 of the rows are not objects"])),
        ("mixed.json", "[{\"a\": true}, null, {\"b\": false}]", texts(&["1 of the rows is not an object"])),
        ("texts.json", "[\"a\", null, true]", Value::Null),
        ("inner.json", "{\"a\": [{}, 1]}", Value::Null),
    ] {
        home.file(name, content);
        cases.push(case(format!("summarise {name}"), Want::Answer(vec![("/left_out", said)])));
    }
    home.file("broken.jsonl", "{\"a\": 1}\n{oops\n\"x\" 2\n{\"b\": 1}\n");
    let values = vec![("/rows", json!(2)), ("/left_out", texts(&["2 lines could not be understood"]))];
    cases.push(case("summarise broken.jsonl", Want::Gap("everything could be read", values)));
    home.file("bom.json", "\u{feff}{\"a\": 1}");
    let values = vec![("/keys", texts(&["a"])), ("/key_count", json!(1))];
    cases.push(case("summarise bom.json", Want::Answer(values)));
    home.file("twice.json", "{\"a\": 1, \"b\": 2, \"a\": 3}");
    let said = texts(&["1 key is given more than once"]);
    cases.push(case("summarise twice.json", Want::Gap("given twice", vec![("/left_out", said)])));
    // A key given twice at any depth, and in the object of a line.
    for (name, content, said) in [
        ("deep twice.json", r#"[{"a": 1}, {"b": {"c": 1, "\u0063": 2}}]"#, [].as_slice()),
        ("twice.jsonl", "{\"a\": 1, \"a\": 2}\n{\"b\": 1}\n", &[]),
        ("deep twice.jsonl", "{\"a\": 1}\n[{\"b\": 1, \"b\": 2}]\n", &["1 of the rows is not an object"]),
    ] {
        home.file(name, content);
        let said = texts(&[said, &["1 key is given more than once"]].concat());
        cases.push(case(format!("summarise '{name}'"), Want::Gap("given twice", vec![("/left_out", said)])));
    }
    // Lines of JSON in a file with the extension `.json`: one value per line, nothing else.
    let lines = "\u{feff}{\"b\": {\"x\": 1}, \"a\": \"}\"}\n\n[{\"c\": 2}]\r\n{\"é\\u0041\": 3}";
    home.file("lines.json", lines);
    cases.extend(worded(&["summarise {}", "what keys are in {}?"], "lines.json", || {
        Want::Answer(vec![
            ("/kind", json!("jsonl")),
            ("/length", json!(3)),
            ("/keys", texts(&["a", "b", "éA"])),
            ("/key_count", json!(3)),
        ])
    }));
    for way in ["summarise the jsonl file {}", "describe the json lines file {}"] {
        cases.push(case(way.replace("{}", "lines.json"), Want::Answer(vec![("/rows", json!(3))])));
    }
    for (name, content) in
        [("numbers.json", "1\n2\n"), ("half.json", "{}\n{\n"), ("parts.json", "{\n\"a\": 1\n}\n{\n}\n")]
    {
        home.file(name, content);
        cases.push(case(format!("summarise {name}"), Want::Refused("it is no JSON")));
    }
    let many: Vec<String> = (0..1_500).map(|n| format!("\"k{n}\": {n}")).collect();
    home.file("many.json", format!("{{{}}}", many.join(", ")));
    let said = texts(&["200 of 1500 keys are listed"]);
    cases.push(case(
        "summarise many.json",
        Want::Answer(vec![("/key_count", json!(1_500)), ("/left_out", said)]),
    ));
    // What this reader rejects need not be invalid.
    home.file("far.json", "{\"a\": 1e400}");
    cases.push(case("summarise far.json", Want::Refused("a number in it is beyond 1.8e308")));
    home.file("deep.json", format!("{}{}", "[".repeat(300), "]".repeat(300)));
    cases.push(case("summarise deep.json", Want::Refused("it is nested more than 127 levels deep")));
    home.file("bad.json", "{\"a\": 1,}");
    cases.push(case("summarise bad.json", Want::Refused("it is no JSON")));
    home.file("two.json", "{} {}");
    cases.push(case("summarise two.json", Want::Refused("it is no JSON")));
    cases.push(case("summarise nope.json", Want::Refused("nope.json does not exist in ")));
    hold(&home, &cases);
}

/// Numbers are read from stderr, where bash warns of a locale that came with the connection and is not
/// installed here.
#[test]
fn a_locale_that_is_not_installed_changes_nothing() {
    let home = Home::new();
    home.file("a.csv", "a,b\n1,2\n");
    let came = Came::of(home.command(&["run", "--json", "summarise a.csv"]).env("LC_ALL", "xx_XX.UTF-8"));
    assert_eq!(came.code, 0, "{came:#?}");
}
