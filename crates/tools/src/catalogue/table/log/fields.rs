//! Splits a structured log line into fields: an object (`{"level":"info"}`) or words such as `level=info`. Lines of
//! prose have no fields; what a field means is decided elsewhere.

/// A key and its text.
pub(super) struct Field<'l> {
    /// Lower case.
    key: String,
    /// The value as written, with escapes.
    pub(super) value: &'l [u8],
    /// The line from the value on: an unquoted value ends at a space, but a time may contain one.
    pub(super) onwards: &'l [u8],
}

/// Returns the first of these keys that is present.
pub(super) fn first<'f, 'l>(fields: &'f [Field<'l>], keys: &[&str]) -> Option<&'f Field<'l>> {
    keys.iter().find_map(|key| fields.iter().find(|field| field.key == *key))
}

/// Returns the texts of an object, without those of nested values. From invalid JSON it returns the fields that it can
/// find.
pub(super) fn of_object(line: &[u8]) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    let mut depth = 0_i64;
    // The range of the previous text.
    let mut previous = None;
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        match byte {
            b'\\' => at += 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b'"' => {
                let begin = at + 1;
                let Some(end) = closing(line, begin) else { break };
                let key = previous.filter(|(_, key_end)| depth == 1 && is_colon(line, key_end + 1, at));
                fields.extend(key.and_then(|(key, key_end)| {
                    Some(field(line.get(key..key_end)?, line.get(begin..end)?, line.get(begin..)?))
                }));
                previous = Some((begin, end));
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    fields
}

/// Returns the fields among the words of a line.
pub(super) fn of_words(line: &[u8]) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
        rest = rest.get(blanks..).unwrap_or_default();
        let Some((word, behind)) = rest.split_at_checked(word_length(rest)) else { return fields };
        if word.is_empty() {
            return fields;
        }
        fields.extend(key(word).and_then(|key| {
            let from = key.len() + 1;
            let (value, onwards) = (word.get(from..)?, rest.get(from..)?);
            Some(match value.strip_prefix(b"\"") {
                Some(quoted) => {
                    let end = closing(quoted, 0).unwrap_or(quoted.len());
                    field(key, quoted.get(..end)?, onwards.get(1..)?)
                }
                None => field(key, value, onwards),
            })
        }));
        rest = behind;
    }
}

/// Returns the key of a leading `key=`.
pub(super) fn key(text: &[u8]) -> Option<&[u8]> {
    let is_of_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.@".contains(byte);
    let key = text.get(..text.iter().take_while(|byte| is_of_key(byte)).count())?;
    let begins = key.first().is_some_and(|first| first.is_ascii_alphabetic() || b"_@".contains(first));
    (begins && text.get(key.len()) == Some(&b'=')).then_some(key)
}

pub(super) fn is_blank(byte: u8) -> bool {
    b" \t\r\x0b\x0c".contains(&byte)
}

fn field<'l>(key: &[u8], value: &'l [u8], onwards: &'l [u8]) -> Field<'l> {
    Field { key: String::from_utf8_lossy(key).to_ascii_lowercase(), value, onwards }
}

/// Returns the position of the closing quote.
fn closing(line: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        match line.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn is_colon(line: &[u8], from: usize, to: usize) -> bool {
    line.get(from..to).is_some_and(|between| between.trim_ascii() == b":")
}

/// Returns the length of the first word: a space within quotes or after a backslash does not end it.
fn word_length(text: &[u8]) -> usize {
    let mut is_quoted = false;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => is_quoted = !is_quoted,
            byte if is_blank(*byte) && !is_quoted => return at,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(fields: &[Field<'_>]) -> String {
        let one = |field: &Field<'_>| format!("{}:{}", field.key, String::from_utf8_lossy(field.value));
        fields.iter().map(one).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn an_object_yields_only_top_level_texts() {
        for (line, expected) in [
            (r#"{"a":"b"}"#, "a:b"),
            (r#"{"A" : "b" , "c":1,"d":"e"}"#, "a:b|d:e"),
            (r#"{"a":{"b":"c"},"d":["e",{"f":"g"}],"h":"i"}"#, "h:i"),
            (r#"{"a":"\"b\":\"c\"","d":"e\\"}"#, r#"a:\"b\":\"c\"|d:e\\"#),
            (r#"{"a":"b","c":"d"#, "a:b"),
            (r#"{"a","b"}"#, ""),
            ("{", ""),
            (r#"{"a":"b\"#, ""),
        ] {
            assert_eq!(told(&of_object(line.as_bytes())), expected, "{line}");
        }
    }

    #[test]
    fn words_with_keys_and_quotes_are_split() {
        for (line, expected) in [
            ("a=b c d=e", "a:b|d:e"),
            (r#"a="b c=d" e="f\"g h=i""#, r#"a:b c=d|e:f\"g h=i"#),
            (r#"x-y="b c=d" e=f"#, "e:f"),
            (r#"a="b c=d"#, "a:b c=d"),
            (r"a= b=c\ d=e", r"a:|b:c\ d=e"),
            ("1a=b .c=d @e=f\r", "@e:f"),
        ] {
            assert_eq!(told(&of_words(line.as_bytes())), expected, "{line}");
        }
    }
}
