//! Changed rows of a playbook: what became of each, and below it every value that is another.

use crate::doc::{Block, Item, Text, Tone};
use crate::proposal::row;
use crate::text::fitted;
use playproof_formats::golden::{PartChange, RowChange};

/// The rows as a list; of a row that is new or gone, at most so many characters.
pub(crate) fn changed_rows<'a>(changes: impl IntoIterator<Item = &'a RowChange>, most: usize) -> Block {
    Block::List(changes.into_iter().map(|change| changed(change, most)).collect())
}

fn changed(change: &RowChange, most: usize) -> Item {
    let tone = match (&change.before, &change.after) {
        (None, _) => Tone::Good,
        (_, None) => Tone::Bad,
        (Some(_), Some(_)) => Tone::Doubt,
    };
    let said = Text::new(tone, format!("{:7}", change.became())).say("  ").name(&change.name);
    Item { said, below: change.parts().into_iter().filter_map(|one| part(one, most)).collect() }
}

/// A value of a row; the whole row where it is new or gone.
fn part(part: PartChange, most: usize) -> Option<Text> {
    let path = |path: &str| if path.is_empty() { Text::default() } else { Text::code(path).say(": ") };
    Some(match (part.before, part.after) {
        (Some(before), Some(after)) => path(&part.path).name(before).say(" becomes ").name(after),
        (None, Some(whole)) | (Some(whole), None) if part.path.is_empty() => Text::code(fitted(&row(&whole), most)),
        (None, Some(after)) => path(&part.path).name(after).say(" is new"),
        (Some(before), None) => path(&part.path).name(before).say(" is gone"),
        (None, None) => return None,
    })
}
