//! `read_document`, on files that other programs wrote.

use serde_json::{Value, json};
use setpoint_machine::CallReader;
use setpoint_protocol::Any;
use setpoint_protocol::limits::EVIDENCE_CHARS_MAX;
use setpoint_protocol::text::is_cut;
use setpoint_protocol::tool::{Effect, ErrorKind, ToolCall};
use setpoint_tools::{Host, Registry};

use crate::support::{World, output};

/// Writes `costs.xlsx` in the current folder, with two sheets.
const WORKBOOK: &str = r#"
import zipfile
main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
pkg = "http://schemas.openxmlformats.org/package/2006/relationships"
def text(cell, value): return f'<c r="{cell}" t="inlineStr"><is><t>{value}</t></is></c>'
rows = ('<row r="1">' + text("A1", "name") + text("B1", "price") + '</row>'
    '<row r="3">' + text("A3", "pen, red") + '<c r="B3"><v>1.5</v></c></row>'
    '<row r="4">' + text("A4", "two&#10;lines \u202e") + '<c r="B4"><v>40</v></c></row>')
with zipfile.ZipFile("costs.xlsx", "w", zipfile.ZIP_DEFLATED) as book:
    book.writestr("[Content_Types].xml", "<Types/>")
    book.writestr("_rels/.rels", f'<Relationships xmlns="{pkg}"><Relationship Id="r" Type="{rel}/officeDocument" Target="xl/workbook.xml"/></Relationships>')
    book.writestr("xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{rel}"><sheets><sheet name="Costs" sheetId="1" r:id="r1"/><sheet name="Empty" sheetId="2" r:id="r2"/></sheets></workbook>')
    book.writestr("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{pkg}"><Relationship Id="r1" Type="{rel}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="{rel}/worksheet" Target="worksheets/sheet2.xml"/></Relationships>')
    book.writestr("xl/worksheets/sheet1.xml", f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>')
    book.writestr("xl/worksheets/sheet2.xml", f'<worksheet xmlns="{main}"><sheetData/></worksheet>')
"#;

/// Writes `letter.pdf` in the current folder, with a page of text and one without.
const LETTER: &str = r#"
def stream(text): return f"<< /Length {len(text)} >>\nstream\n{text}\nendstream"
page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>"
objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [4 0 R 6 0 R] /Count 2 >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    page % 5, stream("BT /F1 12 Tf 72 700 Td (Dear Ada) Tj ET"), page % 7, stream("0 0 9 9 re f")]
file, places = b"%PDF-1.4\n", []
for n, text in enumerate(objects, 1):
    places.append(len(file))
    file += f"{n} 0 obj\n{text}\nendobj\n".encode()
entries = "".join(f"{place:010} 00000 n \n" for place in places)
end = f"xref\n0 8\n0000000000 65535 f \n{entries}trailer\n<< /Size 8 /Root 1 0 R >>\nstartxref\n{len(file)}\n%%EOF\n"
open("letter.pdf", "wb").write(file + end.encode())
"#;

fn world() -> World {
    let world = World::new();
    for (name, program) in [("costs.py", WORKBOOK), ("letter.py", LETTER)] {
        world.file(name, program);
        output(&world.at("."), &format!("python3 {name}"));
    }
    world
}

async fn given(world: &World, input: Value) -> String {
    let answer = world.run("read_document", input).await;
    assert!(answer.ok, "{}", answer.text);
    answer.text.replace(world.root().to_str().unwrap(), "")
}

#[tokio::test]
async fn a_workbook_is_given_by_rows() {
    let world = world();
    expect_test::expect![[r#"
        /project/costs.xlsx: a workbook (xlsx) with 2 sheets: "Costs", "Empty"
        sheet "Costs": 3 rows and 2 columns with content, the last cell is in row 4 and column 2; each line is a row with its number, empty rows are left out
        1: name,price
        3: "pen, red",1.5
        4: two\nlines \u{202e},40
        [… 1 other sheet was not read; `sheet` names one …]"#]]
    .assert_eq(&given(&world, json!({"path": "costs.xlsx"})).await);
    let facts = world.facts("read_document", json!({"path": "costs.xlsx", "from": 3, "to": 3})).await;
    let wanted = json!({
        "path": world.at("costs.xlsx"), "kind": "xlsx", "sheets": ["Costs", "Empty"], "sheet_count": 2, "sheet": "Costs",
        "sheets_hidden": [], "rows": 3, "columns": 2, "last_row": 4, "last_column": 2, "columns_hidden": [],
        "complete": true, "given": {
            "from": 3, "to": 3, "next": null, "rows_hidden": [], "formulas_without_value": 0, "complete": false,
        },
    });
    assert_eq!(facts, wanted);
    let facts = world.facts("read_document", json!({"path": "costs.xlsx", "sheet": "Empty"})).await;
    assert_eq!((&facts["rows"], &facts["complete"]), (&json!(0), &json!(true)));
}

/// Writes `long.xlsx` and `long.pdf`, of which not all is given at once, and `new.xlsx`, which no program computed.
const LONG: &str = r#"
def workbook(name, rows):
    program = open("costs.py").read().replace("costs.xlsx", name)
    exec(program.replace("with zipfile", f"rows = {rows!r}\nwith zipfile"), {})
workbook("long.xlsx", "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in range(1, 6001)))
workbook("new.xlsx", '<row r="1"><c r="A1"><f>1+1</f></c></row>')
letter = open("letter.py").read().replace("letter.pdf", "long.pdf")
more = " ".join(f"{n} 0 R" for n in range(8, 156))
for old, new in [("6 0 R] /Count 2", f"6 0 R {more}] /Count 150"), ('re f")]', 're f")] + [page % 5] * 148'), ("0 8", "0 156"), ("Size 8", "Size 156")]:
    letter = letter.replace(old, new)
exec(letter, {})
"#;

#[tokio::test]
async fn what_is_cut_tells_where_to_go_on() {
    let world = world();
    world.file("long.py", LONG);
    output(&world.at("."), "python3 long.py");
    // All parts together are the whole, each row and page once, and no answer is so long that a reader cuts it.
    for (path, line, last) in [("long.xlsx", "\n5999: 5999", 6_000), ("long.pdf", "\n[page 149]\n", 150)] {
        let (mut next, mut all) = (1, String::new());
        while next <= last {
            let answer = given(&world, json!({"path": path, "from": next})).await;
            assert!(answer.chars().count() <= EVIDENCE_CHARS_MAX, "{}", answer.len());
            let facts = world.facts("read_document", json!({"path": path, "from": next})).await;
            let part = &facts["given"];
            assert_eq!((&part["from"], &facts["complete"]), (&json!(next), &json!(true)));
            all.push_str(&answer);
            match part["next"].as_u64() {
                Some(first) => {
                    let go_on = format!("go on with from {first} …]");
                    assert!(answer.contains(&go_on), "{answer}");
                    assert_eq!((&part["to"], &part["complete"]), (&json!(first - 1), &json!(false)));
                    next = first;
                }
                None => {
                    assert_eq!(part["to"], json!(last));
                    next = last + 1;
                }
            }
        }
        assert_eq!(all.matches(line).count(), 1, "{path}");
    }
}

#[tokio::test]
async fn a_formula_that_was_not_computed_is_told() {
    let world = world();
    world.file("long.py", LONG);
    output(&world.at("."), "python3 long.py");
    let answer = given(&world, json!({"path": "new.xlsx"})).await;
    assert!(answer.contains("\n1: =1+1 [no stored value]\n[… 1 formula has no stored value; "), "{answer}");
    let facts = world.facts("read_document", json!({"path": "new.xlsx"})).await;
    let part = &facts["given"];
    assert_eq!((&part["formulas_without_value"], &part["complete"]), (&json!(1), &json!(false)));
}

#[tokio::test]
async fn a_pdf_is_given_by_pages() {
    let world = world();
    expect_test::expect![[r#"
        /project/letter.pdf: a PDF file of 2 pages

        [page 1]
        Dear Ada

        [page 2: no text; it is empty or a picture, such as a scan]

        [… no text on page 2: a picture there was not read …]"#]]
    .assert_eq(&given(&world, json!({"path": "letter.pdf"})).await);
    let facts = world.facts("read_document", json!({"path": "letter.pdf", "from": 2})).await;
    let wanted = json!({
        "path": world.at("letter.pdf"), "kind": "pdf", "pages": 2, "form_fields": [], "complete": true,
        "given": {
            "from": 2, "to": 2, "next": null, "pages_without_text": [2], "pages_unreadable": [], "complete": false,
        },
    });
    assert_eq!(facts, wanted);
}

#[tokio::test]
async fn what_cannot_be_read_is_an_error_with_a_way_out() {
    let world = world();
    world.file("notes.txt", "plain text");
    world.file("empty.pdf", "");
    world.file("half.xlsx", &std::fs::read(world.at("costs.xlsx")).unwrap()[..300]);
    world.file("cut.pdf", &std::fs::read(world.at("letter.pdf")).unwrap()[..60]);
    for (input, kind, said) in [
        (json!({"path": "none.pdf"}), ErrorKind::NotFound, "No such file"),
        (json!({"path": "notes.txt"}), ErrorKind::InvalidData, "read_file reads text"),
        (json!({"path": "cut.pdf"}), ErrorKind::InvalidData, "export it again"),
        (
            json!({"path": "costs.xlsx", "sheet": "3"}),
            ErrorKind::InvalidInput,
            "there are \"Costs\", \"Empty\"",
        ),
        (json!({"path": "letter.pdf", "from": 3}), ErrorKind::InvalidInput, "it has 2 pages"),
        (json!({"path": "costs.xlsx", "from": 5}), ErrorKind::InvalidInput, "its last row with content is 4"),
        (json!({"path": "empty.pdf"}), ErrorKind::InvalidData, "it is empty (0 bytes)"),
        (json!({"path": "half.xlsx"}), ErrorKind::InvalidData, "it is cut off"),
        (json!({"path": "letter.pdf", "from": 0}), ErrorKind::InvalidInput, "count from 1"),
        (json!({"path": "letter.pdf", "from": 2, "to": 1}), ErrorKind::InvalidInput, "count from 1"),
        (json!({"path": "."}), ErrorKind::InvalidInput, "s a directory"),
    ] {
        let answer = world.run("read_document", input.clone()).await;
        assert_eq!((answer.ok, answer.error_kind), (false, Some(kind)), "{input}: {}", answer.text);
        assert!(answer.text.contains(said), "{input}: {}", answer.text);
    }
}

#[tokio::test]
async fn without_a_program_to_start_it_is_not_available() {
    let mut world = world();
    world.registry = Registry::built_in(&Host::new("linux", []));
    let answer = world.run("read_document", json!({"path": "letter.pdf"})).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::MissingTool), "{}", answer.text);
}

#[tokio::test]
async fn reading_a_document_needs_no_consent() {
    let world = world();
    let call = |input| ToolCall { tool: "read_document".to_owned(), input: Any(input) };
    let read = |input| world.registry.read(&call(input), &world.surroundings());
    let reading = read(json!({"path": "letter.pdf", "from": 1}));
    assert_eq!(
        (reading.effect, reading.target),
        (Effect::ReadOnly, world.at("letter.pdf").display().to_string())
    );
    let cancelled = world.cancel.clone();
    cancelled.cancel();
    let answer = world.run("read_document", json!({"path": "letter.pdf"})).await;
    assert!(!answer.ok, "{}", answer.text);
}

#[tokio::test]
async fn a_part_of_a_document_shows_nothing_of_the_rest() {
    let world = world();
    world.file("long.py", LONG);
    output(&world.at("."), "python3 long.py");
    for (input, mark) in [
        (json!({"path": "costs.xlsx"}), Some("[… 1 other sheet was not read; `sheet` names one …]")),
        (
            json!({"path": "new.xlsx", "to": 1}),
            Some("[… 1 formula has no stored value; their text is given …]"),
        ),
        (
            json!({"path": "long.xlsx", "from": 5_990, "to": 6_000}),
            Some("[… given are rows 5990 to 6000, the last is 6000 …]"),
        ),
        (json!({"path": "letter.pdf", "to": 1}), Some("[… given are pages 1 to 1 of 2 …]")),
        (json!({"path": "letter.pdf", "from": 2}), Some("[… given are pages 2 to 2 of 2 …]")),
        (json!({"path": "letter.pdf"}), Some("[… no text on page 2: a picture there was not read …]")),
        (json!({"path": "whole.pdf"}), None),
    ] {
        let pdf = std::fs::read(world.at("letter.pdf")).unwrap();
        let one = String::from_utf8(pdf).unwrap().replace("6 0 R] /Count 2", "     ] /Count 1");
        world.file("whole.pdf", one);
        let answer = given(&world, input.clone()).await;
        match mark {
            Some(mark) => assert!(answer.contains(mark) && is_cut(&answer), "{input}: {answer}"),
            None => assert!(!is_cut(&answer) && answer.contains("Dear Ada"), "{input}: {answer}"),
        }
    }
}

#[tokio::test]
async fn a_form_is_given_with_the_first_page() {
    let world = world();
    let form = r#"
letter = open("letter.py").read().replace("letter.pdf", "form.pdf")
for old, new in [("/Pages 2 0 R >>", "/Pages 2 0 R /AcroForm << /Fields [8 0 R 9 0 R] >> >>"),
    ('re f")]', 're f")] + ["<< /T (amount) /V (4711.50) >>", "<< /T (to) /V (Ada\\nX) >>"]'), ("0 8", "0 10"), ("Size 8", "Size 10")]:
    letter = letter.replace(old, new)
exec(letter, {})
"#;
    world.file("form.py", form);
    output(&world.at("."), "python3 form.py");
    let answer = given(&world, json!({"path": "form.pdf"})).await;
    let wanted =
        "a PDF file of 2 pages\n\n[form fields]\namount: 4711.50\nto: Ada\\nX\n\n[page 1]\nDear Ada\n";
    assert!(answer.contains(wanted), "{answer}");
    let facts = world.facts("read_document", json!({"path": "form.pdf"})).await;
    let fields = json!([{"name": "amount", "value": "4711.50"}, {"name": "to", "value": "Ada\nX"}]);
    assert_eq!((&facts["form_fields"], &facts["complete"]), (&fields, &json!(true)));
    let second = given(&world, json!({"path": "form.pdf", "from": 2})).await;
    assert!(!second.contains("amount"), "{second}");
    assert!(
        second.contains("[… 2 form fields in the file, 0 are given; the first call gives most …]"),
        "{second}"
    );
}

#[tokio::test]
async fn a_sheet_of_a_pdf_is_refused() {
    let world = world();
    let answer = world.run("read_document", json!({"path": "letter.pdf", "sheet": "A"})).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::InvalidInput));
    assert!(answer.text.contains("`sheet`: a PDF file has pages and no sheets"), "{}", answer.text);
}
