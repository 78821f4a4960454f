//! What is found in a text, and what is left unchanged.

use serde_json::json;

use super::*;

/// Holds characters that every encoding changes.
const SECRET: &str = "sk-a\"b\\c d+e/f=ü9";

fn scrubbed(line: &str) -> String {
    Scrub::of(&[SecretString::from(SECRET)]).text(line.to_owned())
}

#[test]
fn secret_is_found_unencoded() {
    assert_eq!(scrubbed(&format!("Bearer {SECRET}.")), "Bearer {secret}.");
}

#[test]
fn keys_in_a_text_are_named_also_after_they_were_replaced() {
    let keys = Scrub::named(&[
        ("ONE".to_owned(), SECRET.into()),
        ("TWO".to_owned(), "another-key".into()),
        ("X".to_owned(), "not-there".into()),
    ]);
    let names = keys.names_in(&format!("{SECRET} and [key TWO] and [key THREE]"));
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["ONE", "TWO"]);
    let unnamed = Scrub::of(&[SecretString::from(SECRET)]).names_in(SECRET);
    assert_eq!(unnamed.into_iter().collect::<Vec<_>>(), [MARK]);
}

#[test]
fn secret_is_found_escaped_for_json_and_nested_json() {
    let once = serde_json::to_string(SECRET).unwrap();
    let twice = serde_json::to_string(&once).unwrap();
    let thrice = serde_json::to_string(&twice).unwrap();
    assert_eq!(scrubbed(&once), r#""{secret}""#);
    assert_eq!(scrubbed(&twice), r#""\"{secret}\"""#);
    assert_eq!(scrubbed(&thrice), r#""\"\\\"{secret}\\\"\"""#);
}

#[test]
fn secret_is_found_percent_encoded() {
    assert_eq!(scrubbed("?key=sk-a%22b%5Cc%20d%2Be%2Ff%3D%C3%BC9&x=1"), "?key={secret}&x=1");
    assert_eq!(scrubbed("?key=sk-a%22b%5Cc+d%2Be%2Ff%3D%C3%BC9"), "?key={secret}");
    assert_eq!(scrubbed("?key=sk-a%22b%5cc%20d%2be%2ff%3d%c3%bc9"), "?key={secret}");
}

#[test]
fn secret_is_found_in_hexadecimal() {
    assert_eq!(scrubbed("x736b2d6122625c6320642b652f663dc3bc39."), "x{secret}.");
    assert_eq!(scrubbed("736B2D6122625C6320642B652F663DC3BC39"), "{secret}");
}

#[test]
fn secret_is_found_in_base64_at_any_offset() {
    // With "", "a:" and "ab:" before it, as other programs encode them.
    for (coded, left) in [
        ("c2stYSJiXGMgZCtlL2Y9w7w5", ""),
        ("YTpzay1hImJcYyBkK2UvZj3DvDk=", "YTp"),
        ("YWI6c2stYSJiXGMgZCtlL2Y9w7w5", "YWI6"),
        ("Onx6c2stYSJiXGMgZCtlL2Y9w7w5Onp6", "Onx6"),
    ] {
        let found = scrubbed(coded);
        assert!(found.contains(MARK) && found.starts_with(left) && found.len() < left.len() + 14, "{found}");
    }
    let secret = SecretString::from("key>>>???~~~key");
    let coded = "a2V5Pj4-Pz8_fn5-a2V5";
    assert_eq!(Scrub::of(&[secret]).text(coded.to_owned()), MARK);
}

#[test]
fn line_ends_are_trimmed_and_short_values_are_ignored() {
    let scrub =
        Scrub::of(&[SecretString::from("s3cr3t-key\n"), SecretString::from("a"), SecretString::from("")]);
    assert_eq!(scrub.text("a s3cr3t-key b".to_owned()), "a {secret} b");
    let short = "x".repeat(SECRET_BYTES_MIN - 1);
    let shortest = format!("{short}y");
    let scrub = Scrub::of(&[SecretString::from(short.as_str()), SecretString::from(shortest.as_str())]);
    assert_eq!(scrub.text(format!("{short} {shortest}")), format!("{short} {{secret}}"));
    assert!(!format!("{scrub:?}").contains("xxx"));
}

#[test]
fn secret_with_another_as_its_prefix_is_replaced_whole() {
    let scrub = Scrub::of(&[SecretString::from("sk-begin"), SecretString::from("sk-begin-and-two")]);
    assert_eq!(scrub.text("sk-begin-and-two, sk-begin".to_owned()), "{secret}, {secret}");
}

#[test]
fn json_value_keeps_its_form() {
    let scrub = Scrub::of(&[SecretString::from("s3cr3t-key")]);
    let value = json!({ "path": "s3cr3t-key", "s3cr3t-key": [1, "a s3cr3t-key", null], "n": 7.5 });
    let expected = json!({ "path": "{secret}", "{secret}": [1, "a {secret}", null], "n": 7.5 });
    assert_eq!(scrub.value(value), expected);
}

const KEY: &str = "sk-proj-Zq81LmXv0TtR5bNcYw7HdGf2";

fn without_key(text: &str) -> String {
    Scrub::named(&[("OPENAI_API_KEY".to_owned(), KEY.into())]).text(text.to_owned())
}

/// Returns the length of the longest piece of the key in the text.
fn longest_piece(text: &str) -> usize {
    let starts = 0..KEY.len();
    let pieces = starts.flat_map(|start| (start + 1..=KEY.len()).map(move |end| start..end));
    pieces
        .filter(|piece| text.contains(KEY.get(piece.clone()).unwrap()))
        .map(|piece| piece.len())
        .max()
        .unwrap_or(0)
}

#[test]
fn mark_names_its_key_in_plain_characters() {
    assert_eq!(without_key(&format!("a {KEY} b")), "a [key OPENAI_API_KEY] b");
    let name = "A\"\n\u{1b}[31m KEY".to_owned();
    let scrub = Scrub::named(&[(name, KEY.into())]);
    assert_eq!(scrub.text(KEY.to_owned()), "[key A????31m?KEY]");
}

#[test]
fn piece_of_a_key_is_found_after_any_cut() {
    for at in 0..=KEY.len() {
        let (head, tail) = KEY.split_at(at);
        for cut in [format!("x={head}…"), format!("…{tail}\n"), format!("{head}\n[… cut …]\n{tail}")]
        {
            let left = without_key(&cut);
            assert!(longest_piece(&left) < 16, "{cut} became {left}");
        }
    }
}

#[test]
fn key_is_found_in_dumps_and_wrapped_lines() {
    let spaced: String = KEY.chars().map(|c| format!("   {c}")).collect();
    let wrapped = KEY.as_bytes().chunks(5).map(|line| String::from_utf8_lossy(line).into_owned() + "\n");
    let bytes = |format: fn(&u8) -> String, between: &str| {
        KEY.as_bytes().iter().map(format).collect::<Vec<_>>().join(between)
    };
    let words: Vec<String> =
        KEY.as_bytes().chunks(2).map(|word| format!("{:02x}{:02x}", word[1], word[0])).collect();
    for printed in [
        spaced,
        wrapped.collect(),
        bytes(|byte| format!("{byte:02x}"), " "),
        bytes(|byte| format!("{byte:02X}"), ":"),
        bytes(|byte| format!("0x{byte:02x}"), ", "),
        bytes(|byte| format!("\\x{byte:02x}"), ""),
        bytes(|byte| format!("%{byte:02x}"), ""),
        words.join(" "),
        KEY.replace('-', "%2D"),
        KEY.replace('q', "%71"),
        KEY.chars().rev().collect(),
        KEY.chars().flat_map(|c| [c, '\0']).collect(),
    ] {
        let left = without_key(&printed);
        assert!(left.contains("[key OPENAI_API_KEY]") && left.len() < 30, "{printed} became {left}");
    }
}

/// `xxd` and `hexdump -C` print offsets and characters beside the digits.
#[test]
fn dump_with_columns_keeps_less_than_half_of_a_line() {
    let file = format!("OPENAI_API_KEY={KEY}\n");
    let mut dump = String::new();
    for (number, line) in file.as_bytes().chunks(16).enumerate() {
        let digits: Vec<String> =
            line.chunks(2).map(|two| two.iter().map(|b| format!("{b:02x}")).collect()).collect();
        dump.push_str(&format!(
            "{:08x}: {:39}  {}\n",
            number * 16,
            digits.join(" "),
            String::from_utf8_lossy(line)
        ));
    }
    let left = without_key(&dump);
    assert!(longest_piece(&left) < 16, "{left}");
    assert!(!left.contains("5a71 3831"), "{left}");
}

#[test]
fn ordinary_text_is_unchanged() {
    let text = "sk-proj is how keys begin: 73 6b 2d 70 72 6f 6a; deadbeef 0x00 c2stcHJvai0= \u{1f511}\n";
    assert_eq!(without_key(&text.repeat(100)), text.repeat(100));
    assert_eq!(Scrub::default().text(KEY.to_owned()), KEY);
    assert!(Scrub::default().is_empty() && Scrub::of(&["short".into()]).is_empty());
}

#[test]
fn piece_is_replaced_at_character_boundaries() {
    let key = "пароль-очень-длинный-секрет";
    let scrub = Scrub::of(&[key.into()]);
    for cut in 0..key.chars().count() {
        let tail: String = key.chars().skip(cut).collect();
        let left = scrub.text(format!("ы{tail}ы"));
        assert!(!left.contains('\u{fffd}'), "{left}");
    }
}

#[test]
fn part_is_searched_beyond_its_borders() {
    let scrub = Scrub::named(&[("K".to_owned(), KEY.into())]);
    let text = format!("before {KEY} after");
    for at in 0..text.len() {
        let (head, tail) = (scrub.part(text.as_bytes(), 0..at), scrub.part(text.as_bytes(), at..text.len()));
        for part in [head, tail] {
            let part = String::from_utf8(part).unwrap();
            assert!(longest_piece(&part) < 4, "{at}: {part}");
        }
    }
}

#[test]
fn long_value_is_found_part_by_part() {
    let long: String = (0..4_000).map(|n| char::from(b'!' + (n * n % 89) as u8)).collect();
    let scrub = Scrub::of(&[long.as_str().into()]);
    assert_eq!(scrub.text(format!("a {long} b")).replace(MARK, ""), "a  b");
}

/// Every position of the text matches every place of the key.
#[test]
fn repetitive_text_is_searched_once() {
    let scrub = Scrub::of(&["a".repeat(1_000).as_str().into()]);
    assert_eq!(scrub.text("a".repeat(200_000)), MARK);
}

#[test]
fn secret_is_found_in_numbered_json_characters() {
    let numbered = |text: &str| text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
    assert_eq!(scrubbed(&numbered(SECRET)), "{secret}");
    assert_eq!(scrubbed(&numbered(SECRET).to_uppercase().replace("\\U", "\\\\u")), "{secret}");
    let emoji = "key-\u{1f511}-of-the-house";
    assert_eq!(Scrub::of(&[emoji.into()]).text(numbered(emoji)), "{secret}");
    // A lone surrogate, and an escape that is none, are ordinary text.
    for text in ["\\ud83d", "\\u12", "\\u+123", "\\ud83d\\u0041"] {
        assert_eq!(scrubbed(text), text);
    }
}

#[test]
fn secret_is_found_reversed_within_json_and_in_html() {
    let reversed: String = SECRET.chars().rev().collect();
    assert_eq!(scrubbed(&serde_json::to_string(&reversed).unwrap()), r#""{secret}""#);
    let scrub = Scrub::of(&["<a href=\"&amp;\">'&".into()]);
    let page = "<p>&lt;a href=&quot;&amp;amp;&quot;&gt;&#39;&amp;</p>";
    assert_eq!(scrub.text(page.to_owned()), "<p>{secret}</p>");
}

/// What looks like an escape is one only where nothing else encodes it.
#[test]
fn secret_that_looks_like_an_escape_is_found() {
    for secret in ["100%25-of-%2F-a-%", "a\\u0041-and-\\n-more", "&lt;key&gt;&amp;more"] {
        let scrub = Scrub::of(&[secret.into()]);
        let percent: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let numbers: String = secret.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let json = serde_json::to_string(secret).unwrap();
        for form in [secret, &percent, &numbers, &json.replace('"', "")] {
            assert_eq!(scrub.text(form.to_owned()), MARK, "{form}");
        }
    }
}

/// Returns what a stream gives out for a text that is cut before these bytes.
fn streamed(scrub: &Scrub, text: &str, cuts: &[usize]) -> (Vec<String>, String) {
    let mut stream = Stream::new(scrub.clone());
    let ends = cuts.iter().copied().chain([text.len()]);
    let starts = [0].into_iter().chain(cuts.iter().copied());
    let pieces = starts.zip(ends).map(|(start, end)| &text.as_bytes()[start..end]);
    let mut given: Vec<Vec<u8>> = pieces.map(|piece| stream.push(piece)).collect();
    given.push(stream.release());
    let given: Vec<String> = given.into_iter().map(|piece| String::from_utf8(piece).unwrap()).collect();
    let whole = given.concat();
    (given, whole)
}

#[test]
fn stream_finds_a_key_over_any_two_cuts() {
    let scrub = Scrub::named(&[("K".to_owned(), KEY.into())]);
    let hex: String = KEY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = KEY.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let numbers: String = KEY.bytes().map(|byte| format!("\\\\u{byte:04x}")).collect();
    for form in [KEY, &hex, &percent, &numbers, &KEY.chars().rev().collect::<String>()] {
        let text = format!("it is {form}, no?");
        for first in 0..text.len() {
            for second in (first..text.len()).step_by(7) {
                let (_, whole) = streamed(&scrub, &text, &[first, second]);
                assert!(whole.starts_with("it is ") && whole.ends_with(", no?"), "{first} {second}: {whole}");
                let left = whole.replace("[key K]", "");
                // At most three characters of the key, however they are written.
                let width = form.len() / KEY.len();
                assert!(left.len() <= "it is , no?".len() + 3 * width, "{first} {second}: {whole}");
            }
        }
    }
}

#[test]
fn stream_gives_no_short_key_over_a_cut() {
    let scrub = Scrub::of(&["s3cr3t-k".into()]);
    for cut in 0..=8 {
        let (_, whole) = streamed(&scrub, "s3cr3t-k", &[cut]);
        let left = whole.replace(MARK, "");
        assert!(left.len() < 4 && whole.contains(MARK), "{cut}: {whole}");
    }
}

#[test]
fn stream_holds_nothing_of_ordinary_text() {
    let scrub = Scrub::named(&[("K".to_owned(), KEY.into())]);
    let (given, whole) = streamed(&scrub, "the first line\nsk-proj is how they begin\nsk", &[15, 41]);
    assert_eq!(given, ["the first line\n", "sk-proj is how they begin\n", "sk", ""]);
    assert_eq!(whole, "the first line\nsk-proj is how they begin\nsk");
    let (given, _) = streamed(&scrub, "sk-proj- was not one", &[8]);
    assert_eq!(given, ["", "sk-proj- was not one", ""]);
    let long = "a".repeat(1_000);
    let (given, _) = streamed(&Scrub::of(&[long.as_str().into()]), &"a".repeat(200_000), &[100_000]);
    assert!(given[0].contains(MARK), "what is held has a limit: {given:?}");
}

#[test]
fn the_places_of_what_is_there_are_told() {
    let secrets = ["hunter2secret99", "tr0ub4dor&3xy", "corr3ct-h0rse"].map(SecretString::from);
    let scrub = Scrub::of(&secrets);
    assert_eq!(scrub.places_in(b"x tr0ub4dor&3xy y 99terces2retnuh"), [0, 1].into());
    assert_eq!(scrub.places_in(b"hunter2"), [].into());
}
