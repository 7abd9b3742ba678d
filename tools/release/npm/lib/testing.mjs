// The names of testing.cjs as an ES module.
import testing from "./testing.cjs";

export const { Case, ToolError, cases, explain, send } = testing;
