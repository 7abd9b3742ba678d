//! Redaction: a secret in a trace reaches no output, wherever the trace holds it.
