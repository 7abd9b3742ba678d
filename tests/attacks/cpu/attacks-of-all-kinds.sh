#!/usr/bin/env bash
# Attacks of all kinds, each a case: what is right stands in its name. `attacks-of-all-kinds.sh PATTERN` runs the cases
# whose names match. It needs python3, git and gzip; strace for two cases, which are left out without it.
. "$(dirname "$0")/../common.sh"
ONLY=${1:-.}
cd "$T" || exit 2
ulimit -c 0; ulimit -v 6000000
passed=0; failed=()
case_() { # GROUP NAME FUNCTION: the function runs in a fresh folder, and succeeds where the program is right
  [[ "$1 $2" =~ $ONLY ]] || return 0
  rm -rf "$T/w"; mkdir "$T/w"
  if (cd "$T/w" && "$3") >"$T/log" 2>&1; then passed=$((passed+1)); else failed+=("$1 $2"); fi
}
rc() { "$@" >"$T/out" 2>"$T/err" </dev/null; echo $?; }        # exit code; what was said is in $T/out and $T/err
said() { cat "$T/out" "$T/err"; }
C='{"type":"tool_call","run_id":"r1","call_id":"c1","tool":"payments.issue_refund","at_ms":0,"args":{"order":"o_91"},"idempotency_key":"ik"}'
R='{"type":"tool_result","run_id":"r1","call_id":"c1","at_ms":5000,"status":"error","error":{"kind":"timeout","message":"no answer"}}'
ok() { printf '%s\n%s\n' "$C" "$R" > ok.jsonl; }
odd() { for i in 1 2 3; do echo '{"run_id":"r'$i'","call_id":"c","tool":"tool.x","args":{"o":'$i'},"status":"error","error":{"kind":"k","message":"'"${1:-/etc/passwd was touched}"'"}}'; done; echo '{"run_id":"r9","call_id":"c","tool":"tool.x","args":{"o":1},"status":"error","error":{"kind":"k2","message":"other thing"}}'; }
project() { playproof init >/dev/null 2>&1; }
# Completes or rolls back interrupted work, as every command does.
go_on() { playproof check >"$T/fin" 2>&1; playproof check >"$T/fin" 2>&1; ! grep -q interrupted "$T/fin"; }
written() { grep -rlE 'write this' proposals | xargs -r sed -i -E 's/<!-- write this[^>]*-->/They wait./'; }
pb() { cat <<Y
format: playbook/1
name: p
verdicts:
  v: { means: x, effect: unknown, then: { escalate_to_human: { queue: q } } }
classify:
  - { rule: r1, when: { ${1:-kind: timeout} }, verdict: v }
otherwise: unclassified
default_queue: q
queues: [q]
limits: { max_attempts: 4, deadline_ms: 30000 }
Y
}

# ---------------------------------------------------------------- C: data loss and crash safety
staging_link() { project; mkdir ../v; echo precious > ../v/thesis; mkdir -p proposals; ln -s ../../v proposals/.accepting; rc playproof check >/dev/null; local k=1; [ -e ../v/thesis ] && k=0; rm -rf ../v; return $k; }
case_ C "check deletes nothing behind a link proposals/.accepting" staging_link
staging_link_replay() { ok; mkdir ../v proposals; echo precious > ../v/thesis; ln -s ../../v proposals/.accepting; rc playproof check >/dev/null; rc playproof lint >/dev/null; rc playproof replay ok.jsonl >/dev/null; local k=1; [ -e ../v/thesis ] && k=0; rm -rf ../v; return $k; }
case_ C "replay, lint and check delete nothing behind that link where there is no project" staging_link_replay
hostile_journal() { project; mkdir -p ../v proposals/.accepting; echo mine > ../v/rc; echo mine > ../v/del
  printf '{"format":"changeset/1","files":[{"path":"../v/rc","was_there":true,"removes":false,"becomes":null},{"path":"../v/del","was_there":false,"removes":false,"becomes":null}],"made":[]}' > proposals/.accepting/journal.json
  echo evil > proposals/.accepting/0.old; go_on; local k=1; [ "$(cat ../v/rc)" = mine ] && [ -e ../v/del ] && k=0; rm -rf ../v; return $k; }
case_ C "the next command writes and removes nothing outside the project, whatever journal a repository brings" hostile_journal
snap_new_link() { project; sed -i 's/backoff_ms: \[200/backoff_ms: [250/' playbooks/ours.yaml; echo mine > ../rc; ln -s ../../../rc goldens/ours/a-keyed-refund-meets-its-own-effect.snap.new; rc playproof check >/dev/null; local k=1; [ "$(cat ../rc)" = mine ] && k=0; rm -f ../rc; return $k; }
case_ C "check writes through no link that stands where it leaves a .snap.new" snap_new_link
init_killed() { command -v strace >/dev/null || return 0; odd > t.jsonl; (ulimit -v unlimited; strace -f -qq -o /dev/null -e trace=renameat2 -e inject=renameat2:signal=KILL:when=3 "$PP" init --from t.jsonl) >/dev/null 2>&1
  [ -e playproof.yaml ] || { echo "not interrupted"; return 0; }; go_on && { [ ! -e playproof.yaml ] || playproof check >/dev/null 2>&1; }; }
case_ C "an init --from that was killed before tools/ was written is rolled back or completed" init_killed
strays() { command -v strace >/dev/null || return 0; project; sed -i 's/backoff_ms: \[200/backoff_ms: [250/' playbooks/ours.yaml; (ulimit -v unlimited; strace -f -qq -o /dev/null -e trace=fsync -e inject=fsync:signal=KILL:when=1 "$PP" check -j1) >/dev/null 2>&1; rc playproof check >/dev/null; [ -z "$(find goldens -name '.playproof-*')" ]; }
case_ C "what a killed check left is cleared by the next" strays
full_said() { project; sed -i 's/backoff_ms: \[200/backoff_ms: [250/' playbooks/ours.yaml; playproof accept --reason r >/dev/full 2>"$T/err"; grep -qE 'was changed|accepted|was written|is done' "$T/err"; }
case_ C "accept >/dev/full says that the rows are accepted all the same" full_said
accept_kill() { project; sed -i 's/backoff_ms: \[200/backoff_ms: [250/' playbooks/ours.yaml; local i p; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do "$PP" check --accept >/dev/null 2>&1 & p=$!; sleep 0.00$i; kill -9 $p 2>/dev/null; wait $p 2>/dev/null; if playproof propose list 2>&1 | grep -q interrupted; then go_on || return 1; fi; done; rc playproof check --accept >/dev/null; rc playproof accept --reason r >/dev/null; [ "$(rc playproof check)" = 0 ]; }
case_ C "check --accept killed twelve times leaves a project that can go on" accept_kill
two() { project; playproof accept --reason a >/dev/null 2>&1 & local a=$!; playproof check --accept >/dev/null 2>&1; wait $a; [ "$(rc playproof history verify)" = 0 ] && [ "$(rc playproof check)" = 0 ]; }
case_ C "two commands at once leave a whole project" two
overwrite() { project; ok; for f in playproof.yaml playbooks/ours.yaml goldens/playbook.lock ok.jsonl; do s=$(sha1sum <$f); [ "$(rc playproof check --report junit=$f)" = 2 ] || return 1; [ "$s" = "$(sha1sum <$f)" ] || return 1; done; }
case_ C "a report replaces no other file" overwrite

# ---------------------------------------------------------------- D: redaction
red() { project; echo "redaction: { keys: [password], patterns: ['sk_live_[A-Za-z0-9]+', '\\b\\d{13,19}\\b'] }" >> playproof.yaml; }
noleak() { ! grep -q "$1" "$T/out" "$T/err"; }
d_msg() { red; echo '{"run_id":"r","tool":"x","args":{"a":"sk_live_A1","password":"pw1"},"status":"error","error":{"kind":"w","message":"m sk_live_A2","code":"sk_live_A3"}}' > t.jsonl; for c in "replay --all" "replay --all --format json" "replay --all --format jsonl" "replay --all --format markdown --show-args" "propose find" "propose find --format json" "explain --call r#1" "confirm --draft"; do rc playproof $c t.jsonl >/dev/null; noleak 'sk_live_\|pw1' || return 1; done; }
case_ D "messages, codes and arguments are redacted in every format" d_msg
d_bad() { red; printf '{"tool":"x","args":{"a":"sk_live_A"},"password":"pw1"\n' > t.jsonl; rc playproof replay t.jsonl >/dev/null; noleak 'sk_live_\|pw1'; }
case_ D "an excerpt of a bad line of a trace shows no secret" d_bad
d_chat() { red; printf '[{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"x","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"sk_live_A1"}' > t.json; rc playproof replay t.json >/dev/null; noleak sk_live_; }
case_ D "an excerpt of a broken chat document shows no secret" d_chat
d_map() { red; printf 'format: mapping/1\ncall: { tool: t }\n' > m.yaml; printf '{"t":"x","k":"sk_live_A1"\n' > t.jsonl; rc playproof replay --map m.yaml t.jsonl >/dev/null; noleak sk_live_; }
case_ D "an excerpt of a broken row of a mapped log shows no secret" d_map
d_keep() { red; echo '{"tool":"x","at":"sk_live_A1"}' > t.jsonl; rc playproof propose keep t.jsonl x --expect v --note n >/dev/null; noleak sk_live_; }
case_ D "an excerpt of a bad line under propose keep shows no secret" d_keep
d_type() { red; printf '{"type":"sk_live_A1"}\n' > t.jsonl; rc playproof replay t.jsonl >/dev/null; noleak sk_live_; }
case_ D "an unknown type is redacted where it is named" d_type
d_num() { red; echo '{"run_id":"r","tool":"x","args":{"card":4111111111111111},"status":"error","error":{"kind":"w","message":"m"}}' > t.jsonl; rc playproof replay t.jsonl --all >/dev/null; noleak 4111111111111111; }
case_ D "a card number that is a JSON number is redacted (the pattern that init suggests)" d_num
d_num_keep() { red; echo '{"run_id":"r","tool":"x","args":{"card":4111111111111111},"status":"error","error":{"kind":"w","message":"m"}}' > t.jsonl; rc playproof propose keep t.jsonl 'r#1' --expect v --note n >/dev/null; [ -e kept ] || return 1; ! grep -rq 4111111111111111 kept; }
case_ D "and is kept out of what propose keep writes for git" d_num_keep
d_key() { red; echo '{"run_id":"r","tool":"x","args":{"sk_live_A1":1},"status":"error","error":{"kind":"w","message":"m"}}' > t.jsonl; rc playproof replay t.jsonl --all >/dev/null; noleak sk_live_; }
case_ D "a key of arguments that matches a pattern is redacted" d_key
d_kind() { red; echo '{"run_id":"r","tool":"x","args":{},"status":"error","error":{"kind":"sk_live_A1","message":"m"}}' > t.jsonl; rc playproof replay t.jsonl --all >/dev/null; noleak sk_live_; }
case_ D "an error kind that matches a pattern is redacted (or the documents say that it is not)" d_kind
d_tok() { red; echo '{"run_id":"r","tool":"x","args":{},"idempotency_key":"sk_live_A1","reversal_token":"sk_live_A2","status":"error","error":{"kind":"w","message":"m"}}' > t.jsonl; rc playproof replay t.jsonl --all >/dev/null; noleak sk_live_; }
case_ D "an idempotency key and a reversal token that match are redacted where they are shown" d_tok
d_imp() { red; printf '[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"x","arguments":"{\\"password\\":\\"pw1\\"}"}}]},{"role":"tool","tool_call_id":"c","content":"Error: sk_live_A1"}]' > t.json; rc playproof formats convert t.json >/dev/null; noleak 'sk_live_\|pw1'; }
case_ D "formats convert writes no secret (or says that it does not redact)" d_imp
d_inner() { red; printf '{"run_id":"r","tool":"x","args":{"body":"{\\"password\\":\\"pw1\\"}"},"status":"error","error":{"kind":"w","message":"m"}}\n' > t.jsonl; rc playproof replay t.jsonl --all >/dev/null; noleak pw1; }
case_ D "a key is found in arguments that are JSON within a text" d_inner

# ---------------------------------------------------------------- B: text of a trace in sinks
b_esc() { python3 - <<'P'
import json
for n,s in enumerate(['\x1b]0;T\x07','\u202eabc','a\u200bb','a\rFAKE','\u009b31m','a\x00b','l1\nl2']):
    open('t%d.jsonl'%n,'w').write(json.dumps(dict(run_id=s,call_id=s,tool=s,args={s:s},idempotency_key=s,status='error',error=dict(kind=s,message=s,code=s)))+'\n')
P
for f in t?.jsonl; do for c in replay "replay --format markdown --show-args" "replay --format json" "propose find" "confirm --draft" "impact -c study/retry-everything" "explain --call $f:1"; do rc playproof $c $f >/dev/null; python3 - "$T/out" "$T/err" <<'P' || return 1
import sys,re
t=''.join(open(f,encoding='utf8',newline='').read() for f in sys.argv[1:])
sys.exit(bool(re.search('[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]',t)))
P
done; done; }
case_ B "no control, bidi or zero-width character of a trace reaches an output raw" b_esc
b_yaml() { python3 -c "
import json
for n,s in enumerate(['a\u061cb','a\u00adb','a\u2060b','a\U000e0041b','a\u180eb']): open('t%d.jsonl'%n,'w').write(json.dumps(dict(run_id='r',tool=s,status='error',error=dict(kind=s,message=s+' x')))+'\n')"
for f in t?.jsonl; do for c in "propose find" "confirm --draft"; do rc playproof $c $f >/dev/null; python3 -c "
import sys,re; sys.exit(bool(re.search('[\u061c\u00ad\u2060\u180e\U000e0041]',open('$T/out',encoding='utf8').read())))" || return 1; done; done; }
case_ B "nor do soft hyphens, tags and U+061C in drafted YAML" b_yaml
b_wf() { echo '{"run_id":"r","tool":"x","status":"error","error":{"kind":"500","message":"upstream said a few words that are long enough to fill a line ::error file=README.md,line=1::pwned ::stop-commands::zz"}}' > t.jsonl; for c in replay "explain --call r#1" "replay --format markdown"; do GITHUB_ACTIONS=true CI=1 rc playproof $c t.jsonl >/dev/null; grep -qE '^[[:space:]]*::' "$T/out" && return 1; done; return 0; }
case_ B "no line begins with a GitHub workflow command that a trace wrote" b_wf
b_wf_title() { project; sed 's/^title:.*/title: "::stop-commands::pwn"/; s/outcome: escalated/outcome: succeeded/' fixtures/a-denial-goes-to-people.yaml > fixtures/z.yaml; GITHUB_ACTIONS=true CI=1 rc playproof check >/dev/null; ! grep -E '^[[:space:]]*::' "$T/out" | grep -qv '^::\(error\|warning\|notice\) file='; }
case_ B "no line of check on GitHub begins with a workflow command that a title wrote" b_wf_title
b_next() { project; cp fixtures/a-denial-goes-to-people.yaml 'fixtures/a$(touch PWN)b.yaml'; rc playproof check >/dev/null; n=$(sed -n 's/^next: playproof //p' "$T/out"); mkdir x; cd x; playproof() { :; }; eval "playproof $n"; [ ! -e PWN ]; }
case_ B "the next: of check quotes the name of a fixture" b_next
b_next2() { project; odd > t.jsonl; playproof propose new vv --means m --from-cluster 1 --trace t.jsonl >/dev/null 2>&1; mv proposals/vv 'proposals/a$(touch PWN)'; rc playproof propose check >/dev/null; mkdir x; cd x; playproof() { :; }; while read -r n; do eval "$n"; done < <(said | sed -n 's/.*\(playproof propose check .*\)$/\1/p'); [ ! -e PWN ]; }
case_ B "the next: of propose quotes the name of a proposal" b_next2
b_file() { printf '%s\n%s\n' "$C" "$R" > '$(touch PWN);`touch PWN`.jsonl'; rc playproof replay '$(touch PWN);`touch PWN`.jsonl' >/dev/null; n=$(sed -n 's/^next: //p' "$T/out"); mkdir x; cd x; playproof() { :; }; eval "$n"; [ ! -e PWN ]; }
case_ B "the next: of replay quotes the name of a trace" b_file
b_round() { python3 -c "
import json
for i in range(3): print(json.dumps(dict(run_id='r%d'%i,tool='x: {y # !!python',args={'k: [':'v\nw: z'},status='error',error=dict(kind='k',message='x: {y\n- # !!python \"\'\\\\'))))
print(json.dumps(dict(run_id='z',tool='o',status='error',error=dict(kind='k2',message='other matter'))))" > t.jsonl; playproof init --from t.jsonl >/dev/null 2>&1 && playproof propose new vv --means m --from-cluster 1 --trace t.jsonl --effect unknown --then '{ deprecate_tool_call: { reason: r } }' >/dev/null 2>&1 && written && [ "$(rc playproof accept vv --reason 'a: {b # c')" = 0 ] && [ "$(rc playproof check)" = 0 ] && [ "$(rc playproof history verify)" = 0 ]; }
case_ B "YAML-like tool names and messages survive init, propose, accept, verify" b_round
b_tool() { project; python3 -c "
import json
for i in range(3): print(json.dumps(dict(run_id='r%d'%i,tool='pay\nrefund',status='error',error=dict(message='odd thing here'))))
print(json.dumps(dict(run_id='z',tool='o',status='error',error=dict(kind='k2',message='other matter'))))" > t.jsonl; [ "$(rc playproof propose new vv --means m --from-cluster 1 --trace t.jsonl)" != 0 ] || { rc playproof propose check >/dev/null; ! grep -q 'cannot be a tool' "$T/err"; }; }
case_ B "propose new writes no fixture that cannot be read (a tool with a line break)" b_tool
b_path() { project; sed -i 's#goldens: goldens#goldens: "a\\e[31mb"#' playproof.yaml; rc playproof accept --reason r >/dev/null; ! said | grep -q $'\x1b'; }
case_ B "accept shows a path without its control characters" b_path

# ---------------------------------------------------------------- A: bad input, vacuous success
a_glob() { pb "tool: '$(printf '{%.0s' {1..251})a$(printf '}%.0s' {1..251})'" > p.yaml; ok; [ "$(rc playproof lint p.yaml)" = 2 ] && [ "$(rc playproof replay ok.jsonl -p p.yaml)" = 2 ]; }
case_ A "a glob that nests 251 deep is refused, no panic (rule)" a_glob
a_glob2() { ok; printf 'format: tools/1\ntools:\n  "%s": { access: read }\n' "$(printf '{%.0s' {1..251})a$(printf '}%.0s' {1..251})" > t.yaml; [ "$(rc playproof replay ok.jsonl --tools t.yaml)" = 2 ]; }
case_ A "the same in tool facts" a_glob2
a_glob3() { project; ok; python3 -c "print('redaction: { keys: [\'' + '?'*300000 + '\'] }')" >> playproof.yaml; [ "$(rc playproof replay ok.jsonl)" = 2 ]; }
case_ A "a glob of 300,000 characters in redaction.keys is refused, no panic" a_glob3
a_check_path() { project; [ "$(rc playproof check /nonexistent/fixtures/a-denial-goes-to-people.yaml)" = 2 ]; }
case_ A "check of a path that is not there is no success" a_check_path
a_accept_path() { project; odd > t.jsonl; playproof propose new vv --means m --from-cluster 1 --trace t.jsonl >/dev/null 2>&1; written; [ "$(rc playproof accept /nonexistent/proposals/vv --reason r)" = 2 ] && [ -e proposals/vv/playbook.yaml ]; }
case_ A "accept of a path that is not there accepts nothing" a_accept_path
a_impact() { printf '{"type":"tool_call","run_id":"r","call_id":"c","tool":"x"}\n' > t.jsonl; [ "$(rc playproof impact -c study/retry-everything --fail-on widening,effects t.jsonl)" != 0 ] && ! grep -qx passes "$T/out"; }
case_ A "impact --fail-on does not pass where no recorded attempt failed and each call is undetermined" a_impact
a_orphan() { printf '%s\n%s\n' "$R" "$C" > t.jsonl; [ "$(rc playproof impact -c study/retry-everything --fail-on widening,effects t.jsonl)" != 0 ]; }
case_ A "nor where each result is an orphan" a_orphan
a_undet() { for i in 1 2 3; do printf '{"run_id":"r%d","tool":"search.x","args":{"q":%d},"status":"error","error":{"kind":"timeout","message":"no"}}\n' $i $i; done > t.jsonl; printf 'format: tools/1\ntools:\n  search.x: { access: read }\n' > f.yaml; [ "$(rc playproof impact -c study/retry-everything --tools f.yaml --fail-on widening,effects t.jsonl)" != 0 ]; }
case_ A "nor where each call is undetermined under both" a_undet
a_find() { python3 -c "
import random,json
random.seed(1); w=[''.join(random.choice('abcdefghijklmnopqrstuvwxyz') for _ in range(random.randint(3,9))) for _ in range(50000)]
f=open('t.jsonl','w')
for i in range(5000): f.write(json.dumps(dict(run_id='r',tool='x',status='error',error=dict(message=' '.join(random.choice(w) for _ in range(8)))))+'\n')
for i in range(50000): f.write(json.dumps(dict(run_id='r',tool='x',args=dict(a=i),status='error',error=dict(message='the ledger of the branch is closed')))+'\n')"; rc playproof propose find t.jsonl >/dev/null; grep -q 'ledger of the branch' "$T/out"; }
case_ A "propose find shows a template with 50,000 failures behind 5,000 templates with one" a_find
a_mem() { python3 -c "
import random
random.seed(1); w=[''.join(random.choice('abcdefghijklmnopqrstuvwxyz') for _ in range(6)) for _ in range(50000)]
f=open('t.jsonl','w')
for i in range(400000): f.write('{\"run_id\":\"r%d\",\"tool\":\"x\",\"args\":{\"a\":%d},\"status\":\"error\",\"error\":{\"message\":\"%s\"}}\n'%(i%10,i,' '.join(random.choice(w) for _ in range(8))))"; (ulimit -v 500000; playproof replay t.jsonl -j1 >/dev/null 2>&1); [ $? -le 3 ]; }
case_ A "replay of 400,000 calls with distinct messages needs less than 500 MB" a_mem
a_zero() { timeout 5 playproof replay /dev/zero >/dev/null 2>&1; [ $? = 2 ]; }
case_ A "a line without end is refused at its limit" a_zero
a_range() { printf 'format: mapping/1\ncall: { tool: t }\nresult: { status: s }\nfailed:\n  - { s: 599-400 }\n' > m.yaml; printf '{"t":"x","s":500}\n' > l.jsonl; [ "$(rc playproof replay --map m.yaml l.jsonl)" = 2 ]; }
case_ A "a mapping with the range 599-400 is refused" a_range
a_lint() { odd > t.jsonl; playproof init --from t.jsonl >/dev/null 2>&1; playproof propose new vv --means m --from-cluster 1 --trace t.jsonl --effect unknown --then '{ deprecate_tool_call: { reason: r } }' >/dev/null 2>&1; written; [ "$(rc playproof accept vv --reason r)" = 0 ] || return 1; [ "$(rc playproof lint)" = 0 ]; }
case_ A "lint (in the CI job of init) is clean after a rule that propose new drafted was accepted with its fixture" a_lint
a_keep_next() { project; ok; rc playproof propose keep ok.jsonl nosuch --expect v --note n >/dev/null; n=$(said | sed -n 's/^ *next: //p' | tail -1); playproof() { command playproof "$@"; }; eval "$n" >"$T/out" 2>"$T/err"; ! grep -q 'unexpected argument' "$T/err"; }
case_ A "the command that propose keep suggests for an unknown call is a command" a_keep_next
a_init_code() { mkdir goldens; echo mine > goldens/playbook.lock; [ "$(rc playproof init)" != 2 ] || [ ! -e playproof.yaml ]; }
case_ A "init exits with 2 only where nothing was written, as its help says" a_init_code
a_gz2() { ok; gzip -c ok.jsonl | gzip -c > t.gz; a=$(rc playproof replay t.gz); b=$(rc playproof confirm --draft t.gz); [ "$a" = "$b" ]; }
case_ A "replay and confirm agree on what is compressed twice" a_gz2
a_utf32() { ok; python3 -c "open('u.jsonl','wb').write(open('ok.jsonl').read().encode('utf-32'))"; rc playproof replay u.jsonl >/dev/null; ! grep -q 'UTF-16 text' "$T/err"; }
case_ A "UTF-32 is not called UTF-16" a_utf32
a_long() { python3 -c "
import json; print(json.dumps(dict(run_id='r',tool='t'*1100,status='error',error=dict(message='x y'))))" > t.jsonl; rc playproof confirm --draft t.jsonl >/dev/null; cp "$T/out" f.yaml; [ "$(rc playproof replay t.jsonl --tools f.yaml)" = 0 ]; }
case_ A "confirm --draft writes what --tools can read (a tool of 1,100 characters)" a_long
a_bad() { ok; local f; printf '%s\n%s' "$C" "${R:0:60}" > trunc.jsonl; printf '\xff\xfe' > b1.jsonl; : > b2.jsonl; printf '{"tool":"x","tool":"y"}\n' > b3.jsonl; printf '{"tool":"x","at_ms":1e400}\n' > b4.jsonl; python3 -c "print('{\"tool\":\"x\",\"f\":'+'['*200000+']'*200000+'}')" > b5.jsonl; gzip -c ok.jsonl | head -c 60 > b6.jsonl.gz; printf '%s\n' "$R" > b7.jsonl; for f in trunc.jsonl b?.jsonl*; do for c in replay "propose find" "confirm --draft" "impact -c study/retry-everything"; do [ "$(rc playproof $c $f)" = 2 ] && [ -s "$T/err" ] || return 1; done; done; }
case_ A "truncated, binary, empty, doubled, overflowing, deep, half a gzip, orphans: 2 and a message" a_bad
a_yaml() { ok; local i=0 y; for y in 'a: &a [x,x]' 'a: &a [*a]' 'name: !!python/object:os.system x' '<<<<<<< HEAD'; do { echo "$y"; pb; } > p.yaml; [ "$(rc playproof replay ok.jsonl -p p.yaml)" = 2 ] || return 1; done; pb "message: { matches: '((a{1000}){1000}){1000}' }" > p.yaml; [ "$(rc playproof lint p.yaml)" = 2 ]; }
case_ A "alias cycles, tags, conflict markers and regex bombs in a playbook: 2" a_yaml
a_nothing() { local c; for c in check "coverage --mutate" coverage "coverage --fail-under 0" "history verify" "propose check" accept "accept --reason x"; do [ "$(rc playproof $c)" = 2 ] || return 1; done; }
case_ A "no gate passes where there is nothing" a_nothing

# ---------------------------------------------------------------- E: the same bytes
e_lint() { project; mkdir sub; rc playproof lint --format json >/dev/null; a=$(cat "$T/out"); cd sub; rc playproof lint --format json >/dev/null; [ "$a" = "$(cat "$T/out")" ]; }
case_ E "lint --format json is the same from any folder of the project" e_lint
e_jobs() { python3 -c "
import random
random.seed(3)
for i in range(3000): print('{\"run_id\":\"r%d\",\"tool\":\"%s\",\"args\":{\"a\":%d},\"status\":\"error\",\"error\":{\"kind\":\"%s\",\"message\":\"m %d\"}}'%(i//5,random.choice(['a.b','z','Ä']),i%7,random.choice(['timeout','5xx','w']),i%11))" > t.jsonl; local c j a; for c in "replay --all" "replay --format json" "propose find --format json" "impact -c study/retry-everything --format json"; do rc playproof $c t.jsonl -j1 >/dev/null; a=$(sha1sum <"$T/out"); for j in 2 3 8; do TZ=Asia/Tokyo LC_ALL=tr_TR.UTF-8 TERM=dumb rc playproof $c t.jsonl -j$j >/dev/null; [ "$a" = "$(sha1sum <"$T/out")" ] || return 1; done; done; }
case_ E "the same bytes with 1, 2, 3 and 8 threads, another time zone and another language" e_jobs
e_init() { odd > t.jsonl; mkdir a b; cp t.jsonl a; cp t.jsonl b; (cd a; TZ=Asia/Tokyo playproof init --from t.jsonl >/dev/null 2>&1); (cd b; LC_ALL=C playproof init --from t.jsonl >/dev/null 2>&1); diff -r a b; }
case_ E "init --from writes the same bytes anywhere" e_init

[ ${#failed[@]} = 0 ] || fault "$passed passed; $(printf '%s; ' "${failed[@]}")"
[ "$passed" -gt 0 ] || fault "no case matches $ONLY"
right "$passed cases"
