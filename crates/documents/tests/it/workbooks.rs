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
      '<row r="2"><c r="A2" t="inlineStr"><is><t>pen</t><rPh sb="0" eb="1"><t>PEN</t></rPh></is></c><c r="B2"><v>1.5</v></c><c r="D2" t="b"><v>1</v></c></row>'
      '<row r="5"><c r="B5"><f>B2*2</f><v>3</v></c><c r="C5" t="e"><v>#DIV/0!</v></c></row>'),
      ("Dates", '<row r="1"><c r="A1" s="1"><v>45943.5</v></c><c r="B1" s="2"><v>45943</v></c><c r="C1" s="3"><v>0.25</v></c><c r="D1" s="4"><v>1.5</v></c><c r="E1" s="5"><v>7</v></c><c r="F1" t="d"><v>2025-10-13T06:00:00</v></c></row>')],
     ["name", "price &amp; tax"],
     '<numFmts><numFmt numFmtId="164" formatCode="[h]:mm:ss"/><numFmt numFmtId="165" formatCode="0 &quot;days&quot;"/></numFmts><cellXfs count="6"><xf numFmtId="0"/><xf numFmtId="22"/><xf numFmtId="14"/><xf numFmtId="20"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs>')
"#;

#[tokio::test]
async fn the_cells_of_a_sheet_are_read() {
    let file = xlsx(TWO_SHEETS);
    let book = workbook(&file, &all()).await;
    assert_eq!(
        (book.format.as_str(), book.sheet.as_str(), &book.sheets[..], book.sheet_count),
        ("xlsx", "Costs", &["Costs".to_owned(), "Dates".to_owned()][..], 2)
    );
    let rows = [(1, "name|price & tax"), (2, "pen|1.5||true"), (5, "|3|#DIV/0!")];
    assert_eq!(given(&book), rows.map(|(row, text)| (row, text.to_owned())));
    assert_eq!(
        (book.next, book.is_row_cut, book.formulas_without_value, book.is_stale),
        (None, false, 0, false)
    );
}

#[tokio::test]
async fn rows_with_content_are_counted() {
    let file = xlsx(
        r#"book([("s", '<row r="2"><c r="B2"><v>1</v></c></row><row r="3"><c r="E3" s="1"/></row><row r="9"><c r="D9"><v>2</v></c><c r="B9"><v>3</v></c></row>')])"#,
    );
    for wanted in [all(), Wanted { sheet: None, from: 3, to: 5 }] {
        let book = workbook(&file, &wanted).await;
        assert_eq!((book.rows, book.last_row, book.columns, book.last_column), (2, 9, 2, 4));
    }
    let book = workbook(&xlsx(r#"book([("s", "")])"#), &all()).await;
    assert_eq!((book.rows, book.last_row, book.columns, book.last_column), (0, 0, 0, 0));
}

#[tokio::test]
async fn a_sheet_is_found_by_name_and_number() {
    let file = xlsx(TWO_SHEETS);
    for sheet in ["Dates", "2"] {
        let book = workbook(&file, &Wanted { sheet: Some(sheet.to_owned()), ..all() }).await;
        let row = "2025-10-13 12:00:00|2025-10-13|06:00:00|36:00:00|7|2025-10-13 06:00:00";
        assert_eq!(given(&book), [(1, row.to_owned())]);
    }
    for sheet in ["Costs 2", "0", "3"] {
        let wanted = Wanted { sheet: Some(sheet.to_owned()), ..all() };
        let error = read_with(&file, &wanted, Default::default()).await.unwrap_err();
        let said = format!(r#"there is no sheet "{sheet}"; there are "Costs", "Dates""#);
        assert_eq!(error.to_string(), said);
    }
    let file = xlsx(r#"book([("2", '<row><c><v>7</v></c></row>'), ("b", '<row><c><v>8</v></c></row>')])"#);
    let book = workbook(&file, &Wanted { sheet: Some("2".to_owned()), ..all() }).await;
    assert_eq!(given(&book), [(1, "7".to_owned())], "a name comes before a number");
}

#[tokio::test]
async fn days_count_from_where_the_workbook_says() {
    let program = |calc: &str| {
        xlsx(&format!(
            r#"book([("s", '<row><c s="1"><v>44481</v></c></row>')], styles='<cellXfs><xf/><xf numFmtId="14"/></cellXfs>', calc='{calc}')"#
        ))
    };
    for (calc, date) in [("", "2021-10-12"), (r#"<workbookPr date1904="1"/>"#, "2025-10-13")] {
        assert_eq!(given(&workbook(&program(calc), &all()).await), [(1, date.to_owned())]);
    }
}

#[tokio::test]
async fn only_the_wanted_rows_are_read() {
    let file = xlsx(TWO_SHEETS);
    let book = workbook(&file, &Wanted { sheet: None, from: 2, to: 4 }).await;
    assert_eq!(given(&book), [(2, "pen|1.5||true".to_owned())]);
}

#[tokio::test]
async fn a_formula_without_a_value_is_told() {
    let rows = r#"
rows = ('<row r="1"><c r="A1"><f>SUM(B1:B9)</f><v></v></c><c r="B1"><f t="shared" si="0"/></c><c r="C1" t="str"><f>""</f><v></v></c><c r="D1"><f>1</f><v>1</v></c></row>'
        '<row r="2"><c r="A2"><f>1+1</f></c></row>')
"#;
    let file = xlsx(&format!("{rows}book([('s', rows)])"));
    let book = workbook(&file, &all()).await;
    let first = "=SUM(B1:B9) [no stored value]|=… [no stored value]||1";
    assert_eq!(given(&book), [(1, first.to_owned()), (2, "=1+1 [no stored value]".to_owned())]);
    assert_eq!((book.formulas_without_value, book.is_stale), (3, false));
    let book = workbook(&file, &Wanted { from: 2, ..all() }).await;
    assert_eq!(book.formulas_without_value, 1, "those of other rows do not count");

    // The writer of this one left all formulas to the next program.
    let file = xlsx(&format!("{rows}book([('s', rows)], calc='<calcPr fullCalcOnLoad=\"1\"/>')"));
    assert!(workbook(&file, &all()).await.is_stale);
    assert!(!workbook(&file, &Wanted { from: 2, ..all() }).await.is_stale);
}

#[tokio::test]
async fn a_long_sheet_is_cut_between_rows() {
    let file = xlsx(
        r#"book([("s", "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c><c r="B{n}"><v>{n}</v></c></row>' for n in range(1, 20001)))])"#,
    );
    let book = workbook(&file, &all()).await;
    assert_eq!((book.rows, book.columns, book.given.len()), (20_000, 2, ROWS_MAX));
    assert_eq!(book.next, Some(5_001));
    assert!(book.given.iter().all(|row| row.cells.len() == 2));
    let rest = workbook(&file, &Wanted { from: 19_998, ..all() }).await;
    assert_eq!(
        (rest.given.first().map(|row| row.number), rest.given.len(), rest.next),
        (Some(19_998), 3, None)
    );
    let file = xlsx(
        r#"book([("s", "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c><c r="B{n}" t="s"><v>0</v></c></row>' for n in range(1, 201)))], ["x" * 5000])"#,
    );
    let book = workbook(&file, &all()).await;
    let chars: usize = book.given.iter().flat_map(|row| &row.cells).map(|cell| cell.chars().count()).sum();
    assert!(chars <= TEXT_CHARS_MAX && chars > TEXT_CHARS_MAX - 2 * 5_000, "{chars}");
    assert!(book.given.iter().all(|row| row.cells.len() == 2));
    assert_eq!(book.next, book.given.last().map(|row| row.number + 1));
    assert_eq!(book.given[0].cells[0].chars().count(), CELL_CHARS_MAX);
    assert_eq!(book.cells_cut as usize, 2 * book.given.len());
}

#[tokio::test]
async fn a_row_that_is_too_long_alone_is_cut() {
    let file = xlsx(
        r#"book([("s", '<row r="3">' + '<c t="s"><v>0</v></c>' * 60 + '</row><row r="4"><c><v>1</v></c></row>')], ["x" * 4000])"#,
    );
    let book = workbook(&file, &all()).await;
    assert_eq!((book.given.len(), book.given[0].cells.len()), (1, TEXT_CHARS_MAX / 4_001));
    assert_eq!((book.is_row_cut, book.next, book.rows, book.columns), (true, Some(4), 2, 60));
    let rest = workbook(&file, &Wanted { from: 4, ..all() }).await;
    assert_eq!((given(&rest), rest.next), (vec![(4, "1".to_owned())], None));
}

#[tokio::test]
async fn a_far_cell_costs_nothing() {
    let file = xlsx(
        r#"book([("s", '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>')])"#,
    );
    let book = workbook(&file, &all()).await;
    assert_eq!((book.rows, book.columns, book.next), (2, 2, None));
    assert_eq!((book.last_row, book.last_column), (1_048_576, 16_384));
    assert_eq!((book.given.len(), book.given[1].cells.len()), (2, 16_384));
}

/// Returns a workbook of OpenDocument with this XML below its spreadsheet, and this in the entry of its manifest.
fn ods(sheets: &str, entry: &str) -> Vec<u8> {
    python(&format!(
        r#"
import zipfile
o = "urn:oasis:names:tc:opendocument:xmlns:"
kind = "application/vnd.oasis.opendocument.spreadsheet"
content = f'''<office:document-content xmlns:office="{{o}}office:1.0" xmlns:table="{{o}}table:1.0" xmlns:text="{{o}}text:1.0" xmlns:draw="{{o}}drawing:1.0" xmlns:calcext="x"><office:body><office:spreadsheet>
{sheets}
</office:spreadsheet></office:body></office:document-content>'''
manifest = f'<manifest:manifest xmlns:manifest="{{o}}manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="{{kind}}">{entry}</manifest:file-entry></manifest:manifest>'
with zipfile.ZipFile("out", "w") as archive:
    archive.writestr("mimetype", kind)
    archive.writestr("content.xml", content, zipfile.ZIP_DEFLATED)
    archive.writestr("META-INF/manifest.xml", manifest)
"#
    ))
}

fn cell(attributes: &str, text: &str) -> String {
    format!("<table:table-cell {attributes}>{text}</table:table-cell>")
}

#[tokio::test]
async fn an_open_document_is_read() {
    let cells = [
        cell(r#"office:value-type="string""#, "<text:p>a &lt;b<text:s text:c=\"2\"/>c<text:tab/>d</text:p><text:p>e</text:p><office:annotation><text:p>a note</text:p></office:annotation>"),
        cell(r#"office:value-type="float" office:value="2.50" calcext:value-type="float""#, "<text:p>2,50 €</text:p>"),
        cell(r#"office:value-type="date" office:date-value="2025-10-13T12:00:00""#, "<text:p>13.10.</text:p>"),
        cell(r#"office:value-type="time" office:time-value="PT26H03M00S""#, "<text:p>x</text:p>"),
        cell(r#"office:value-type="boolean" office:boolean-value="true""#, "<text:p>WAHR</text:p>"),
        cell(r#"table:formula="of:=1/0" office:value-type="string" office:string-value="" calcext:value-type="error""#, "<text:p>#DIV/0!</text:p>"),
        cell(r#"table:formula="of:=SUM([.A1:.A2])""#, ""),
        cell(r#"table:number-columns-repeated="3""#, ""),
        "<table:covered-table-cell office:value-type=\"string\"><text:p>under</text:p></table:covered-table-cell>".to_owned(),
        cell(r#"table:number-columns-repeated="16373""#, ""),
    ];
    let two =
        r#"<table:table-cell office:value-type="float" office:value="7" table:number-columns-repeated="2"/>"#;
    let sheets = format!(
        r#"<table:tracked-changes><table:table-cell><text:p>old</text:p></table:table-cell></table:tracked-changes>
        <table:table table:name="One"><table:shapes><draw:frame><text:p>a picture</text:p></draw:frame></table:shapes>
        <table:table-row>{}</table:table-row>
        <table:table-row table:number-rows-repeated="2"><table:table-cell/></table:table-row>
        <table:table-row-group><table:table-row table:number-rows-repeated="3">{two}</table:table-row></table:table-row-group>
        <table:table-row table:number-rows-repeated="1048570"><table:table-cell/></table:table-row></table:table>
        <table:table table:name="Two"><table:table-row>{two}</table:table-row></table:table>"#,
        cells.concat()
    );
    let file = ods(&sheets, "");
    let book = workbook(&file, &all()).await;
    let first = "a <b  c\td\ne|2.5|2025-10-13 12:00:00|26:03:00|true|#DIV/0!|=SUM([.A1:.A2]) [no stored value]||||under";
    let rows = [(1, first), (4, "7|7"), (5, "7|7"), (6, "7|7")];
    assert_eq!(given(&book), rows.map(|(row, text)| (row, text.to_owned())));
    assert_eq!((book.format.as_str(), &book.sheets[..]), ("ods", &["One".to_owned(), "Two".to_owned()][..]));
    assert_eq!((book.rows, book.last_row, book.columns, book.last_column), (4, 6, 8, 11));
    assert_eq!((book.formulas_without_value, book.next), (1, None));
    let wanted = Wanted { sheet: Some("Two".to_owned()), ..all() };
    assert_eq!(given(&workbook(&file, &wanted).await), [(1, "7|7".to_owned())]);
}

#[tokio::test]
async fn a_repeated_row_is_given_up_to_the_limit() {
    let row = |count: u32| {
        format!(
            r#"<table:table table:name="s"><table:table-row table:number-rows-repeated="{count}"><table:table-cell office:value-type="float" office:value="7"/></table:table-row></table:table>"#
        )
    };
    let book = workbook(&ods(&row(1_000_000), ""), &all()).await;
    assert_eq!((book.rows, book.given.len(), book.next), (1_000_000, ROWS_MAX, Some(5_001)));
    let error = read_with(&ods(&row(u32::MAX), ""), &all(), Default::default()).await.unwrap_err();
    assert!(error.to_string().contains("beyond row or column 1048576"), "{error}");
}

#[tokio::test]
async fn an_encrypted_open_document_is_named_as_such() {
    let file = ods("", "<manifest:encryption-data/>");
    assert_eq!(crate::support::refusal(&file).await, "it is encrypted; make a copy without a password");
}

#[tokio::test]
async fn a_binary_workbook_is_named_as_such() {
    let wide: Vec<u8> = "Workbook".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let xls = [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", &[0; 600][..], &wide].concat();
    let xlsb = python(
        "import zipfile\nwith zipfile.ZipFile('out', 'w') as book: book.writestr('xl/workbook.bin', b'x')",
    );
    for file in [xls, xlsb] {
        let why = crate::support::refusal(&file).await;
        assert!(
            why.starts_with("it is a workbook in a binary format") && why.contains("save a copy as xlsx"),
            "{why}"
        );
    }
}

#[tokio::test]
async fn what_is_hidden_is_told() {
    let file = xlsx(
        r#"
def row(n, more=""): return f'<row r="{n}" {more}><c r="A{n}"><v>{n}</v></c><c r="C{n}"><v>{n}</v></c></row>'
book([('Shown', '<cols><col min="2" max="3" hidden="1"/><col min="9" max="16384" hidden="true"/></cols>'
       + row(1) + row(2, 'hidden="1"') + row(3, 'hidden="0"') + row(4, 'hidden="true"')),
      ('Secret" state="veryHidden', row(1)), ('Aside" state="hidden', ''), ('Last" state="visible', '')])
"#,
    );
    let book = workbook(&file, &all()).await;
    assert_eq!(book.hidden_sheets, ["Secret", "Aside"]);
    // Column 2 is hidden too, but has no content.
    assert_eq!((book.hidden_rows, book.hidden_columns), (vec![2, 4], vec![3]));
    let book = workbook(&file, &Wanted { from: 3, to: 3, ..all() }).await;
    assert_eq!((book.hidden_rows, book.hidden_columns), (vec![], vec![3]));

    let value = r#"<table:table-cell office:value-type="float" office:value="7"/>"#;
    let style = |name: &str, display: &str| {
        format!(
            r#"<style:style style:name="{name}" style:family="table"><style:table-properties table:display="{display}"/></style:style>"#
        )
    };
    let sheets = format!(
        r#"{}{}<table:table table:name="One" table:style-name="ta1"><table:table-column table:number-columns-repeated="2"/>
        <table:table-column table:visibility="collapse"/>
        <table:table-row>{value}{value}{value}</table:table-row>
        <table:table-row table:visibility="filter" table:number-rows-repeated="2">{value}</table:table-row>
        <table:table-row table:visibility="visible">{value}</table:table-row></table:table>
        <table:table table:name="Two" table:style-name="ta2"><table:table-row>{value}</table:table-row></table:table>"#,
        style("ta1", "true"),
        style("ta2", "false"),
    );
    let sheets = sheets.replace("<style:style ", r#"<style:style xmlns:style="s" "#);
    let book = workbook(&ods(&sheets, ""), &all()).await;
    assert_eq!(book.hidden_sheets, ["Two"]);
    assert_eq!((book.hidden_rows, book.hidden_columns), (vec![2, 3], vec![3]));
}

#[tokio::test]
async fn a_row_that_is_there_twice_is_told() {
    let row = |value: u32| format!(r#"<row r="1"><c r="A1"><v>{value}</v></c></row>"#);
    let file = xlsx(&format!("book([('s', '{}{}')])", row(1), row(2)));
    let book = workbook(&file, &all()).await;
    assert_eq!((given(&book), book.cells_replaced), (vec![(1, "2".to_owned())], 1));
    assert_eq!(workbook(&xlsx(TWO_SHEETS), &all()).await.cells_replaced, 0);
}

#[tokio::test]
async fn rows_behind_the_last_one_are_refused() {
    let error = |file: Vec<u8>, from| async move {
        let wanted = Wanted { from, ..all() };
        read_with(&file, &wanted, Default::default()).await.unwrap_err().to_string()
    };
    let why = error(xlsx(TWO_SHEETS), 6).await;
    assert_eq!(why, r#"the sheet "Costs" ends before that: its last row with content is 5"#);
    let why = error(xlsx(r#"book([("s", "")])"#), 2).await;
    assert_eq!(why, r#"the sheet "s" ends before that: its last row with content is 0"#);
    // A row without content may be before the last one.
    let book = workbook(&xlsx(TWO_SHEETS), &Wanted { from: 4, to: 4, ..all() }).await;
    assert_eq!((book.given.len(), book.last_row), (0, 5));
}

#[tokio::test]
async fn a_half_workbook_is_named_as_such() {
    for file in [xlsx(TWO_SHEETS), ods("", "")] {
        for end in [file.len() / 2, file.len() - 30] {
            let why = crate::support::refusal(&file[..end]).await;
            assert!(why.starts_with("it is cut off: it begins as a workbook"), "{why}");
        }
    }
}
