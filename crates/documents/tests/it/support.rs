//! Files to read, and the process that reads them.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use setpoint_documents::{Document, DocumentError, Limits, Pdf, Wanted, Workbook, read};

/// The executable that reads.
pub(crate) fn reader() -> PathBuf {
    env!("CARGO_BIN_EXE_documents-reader").into()
}

pub(crate) fn all() -> Wanted {
    Wanted { sheet: None, from: 1, to: u32::MAX }
}

pub(crate) async fn read_with(
    bytes: &[u8],
    wanted: &Wanted,
    limits: Limits,
) -> Result<Document, DocumentError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("document");
    File::create(&path).unwrap().write_all(bytes).unwrap();
    let before = std::fs::read(&path).unwrap();
    let read = read(&reader(), File::open(&path).unwrap(), wanted, limits).await;
    assert!(std::fs::read(&path).unwrap() == before, "the file was changed");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "something was written beside it");
    read
}

pub(crate) async fn pdf(bytes: &[u8], wanted: &Wanted) -> Pdf {
    match read_with(bytes, wanted, Limits::default()).await.unwrap() {
        Document::Pdf(pdf) => pdf,
        Document::Workbook(book) => panic!("a workbook: {book:?}"),
    }
}

pub(crate) async fn workbook(bytes: &[u8], wanted: &Wanted) -> Workbook {
    match read_with(bytes, wanted, Limits::default()).await.unwrap() {
        Document::Workbook(book) => book,
        Document::Pdf(pdf) => panic!("a PDF: {pdf:?}"),
    }
}

/// Returns why a file is not read.
pub(crate) async fn refusal(bytes: &[u8]) -> String {
    refusal_with(bytes, Limits::default()).await
}

pub(crate) async fn refusal_with(bytes: &[u8], limits: Limits) -> String {
    read_with(bytes, &all(), limits).await.unwrap_err().to_string()
}

/// Writes a PDF file of these objects, the first of which is the catalogue, with entries for its trailer.
pub(crate) fn pdf_of(objects: &[String], trailer: &str) -> Vec<u8> {
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (n, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.extend_from_slice(format!("{} 0 obj\n{object}\nendobj\n", n + 1).as_bytes());
    }
    let table = file.len();
    let size = objects.len() + 1;
    let entries: String = places.iter().map(|place| format!("{place:010} 00000 n \n")).collect();
    let end = format!(
        "xref\n0 {size}\n0000000000 65535 f \n{entries}trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{table}\n%%EOF\n"
    );
    file.extend_from_slice(end.as_bytes());
    file
}

pub(crate) fn stream(content: &str) -> String {
    format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len())
}

/// Returns the objects of a file whose pages have these contents. Object 3 is the font.
pub(crate) fn pages(contents: &[String]) -> Vec<String> {
    let kids: Vec<String> = (0..contents.len()).map(|n| format!("{} 0 R", 4 + 2 * n)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), contents.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for (n, content) in contents.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>",
            5 + 2 * n
        ));
        objects.push(stream(content));
    }
    objects
}

/// Returns the content of a page with these lines.
pub(crate) fn lines(lines: &[&str]) -> String {
    let shown: String = lines.iter().map(|line| format!("({line}) Tj 0 -14 Td ")).collect();
    format!("BT /F1 12 Tf 72 700 Td {shown}ET")
}

/// Runs a Python program in a temporary folder, and returns the file `out` that it wrote.
pub(crate) fn python(program: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let run = Command::new("python3").args(["-c", program]).current_dir(folder.path()).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    std::fs::read(Path::new(folder.path()).join("out")).unwrap()
}

/// The beginning of a Python program that writes a workbook: `book(sheets, strings)` writes sheets, given as names and the
/// XML of their rows.
pub(crate) const XLSX: &str = r#"
import zipfile
def book(sheets, strings=(), styles="", calc=""):
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    pkg = "http://schemas.openxmlformats.org/package/2006"
    kinds = "".join(f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>' for n in range(1, len(sheets) + 1))
    files = {
        "[Content_Types].xml": f'<Types xmlns="{pkg}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>{kinds}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{pkg}/relationships"><Relationship Id="r1" Type="{rel}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{rel}"><sheets>' + "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, (name, _) in enumerate(sheets, 1)) + f"</sheets>{calc}</workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{pkg}/relationships">' + "".join(f'<Relationship Id="r{n}" Type="{rel}/worksheet" Target="worksheets/sheet{n}.xml"/>' for n in range(1, len(sheets) + 1)) + f'<Relationship Id="s" Type="{rel}/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="t" Type="{rel}/styles" Target="styles.xml"/></Relationships>',
        "xl/sharedStrings.xml": f'<sst xmlns="{main}">' + "".join(f"<si><t>{text}</t></si>" for text in strings) + "</sst>",
        "xl/styles.xml": f'<styleSheet xmlns="{main}">{styles}</styleSheet>',
    }
    for n, (_, rows) in enumerate(sheets, 1):
        files[f"xl/worksheets/sheet{n}.xml"] = f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'
    with zipfile.ZipFile("out", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
"#;
