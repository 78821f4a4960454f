use super::*;

#[test]
fn every_shipped_playbook_is_consistent() {
    let library = Library::load(None);
    let broken: Vec<String> = library.broken().iter().map(ToString::to_string).collect();
    assert_eq!(broken, [""; 0]);
    let faults = library.books().filter_map(|book| {
        let fault = read::verify(book).err()?;
        Some(fault.in_file(&book.name, &book.source).to_string())
    });
    assert_eq!(faults.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn every_playbook_file_is_built_in() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../playbooks");
    let mut there: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    let known: Vec<&str> = built_in::SOURCES.iter().map(|(file, _)| *file).collect();
    assert_eq!(there, known);
    for (file, _) in built_in::SOURCES {
        let name = file.trim_end_matches(".toml");
        assert!(Library::load(None).show(name).is_some(), "{file} holds a playbook of another name");
    }
}

#[test]
fn every_criterion_of_a_shipped_playbook_is_used() {
    for book in Library::load(None).books() {
        let steps = book.approaches.iter().flat_map(|approach| &approach.steps);
        let used: Vec<&String> = steps.flat_map(|step| &step.criteria).chain(&book.task_criteria).collect();
        for name in book.criteria.keys() {
            assert!(used.contains(&name), "{}: {name}", book.name);
        }
    }
}
