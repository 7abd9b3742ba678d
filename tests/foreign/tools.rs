//! Tool facts: the shipped file and a drafted one are files that the playbook's reader takes.

use playproof_engine::playbook::{Access, Tools};
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::tools;
use playproof_intake::tool_facts::{ToolCount, render};
use playproof_intake::tool_hints::ToolHints;

use super::path;

fn parsed(text: &str) -> Tools {
    tools::parse(Source::whole("tools.yaml", text)).unwrap_or_else(|report| panic!("{report}")).tools
}

#[test]
fn the_shipped_facts_tell_what_may_be_done_twice() {
    let facts = parsed(&std::fs::read_to_string(path("tools/tau.yaml")).expect("the shipped facts"));
    let writes = |tool: &str| facts.facts(tool).access == Access::Write && facts.facts(tool).declared;
    for tool in ["book_reservation", "send_certificate", "cancel_reservation", "return_delivered_order_items"] {
        assert!(writes(tool) && !facts.facts(tool).idempotent, "{tool}");
    }
    for tool in ["transfer_to_human_agents", "update_reservation_baggages", "modify_user_address"] {
        assert!(writes(tool) && facts.facts(tool).idempotent, "{tool}");
    }
    assert_eq!(facts.facts("get_user_details").access, Access::Read);
    assert!(facts.rows().iter().all(|row| row.facts.declared && !row.facts.repeatable));
}

#[test]
fn a_drafted_file_is_a_file_whatever_the_tools_are_called() {
    let odd = ["no", "a: b", "#", "'", "\"", "a[*]{b,c}", "é ü", "0", "null", "-", "{}", "\u{1b}", "", "get_x", "\\d"];
    let count =
        |tool| ToolCount { tool, is_redacted: false, calls: 1, failed: 0, hints: ToolHints::default(), args: None };
    let draft = render("a: # trace", odd.map(count));
    assert_eq!(parsed(&draft).rows().len(), 0, "guesses declare nothing");
    let facts = parsed(&draft.replace("# guessed: confirm", "# confirmed"));
    assert_eq!(facts.rows().len(), odd.len() - 1);
    for tool in odd.into_iter().filter(|tool| !tool.is_empty()) {
        assert!(facts.facts(tool).declared, "{tool}");
    }
    assert_eq!(facts.facts("get_x").access, Access::Read);
    assert!(!facts.facts("abc").declared);
    assert_eq!(parsed(&render("nothing", [])).rows().len(), 0);
}
