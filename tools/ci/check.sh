#!/usr/bin/env bash
# What CI runs in a project: `check`, `history verify`, and `impact` where recordings are given. Writes one comment for
# a pull request and one SARIF file. Runs anywhere; asks no network and needs no CI system.
#
#   bash check.sh [OPTION]... [-- TRACE...]
#
#   --project FOLDER    the project (default: this folder)
#   --comment FILE      the comment, in Markdown (default: playproof-comment.md)
#   --sarif FILE        findings for code scanning (default: playproof.sarif)
#   --since REV         the commit that the change starts from, such as origin/main: what `history verify` compares
#                       with, and where `impact` finds the playbook as it was. Needs a clone with its history
#   --base PLAYBOOK     the playbook as it was, if it is not the one at REV
#   --candidate PLAYBOOK  the playbook as it is (default: what playproof.yaml names)
#   --fail-on WHAT      what of `impact` fails: widening, effects, or both with a comma (default: widening)
#   TRACE...            recordings for `impact`: files, folders or globs, seen from the project
#
# PLAYPROOF names the program (default: playproof). The exit code is the worst of the commands, as they document them:
# 70, then 2, then 1, then 3, then 0.
set -uo pipefail

program="${PLAYPROOF:-playproof}"
most="${PLAYPROOF_COMMENT_BYTES:-60000}" # GitHub takes 65,536 characters
project=. comment=playproof-comment.md sarif=playproof.sarif since="" base="" candidate="" fail_on=widening
traces=()

usage() {
    printf 'check.sh: %s\n' "$1" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case "$1" in
        --) shift; traces=("$@"); break ;;
        --project | --comment | --sarif | --since | --base | --candidate | --fail-on)
            [ $# -ge 2 ] || usage "$1 needs a value"
            name="${1#--}"
            printf -v "${name//-/_}" '%s' "$2"
            shift 2 ;;
        *) usage "unknown option $1" ;;
    esac
done

# The first line of the comment, by which it is found again: one for each project of a repository.
marker="$(printf '%s' "$project" | LC_ALL=C tr -c 'A-Za-z0-9._/-' '-')"
marker="<!-- playproof: $marker -->"

absolute() { case "$1" in /* | ?:[/\\]*) printf '%s' "$1" ;; *) printf '%s/%s' "$PWD" "$1" ;; esac; }
comment="$(absolute "$comment")" sarif="$(absolute "$sarif")"
cd "$project" || usage "there is no folder $project"
command -v "$program" >/dev/null || usage "there is no program $program"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

# Worse codes have a higher rank; an unknown one is the worst.
rank() { case "$1" in 0) echo 0 ;; 3) echo 1 ;; 1) echo 2 ;; 2) echo 3 ;; *) echo 4 ;; esac; }
worst=0
note() {
    if [ "$(rank "$1")" -gt "$(rank "$worst")" ]; then worst="$1"; fi
}

word() {
    case "$1" in 0) echo passed ;; 1) echo failed ;; 3) echo inconclusive ;; *) echo "could not run" ;; esac
}

# code TEXT: a Markdown code span that nothing in the text can leave.
code() {
    local text fence='`'
    text="$(printf '%s' "$1" | LC_ALL=C tr -d '\000-\037\177')"
    while [[ "$text" == *"$fence"* ]]; do fence="$fence\`"; done
    if [ "$fence" = '`' ]; then printf '`%s`' "$text"; else printf '%s %s %s' "$fence" "$text" "$fence"; fi
}

# playbook_in FOLDER: the playbook of the project there, as the program resolves it, also where its fixtures cannot be
# read: a path below it, or a name. It is written as in JSON: characters that are unsafe to print are escaped.
playbook_in() {
    (cd "$1" && "$program" lint --color never --format json 2>/dev/null) |
        sed -n 's/^{"format":"lint\/1","playbooks":\[{"source":"\(<embedded>\/\)\{0,1\}\(\([^"\\]\|\\.\)*\)".*$/\2/p'
}

# unescaped TEXT: the text for which a text in JSON stands.
unescaped() { printf '%b' "$1"; }

# fenced TITLE FILE: output that is no Markdown; its control characters are taken out, and a fence cannot end early.
fenced() {
    printf '<details><summary>%s</summary>\n\n~~~~~~~~text\n' "$1"
    LC_ALL=C tr -d '\000-\010\013-\037\177' <"$2" | sed 's/~~~~~~~~/~ ~ ~ ~/g'
    printf '\n~~~~~~~~\n\n</details>\n'
}

# check
rm -f "$sarif"
"$program" check --color never --report "sarif=$sarif" --report "markdown=$scratch/check.md" \
    >"$scratch/check.txt" 2>&1
checked=$?
note "$checked"
cat "$scratch/check.txt"

# history verify
since_flag=()
[ -z "$since" ] || since_flag=(--since "$since")
"$program" history verify --color never ${since_flag[@]+"${since_flag[@]}"} >"$scratch/history.txt" 2>&1
verified=$?
note "$verified"
cat "$scratch/history.txt"

# impact: the playbook as it was against the playbook as it is. A gate that has recordings and could not compare them is
# inconclusive at best.
compared="" skipped="" uncompared=""
not_compared() {
    uncompared=", impact could not compare" skipped="$1"
    note "${2:-3}"
}
if [ ${#traces[@]} -eq 0 ]; then
    skipped="no recordings are configured"
else
    now="$candidate"
    [ -n "$candidate" ] || now="$(playbook_in .)"
    [ -n "$candidate" ] || candidate="$(unescaped "$now")"
    if [ -z "$candidate" ]; then
        not_compared "the playbook of the project is unknown" 2
    elif [ -z "$base" ] && [ -z "$since" ]; then
        not_compared "no commit to compare with is given (--since)"
    elif [ -z "$base" ]; then
        before="$scratch/before" # the project as it was
        mkdir "$before"
        # Where this branch left the other, so that what others have merged since is not taken for this change.
        if ! start="$(git merge-base "$since" HEAD 2>/dev/null)"; then
            not_compared "git does not know where this branch left $(code "$since"): clone with the history (\`fetch-depth: 0\`)" 2
        elif ! git archive --format=tar "$start" 2>/dev/null | tar -xf - -C "$before" 2>/dev/null; then
            not_compared "git has no project here at $(code "$start")"
        else
            was="$(playbook_in "$before")"
            base="$(unescaped "$was")"
            if [ -n "$base" ] && [ -f "$before/$base" ]; then
                cp "$before/$base" "$scratch/before.yaml"
                if cmp -s "$scratch/before.yaml" "$candidate"; then skipped="the playbook has not changed"; fi
                base="$scratch/before.yaml"
            elif [ -z "$base" ]; then
                not_compared "the project had no playbook that can be read at $(code "$start")"
            elif [ "$base" = "$candidate" ] && [ ! -f "$candidate" ]; then
                skipped="the playbook has not changed" # it comes with the program
            fi
        fi
    fi
    if [ -z "$skipped" ]; then
        "$program" impact --color never "--base=$base" "--candidate=$candidate" --fail-on "$fail_on" --format markdown \
            -- "${traces[@]}" >"$scratch/impact.md" 2>"$scratch/impact.txt"
        compared=$?
        note "$compared"
        [ "$compared" -ne 3 ] || uncompared=", impact could not compare"
        cat "$scratch/impact.txt" >&2
        if [ "$base" = "$scratch/before.yaml" ] && [ -s "$scratch/impact.md" ]; then
            # The file is gone when somebody reads the comment.
            sed "s|$scratch/before.yaml|before.yaml|g" "$scratch/impact.md" >"$scratch/impact"
            # A name with characters that are unsafe to print is not for pasting.
            if [ "$(unescaped "$was")" = "$was" ]; then
                show="git cat-file blob $(printf '%q' "$start:./$was") >before.yaml"
                printf '\n`before.yaml` is the playbook before: %s\n' "$(code "$show")" >>"$scratch/impact"
            fi
            mv "$scratch/impact" "$scratch/impact.md"
        fi
    fi
fi

page() {
    printf '%s\n## Playproof: %s%s\n\n' "$marker" "$(word "$worst")" "$uncompared"
    printf '| | |\n|---|---|\n| check | %s |\n| history | %s |\n' "$(word "$checked")" "$(word "$verified")"
    if [ -n "$compared" ]; then
        printf '| impact | %s |\n\n' "$(word "$compared")"
    else
        printf '| impact | skipped: %s |\n\n' "$skipped"
    fi
    if [ -s "$scratch/check.md" ]; then
        sed '1{/^<!--.*-->$/d;}' "$scratch/check.md" # its own marker
    else
        fenced "check" "$scratch/check.txt"
    fi
    if [ "$verified" -ne 0 ]; then
        printf '\n### playproof history verify\n\n'
        fenced "$(word "$verified")" "$scratch/history.txt"
    fi
    if [ -n "$compared" ]; then
        printf '\n'
        if [ -s "$scratch/impact.md" ]; then cat "$scratch/impact.md"; else fenced "impact" "$scratch/impact.txt"; fi
    fi
}

page >"$scratch/comment.md"
# GitHub refuses a comment that is too long. Whole lines are kept, and an open fence or fold is closed.
if [ "$(wc -c <"$scratch/comment.md")" -gt "$most" ]; then
    LC_ALL=C awk -v most="$most" '
        { size += length($0) + 1 }
        size > most { exit }
        { print }
        /^(```|~~~~~~~~)/ { fence = fence == "" ? substr($0, 1, $0 ~ /^`/ ? 3 : 8) : "" }
        /^<details>/ { fold = 1 }
        /^<\/details>/ { fold = 0 }
        END { if (fence != "") print fence; if (fold) print "\n</details>"
              print "\nThe rest is left out: the comment would be too long. The log of the job has all of it." }
    ' "$scratch/comment.md" >"$scratch/short.md"
    mv "$scratch/short.md" "$scratch/comment.md"
fi
cp "$scratch/comment.md" "$comment" || note 2
[ -s "$sarif" ] || note 2
exit "$worst"
