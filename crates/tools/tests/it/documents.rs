//! `read_document`, on files that other programs wrote.

use serde_json::{Value, json};
use setpoint_machine::CallReader;
use setpoint_protocol::Any;
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
        4: two\nlines \u{202e},40"#]]
    .assert_eq(&given(&world, json!({"path": "costs.xlsx"})).await);
    let facts = world.facts("read_document", json!({"path": "costs.xlsx", "from": 3, "to": 3})).await;
    let wanted = json!({
        "path": world.at("costs.xlsx"), "kind": "xlsx", "sheets": ["Costs", "Empty"], "sheet_count": 2, "sheet": "Costs",
        "rows": 3, "columns": 2, "last_row": 4, "last_column": 2, "from": 3, "to": 3, "next": null,
        "formulas_without_value": 0, "complete": false,
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
    for (path, first, end) in [("long.xlsx", 5_001, 6_000), ("long.pdf", 101, 150)] {
        let answer = given(&world, json!({"path": path})).await;
        assert!(answer.ends_with(&format!("go on with from {first} …]")), "{answer}");
        let facts = world.facts("read_document", json!({"path": path})).await;
        assert_eq!((&facts["next"], &facts["complete"]), (&json!(first), &json!(false)));
        let rest = world.facts("read_document", json!({"path": path, "from": first})).await;
        assert_eq!((&rest["from"], &rest["to"], &rest["next"]), (&json!(first), &json!(end), &Value::Null));
    }
}

#[tokio::test]
async fn a_formula_that_was_not_computed_is_told() {
    let world = world();
    world.file("long.py", LONG);
    output(&world.at("."), "python3 long.py");
    let answer = given(&world, json!({"path": "new.xlsx"})).await;
    assert!(answer.contains("\n1: =1+1 [no stored value]\n[1 formula has no stored value"), "{answer}");
    let facts = world.facts("read_document", json!({"path": "new.xlsx"})).await;
    assert_eq!((&facts["formulas_without_value"], &facts["complete"]), (&json!(1), &json!(false)));
}

#[tokio::test]
async fn a_pdf_is_given_by_pages() {
    let world = world();
    expect_test::expect![[r#"
        /project/letter.pdf: a PDF file of 2 pages; pages 1 to 2

        [page 1]
        Dear Ada

        [page 2: no text; it is empty or a picture, such as a scan]
    "#]]
    .assert_eq(&given(&world, json!({"path": "letter.pdf"})).await);
    let facts = world.facts("read_document", json!({"path": "letter.pdf", "from": 2})).await;
    let wanted = json!({
        "path": world.at("letter.pdf"), "kind": "pdf", "pages": 2, "from": 2, "to": 2, "next": null,
        "pages_without_text": [2], "pages_unreadable": [], "complete": false,
    });
    assert_eq!(facts, wanted);
}

#[tokio::test]
async fn what_cannot_be_read_is_an_error_with_a_way_out() {
    let world = world();
    world.file("notes.txt", "plain text");
    world.file("cut.pdf", &std::fs::read(world.at("letter.pdf")).unwrap()[..60]);
    for (input, kind, said) in [
        (json!({"path": "none.pdf"}), ErrorKind::NotFound, "No such file"),
        (json!({"path": "notes.txt"}), ErrorKind::InvalidData, "read_file reads text"),
        (json!({"path": "cut.pdf"}), ErrorKind::InvalidData, "export it anew"),
        (
            json!({"path": "costs.xlsx", "sheet": "3"}),
            ErrorKind::InvalidInput,
            "there are \"Costs\", \"Empty\"",
        ),
        (json!({"path": "letter.pdf", "from": 3}), ErrorKind::InvalidInput, "it has 2 pages"),
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
