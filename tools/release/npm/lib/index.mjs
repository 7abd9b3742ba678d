// The names of index.cjs as an ES module: a program that uses both forms has one set of classes.
import playproof from "./index.cjs";

export const { Attempt, CallFailed, Dispatcher, DispatcherLost, Outcome, PlayproofError, RolledBack, ToolError, attempt, autoKey, errorOf, run } = playproof;
