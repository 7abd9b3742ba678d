//! Text: nothing that a trace, title or file name says becomes a command, markup or a control character.
