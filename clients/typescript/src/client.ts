// A small client of ctxd, over the types that openapi-typescript makes of api/openapi.json.
import type { components, paths } from "./api.ts";

export type Schemas = components["schemas"];

/** The calls that the document knows, by name of the tool. */
type Calls = { [C in Schemas["CallRequest"] as string extends C["name"] ? never : C["name"]]: C };
export type ToolName = keyof Calls;

/** What a tool takes, by action; "" stands for a tool without actions. */
type Inputs<N extends ToolName> = {
  [I in NonNullable<Calls[N]["arguments"]> as I extends { action?: infer A extends string } ? A : ""]: I;
};
export type Action<N extends ToolName> = keyof Inputs<N>;
export type Input<N extends ToolName, A extends Action<N>> = Inputs<N>[A];

/** The action that is meant when none is named; never, where one has to be. */
type DefaultAction<N extends ToolName> = {
  [A in Action<N>]: Inputs<N>[A] extends { action: string } ? never : A;
}[Action<N>];

/** What a tool answers as data. tsc says so when the document has a tool that is not here. */
export type Output<N extends ToolName, A> = {
  ctx_multi_read: Schemas["CtxReadOutput"];
  ctx_read: Schemas["CtxReadOutput"];
  ctx_search: Schemas["CtxSearchOutput"];
  ctx_session: Schemas["Session"];
  ctx_smart_read: Schemas["CtxReadOutput"];
  ctx_task: A extends "list" ? Schemas["CtxTaskListOutput"] : Schemas["TaskResult"];
  ctx_tree: Schemas["CtxTreeOutput"];
}[N];

// `action?: A` is where tsc learns A from.
type Arguments<N extends ToolName, A extends Action<N>> = Input<N, A> & { action?: A } & (A extends "" ? { action?: never } : unknown);

/** A call of one tool and, where it has some, of one of its actions. */
export type ToolCall<N extends ToolName, A extends Action<N>> = { name: N } & Omit<Calls[N], "name" | "arguments"> &
  ({} extends Input<N, A> ? { arguments?: Arguments<N, A> } : { arguments: Arguments<N, A> });

export type ToolResult<O> = Omit<Schemas["CallToolResult"], "structuredContent"> & { structuredContent: O };

/** The GET routes that answer in JSON. */
type Gets = {
  [P in keyof paths as paths[P] extends { get: { responses: { 200: { content: { "application/json": unknown } } } } } ? P : never]: paths[P]["get"];
};
type Query<P extends keyof Gets> = Gets[P] extends { parameters: { query?: infer Q } } ? NonNullable<Q> : never;
type QueryArguments<Q> = [Q] extends [never] ? [] : {} extends Q ? [query?: Q] : [query: Q];
type Answer<P extends keyof Gets> = Gets[P] extends { responses: { 200: { content: { "application/json": infer B } } } } ? B : never;

/** What the server answered instead of a result. */
export class CtxdError extends Error {
  readonly status: number;
  readonly body: Schemas["Error"];

  constructor(status: number, body: Schemas["Error"]) {
    super(`${status} ${body.error_code}: ${body.error}`);
    this.status = status;
    this.body = body;
  }
}

export interface Options {
  url: string;
  token?: string;
  /** The workspace of all calls; the server's default one when absent. */
  workspace?: string;
}

export class Client {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Calls a tool that the document knows; its name and action choose the types of arguments and answer. */
  async callTool<N extends ToolName, A extends Action<N> = DefaultAction<N>>(call: ToolCall<N, A>): Promise<ToolResult<Output<N, A>>> {
    const { result } = await this.#post(call);
    if (result.isError || result.structuredContent === undefined) {
      throw new Error(`${call.name} gave no data: ${result.content.map((c) => c.text ?? "").join("\n")}`);
    }
    return result as ToolResult<Output<N, A>>;
  }

  /** Calls a tool that the document does not know. */
  async callOther(call: Schemas["OtherCall"]): Promise<Schemas["CallToolResult"]> {
    return (await this.#post(call)).result;
  }

  async get<P extends keyof Gets>(path: P, ...[query]: QueryArguments<Query<P>>): Promise<Answer<P>> {
    const set = Object.entries(query ?? {}).map(([k, v]) => [k, String(v)]);
    const search = set.length > 0 ? `?${new URLSearchParams(set)}` : "";
    return (await this.#send(path + search, {})) as Answer<P>;
  }

  async #post(call: unknown): Promise<Schemas["CallResponse"]> {
    const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(call) };
    return (await this.#send("/v1/tools/call", init)) as Schemas["CallResponse"];
  }

  async #send(path: string, init: RequestInit): Promise<unknown> {
    const headers = new Headers(init.headers);
    if (this.#options.token !== undefined) headers.set("Authorization", `Bearer ${this.#options.token}`);
    if (this.#options.workspace !== undefined) headers.set("x-leanctx-workspace", this.#options.workspace);
    const answer = await fetch(new URL(path, this.#options.url), { ...init, headers });
    const body: unknown = await answer.json();
    if (!answer.ok) throw new CtxdError(answer.status, body as Schemas["Error"]);
    return body;
  }
}
