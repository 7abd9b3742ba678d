#!/usr/bin/env bash
# Puts a comment that check.sh wrote on a pull request of GitHub: updates the one that is there, or writes the first.
#
#   bash comment.sh FILE REPOSITORY NUMBER      with `gh`, and GH_TOKEN as it wants it
#
# A token that may not comment (that of a pull request from a fork) is no failure: it is said, and the exit code is 0.
set -euo pipefail

file="${1:?the comment}" repository="${2:?OWNER/NAME}" number="${3:?the number of the pull request}"
marker="$(head -n 1 "$file")"
case "$marker" in '<!-- playproof: '*' -->') ;; *) echo "comment.sh: $file does not begin with its marker" >&2; exit 2 ;; esac

said="$(mktemp)"
trap 'rm -f "$said"' EXIT
cannot() {
    cat "$said" >&2
    echo "comment.sh: the comment was not written: $1; the summary of the job has it" >&2
    exit 0
}

# Anybody may begin a comment with the marker: ours is that of a bot, or of the owner of the token.
me="$(gh api user --jq .login 2>/dev/null)" || me=""
ids="$(gh api --paginate "repos/$repository/issues/$number/comments?per_page=100" \
    --jq ".[] | select((.user.type == \"Bot\" or .user.login == \"$me\") and (.body | startswith(\"$marker\"))) | .id" 2>"$said")" ||
    cannot "the comments cannot be read"
id="$(head -n 1 <<<"$ids")"
if [ -n "$id" ]; then
    gh api --method PATCH "repos/$repository/issues/comments/$id" --field "body=@$file" >"$said" 2>&1 || cannot "it cannot be updated"
    echo "comment $id is updated"
else
    gh api --method POST "repos/$repository/issues/$number/comments" --field "body=@$file" >"$said" 2>&1 || cannot "it cannot be added"
    echo "the comment is added"
fi
