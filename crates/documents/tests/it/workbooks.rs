//! Workbooks that Python writes.

use setpoint_documents::{CELL_CHARS_MAX, ROWS_MAX, Row, TEXT_CHARS_MAX, Wanted, Workbook};

use crate::support::{XLSX, all, python, read_with, workbook};

fn xlsx(program: &str) -> Vec<u8> {
    python(&format!("{XLSX}\n{program}"))
}

fn given(book: &Workbook) -> Vec<(u32, String)> {
    book.given.iter().map(|Row { number, cells }| (*number, cells.join("|"))).collect()
}

const TWO_SHEETS: &str = r#"
book([("Costs", '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'
      '<row r="2"><c r="A2" t="inlineStr"><is><t>pen</t></is></c><c r="B2"><v>1.5</v></c><c r="D2" t="b"><v>1</v></c></row>'
      '<row r="5"><c r="B5"><f>B2*2</f><v>3</v></c><c r="C5" t="e"><v>#DIV/0!</v></c></row>'),
      ("Dates", '<row r="1"><c r="A1" s="1"><v>45943.5</v></c><c r="B1" s="2"><v>45943</v></c><c r="C1" s="3"><v>0.25</v></c></row>')],
     ["name", "price &amp; tax"],
     '<cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="22"/><xf numFmtId="14"/><xf numFmtId="20"/></cellXfs>')
"#;

#[tokio::test]
async fn the_cells_of_a_sheet_are_read() {
    let file = xlsx(TWO_SHEETS);
    let book = workbook(&file, &all()).await;
    assert_eq!(
        (book.format.as_str(), book.sheet.as_str(), &book.sheets[..], book.sheet_count),
        ("xlsx", "Costs", &["Costs".to_owned(), "Dates".to_owned()][..], 2)
    );
    assert_eq!((book.rows, book.columns, book.is_cut), (5, 4, false));
    let rows = [(1, "name|price & tax"), (2, "pen|1.5||true"), (5, "|3|#DIV/0!")];
    assert_eq!(given(&book), rows.map(|(row, text)| (row, text.to_owned())));
}

#[tokio::test]
async fn a_sheet_is_found_by_name_and_number() {
    let file = xlsx(TWO_SHEETS);
    for sheet in ["Dates", "2"] {
        let book = workbook(&file, &Wanted { sheet: Some(sheet.to_owned()), ..all() }).await;
        assert_eq!(given(&book), [(1, "2025-10-13 12:00:00|2025-10-13|06:00:00".to_owned())]);
    }
    let wanted = Wanted { sheet: Some("Costs 2".to_owned()), ..all() };
    let error = read_with(&file, &wanted, Default::default()).await.unwrap_err();
    assert_eq!(error.to_string(), r#"there is no sheet "Costs 2"; there are "Costs", "Dates""#);
}

#[tokio::test]
async fn only_the_wanted_rows_are_read() {
    let file = xlsx(TWO_SHEETS);
    let book = workbook(&file, &Wanted { sheet: None, from: 2, to: 4 }).await;
    assert_eq!((book.rows, book.columns), (5, 4));
    assert_eq!(given(&book), [(2, "pen|1.5||true".to_owned())]);
}

#[tokio::test]
async fn a_long_sheet_is_cut_between_rows() {
    let file = xlsx(
        r#"book([("s", "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c><c r="B{n}"><v>{n}</v></c></row>' for n in range(1, 20001)))])"#,
    );
    let book = workbook(&file, &all()).await;
    assert_eq!((book.rows, book.columns, book.given.len(), book.is_cut), (20_000, 2, ROWS_MAX, true));
    assert!(book.given.iter().all(|row| row.cells.len() == 2));
    let file = xlsx(
        r#"book([("s", "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c><c r="B{n}" t="s"><v>0</v></c></row>' for n in range(1, 201)))], ["x" * 5000])"#,
    );
    let book = workbook(&file, &all()).await;
    let chars: usize = book.given.iter().flat_map(|row| &row.cells).map(|cell| cell.chars().count()).sum();
    assert!(chars <= TEXT_CHARS_MAX && chars > TEXT_CHARS_MAX - 2 * 5_000, "{chars}");
    assert!(book.is_cut && book.given.iter().all(|row| row.cells.len() == 2));
    assert_eq!(book.given[0].cells[0].chars().count(), CELL_CHARS_MAX);
    assert_eq!(book.cells_cut as usize, 2 * book.given.len());
}

#[tokio::test]
async fn a_far_cell_costs_nothing() {
    let file = xlsx(
        r#"book([("s", '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>')])"#,
    );
    let book = workbook(&file, &all()).await;
    assert_eq!((book.rows, book.columns, book.is_cut), (1_048_576, 16_384, false));
    assert_eq!((book.given.len(), book.given[1].cells.len()), (2, 16_384));
}

#[tokio::test]
async fn an_open_document_is_read() {
    let file = python(
        r#"
import zipfile
o = "urn:oasis:names:tc:opendocument:xmlns:"
kind = "application/vnd.oasis.opendocument.spreadsheet"
content = f'''<office:document-content xmlns:office="{o}office:1.0" xmlns:table="{o}table:1.0" xmlns:text="{o}text:1.0"><office:body><office:spreadsheet>
<table:table table:name="Sheet1"><table:table-row><table:table-cell office:value-type="string"><text:p>name</text:p></table:table-cell><table:table-cell office:value-type="float" office:value="2.5"><text:p>2.5</text:p></table:table-cell></table:table-row></table:table>
</office:spreadsheet></office:body></office:document-content>'''
manifest = f'<manifest:manifest xmlns:manifest="{o}manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/></manifest:manifest>'
with zipfile.ZipFile("out", "w") as archive:
    archive.writestr("mimetype", kind)
    archive.writestr("content.xml", content)
    archive.writestr("META-INF/manifest.xml", manifest)
"#,
    );
    let book = workbook(&file, &all()).await;
    assert_eq!((book.format.as_str(), given(&book)), ("ods", vec![(1, "name|2.5".to_owned())]));
}
