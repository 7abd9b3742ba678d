//! Guesses from the name of a tool whether it only reads. A guess orders what is shown; it decides nothing.

/// Verbs that begin the name of a tool that only reads.
const READ_VERBS: [&str; 24] = [
    "browse",
    "calculate",
    "compare",
    "compute",
    "count",
    "describe",
    "echo",
    "explain",
    "fetch",
    "find",
    "get",
    "grep",
    "list",
    "lookup",
    "peek",
    "preview",
    "query",
    "read",
    "retrieve",
    "search",
    "show",
    "status",
    "think",
    "view",
];

/// Nouns that end the name of a tool that only reads, or name its group: `web_search`, `search.web`.
const READ_NOUNS: [&str; 3] = ["lookup", "query", "search"];

/// Words between two actions of a tool: `get_or_create`.
const CONJUNCTIONS: [&str; 3] = ["and", "or", "then"];

/// Whether the name of a tool, or its HTTP method, suggests that it only reads.
pub fn seems_to_read(tool: &str) -> bool {
    if let Some(reads) = reads_by_method(tool) {
        return reads;
    }
    let tool = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map_or(tool, |(_, tool)| tool);
    let last = tool.rsplit(['.', '/', ':']).next().unwrap_or(tool);
    let words = words(last);
    let (Some(first), Some(end)) = (words.first(), words.last()) else {
        return false;
    };
    if words.iter().any(|word| CONJUNCTIONS.contains(&word.as_str())) {
        return false;
    }
    let group = tool.strip_suffix(last).map(|group| group.trim_end_matches(['.', '/', ':']));
    let in_read_group = group.is_some_and(|group| READ_NOUNS.contains(&&*group.to_lowercase())); // `search.web`
    READ_VERBS.contains(&first.as_str()) || READ_NOUNS.contains(&end.as_str()) || in_read_group
}

/// Whether a tool of this name comes with an agent program (Claude Code, Codex CLI, Gemini CLI, opencode, pi) and only reads
/// files, pages or lists. No name that a tool of another kind is likely to have.
pub fn is_built_in_read(tool: &str) -> bool {
    matches!(
        tool,
        "Read"
            | "Glob"
            | "Grep"
            | "LS"
            | "NotebookRead"
            | "WebFetch"
            | "WebSearch"
            | "TodoRead"
            | "BashOutput"
            | "TaskOutput"
            | "ToolSearch"
            | "ListMcpResourcesTool"
            | "ReadMcpResourceTool"
            | "read_file"
            | "list_dir"
            | "grep_files"
            | "view_image"
            | "list_mcp_resources"
            | "read_mcp_resource"
            | "read_many_files"
            | "list_directory"
            | "search_file_content"
            | "google_web_search"
            | "glob"
            | "grep"
            | "ls"
            | "webfetch"
            | "websearch"
            | "codesearch"
            | "todoread"
    )
}

/// Whether the HTTP method reads, if the name is a method and a path.
fn reads_by_method(tool: &str) -> Option<bool> {
    let (method, path) = tool.split_once(' ')?;
    let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
    (is_method && path.starts_with('/')).then_some(matches!(method, "GET" | "HEAD" | "OPTIONS"))
}

/// `get_userDetails` as `get`, `user`, `details`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut before_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && before_lower) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        before_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_come_with_agent_programs_and_read_are_known_by_their_whole_names() {
        assert!(["Read", "Glob", "Grep", "WebFetch", "read_many_files"].iter().all(|tool| is_built_in_read(tool)));
        assert!(
            !["Bash", "Edit", "Write", "shell", "read", "Reads", "mcp__x__Read"]
                .iter()
                .any(|tool| is_built_in_read(tool))
        );
    }

    #[test]
    fn a_name_that_suggests_reading_is_guessed_to_read_and_no_other_is() {
        for tool in [
            "get_order_details",
            "listUsers",
            "search.web",
            "fs/read_file",
            "web_search",
            "think",
            "GetUser",
            "GET /v1/orders/{id}",
            "mcp__shop__get_order",
        ] {
            assert!(seems_to_read(tool), "{tool}");
        }
        for tool in [
            "issue_refund",
            "get_or_create_user",
            "getaway",
            "update_status",
            "readjust",
            "payments.get_and_lock",
            "",
            "list.add",
            "POST /v1/search",
            "DELETE /get",
            "mcp__search__delete_page",
        ] {
            assert!(!seems_to_read(tool), "{tool}");
        }
    }
}
