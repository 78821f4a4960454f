//! PDF files.

use setpoint_documents::{FIELD_CHARS_MAX, FIELDS_MAX, PAGES_MAX, PageState, TEXT_CHARS_MAX, Wanted};

use crate::support::{all, lines, pages, pdf, pdf_of, refusal, refusal_with, stream};

#[tokio::test]
async fn the_text_of_each_page_is_read() {
    let file = pdf_of(&pages(&[lines(&["Invoice 17", "Total: 42 EUR"]), lines(&["gr\\374n \\(2\\)"])]), "");
    let read = pdf(&file, &all()).await;
    assert_eq!((read.pages, read.is_page_cut, read.next), (2, false, None));
    let texts: Vec<(u32, &str)> = read.given.iter().map(|page| (page.number, page.text.as_str())).collect();
    assert_eq!(texts, [(1, "Invoice 17\nTotal: 42 EUR"), (2, "grün (2)")]);
    assert!(read.given.iter().all(|page| page.state == PageState::Read));
}

#[tokio::test]
async fn only_the_wanted_pages_are_read() {
    let contents: Vec<String> = (1..=5).map(|n| lines(&[&format!("page {n}")])).collect();
    let file = pdf_of(&pages(&contents), "");
    let read = pdf(&file, &Wanted { sheet: None, from: 2, to: 3 }).await;
    let texts: Vec<&str> = read.given.iter().map(|page| page.text.as_str()).collect();
    assert_eq!((read.pages, texts, read.next), (5, vec!["page 2", "page 3"], None));
    let wanted = Wanted { sheet: None, from: 6, to: 6 };
    let error = crate::support::read_with(&file, &wanted, Default::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "it ends before that: it has 5 pages");
}

#[tokio::test]
async fn a_page_without_text_is_told_from_a_broken_one() {
    let mut objects = pages(&[lines(&["text"]), "0 0 10 10 re f".to_owned(), lines(&["after"])]);
    // A page that the library panics on: a box with a single number.
    objects[7] = objects[7].replace("[0 0 612 792]", "[0]");
    let read = pdf(&pdf_of(&objects, ""), &all()).await;
    let states: Vec<PageState> = read.given.iter().map(|page| page.state).collect();
    assert_eq!(states, [PageState::Read, PageState::WithoutText, PageState::Unreadable]);
}

#[tokio::test]
async fn of_many_pages_the_first_are_read() {
    let contents: Vec<String> = (1..=10_000).map(|n| lines(&[&format!("page {n}")])).collect();
    let file = pdf_of(&pages(&contents), "");
    let read = pdf(&file, &all()).await;
    assert_eq!((read.pages, read.given.len(), read.next), (10_000, PAGES_MAX as usize, Some(101)));
    let read = pdf(&file, &Wanted { sheet: None, from: 9_999, to: u32::MAX }).await;
    assert_eq!(
        read.given.iter().map(|page| page.text.as_str()).collect::<Vec<_>>(),
        ["page 9999", "page 10000"]
    );
}

#[tokio::test]
async fn a_page_that_repeats_its_text_is_cut() {
    // Each form shows the one below it thirty times.
    let mut objects = pages(&["/X1 Do".to_owned()]);
    objects[3] = objects[3].replace("/Font <<", "/XObject << /X1 6 0 R >> /Font <<");
    for level in 0..6 {
        let content = if level == 5 { lines(&["again"]) } else { "/X Do ".repeat(30) };
        let inner = if level == 5 {
            "/Font << /F1 3 0 R >>".to_owned()
        } else {
            format!("/XObject << /X {} 0 R >>", 7 + level)
        };
        objects.push(format!(
            "<< /Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << {inner} >> /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        ));
    }
    let read = pdf(&pdf_of(&objects, ""), &all()).await;
    assert_eq!((read.is_page_cut, read.given.len(), read.next), (true, 1, None));
    let chars = read.given[0].text.chars().count();
    assert!(chars <= TEXT_CHARS_MAX && chars > TEXT_CHARS_MAX / 2, "{chars}");
}

#[tokio::test]
async fn a_page_that_does_not_fit_is_left_for_the_next_call() {
    let long = "long words ".repeat(100);
    let content = lines(&[long.as_str(); 80]);
    let file = pdf_of(&pages(&vec![content; 5]), "");
    let read = pdf(&file, &all()).await;
    let numbers =
        |pdf: &setpoint_documents::Pdf| pdf.given.iter().map(|page| page.number).collect::<Vec<_>>();
    assert_eq!((numbers(&read), read.is_page_cut, read.next), (vec![1, 2], false, Some(3)));
    let rest = pdf(&file, &Wanted { sheet: None, from: 3, to: 4 }).await;
    assert_eq!((numbers(&rest), rest.next), (vec![3, 4], None));
    assert!(rest.given.iter().all(|page| page.text == read.given[0].text));
}

#[tokio::test]
async fn an_encrypted_file_is_named_as_such() {
    let mut objects = pages(&[lines(&["secret"])]);
    let words = "00".repeat(32);
    objects.push(format!("<< /Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O <{words}> /U <{words}> >>"));
    let trailer = format!("/Encrypt {} 0 R /ID [<0011> <0011>]", objects.len());
    assert_eq!(refusal(&pdf_of(&objects, &trailer)).await, "it is encrypted; make a copy without a password");
}

#[tokio::test]
async fn pages_that_hold_themselves_end() {
    // The box is looked for in the parents, which are a circle.
    let mut objects = pages(&[lines(&["text"])]);
    objects[3] = objects[3].replace("/MediaBox [0 0 612 792]", "");
    objects[1] = objects[1].replace("/Type /Pages", "/Type /Pages /Parent 2 0 R");
    let why = refusal(&pdf_of(&objects, "")).await;
    assert!(why.contains("broke down on it"), "{why}");
}

#[tokio::test]
async fn deep_nesting_ends() {
    for text in [
        "[".repeat(200_000),
        "<<".repeat(200_000),
        format!("{}x{}", "(".repeat(200_000), ")".repeat(200_000)),
    ] {
        let mut objects = pages(std::slice::from_ref(&text));
        objects.push(text.clone());
        objects.push(stream(&text));
        let read = crate::support::read_with(&pdf_of(&objects, ""), &all(), Default::default()).await;
        // Some of these can be read by now; none may hang.
        if let Err(error) = read {
            assert!(error.to_string().contains("; "), "{error}");
        }
    }
}

#[tokio::test]
async fn work_without_end_is_stopped() {
    // As above, but it shows nothing, so that no limit of text is reached.
    let mut objects = pages(&["/X1 Do".to_owned()]);
    objects[3] = objects[3].replace("/Font <<", "/XObject << /X1 6 0 R >> /Font <<");
    for level in 0..9 {
        let content = "/X Do ".repeat(if level == 8 { 0 } else { 40 });
        let inner = format!("/XObject << /X {} 0 R >>", 7 + level.min(7));
        objects.push(format!(
            "<< /Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << {inner} >> /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        ));
    }
    let limits = setpoint_documents::Limits { cpu_s: 1, ..Default::default() };
    let why = refusal_with(&pdf_of(&objects, ""), limits).await;
    assert!(why.starts_with("reading it takes more than 1000 ms"), "{why}");
}

/// Returns a file with a page and these objects from number 6 on, the first of which is the form.
fn with_form(objects: &[&str]) -> Vec<u8> {
    let mut all = pages(&[lines(&["Amount due:"])]);
    all[0] = "<< /Type /Catalog /Pages 2 0 R /AcroForm 6 0 R >>".to_owned();
    all.extend(objects.iter().map(|object| (*object).to_owned()));
    pdf_of(&all, "")
}

#[tokio::test]
async fn the_fields_of_a_form_are_read() {
    let file = with_form(&[
        "<< /Fields [7 0 R 8 0 R 11 0 R 12 0 R 13 0 R] >>",
        "<< /FT /Tx /T (amount) /V (4711.50) >>",
        // A field of fields; the second inherits its value, the third only shows the first at another place.
        "<< /T (person) /FT /Tx /Kids [9 0 R 10 0 R] /V (Ada) >>",
        "<< /T (name) /V <FEFF00470072006F00DF> /Kids [14 0 R] >>",
        "<< /T (other) >>",
        "<< /FT /Btn /T (paid) /V /Yes /AS /Yes >>",
        "<< /FT /Ch /T (colours) /V [(red) (green)] >>",
        "<< /FT /Tx /T (empty) /V () >>",
        "<< /Subtype /Widget /Rect [0 0 9 9] >>",
    ]);
    let read = pdf(&file, &all()).await;
    let fields: Vec<(&str, &str)> =
        read.fields.iter().map(|field| (field.name.as_str(), field.value.as_str())).collect();
    assert_eq!(
        fields,
        [
            ("amount", "4711.50"),
            ("person.name", "Groß"),
            ("person.other", "Ada"),
            ("paid", "Yes"),
            ("colours", "red, green"),
        ]
    );
    assert!(!read.is_form_cut && read.given[0].text == "Amount due:");
}

#[tokio::test]
async fn a_form_that_holds_itself_ends() {
    let circle = with_form(&["<< /Fields [7 0 R] >>", "<< /T (a) /V (x) /Kids [7 0 R 7 0 R] >>"]);
    let read = pdf(&circle, &all()).await;
    assert!(read.is_form_cut && read.fields.is_empty(), "{read:?}");
    let many: String = (0..600).map(|_| "7 0 R ").collect();
    let form = format!("<< /Fields [{many}] >>");
    let long = format!("<< /T (a) /V ({}) >>", "x".repeat(2_000));
    let read = pdf(&with_form(&[form.as_str(), long.as_str()]), &all()).await;
    assert_eq!((read.fields.len(), read.is_form_cut), (FIELDS_MAX, true));
    assert_eq!(read.fields[0].value.len(), FIELD_CHARS_MAX);
    // What is not a field is reported.
    let read = pdf(&with_form(&["<< /Fields [(text) 99 0 R] >>"]), &all()).await;
    assert!(read.is_form_cut && read.fields.is_empty());
    let signed = with_form(&["<< /Fields [7 0 R] >>", "<< /T (sign) /V << /Type /Sig >> >>"]);
    assert!(pdf(&signed, &all()).await.is_form_cut);
}

#[tokio::test]
async fn an_empty_and_a_half_file_are_named_as_such() {
    assert!(refusal(b"").await.starts_with("it is empty (0 bytes); "));
    let file = pdf_of(&pages(&[lines(&["text"])]), "");
    let why = refusal(&file[..file.len() / 2]).await;
    assert!(why.starts_with("it is damaged or cut off"), "{why}");
}
