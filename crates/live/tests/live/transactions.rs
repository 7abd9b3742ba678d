//! Transactions of a program: what is done once in them, and what is lost with the program.

use std::fs::File;
use std::path::Path;

use playproof_live::{Dispatcher, NewCall, Plan, RolledBack, plan_of};

use crate::place::{after, failed, write};

/// `standard`, under which a charge is made once in a transaction.
fn plan() -> Plan {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../playbooks/standard.yaml");
    let tools = "format: tools/1\ntools: { charge: { access: write, once: transaction } }\n";
    plan_of("standard", &std::fs::read_to_string(path).unwrap(), Some(tools)).unwrap()
}

fn charge() -> NewCall {
    NewCall { tool: "charge".to_owned(), ..write("") }
}

fn opened(path: &Path) -> File {
    File::options().read(true).write(true).create(true).truncate(false).open(path).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_charge_is_made_once_in_a_transaction_that_begins_again_and_gives_its_result() {
    let dispatcher = Dispatcher::<u32>::new(plan(), None);
    let first = dispatcher.begin("r", "order");
    assert_eq!(dispatcher.call(first.within(charge()), |_| after(1)).await.value, Some(7));
    first.state("order.status", "\"paid\"");
    let notified = dispatcher.call(first.within(write("mail")), |_| async { failed("invalid_arguments") }).await;
    assert_eq!(notified.value, None);
    assert_eq!(first.commit(), Err(RolledBack), "the mail is not known to be done");
    let second = dispatcher.begin("r", "order");
    let again = dispatcher.call(second.within(charge()), |_| async { unreachable!("it is made once") }).await;
    assert_eq!((again.outcome.kind.as_str(), again.value), ("cached", Some(7)));
    second.state("order.status", "\"paid\"");
    assert_eq!(second.commit(), Ok(()));
    let next = dispatcher.begin("r", "order");
    assert_eq!(dispatcher.call(next.within(charge()), |_| after(1)).await.outcome.kind.as_str(), "succeeded");
}

#[tokio::test(start_paused = true)]
async fn state_that_was_not_committed_is_lost_with_its_program_and_what_was_done_is_not_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let (first, _) = Dispatcher::<u32>::resume(plan(), opened(&path)).unwrap();
    let order = first.begin("r", "order");
    assert_eq!(first.call(order.within(charge()), |_| after(1)).await.value, Some(7));
    order.state("order.status", "\"paid\"");
    let journal = std::fs::read(&path).unwrap();
    drop(order); // a program that dies does not live to say so
    drop(first);
    std::fs::write(&path, journal).unwrap();
    for death in 0..2 {
        let (next, _) = Dispatcher::<u32>::resume(plan(), opened(&path)).unwrap();
        let lost: Vec<String> = next.lost_state().into_iter().map(|lost| lost.name).collect();
        assert_eq!(lost, ["order.status"].repeat(usize::from(death == 0)), "it is lost once");
    }
    let (last, _) = Dispatcher::<u32>::resume(plan(), opened(&path)).unwrap();
    let order = last.begin("r", "order");
    let again = last.call(order.within(charge()), |_| async { unreachable!("it is made once") }).await;
    assert_eq!(again.outcome.kind.as_str(), "cached");
    assert_eq!(order.commit(), Ok(()));
}
