//! Reads the beginning of a text: does it say that the call failed? A text that mentions errors later is an answer about them,
//! except where a program tells of its own failure behind an output.

use std::sync::LazyLock;

use super::coded::{is_bare_refusal, is_coded, leading_code};
use super::content::Content;
use super::counted::{bare_error, counts_none};
use super::deeds::{self, is_deed_of};
use super::excerpt::{EXAMINED, SHORT, cut};
use super::exit::{AT_START, Exit};
use super::heading::below_heading;
use super::held::is_held;
use super::message::{Sign, message};
use super::patterns::{self, LazySet, any_matches};
use super::program::{complains, ends_in_error, says_a_program, spoken};
use super::quoted::is_quoted;
use super::tool_name::is_shell;
use super::{
    agents, already, brought_about, clause, frame, laid_out, markup, own_name, prose, searched, sentence, undone,
};

/// Beginnings by which programs and frameworks report a failure, whatever follows.
pub(super) const SURE: [&str; 38] = [
    // Python, JavaScript, Java, Go, Rust
    r"^Traceback \(most recent call last\)",
    r#"^Exception in thread ""#,
    r"^(?i:uncaught|unhandled) (?i:promise rejection|exception|error|rejection|\w+Error)",
    r"^thread '[^']*' (\(\d+\) )?panicked at|^panic: |^goroutine \d+ \[",
    // MCP and agent programs
    r"(?i)^error (executing|calling|running|invoking) ((the )?(mcp )?(tool|function)|['\x22`\w.:/-]+:)",
    r"(?i)^(error:? ([\w ()]{1,40}: )?)?mcp error:? -?\d+",
    r"(?i)^(the |error )?tool (execution|call|invocation|use) (failed|error|(was )?(denied|rejected|blocked|not approved))|^(failed|error|unable) to (execute|call|run|invoke) (the )?(tool|function)\b|^(tool|function) call (was )?skipped\b *[:.(]",
    r"(?i)^<(tool_use_error|tool_call_error|tool_error|error_details|error)>",
    r"(?i)^(input|output) validation error\b|^the sites robots\.txt \(|^(path|address): [^\n]+\ntitle: \w*(error|exception)\s*(\n|$)",
    r"^\d+ validation errors? (for|detected)|^[1-9]\d* validation errors?: \[\s*\{|^[Vv]alidation error for [A-Z]\w*|^Your (proposed|suggested) (edit|change|patch) (has|had) (introduced|caused) [^\n]{0,40}error",
    r"(?i)^(unsupported ([\w-]+ ){0,3}call:|model tried to call unavailable tool|no such tool|(error: )?[\w.:/-]+ is not a valid tool\b)",
    r"(?i)^(unknown|unrecognized|unsupported|invalid) (tool|function)( name)?( requested| called)?\s*[:'\x22`]",
    r"(?i)^tool ['\x22`]?[\w.:/-]+['\x22`]? (was |is |does |did |could )?(not (found|exists?|available|registered|enabled|be found)|unknown|disabled|failed|timed out|returned an error|encountered an error|got invalid)\b|^(the )?tool call (with (the )?name|named|to) \S+ (is|was) not\b|^the arguments (provided |given )?(to|for) (the )?tool( \S+)? (are|were) (invalid|malformed)\b",
    r"(?i)^(the user (doesn't|does not|didn't) want to (proceed|take this action)|no \(tell claude what to do differently\)|the user has specified a rule which prevents you\b|interrupted · what should claude do instead|(the )?user (has )?(rejected|denied|declined|refused|cancell?ed|aborted)\b|\[request interrupted by user|(the )?(tool|tool use|tool call|tool execution|execution|action|operation|command|exec command|patch|request) (was |were )?(rejected|denied|declined|cancell?ed|aborted) by (the )?user|tool execution was not approved|permission to use \S+ (with command .{0,200} )?has been (rejected|denied))",
    // HTTP
    r"(?i)^http(/[\d.]+)?( (error|status)( code)?)?[ :]+[45]\d\d\b",
    r"^\([45]\d\d\)\s*Reason: ",
    r"(?i)^(client|server) error '?[45]\d\d\b|^[45]\d\d (client|server) error\b",
    r"(?i)^(the )?(request|api request|api call|http request|query|call) failed with (http )?(status|code|error)",
    r"(?i)^[45]\d\d: [a-z]|^(response|got|received|returned|http)( an?| the| http)? (status|code|response)( code)?:? [45]\d\d\b|^error code: [45]\d\d\b|^(the )?(server|url|site|website|page|host|api|endpoint) (returned|responded with|answered with|replied with)( an?)?( http| error| status| code)+:? [45]\d\d\b|^(status|status code|response status)[: ]+[45]\d\d\b",
    r"(?i)^[45]\d\d[ :,-]+(bad request|unauthorized|payment required|forbidden|not found|method not allowed|request timeout|conflict|gone|precondition|payload|request entity|unprocessable|too many|internal server|not implemented|bad gateway|service (temporarily )?unavailable|gateway time|server error|client error|error\b|\{)",
    // shells and build tools
    AT_START,
    r"(?i)^command failed( with| \(exit|:)|^(\w+ )?command timed out\b|^shell command failed\b|^[\w-]+ (verification|validation|parsing|execution|compilation|initiali[sz]ation|startup) failed\b *[:.]",
    r"^(/(usr/)?bin/)?(ba|z|da|k)?sh: [^\n]*(not found|No such file|Permission denied|error|cannot|unbound variable|ambiguous redirect|too many arguments|No such process|not permitted)|^(/(usr/)?bin/)?(ba|z|da|k)?sh: ([^:\n]+: ){1,4}((invalid|bad|missing|unexpected) |integer expression expected)|^error\[E\d{4}\]|^(npm|yarn|pnpm) (ERR!|error) |^zsh: |^(zsh|\(eval\)):\d+: command not found: \S|^[\w./-]{1,40}: (invalid|illegal|unrecognized|unknown) option\b|^'[^'\n]{1,80}' is not recognized as an internal or external command|^[^\n]{1,80} : The term '[^'\n]{1,80}' is not recognized\b",
    r"^[\w./-]{1,40}: [^\n]{0,200}: (No such file or directory|Permission denied|Is a directory|Not a directory|command not found|Operation not permitted|Connection refused)|^[^\s:]{1,200}: [^\n]{0,200}\((No such file or directory|Permission denied)\)$",
    r"^\(\d{4}, ['\x22]|^\(error\) |^(WRONGTYPE|NOAUTH|NOSCRIPT|ERR|READONLY|OOM|BUSY|MISCONF) \w",
    r#"^File "[^"\n]+", line \d+(, in \S+)?\s*(\n|$)|^\S+:\d+\n[^\n]{0,300}\n\s*\^"#,
    // OCaml and its builder: a place, then an error
    r#"^File "[^"\n]+", lines? \d+(-\d+)?(, characters \d+-\d+)?:\n(?s:.{0,500}?\n)?Error: "#,
    r"(?i)^(no healthy upstream|build failed\b|this model's maximum context length|(sorry|oops)\b[^\n]{0,80}\b(error occurred|went wrong|failed|could not|couldn't|unable))",
    r"(?i)^an error occurred \(\w+\) when calling the \w+ operation",
    r"(?i)^<httperror [45]\d\d\b|^net::err_|^e: (unable|could|failed|package|the)\b|^error [a-z]{1,6}\d{2,6}:",
    // compilers and notebooks: a place, then an error
    r"^[\w./\\<>-]{1,200}(\(\d+,\d+\)|:\d+(:\d+)?): (fatal )?error\b|^-{20,}\n\w+(Error|Exception)\s+Traceback",
    // databases, mail and Azure: a number or name of the vendor before the words
    r"^(ORA|TNS|PLS)-\d{5}: |^\([a-z_]\w*(\.\w+)*\.\w*(Error|Exception|Detected|Violation|Undefined\w*)\) \S|^syntax error at or near \S|^! \[(remote )?rejected\] |^remote: (error: |Permission to \S+ denied)|^SQL\d{4}N |^Msg \d+, Level (1[1-9]|2\d)\b|^\d{6} \(\w{5}\): |^SQLSTATE ?\[?\w{5}\b|^(SMTP )?[45]\d\d[ -][45]\.\d{1,3}\.\d{1,3} |^\([A-Z]\w+\) [^\n]+\nCode: \w",
    // programs that could not be run, asked or merged
    r"(?i)^exec: |^(the )?command ['\x22].{1,300}['\x22] returned (a )?non-zero|^[\w.@/-]{1,60}: (permission denied|no such (directory|file)|connection refused|connection timed out|host key verification failed)\b|^conflict \(\w[\w/ ]*\): |^automatic merge failed",
    r"^\[SSL: |^SSL certificate problem|^HTTPS?ConnectionPool\(|^<urlopen error|(?i)^request to \S+ failed, reason:|^message: (no such|stale element|element not|element click|unknown error|timeout:|invalid \w+:|session not)",
    // what failed, and the error of the system or of the interface that says why
    r"^[A-Z][\w' -]{1,60} failed\b[^:\n]{0,80}: (\[Errno -?\d+\]|E[A-Z]{3,}\b|[A-Z]\w+(Error|Exception)\b|HTTP [45]\d\d\b)",
    // the error of the system that a program in Rust prints
    r"^\[?[^\n]{1,200}\(os error \d+\)\]?[.]?\s*$",
    r"(?i)^rpc error: code = |^statuscode\.[A-Z_]+|^grpc: ",
    // Playwright, and an answer as Python prints it
    r"^strict mode violation: |^<Response \[[45]\d\d\]>$",
];

/// Beginnings that report a failure, unless the text is a list, a log or a document.
pub(super) const LIKELY: [&str; 30] = [
    r"(?i)^(<\?xml[^>\n]*>\s*)?(<(response|methodresponse|\w+:envelope)\b[^>]{0,300}>\s*(<\w+:body\b[^>]{0,200}>\s*)?)?<(\w+:)?(errors?|errorresponse|fault)(\s[^>/]{0,300})?>\s*(<[^/]|[A-Za-z])",
    r"(?i)^error\s*:|^security violation: |^[^\s:]{1,200}: error - [^\n]*$|^error \((?-i:[A-Z_]+)\): \S",
    r"(?i)^\[(mcp |tool |phase |api |runtime |system |internal )?(error|timeout|failed|failure|exception|fatal)\b|^error(\s*[:\[-]|\s*\((?-i:[A-Z0-9_ .-]+|code[^)\n]{0,40})\)|!)",
    r"^\[([A-Z]\w* ){2,4}Error\] \S|^\[([A-Z]+ ){1,2}(FAILED|FAILURE|ERROR)\] \S|^(?i:partial failure )\w|^(?i:success: false\n(error|message): )",
    // the word for an error as the label of a message, in other languages
    r"(?i)^(fehler|erreur|errore|erro|fout|hata|błąd|chyba|lỗi|kesalahan|ошибка|помилка|エラー|오류|خطأ)( \S{1,12} \(\d{3}\))?\s*[:：]\s*[^\s\d]|^[^\x00-\x7f\s]{0,6}(错误|錯誤|失败|失敗|异常|異常)\s*[:：]\s*[^\s\d]|^(\[|【)(错误|錯誤|失败|失敗|エラー|오류|ошибка|помилка|lỗi|fehler|erreur|errore|erro)(\]|】)\s*[^\s\d]",
    r"(?i)^[\[【]?(erro (ao|na|no|em|durante)|error (al|en la|en el|durante)|erreur (lors|pendant|dans|durant)|fehler (beim|bei|im|während)|errore (durante|nel|nella|nell)|fout (bij|tijdens)|lỗi (khi|trong)|ошибка (при|во время)|помилка (при|під час)|błąd (podczas|przy)|chyba při|kesalahan (saat|ketika)) [^\n:：]{1,80}[:：]\s*[^\s\d]",
    r"(?i)^([a-z][\w.'-]* ){1,4}(error|failure|exception)( ?\(?[\w-]{1,20}\)?)?\s*:",
    r"(?i)^([a-z][\w.'-]* ){1,2}(error|exception|failure) (in|at|during|while|from|for|on|near) [^:\n]{1,80}:\s",
    r"(?i)^(the |your |this )?(api key|token|credentials?|password|signature|session)( \S+)? (is |was |are )?(not valid|invalid|expired|revoked|missing|incorrect|not recognized)\b",
    r"(?i)^(the )?(maximum|max) (number of )?[\w ]{1,40} (reached|exceeded|exhausted)\b|^(the )?(execution context|target|page|browser|frame|session) (was |has been |is )?(destroyed|closed|detached|crashed|disconnected)\b",
    r"(?i)^([a-z][\w'-]* ){1,3}(rejected|denied|declined|refused|blocked):\s*[^\s\d]|^(hard|auto)-(blocked|denied|rejected)\b *($|[.:(])",
    r"(?i)^error (while|when|during|in|on|at|from|with|invoking|initializing|starting|launching|establishing|authenticating|submitting|scheduling|publishing|exporting|importing|serializing|deserializing|formatting|rendering|compiling|deploying|installing|cloning|copying|moving|renaming|merging|committing|pushing|pulling|scrolling|typing|capturing|encoding|extracting|storing|preparing|verifying|calculating|computing|fetching|reading|writing|creating|updating|deleting|getting|parsing|loading|opening|connecting|performing|sending|searching|retrieving|occurred|response|accessing|making|processing|executing|running|calling|code|message|querying|listing|finding|adding|removing|setting|downloading|uploading|generating|saving|inserting|editing|applying|evaluating|decoding|resolving|navigating|clicking|taking|converting|building|checking|validating)\b[^\n]{0,300}?(:|\.$|$|\n)|^error [a-z]+ing( [\w'/.#-]+){1,8}: [^\s\d]|^error \d+\s*($|[:.,(\n–—-]|(?-i:[A-Z])|(occurred|while|when|during|in|at|from)\b)",
    r"(?i)^((an?|the|some) )?([\w'-]+ ){0,3}(error|exception)( has| was)? (occurred|raised|thrown|encountered)\b",
    r"(?i)^(an? )?(unexpected|internal|internal server|server|network|connection|runtime|api|http|validation|request|authentication|authorization|permission|tool|execution|database|sql|query|syntax|parse|parsing|timeout|fatal|system|unknown|unhandled|rate limit|function|command|ssl|tls|dns|socket|io|i/o|os|proxy|gateway|client|configuration|input|type|value|key|import|compilation|compile|import|upstream|provider|service|search|protocol|evaluation|target|cell|browser|navigation|graphql|oauth|token|resource|user|shell) (error|exception|failure)\b *([(\[][^)\]\n]{0,60}[)\]]|-?\d+|code)?\s*([:\n–—-]|$|(during|while|when|processing|running|executing|calling)\b)",
    r"^([a-z_]\w*\.)+(exceptions?|errors?)\.[A-Z]\w*\s*(:|\n|$|\()|^([A-Za-z_]\w*[.:]+)*([A-Z]\w*(Error|Exception|Timeout|Fault|Interrupt|Failure|[a-z](Refused|NotFound|Exceeded|Denied|Unavailable|Disconnected|Rejected)))\b( ?\[\w+\]| ?\([^)\n]{0,300}\)?)?\s*(:|\n|$|\()|^Exception(:|\s*\(['\x22]|\s*$)",
    r"(?i)^there (was|were|has been|have been) (an? |some )?(\w+ ){0,2}(errors?|problems?|failures?) (while |when |during |with |in )?(\w+ing|(the|your) \w+)\b",
    r"(?i)^(failed|failure) (to|in|with|while|when|during|on|at|because|due)\b|^failed\s*[:.!]?\s*$|^(failed|failure)\s*[:-]\s*\D",
    r"(?i)^((the|your|this) )?(request|api request|api call|query|operation|execution|connection|authentication|authorization|login|tool call|tool|command|transaction|payment|card|validation|navigation|access token|token|session|upload|download|search|fetch|edit|read|write|update|create|delete|call|script|job|task|action|compilation|http request|function)( has| was|s)? (failed|aborted|was aborted|errored|rejected|refused|denied|interrupted|cancell?ed|declined|expired|(could not|couldn't|cannot|can't) be (processed|completed|executed|made|sent|saved))\b",
    r"^(FATAL|CRITICAL)( ERROR)? \S|(?i)^(fatal( error)?|exception|abort(ed)?|declined|denied|refused|rejected|invalid|forbidden|unauthorized|timeout)\s*:",
    r"(?i)^(time(d)?[- ]?out)( error)?( (after|waiting|while|exceeded|expired|of|for|reached|\d)|\s*[:.!]|\s*$)|^timeout \d+",
    r"(?i)^(deadline|rate limit|quota|request limit|usage limit|token limit|time limit|tool[- ]call limit|api rate limit|monthly limit|daily limit|context length|maximum context length|resource)s? (has been |was |is )?(exceeded|reached|exhausted|hit)\b|^rate limit detected\b|^(too many requests|you('ve| have)? (exceeded|reached|hit)|throttl|rate[- ]?limit(ed|ing)?\b *([:.(]|or |$)|(\w+ )?limit exceeded\b|(reached|exceeded) (the )?max\w* )",
    r"^(E(ACCES|ADDRINUSE|ADDRNOTAVAIL|AGAIN|ALREADY|BADF|BUSY|CANCELED|CONNABORTED|CONNREFUSED|CONNRESET|DQUOT|EXIST|FAULT|FBIG|HOSTUNREACH|INTEGRITY|INTR|INVAL|ISDIR|LOOP|MFILE|NAMETOOLONG|NETDOWN|NETUNREACH|NFILE|NOBUFS|NODEV|NOENT|NOMEM|NOSPC|NOSYS|NOTCONN|NOTDIR|NOTEMPTY|NOTFOUND|NOTSUP|PERM|PIPE|PROTO|RANGE|RESOLVE|ROFS|SRCH|TIMEDOUT|TXTBSY|USAGE|XDEV))\b[: ,]|^(?i:connect|read|write|getaddrinfo|spawn|open|scandir|stat|unlink|mkdir|rmdir) E[A-Z]{4,}|^(?i:spawn) \S+ E[A-Z]{4,}",
    r"(?i)^(the )?(connection|socket|connect|network|host|server|ssl|tls|upstream)( to [^\n]{1,80}?)?( \S+)? (refused|reset|closed|aborted|timed out|error|lost|failed|hang up|terminated|disconnected|unreachable|is unreachable|is not responding|is down)|^(stream|connection|request|response|transfer|download|upload) (was )?(cut off|interrupted|truncated)\b|^fetch failed|^socket hang up|^remote end closed|^server disconnected",
    r"(?i)^(permission|access)( to [^\n]{1,120})?( has been| was| is)? (denied|forbidden|rejected)( (to|for|by|while|when|on|from)\b|\s*[:.,(!—–-]|\s*$)|^(you|user) (do|does)(n't| not) have (the )?(\w+ )?(permission|access|sufficient|necessary|required|enough)|^(operation not permitted|insufficient permissions?|not (authorized|authenticated|permitted|allowed|logged in|implemented|signed in)\b|(user|you|caller|client)( \S+)? (is|are) (not (authorized|allowed|permitted|a member)|being rate limited)|authentication (required|failed|is required)|unauthorized\b *($|[.:-])|forbidden\b *($|[.:-]))",
    r"(?i)^(something (went wrong|broke|failed)|an unknown error|internal server error|bad gateway|service (is |temporarily )?(temporarily )?unavailable|gateway time-?out|bad request\b|method not allowed|unprocessable entity|payment required)\b",
    r"(?i)^(❌|✗|✘|🚫|⛔|💥|❗|🛑|⚠️?)\s*\S",
    r"(?i)^invalid \w+:|^invalid ([a-z]+ ){1,4}(index|position|range|path|format|value|id|name|type|url|expression|pattern|number|count|reference)(es|s)?( provided)?\b *($|[.:,(])|^(invalid|malformed|unsupported|unrecognized|unrecognised|illegal) (argument|parameter|input|param|request|json|url|uri|value|format|token|api[ _-]?key|credential|option|date|time|type|id\b|identifier|path|query|syntax|command|action|operation|method|name|state|transition|response|regex|pattern|session|user|email|selector|line|range|key|field|file|arguments|tool|expression|account|schema|data|payload|sql|address|code|cursor|ref\b|reference)",
    r"(?i)^(incorrect|wrong) (pass\w*|pin|credentials?|user ?name|login|token|(api )?key|arguments?|parameters?|format|type|syntax|usage|number of \w+)\b *[:.,(!]|^blocked: (standalone|tool|command|request|access|unsafe|dangerous)\b",
    r"(?i)^(\(no output\)\s*)?(<\w+_metadata>\s*)?(the )?([\w-]+ ){0,2}(terminated|killed|aborted|stopped|cancell?ed) (the )?(command|process|script|program|call) after (exceeding|reaching) (the )?([\w-]+ ){0,2}(timeout|limit)",
    r"(?i)^(missing|no) (required|mandatory|permissions?\b|argument|parameter|field|api[ _-]?key|credentials?|value for|authentication|token|input|property)\b|^(required|mandatory) (argument|parameter|field|property|input|value)s?\b|^[\w.`'\x22-]{1,60} (is|are) (a )?(required|mandatory)\b|^(fatal|error)$",
];

/// Beginnings of a short message in plain words: a refusal or a lack.
pub(super) const SHORT_SURE: [&str; 19] = [
    r"(?i)^((we|i) )?((were|are|was|am) )?(cannot|can't|can ?not|could not|couldn't|unable to|not able to|not allowed to|must not|refus(ed|ing) to|you (cannot|can't|must|are not allowed|may not)|i (cannot|can't)) \w",
    r"(?i)^(the |this |requested |specified |given |source )*(file|directory|folder|path|page|resource|url|module|endpoint|host|repository|branch|command|tool|key|index|table|column|session|element|model|route|method|function|ref|selector|relation|role|database|schema|service|entity|namespace|secret|container|device|workspace|channel)s?( with [^\n]{1,80}| [`'\x22:(]?[^\n]{1,160}?)? (was |were |is |are )?(does not exist|do not exist|not found|doesn't exist|could not be found|cannot be found|not exist|missing|not available|not supported|unavailable)\b",
    r"(?i)^permission required\b[^\n]{0,160}; denied\b|^[^\n]{1,120} (is|are) not authorized to \w|^[^\n]{0,60}\b(budget|quota|limit|retries|attempts) (is |was |were |has been |have been )?exhausted\b",
    r"(?i)^[\w ]{0,40}\bquota( of [\w .]{1,20})? (is |was |has been )?exceeded\b",
    r"(?i)^(the )?(file|destination|path|directory|folder|target)( ['\x22`]?\S+)? (already )?exists[.,;:] ?(use|set|pass|specify) \S*(overwrit|force|another|replace)|^[^\n]{1,120} (not found|does not exist|is not available)[.:;] ?\(?(available|valid|supported|known|existing|options)\b",
    r"(?i)^the \w+ (directory|folder|path) (does not|doesn't) exist\b *[.]?$|^(the |source |image )*(document|image|picture)( file)? (['\x22`/]\S+|\S+\.\w{1,5})['\x22`]? (does not exist|doesn't exist|was not found|not found)\b|^(document|image|picture)( file)? not found: \S",
    r"(?i)^[^\n]{0,40}\b(token|session|key|certificate|credentials?|link|password)\b[^\n]{0,60} (is|are|has|have) expired\b|^(please )?(pass|provide|supply|specify) [^\n]{0,60}\bapi[ _-]?key in the header \S+ as\b",
    r"(?i)^duplicate (key|entry|request|transaction)\b|^\w+ timeout of \d+",
    // a database that gives up a transaction, or takes no more
    r"(?i)^(deadlock (detected|found)\b|could not serialize access\b|lock wait timeout exceeded|(the )?database (file )?is (locked|read-?only)\b|cancel(l)?ing statement due to |(sorry, )?too many (clients|connections)\b|current transaction is aborted|server closed the connection unexpectedly|terminating connection due to |transaction (was |has been )?(aborted|deadlocked|rolled back)\b|attempt to write a readonly database)",
    r"(?i)^(the )?([\w.-]+ ){0,2}(server|host|service|upstream|api|endpoint|gateway|database|backend)( (did|does|is)( not|n't)|(did|does|is)n't| failed to) (respond|answer|reply)|^no (response|answer|reply)( was)?( received)? (from (the )?([\w.-]+ ){0,2}(server|host|service|upstream|api|endpoint|gateway|database|backend)|within \d)|^([\w-]+ ){0,2}(request|handshake|stream|chunk|connection|connect|operation|gateway|query|response) time[d]?[- ]?out *($|[.:(])|^broken pipe\b",
    r"(?i)^([\w.-]+ ){1,2}(cli|binary|executable) (is |was )?not (found|installed|authenticated|configured|available)( or [\w ]{1,40})?\s*([.!:;(]|$)|^([\w.-]+ ){1,2}executable not found\b|^\w+( \w+){0,3} #\d+ (is |was |could )?(not (be )?found|does not exist)\b",
    r"(?i)^no such \w+|^(not found|page not found|unavailable|unknown error|unknown (action|command|method|operation|argument|option|parameter|column|table|host|user))\b *($|[:.'\x22`(])",
    r"(?i)^[^\n]{0,160}\b(timed out|time[d]? ?out after \d|deadline exceeded|connection refused|connection reset by peer|host unreachable|no route to host)\b[^\n]{0,120}$",
    r"(?i)^(file has not been read yet|file has been (unexpectedly )?modified since|you must (use your )?read|read the file|the file must be read|(the )?string to replace (was )?not found|<?old_?(str(ing)?|text)\b>?[^\n]{0,80}(not found|did not|does not|is not unique|must|appears|matches (multiple|several|\d))|no match(es)? found for (the )?(old|replacement|search|string)|found \d+ matches of the string|no replacement was performed|no changes to make|file already exists|path already exists|is a directory|eisdir|the (old|search|replace)\w* (string|block|text|content) )",
    r"(?i)^[a-z'\x22`/@](\S*[^\s:])? (\S+ ){0,4}(already exists|(cannot|can't|must not|may not) be (empty|null|blank|negative|zero)\b *($|[.:;,(!])|is not allowed|is not permitted|not permitted|is not supported|is invalid|are invalid|is not valid|must be (a|an|one|at|in|between|greater|less|positive|non|of|provided|specified|set|either|valid|unique|>=?|<=?)\b[^\n]{0,60}|has been rejected|was rejected|was denied|has expired|is disabled|is locked|not enough \w+|insufficient \w+|exceeds? (the )?(maximum|limit)|is too (large|long|short|big|old)|has been (disabled|suspended|revoked|blocked)|failed(\s*[:!]|\.(\s|$)|\s*$| to| with| because| due| after| at| on))",
    r"(?i)^([\w-]+ ){0,3}(call|lookup|operation|request|search) (was|has been) (aborted|interrupted)( *$|[.:!])|^((the )?(element|node|locator|button|link) (is |was )?(not (clickable|visible|attached|interactable|enabled)|obscured|detached)|directory not empty)|^(cancell?ed|aborted|interrupted|killed|terminated)( *$|[.:!,]| (by|after|due|because)\b)|^(operation (was )?(cancell?ed|aborted)|the operation was aborted|request (was )?(cancell?ed|aborted)|this operation was aborted|tool execution cancell?ed|tool call cancell?ed|sibling tool call errored|aborted by user)\b",
    r"(?i)^(the |this |your )?([a-z]+ )?(path|file|command|tool|tool call|action|request|call|url|domain|host|operation|access|write|read|execution|input|output)( \S+)? (is |was |has been )?(blocked|denied|disallowed|forbidden|prohibited) (by|under) (an? |the |your |our )?([\w-]+ ){0,2}(rules?|policy|policies|firewall|guardrails?|filters?|hooks?|sandbox|allowlist|denylist|blocklist)\b *($|[.:;,(])",
    r"(?i)^(segmentation fault|out of memory|killed$|disk (is )?full|no space left|stack overflow|bus error|core dumped|oom\b)",
    r"(?i)^(insufficient|not enough|out of) (funds|balance|credits?|permissions?|privileges|memory|quota|stock|inventory|space|arguments|seats|tickets)",
];

/// Beginnings that suggest a failure and may be an ordinary answer.
pub(super) const SUSPICIOUS: [&str; 7] = [
    r"(?i)^error\b *($|[\n-])|^404$",
    r"(?i)^(sorry|unfortunately|oops|we('re| are) sorry|i('m| am) sorry|apologies)\b",
    r"(?i)^[^\n]{1,100}\b(not found|does not exist|doesn't exist|is not available|is unavailable|not available|no longer available)\b[^\n]{0,60}$",
    r"(?i)^(\S+ ){1,5}(could not|cannot|can\x27t|couldn't) be \w+\b[^\n]{0,100}$",
    r"(?i)^[^\n]{1,80} (exceeds (the|your|its) |has already been )[^\n]{1,60}$|^no [^\n]{1,60} exists?[.]?$",
    r"(?i)^(the )?\w+ (could not|couldn't|cannot|was unable to|is unable to) \w[^\n]{1,100}$|^[\w ]{1,40} not in stock\b",
    r"(?i)^(warning|caution)\s*:[^\n]{0,200}\b(fail|error|could not|unable|invalid|denied|not found)",
];

/// Beginnings that look like failures and are not.
pub(super) const HARMLESS: [&str; 14] = [
    // a remark before an output
    r"^warning: [^\n]+\n\s*\S",
    r"(?i)^(test result|tests?)\b",
    r"(?i)^cannot (is|was|be)\b|^\d+ (failed|errors?|failures?|passed)\b",
    r"(?i)^(errors?|failed|failures?|error count|failed tests?)\s*[:=]\s*(0|none|null|\[\]|false|n/a|-)\s*($|[\n,;.)|])",
    r"(?i)^no (errors?|failures?|issues?|problems?|exceptions?|warnings?)\b",
    r"(?i)^(error|timeout|exception)s?\s*:\s*\n\s+[\w-]+\s*:",
    r"(?i)^(errors|exceptions|timeouts?)\s*[=:]\s*\d+(\.\d+)?\s*(s|ms|%|seconds)?\s*$|^(error|exception)\s*[=:]\s*(0|\d+\.\d+|\d+\s*(s|ms|%|seconds))\s*$",
    r"(?i)^(error (correct\w+|detect\w+|handling|logging|monitoring|tracking|tracing|messages?|codes|rates?|types?|logs?|reporting|boundar|correction|propagation|budget|pages?|classes)|failed (tests?|jobs?|runs?|logins?|builds?|payments?|orders?)\b|timeout (settings?|values?|config|in seconds))",
    // the strongest of praise
    r"(?i)^((i|we) )?(could not|couldn't|cannot|can't) (agree|wait|thank|recommend|be (happier|better|more))\b",
    // the documentation of an exception
    r"^\w+(Error|Exception): (raised|thrown|returned|indicates|occurs|base class)\b",
    // a count of none, and what is left of a limit
    r"(?i)^[\w '-]{1,60} (by|for|in|on|of) (0|no|zero) \w+[.]?\s*$",
    r"(?i)^[\w -]{0,20}limit\w*\s*[:=]\s*\d+[^\n]{0,80}(\b(remaining|left)[:= ]+[1-9]|[ ,;][1-9]\d* (remaining|left)\b)",
    r"(?i)^no [\w '-]{1,60} (was |were )?(found|available|matched|match|returned)\b",
    // a count of what was done and of what failed
    r"(?i)^\w+ed (for )?\d+ [\w ]{1,30}, (0|none) (failed|rejected|refused)\b[.!]?\s*$",
];

static SURE_SET: LazySet = LazyLock::new(|| patterns::set(SURE));
static LIKELY_SET: LazySet = LazyLock::new(|| patterns::set(LIKELY));
static SHORT_SET: LazySet = LazyLock::new(|| patterns::set(SHORT_SURE));
static SUSPICIOUS_SET: LazySet = LazyLock::new(|| patterns::set(SUSPICIOUS));
static HARMLESS_SET: LazySet = LazyLock::new(|| patterns::set(HARMLESS));

/// What the beginning of `text` says; none if it does not speak of a failure.
pub(super) fn inspect<'t>(text: &'t str, tool: Option<&str>) -> Option<Sign<'t>> {
    let text = frame::inside(text);
    let exit = Exit::of(text, tool);
    if exit == Some(Exit::Ok) {
        return None; // whatever a command prints, its exit code says that it succeeded
    }
    let start = || inspect_start(text, tool);
    let own = match exit {
        Some(Exit::Failed { sure: true }) => Some(Sign { sure: true, message: message(text.trim()) }),
        Some(_) => start().or(Some(Sign { sure: false, message: message(text.trim()) })),
        None => start(),
    };
    let words = || spoken(text).or_else(|| own_name::said(text.trim(), tool));
    let spoken =
        || Some(Sign { message: message(text.trim()), ..inspect_start(words()?, tool).filter(|sign| sign.sure)? });
    let sure = || Some(Sign { sure: true, message: message(text.trim()) });
    let is_laid_out = || own_name::refuses(text.trim(), tool) || laid_out::is_failure(text, tool);
    let ended = || sure().filter(|_| agents::ends(text, tool) || ends_in_error(text, tool) || is_laid_out());
    match own {
        Some(sign) if sign.sure => Some(sign),
        own if says_a_program(text, tool) && !any_matches(&HARMLESS_SET, text.trim()) => {
            own.map(|sign| Sign { sure: true, ..sign }).or_else(sure)
        }
        own => spoken().or_else(ended).or(own),
    }
}

/// What the first words of `text` say.
pub(super) fn inspect_start<'t>(text: &'t str, tool: Option<&str>) -> Option<Sign<'t>> {
    let text = text.trim();
    if agents::says(text, tool) {
        return Some(Sign { sure: true, message: message(text) });
    }
    if text.starts_with('#') {
        return below_heading(text, |text| inspect_start(text, tool));
    }
    let text = ["[stderr]", "stderr:", "STDERR:", "=== STDERR ===", "[!]"]
        .iter()
        .find_map(|mark| text.strip_prefix(mark))
        .unwrap_or(text)
        .trim();
    let plain = text.trim_start_matches(['*', '`', '"', '\u{feff}', ' ', '\n', '╷', '│', '×']).trim_start();
    let start = cut(plain, EXAMINED);
    if let Some(sure) = bare_error(plain) {
        return Some(Sign { sure, message: message(text) });
    }
    let sign = |sure| Some(Sign { sure, message: message(text) });
    if start.is_empty() || is_quoted(text, tool) {
        return None;
    }
    if let Some(title) = markup::error_page(plain) {
        return Some(Sign { sure: true, message: title });
    }
    if markup::is_error_report(plain) {
        return sign(true);
    }
    if brought_about::is_all(text, tool) || searched::is_verdict(text, tool) {
        return None;
    }
    let undone = undone::says(text, tool);
    if undone == Some(true) || sentence::says(text, tool) || already::says(text, tool) {
        return sign(true);
    }
    if text.starts_with("No ") && clause::says(text, tool) {
        return sign(true);
    }
    let is_harmless = || {
        any_matches(&HARMLESS_SET, start)
            || prose::is_title(start)
            || deeds::begins_with_a_deed(start)
            || prose::is_labels(text)
    };
    if is_harmless() || counts_none(start) || searched::is_good(start) || is_deed_of(text, tool) {
        return undone.and_then(sign);
    }
    if searched::is_doubtful(start, tool) {
        return sign(false);
    }
    if any_matches(&SURE_SET, start) || agents::says(start, tool) {
        return sign(true);
    }
    let short = text.len() <= SHORT && text.lines().filter(|line| !line.trim().is_empty()).count() <= 3;
    if any_matches(&LIKELY_SET, start) {
        return match Content::of(before_choices(text), tool) {
            // A command may print the bare word.
            Content::Message => sign(text.contains(' ') || !tool.is_some_and(is_shell)),
            Content::Unclear => sign(false),
            Content::Document => None,
        };
    }
    if !short {
        return undone.and_then(sign);
    }
    if any_matches(&SHORT_SET, start) || is_held(start, tool) {
        return match Content::of(text, tool) {
            Content::Message if prose::is_knowledge(text, tool) => None,
            Content::Message => sign(!prose::is_authored(start) && !prose::is_long(text)),
            Content::Unclear => sign(false),
            Content::Document => None,
        };
    }
    if is_coded(text) || is_bare_refusal(text, tool) || leading_code(start).is_some() || is_named_unknown(start, tool) {
        return sign(true);
    }
    if clause::says(text, tool) {
        return sign(true);
    }
    let is_suspicious =
        any_matches(&SUSPICIOUS_SET, start) && !prose::is_long(text) && !prose::is_knowledge(text, tool);
    complains(text).or(undone).or(is_suspicious.then_some(false)).and_then(sign)
}

/// A short message without the list of what there is in place of what was asked for.
fn before_choices(text: &str) -> &str {
    let mut ends = cut(text, SHORT).match_indices('\n').map(|(at, _)| at);
    let at = ends.find(|at| text.get(at + 1..).is_some_and(prose::begins_with_choices));
    at.and_then(|at| text.get(..at)).filter(|message| message.trim().lines().count() <= 2).unwrap_or(text)
}

/// `Unknown action NAME` of the tool that was called.
fn is_named_unknown(text: &str, tool: Option<&str>) -> bool {
    let rest =
        ["Unknown action ", "Unknown tool ", "Unknown function "].iter().find_map(|head| text.strip_prefix(head));
    rest.is_some_and(|name| tool.is_some_and(|tool| name.trim_matches(['\'', '"', '`', '.']) == tool))
}
