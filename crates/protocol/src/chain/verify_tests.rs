//! Chains to which something was done: what is found is that, once.

use super::{Cause, Chain, Hash, NoChain, Problem, Wanted, verify};

/// A chain of five entries.
fn whole() -> Vec<String> {
    let lines: String = (0..5).map(|n| format!("{{\"seq\":{n},\"said\":\"{n}\"}}\n")).collect();
    let mut out = Vec::new();
    Chain::default().link(&mut out, lines.as_bytes());
    String::from_utf8(out).unwrap().lines().map(|line| format!("{line}\n")).collect()
}

fn head() -> Option<Hash> {
    verify(whole().concat().as_bytes(), &Wanted::default()).ok().map(|verified| verified.head)
}

#[track_caller]
fn finds(lines: &[String], problems: &[(u64, Cause)]) {
    for wanted in [
        Wanted::default(),
        Wanted { entries: Some(5), head: None },
        Wanted { entries: None, head: head() },
        Wanted { entries: Some(5), head: head() },
    ] {
        let found = verify(lines.concat().as_bytes(), &wanted).unwrap().problems;
        let problems: Vec<Problem> =
            problems.iter().map(|(line, cause)| Problem { line: *line, cause: *cause }).collect();
        assert_eq!(found, problems, "{wanted:?}\n{}", lines.concat());
    }
}

fn changed(change: impl FnOnce(&mut Vec<String>)) -> Vec<String> {
    let mut lines = whole();
    change(&mut lines);
    lines
}

#[test]
fn a_whole_chain_has_no_problem() {
    finds(&whole(), &[]);
    let mut other = whole();
    other.insert(2, "\n".to_owned());
    assert_eq!(verify(other.concat().as_bytes(), &Wanted::default()).unwrap().problems, []);
}

#[test]
fn every_byte_that_is_changed_is_found_at_its_line() {
    let lines = whole();
    for (at, line) in lines.iter().enumerate() {
        for byte in 0..line.len() - 1 {
            let mut bytes = line.clone().into_bytes();
            bytes[byte] = if bytes[byte] == b'0' { b'1' } else { b'0' };
            let mut lines = lines.clone();
            lines[at] = String::from_utf8(bytes).unwrap();
            finds(&lines, &[(at as u64 + 1, Cause::Altered)]);
        }
    }
}

#[test]
fn lines_that_were_moved_are_found_where_they_are() {
    finds(&changed(|lines| lines.swap(1, 2)), &[(3, Cause::Moved(Some(1)))]);
    finds(&changed(|lines| lines.swap(0, 1)), &[(2, Cause::Moved(None))]);
    finds(&changed(|lines| lines.swap(3, 4)), &[(5, Cause::Moved(Some(3)))]);
    // Two lines that were moved together are one cause.
    finds(&changed(|lines| lines.rotate_right(2)), &[(1, Cause::Moved(Some(5)))]);
}

#[test]
fn a_line_that_is_missing_is_found_at_the_next_one() {
    for at in 0..4_u64 {
        let lines = changed(|lines| drop(lines.remove(usize::try_from(at).unwrap())));
        finds(&lines, &[(at + 1, Cause::Removed)]);
    }
    let altered = changed(|lines| drop(lines.splice(1..2, whole()[..0].to_vec())));
    finds(&altered, &[(2, Cause::Removed)]);
}

#[test]
fn a_line_that_was_hashed_anew_is_found_by_the_next_one() {
    let mut first = whole();
    let mut other = Vec::new();
    let mut chain = Chain::of(first[0].as_bytes()).unwrap();
    chain.link(&mut other, b"{\"seq\":1,\"said\":\"other\"}\n");
    first[1] = String::from_utf8(other).unwrap();
    finds(&first, &[(3, Cause::Removed)]);
}

#[test]
fn a_line_too_many_is_found() {
    finds(&changed(|lines| lines.insert(3, whole()[1].clone())), &[(4, Cause::Repeated(2))]);
    let mut other = Vec::new();
    Chain::of(whole()[0].as_bytes()).unwrap().link(&mut other, b"{\"other\":1}\n");
    let other = String::from_utf8(other).unwrap();
    finds(&changed(|lines| lines.insert(1, other.clone())), &[(2, Cause::Inserted)]);
    finds(&changed(|lines| lines.insert(3, "{\"other\":1}\n".to_owned())), &[(4, Cause::Inserted)]);
    finds(&changed(|lines| lines.insert(3, "what\n".to_owned())), &[(4, Cause::Inserted)]);
    let mut two = Vec::new();
    Chain::default().link(&mut two, b"{\"b\":1}\n{\"b\":2}\n");
    let two = String::from_utf8([whole().concat().into_bytes(), two].concat()).unwrap();
    let found = verify(two.as_bytes(), &Wanted::default()).unwrap().problems;
    assert_eq!(found, [Problem { line: 6, cause: Cause::BeginsAnew }]);
}

#[test]
fn an_end_that_was_cut_off_is_found_by_the_number_of_entries_or_the_head() {
    let cut = whole()[..3].concat();
    let problems = |wanted| verify(cut.as_bytes(), &wanted).unwrap().problems;
    let found = [Problem { line: 3, cause: Cause::CutOff }];
    assert_eq!(problems(Wanted::default()), [], "nothing in the lines shows it");
    assert_eq!(problems(Wanted { entries: Some(5), head: None }), found);
    assert_eq!(problems(Wanted { entries: None, head: head() }), found);
    assert_eq!(problems(Wanted { entries: Some(5), head: head() }), found);
    let appended = |wanted| verify(whole().concat().as_bytes(), &wanted).unwrap().problems;
    let third = verify(cut.as_bytes(), &Wanted::default()).unwrap().head;
    for wanted in [Wanted { entries: Some(3), head: None }, Wanted { entries: Some(3), head: Some(third) }] {
        assert_eq!(appended(wanted), [Problem { line: 4, cause: Cause::Appended }]);
    }
    let other = Wanted { entries: Some(5), head: Some(Hash::of("", "")) };
    assert_eq!(appended(other), [Problem { line: 5, cause: Cause::HashedAnew }]);
    let torn = whole().concat();
    let torn = &torn[..torn.len() - 9];
    for wanted in [Wanted::default(), Wanted { entries: Some(5), head: head() }] {
        assert_eq!(verify(torn.as_bytes(), &wanted).unwrap().problems, [Problem { line: 5, cause: Cause::CutOff }]);
    }
}

#[test]
fn two_causes_are_two_problems() {
    let lines = changed(|lines| {
        lines[0] = lines[0].replace("\"seq\":0", "\"seq\":9");
        lines.remove(2);
    });
    finds(&lines, &[(1, Cause::Altered), (3, Cause::Removed)]);
}

#[test]
fn what_is_no_chain_is_said_to_be_none() {
    let of = |text: &str| verify(text.as_bytes(), &Wanted::default()).unwrap_err();
    assert_eq!(
        (of(""), of("\n \n"), of("{}\n"), of("x")),
        (NoChain::Empty, NoChain::Empty, NoChain::Unchained, NoChain::Unchained)
    );
    let marked = format!("\u{feff}{}", whole().concat());
    assert_eq!(verify(marked.as_bytes(), &Wanted::default()).unwrap().problems, [], "an editor's mark is no entry's");
    let keyed = whole().concat().replace("sha256:", "hmac-sha256:");
    assert_eq!(of(&keyed), NoChain::Keyed);
}
