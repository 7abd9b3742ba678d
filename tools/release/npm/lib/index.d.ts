// The types of `playproof`, of both forms.
export interface Facts {
  kind?: string; message?: string; status?: number; code?: string; retry_after_ms?: number; should_retry?: boolean;
  headers?: Record<string, string>; accepted?: boolean; suspected?: boolean;
}
export type Effect = "applied" | "not_applied" | "unknown";
export type Form = "failure" | "refusal" | "dispatch" | "openai" | "anthropic";
export interface Told { class: string; message?: string; retriable: boolean; boundary?: string; audit_id?: string; details?: unknown }
export declare class ToolError extends Error {
  constructor(fields?: Facts, options?: ErrorOptions);
  readonly fields: Facts; readonly kind?: string; readonly status?: number; readonly code?: string;
  readonly retry_after_ms?: number; readonly headers?: Record<string, string>; readonly accepted: boolean; readonly suspected: boolean;
}
export declare class PlayproofError extends Error { readonly code?: string }
export declare class DispatcherLost extends PlayproofError { readonly effect: Effect }
export declare class RolledBack extends PlayproofError {}
export declare class CallFailed extends Error { readonly outcome: Outcome }
export declare class Attempt<A = unknown> {
  readonly id: string; readonly tool: string; readonly args: A; readonly key?: string; readonly run?: string; readonly number: number;
  readonly asked: "attempt" | "refresh" | "reversal"; readonly token?: string; readonly evidence: number; readonly refreshed?: unknown;
  readonly signal: AbortSignal; readonly heldMs: number;
  hold<V>(work: () => V | PromiseLike<V>): Promise<V>;
}
export declare class Outcome<V = unknown> {
  readonly said: Record<string, unknown>; readonly id: string; readonly tool: string; readonly args: unknown; readonly key?: string;
  readonly run?: string; readonly ok: boolean; readonly outcome: string; readonly effect: Effect; readonly attempts: number;
  readonly value?: V; readonly error?: unknown; readonly queue?: string; readonly told?: Told; readonly validNext?: string[];
  message(form?: Form): any;
  result(): V;
}
export interface CallOptions {
  key?: string; run?: string; token?: string; timeoutMs?: number; answerWithinMs?: number; steps?: Record<string, unknown>;
  id?: string; signal?: AbortSignal;
}
export type Send<A = any, V = any> = (attempt: Attempt<A>) => V | PromiseLike<V>;
export interface Handlers {
  onRefresh?: Send; onReversal?: Send; onQueue?: (outcome: Outcome) => unknown; onEvent?: (event: Record<string, unknown>) => unknown;
}
export interface DispatcherOptions extends Handlers {
  playbook: string; journal?: string; lock?: string; unlocked?: boolean; shadow?: boolean; program?: string | string[]; messages?: Form[];
}
export interface ToolContext { run?: string; signal?: AbortSignal; abortSignal?: AbortSignal; [name: string]: any }
export type OfArguments<A> = string | ((args: A, context: ToolContext) => string | undefined);
export interface Transaction { readonly label: string; readonly run?: string; state(name: string, value?: unknown): Promise<void> }
export declare class Dispatcher implements Handlers {
  constructor(options: DispatcherOptions);
  onRefresh?: Send; onReversal?: Send; onQueue?: (outcome: Outcome) => unknown; onEvent?: (event: Record<string, unknown>) => unknown;
  readonly lost: { run?: string; transaction: string; state: string[] }[]; readonly restarts: number; readonly pid: number | undefined;
  start(): Promise<void>;
  call<A, V>(tool: string, args: A, send: Send<A, V>, options?: CallOptions): Promise<Outcome<V>>;
  gather(calls: [tool: string, args: any, send: Send, options?: CallOptions][]): Promise<Outcome[]>;
  tool<A, V>(name: string, fn: (args: A, attempt: Attempt<A>) => V | PromiseLike<V>,
    options?: { key?: OfArguments<A>; run?: OfArguments<A>; step?: OfArguments<A>; timeoutMs?: number }): (args: A, context?: ToolContext) => Promise<V>;
  transaction<V>(label: string, work: (transaction: Transaction) => V | PromiseLike<V>, options?: { run?: string }): Promise<V>;
  validNext(run: string): Promise<string[] | undefined>;
  history(run?: string): Promise<{ history: Record<string, unknown>[]; open: Record<string, unknown>[] }>;
  resolve(id: string, effect: "applied" | "not_applied", by: string): Promise<void>;
  endRun(run: string): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
/** What something thrown means as an error of the dispatch protocol. */
export declare function errorOf(thrown: unknown): Facts;
/** The calls within belong to this run, and to this step of it. */
export declare function run<V>(name: string, work: () => V, options?: { step?: string }): V;
/** The attempt for which a function runs. */
export declare function attempt(): Attempt | undefined;
/** The key that `key: "auto"` makes. */
export declare function autoKey(run: string | undefined, step: string | undefined, tool: string, args: unknown): string;
