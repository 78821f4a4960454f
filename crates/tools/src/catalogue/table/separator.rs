//! Finds the separator of a table, and whether another one is possible.

use super::value;

/// The separator of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Separator {
    pub(super) byte: u8,
    /// Another character that would separate the first lines equally well.
    pub(super) rival: Option<u8>,
}

impl Separator {
    pub(super) const fn of(byte: u8) -> Self {
        Separator { byte, rival: None }
    }
}

/// Common separators, in the order in which they are guessed if nothing else decides.
const USUAL: &[u8] = b";\t|,";
/// Separators of some tables that also occur in names: never guessed, only reported as rivals.
const RARE: &[u8] = b":~^ ";
/// Rows at the beginning in which rivals are searched.
const ROWS_COMPARED: usize = 20;

/// Guesses the separator of a table that begins like this: the character that occurs equally often in its first two
/// rows, quoted values left out, and most often; a comma if there is none. It has a rival if another one is as even:
/// `Netto, EUR;Brutto` over `1,50;2`.
pub(super) fn guess(beginning: &[u8]) -> Separator {
    let mut rows: Vec<&[u8]> = rows(beginning).filter(|row| !row.trim_ascii().is_empty()).collect();
    if beginning.len() >= super::SNIFF_BYTES && rows.len() > 2 {
        // The last row may be cut.
        rows.pop();
    }
    let (first, rest) =
        rows.split_first().map_or((b"".as_slice(), [].as_slice()), |(one, rest)| (*one, rest));
    let rest = rest.get(..rest.len().min(ROWS_COMPARED)).unwrap_or_default();
    let in_first = |separator: &u8| times(first, *separator);
    let is_even =
        |separator: &&u8| rest.first().is_none_or(|row| times(row, **separator) == in_first(separator));
    let there: Vec<&u8> = USUAL.iter().filter(|separator| in_first(separator) > 0).collect();
    let even: Vec<&u8> = there.iter().copied().filter(is_even).collect();
    let of = if even.is_empty() { &there } else { &even };
    // `max_by_key` returns the last of equals, so the order is reversed: a comma, which occurs in values most often, is
    // the last choice.
    let byte = of.iter().rev().max_by_key(|separator| in_first(separator)).map_or(b',', |byte| **byte);

    // Returns how often a character occurs in each row below the first, if that is constant.
    let below = |separator: &u8| {
        let count = rest.first().map_or(0, |row| times(row, *separator));
        if rest.iter().all(|row| times(row, *separator) == count) { count } else { 0 }
    };
    // The first row may be a title: below it another separator fits as well. If the first one fits too, it counts as a
    // list within a value (`1,python;sql`), unless it gives a column of numbers.
    let is_title = |other: &u8| match there.is_empty() {
        true => rest.first().is_some_and(|row| times(row, *other) > 0),
        false => {
            *other != b','
                && in_first(other) == 0
                && below(other) > 0
                && below(other) >= in_first(&byte)
                && (below(&byte) != in_first(&byte) || gives_figures(rest, *other))
        }
    };
    let is_one_column = |other: &u8| {
        there.is_empty()
            && in_first(other) > 0
            && (rest.is_empty() || below(other) == in_first(other))
            && (*other != b' ' || gives_figures(rest, b' '))
    };
    let rival = (even.iter().copied().find(|other| **other != byte))
        .or_else(|| there.iter().copied().find(|other| in_first(other) > in_first(&byte)))
        .or_else(|| USUAL.iter().find(|other| is_title(other)))
        .or_else(|| RARE.iter().find(|other| is_one_column(other)))
        .copied();
    Separator { byte, rival: rival.or_else(|| if there.is_empty() { unusual(first, rest) } else { None }) }
}

/// Returns another possible separator for rows that seem to have one value each: a control character, as Hive writes,
/// or spaces if each row has the same number of words, three or more. The header may have one less (R omits the name of
/// the first column) or one more (`Mounted on`).
fn unusual(first: &[u8], rest: &[&[u8]]) -> Option<u8> {
    let is_control = |byte: &&u8| byte.is_ascii_control() && !b"\t\r\n".contains(byte);
    let blanks = |row: &[u8]| times(row, b' ');
    let below = rest.first().map_or(0, |row| blanks(row));
    let are_words =
        below >= 2 && blanks(first).abs_diff(below) <= 1 && rest.iter().all(|row| blanks(row) == below);
    let control = first.iter().chain(rest.iter().copied().flatten()).find(is_control).copied();
    control.or(are_words.then_some(b' '))
}

/// Returns whether a separator gives a column with only numbers or dates. The first row is skipped if there are more: it may
/// hold the names.
fn gives_figures(rows: &[&[u8]], separator: u8) -> bool {
    let skipped = usize::from(rows.len() > 1);
    let cells = |row: &&[u8]| -> Vec<bool> {
        let text = String::from_utf8_lossy(row);
        let cells = text.split(char::from(separator)).map(str::trim);
        let cells = cells.filter(|cell| separator != b' ' || !cell.is_empty());
        cells.map(|cell| value::is_number(&cell.replace(',', ".")) || value::is_date(cell)).collect()
    };
    let all = rows
        .iter()
        .skip(skipped)
        .map(cells)
        .reduce(|all, row| all.iter().zip(&row).map(|(one, other)| *one && *other).collect());
    all.is_some_and(|all| all.contains(&true))
}

/// Counts a separator in a row, outside quoted values; a run of spaces counts once.
fn times(row: &[u8], separator: u8) -> usize {
    let row = if separator == b' ' { row.trim_ascii() } else { row };
    let (mut is_quoted, mut before) = (false, 0);
    let is_one = |byte: &&u8| {
        is_quoted ^= **byte == b'"';
        let is_again = separator == b' ' && std::mem::replace(&mut before, **byte) == b' ';
        !is_quoted && **byte == separator && !is_again
    };
    row.iter().filter(is_one).count()
}

/// Splits a text into rows; a row includes its quoted line ends.
fn rows(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut is_quoted = false;
    text.split(move |byte| {
        is_quoted ^= *byte == b'"';
        *byte == b'\n' && !is_quoted
    })
}

/// Returns tabs, as the file's name says; with a rival if the first line has no tab and another separator.
pub(super) fn tabs(beginning: &[u8]) -> Separator {
    let rows: Vec<&[u8]> = rows(beginning).filter(|row| !row.trim_ascii().is_empty()).collect();
    let (first, rest) =
        rows.split_first().map_or((b"".as_slice(), [].as_slice()), |(one, rest)| (*one, rest));
    let rest = rest.get(..rest.len().min(ROWS_COMPARED)).unwrap_or_default();
    let other = || first.iter().find(|byte| b",;|".contains(byte)).copied().or_else(|| unusual(first, rest));
    Separator { byte: b'\t', rival: if first.contains(&b'\t') { None } else { other() } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_guessed_from_the_first_rows() {
        for (lines, byte, rival) in [
            ("a,b;c,d\n1,2,3", b',', None),
            ("Stand: 1.1.2026, Quelle: X\nid;1,n\n1;2,5", b',', Some(b';')),
            ("id,tags;x,y\n1,p;q", b';', Some(b',')),
            ("id,tags,n\n1,a|b,2\n2,c|d,3", b',', None),
            ("user:uid:shell\nroot:0:/bin/sh\nada:1000:/bin/zsh", b',', Some(b':')),
            ("name    age\nAda      36\nGrace   107", b',', Some(b' ')),
            ("a~b\n1~2", b',', Some(b'~')),
            ("full name\nAda Lovelace\nGrace Hopper", b',', None),
            ("id,skills\n1,python;sql\n2,go;rust", b',', None),
            ("id,scores\n1,5;7\n2,6;8", b',', Some(b';')),
            ("Sales, all\nname;city\nAda;Berlin", b',', Some(b';')),
            ("url\nhttps://example.org", b',', None),
            ("note\nbuy milk\ncall", b',', None),
            ("a,b;c\n", b';', Some(b',')),
            ("a;b;c\n1,2,3", b';', None),
            ("\n\na\tb", b'\t', None),
            ("a|b", b'|', None),
            ("a", b',', None),
            ("x y\n1 1 2\n2 3 4", b',', Some(b' ')),
            ("NAME READY AGE\npod-1 1/1 5d\npod-2 0/1 3h", b',', Some(b' ')),
            ("Filesystem Used Use% Mounted on\n/dev/sda 5 7% /\ntmpfs 0 0% /run", b',', Some(b' ')),
            ("id\x01name\n1\x01x", b',', Some(1)),
            ("id\x1fname\n1\x1fx", b',', Some(0x1f)),
            ("note\nbuy some milk\ncall the doctor", b',', None),
            ("", b',', None),
            ("\"a, b\";c;d\n\"x\";1;2", b';', None),
            ("name;price\nx;1,5", b';', None),
            ("\"first\nname\";\"last\nname\";age\nA;B;3", b';', None),
            ("Export\nid;n\n1;2", b',', Some(b';')),
            // As spreadsheets in half of Europe write it: both separators would fit.
            ("k;Netto, EUR;Brutto, EUR\nMeyer;1,50;2,75", b';', Some(b',')),
            ("name;price, eur\nx;1,5", b';', Some(b',')),
        ] {
            assert_eq!(guess(lines.as_bytes()), Separator { byte, rival }, "{lines:?}");
        }
    }
}
