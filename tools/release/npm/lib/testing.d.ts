// The types of `playproof/testing`, of both forms.
export interface SendOptions { key?: string | null; timeout?: number; signal?: AbortSignal }
export interface Facts {
  kind?: string; message?: string; status?: number; code?: string; retry_after_ms?: number; should_retry?: boolean;
  headers?: Record<string, string>;
}
export declare class ToolError extends Error {
  readonly fields: Facts; readonly kind?: string; readonly status?: number; readonly code?: string;
  readonly retry_after_ms?: number; readonly headers?: Record<string, string>; readonly accepted: boolean; readonly suspected: boolean;
}
export interface Difference { call: string; playbook: string; code: string }
export interface Effects { code: number; playbook: number }
export interface Result {
  fixture: string; playbook: string; effects: Effects;
  harm: { finding: "duplicate_effect" | "possible_duplicate_effect" | "untruthful_outcome"; call: string; effects: Effects }[];
  differs: Difference | null; moments: Difference | null; stopped: { why: string; call?: string } | null;
  sends: { call: string; attempt: number; at_ms: number; key: string | null; assumed: boolean }[];
  decided: Record<string, { what: string; at_ms: number }[]>;
  ends: Record<string, unknown>;
}
export type CallTool = (tool: string, args: any, key?: string) => unknown;
export type Check = "harm" | "decisions" | "moments";
export interface How {
  error?: (facts: Facts, isTimeout: boolean) => unknown;
  outcomes?: Iterable<[abstract new (...args: any[]) => unknown, string]>;
}
export declare class Case {
  readonly fixture: string; readonly name: string; readonly title: string; readonly calls: number; readonly at_once: boolean;
  readonly apart: boolean; readonly skip: string | false; readonly playbook?: string;
  rehearse(callTool: CallTool, how?: How): Promise<Result>;
  run(callTool: CallTool, how?: How & { check?: Check }): Promise<void>;
}
export declare function cases(path: string, options?: { playbook?: string; program?: string }): Case[];
export declare function send(options?: SendOptions): Promise<{ ok: true }>;
export declare function explain(result: Omit<Result, "ends">, check?: Check): string;
