//! Whether the complaint of a program or of a database is all that tells of a failure. Names no kinds.

use std::sync::LazyLock;

use super::excerpt::{EXAMINED, cut};
use super::patterns::{self, LazyPattern, LazySet};
use super::program::{complains, says_a_program};
use super::tool_name::is_command_line;

/// The error code of a failure of which only a program or a database tells: what it did before stays done.
pub(super) const PROGRAM_ERROR: &str = "program_error";

/// Words that only a program says of itself, or a tool of the program that it ran.
pub(super) const PROGRAMS: [&str; 5] = [
    r"^(/(usr/)?bin/)?(ba|z|da|k)?sh: |^[\w./+-]{1,60}: (line \d+: )?[^\n]{0,200}: ?(command not found|No such file or directory|Permission denied|Is a directory|Not a directory)\s*($|\n)",
    r"^(fatal|warning): [^\n]{1,200}\b(git|repository|remote|branch|ref|commit|pathspec|destination|revision)\b|^pathspec '[^'\n]+' did not match\b|^git: '[^'\n]+' is not a git command\b",
    r"(?m)^make(\[\d+\])?: \*\*\* |^npm (ERR!|error) |^error\[E\d{4}\]: |^error: could not compile\b",
    r"(?i)^([^\n]{0,200}: |kubectl |docker |git )?command failed: [a-z./]|\breturned (a )?non-zero (exit )?(status|code)\b|^[^\n]{0,80}\b(failed|exited|terminated):? (with )?exit code:? [1-9]\d*\b|^(ripgrep|grep|git|docker|kubectl|npm|cargo|pip) (execution|command) failed\b",
    r"^(cc1(plus)?|ld|rustc|tsc|g?cc|clang|javac): (fatal )?error: |^[\w./-]{1,60}/(python[\d.]*|node|ruby|perl): ",
];

/// Words of a database about a statement.
pub(super) const DATABASES: [&str; 5] = [
    r#"(?i)\bsyntax error at or near "|\bnear "[^"\n]{1,80}": syntax error|\b(have|had|is) an error in your sql syntax\b"#,
    r"(?i)\bno such (table|column|index|view|function|savepoint): |\bunknown (column|table|database) '|\btable '[^'\n]+' doesn't exist",
    r#"(?i)^(error: )?(relation|column|table|view|function|operator|type|schema|role|database|sequence|constraint|index) ("[^"\n]+"|\w+(\.\w+)+|[\w.]+\([^)\n]*\))( of relation "[^"\n]+")? (does not exist|already exists|is ambiguous)"#,
    r"(?i)\b(UNIQUE|NOT NULL|CHECK|FOREIGN KEY|PRIMARY KEY) constraint failed\b|\bviolates (unique|foreign key|check|not-null|exclusion|primary key) constraint\b|\binvalid input syntax for (type )?\w+|\bcannot execute [A-Z ]+ in a read-only transaction\b",
    r"^(Parser|Binder|Catalog|Conversion|Constraint|Invalid Input|Out of Range|Transaction|Dependency|IO) Error: |^[Dd]atabase error: |(^|: )(WRONGTYPE|NOSCRIPT|EXECABORT) \w|(^|: )(ERR )?unknown command '",
];

static PROGRAM_SET: LazySet = LazyLock::new(|| patterns::set(PROGRAMS));
static DATABASE_SET: LazySet = LazyLock::new(|| patterns::set(DATABASES));

/// What frameworks put before the words of a tool that ran a program.
static FRAME: LazyPattern = LazyLock::new(|| {
    patterns::one(r"(?i)^(?:(?:mcp error -\d+|error(?: executing [^:\n]{1,80})?|tool execution failed): ?)+")
});

/// Whether `message` is the complaint of a program or of a database.
pub(super) fn is_program_error(message: &str, tool: Option<&str>) -> bool {
    let text = cut(message.trim(), EXAMINED);
    let frame = FRAME.as_ref().and_then(|frame| frame.find(text)).map_or(0, |frame| frame.end());
    let inner = text.get(frame..).unwrap_or(text);
    let first = inner.lines().next().unwrap_or_default();
    patterns::any_matches(&PROGRAM_SET, inner)
        || patterns::any_matches(&DATABASE_SET, first)
        || complains(inner) == Some(true)
        || says_a_program(text, tool)
        || tool.is_some_and(is_command_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_databases_are_known_by_their_complaints() {
        for complaint in [
            "/bin/bash: line 1: foobarbaz: command not found\n",
            "bash: cd: /nonexistent: No such file or directory",
            "fatal: not a git repository (or any of the parent directories): .git",
            "false\nmake: *** [Makefile:5: fail] Error 1",
            "MCP error -32603: Failed to delete resource: Command failed: kubectl delete pod web-0",
            "cc1: fatal error: nofile.c: No such file or directory\ncompilation terminated.",
            "/usr/bin/python3: No module named pytest",
            "relation \"customer\" does not exist",
            "syntax error at or near \"selec\"",
            "Database error: no such table: parts",
            "Error pushing value to list 'a': WRONGTYPE Operation against a key",
            "Catalog Error: Table with name nope does not exist!\nLINE 1: SELECT * FROM nope",
            "duplicate key value violates unique constraint \"customers_email_key\"",
        ] {
            assert!(is_program_error(complaint, Some("do_it")), "{complaint}");
        }
        for other in [
            "order o_91 not found",
            "the relation of parts and prices does not exist in this plan",
            "room 101 is taken",
            "fatal: the customer hung up",
            "The command failed to reach the crew",
            "Error: the refund failed",
            "the constraint failed to convince",
            "KeyError: 'vault'",
        ] {
            assert!(!is_program_error(other, Some("do_it")), "{other}");
        }
        let printed = "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'";
        assert!(is_program_error(printed, Some("run_command")), "the agent sees the output of the program");
        assert!(!is_program_error(printed, Some("post")), "the agent sees the last words of the tool");
    }
}
