// Judged by tsc alone, never run: what must compile, and after each @ts-expect-error what must not.
import type * as whole from "./api.ts";
import type * as contract from "./api-v1.ts";
import type { Client, Schemas, ToolName } from "./client.ts";

declare const client: Client;

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>): void => {};
const is = <T>(_: T): void => {};

// The document of the contract says the same of its routes and schemas as the document of all.
same<Pick<whole.paths, keyof contract.paths>, contract.paths>(true);
same<Pick<whole.components["schemas"], keyof contract.components["schemas"]>, contract.components["schemas"]>(true);

// Every tool is tested below.
same<ToolName, "ctx_multi_read" | "ctx_read" | "ctx_search" | "ctx_session" | "ctx_smart_read" | "ctx_task" | "ctx_tree">(true);

export async function read(): Promise<void> {
  const { structuredContent, content, isError, _meta } = await client.callTool({ name: "ctx_read", arguments: { path: "a.go" } });
  same<typeof structuredContent, Schemas["CtxReadOutput"]>(true);
  is<string | undefined>(structuredContent.files[0]?.content);
  is<string | undefined>(content[0]?.text);
  is<boolean>(isError);
  is<string | undefined>(_meta?.["ctxd/result"]?.fidelity);
  await client.callTool({ name: "ctx_read" });
  await client.callTool({ name: "ctx_read", arguments: { paths: ["a", "b"], mode: "lines:1-3", fresh: true, start_line: 1, end_line: 2, cursor: "c", max_tokens: 100 } });
  await client.callTool({ name: "ctx_read", arguments: {}, workspaceId: "w", channelId: "c", conversationId: "v", parentEventId: 1 });
  // @ts-expect-error wrong type
  await client.callTool({ name: "ctx_read", arguments: { path: 1 } });
  // @ts-expect-error unknown argument
  await client.callTool({ name: "ctx_read", arguments: { path: "a", file: "a" } });
  // @ts-expect-error null for a list
  await client.callTool({ name: "ctx_read", arguments: { paths: null } });
  // @ts-expect-error null in a list
  await client.callTool({ name: "ctx_read", arguments: { paths: [null] } });
  // @ts-expect-error a tool without actions
  await client.callTool({ name: "ctx_read", arguments: { action: "" } });
  // @ts-expect-error undefined is no value
  await client.callTool({ name: "ctx_read", arguments: { path: undefined } });
  // @ts-expect-error unknown member of the call
  await client.callTool({ name: "ctx_read", arguments: { path: "a" }, workspace: "w" });
  // @ts-expect-error wrong type of a member of the call
  await client.callTool({ name: "ctx_read", parentEventId: "1" });
  // @ts-expect-error the answer of another tool
  structuredContent.entries;
  // @ts-expect-error failed is a number
  is<string>(structuredContent.failed);
}

export async function multiRead(): Promise<void> {
  const { structuredContent } = await client.callTool({ name: "ctx_multi_read", arguments: { paths: ["a"], mode: "full" } });
  same<typeof structuredContent, Schemas["CtxReadOutput"]>(true);
  // @ts-expect-error wrong type
  await client.callTool({ name: "ctx_multi_read", arguments: { paths: "a" } });
  // @ts-expect-error unknown argument
  await client.callTool({ name: "ctx_multi_read", arguments: { paths: ["a"], path: "a" } });
  // @ts-expect-error missing argument
  await client.callTool({ name: "ctx_multi_read", arguments: { mode: "full" } });
  // @ts-expect-error missing arguments
  await client.callTool({ name: "ctx_multi_read" });
  // @ts-expect-error missing arguments
  await client.callTool({ name: "ctx_multi_read" });
  // @ts-expect-error null for a list
  await client.callTool({ name: "ctx_multi_read", arguments: { paths: null } });
  // @ts-expect-error a tool without actions
  await client.callTool({ name: "ctx_multi_read", arguments: { action: "read", paths: ["a"] } });
}

export async function smartRead(): Promise<void> {
  const { structuredContent } = await client.callTool({ name: "ctx_smart_read", arguments: { path: "a" } });
  same<typeof structuredContent, Schemas["CtxReadOutput"]>(true);
  // @ts-expect-error wrong type
  await client.callTool({ name: "ctx_smart_read", arguments: { path: ["a"] } });
  // @ts-expect-error unknown argument
  await client.callTool({ name: "ctx_smart_read", arguments: { path: "a", mode: "full" } });
  // @ts-expect-error missing argument
  await client.callTool({ name: "ctx_smart_read", arguments: {} });
  // @ts-expect-error missing arguments
  await client.callTool({ name: "ctx_smart_read" });
  // @ts-expect-error null for a value
  await client.callTool({ name: "ctx_smart_read", arguments: { path: null } });
}

export async function search(): Promise<void> {
  const { structuredContent } = await client.callTool({ name: "ctx_search", arguments: { pattern: "x", case: "smart", include: ["*.go"] } });
  same<typeof structuredContent, Schemas["CtxSearchOutput"]>(true);
  is<number>(structuredContent.total_matches);
  is<number | undefined>(structuredContent.files_skipped["binary"]);
  // @ts-expect-error wrong type
  await client.callTool({ name: "ctx_search", arguments: { pattern: "x", context: "3" } });
  // @ts-expect-error not in the enumeration
  await client.callTool({ name: "ctx_search", arguments: { pattern: "x", case: "any" } });
  // @ts-expect-error unknown argument
  await client.callTool({ name: "ctx_search", arguments: { pattern: "x", query: "x" } });
  await client.callTool({ name: "ctx_search", arguments: { queries: ["x", "y"] } });
  // @ts-expect-error one pattern for several
  await client.callTool({ name: "ctx_search", arguments: { queries: "x" } });
  // @ts-expect-error null for a list
  await client.callTool({ name: "ctx_search", arguments: { pattern: "x", include: null } });
  // @ts-expect-error null for a list
  is<Schemas["CtxSearchOutput"]["matches"]>(null);
}

export async function session(): Promise<void> {
  const { structuredContent } = await client.callTool({ name: "ctx_session" });
  same<typeof structuredContent, Schemas["Session"]>(true);
  await client.callTool({ name: "ctx_session", arguments: { max_tokens: 100 } });
  await client.callTool({ name: "ctx_session", arguments: { action: "status" } });
  await client.callTool({ name: "ctx_session", arguments: { action: "task", value: "v" } });
  await client.callTool({ name: "ctx_session", arguments: { action: "finding", value: "a.go:1 - v" } });
  await client.callTool({ name: "ctx_session", arguments: { action: "decision", value: "v", max_tokens: 100 } });
  // @ts-expect-error wrong action
  await client.callTool({ name: "ctx_session", arguments: { action: "list" } });
  // @ts-expect-error wrong type
  await client.callTool({ name: "ctx_session", arguments: { action: "task", value: 1 } });
  // @ts-expect-error missing argument
  await client.callTool({ name: "ctx_session", arguments: { action: "finding" } });
  // @ts-expect-error missing action
  await client.callTool({ name: "ctx_session", arguments: { value: "v" } });
  // @ts-expect-error the argument of another action
  await client.callTool({ name: "ctx_session", arguments: { action: "status", value: "v" } });
  // @ts-expect-error unknown argument
  await client.callTool({ name: "ctx_session", arguments: { action: "decision", value: "v", note: "n" } });
  // @ts-expect-error null for a value
  await client.callTool({ name: "ctx_session", arguments: { action: "task", value: null } });
  // @ts-expect-error null for a list
  is<Schemas["Session"]["findings"]>(null);
}

export async function task(): Promise<void> {
  const list = await client.callTool({ name: "ctx_task" });
  same<typeof list.structuredContent, Schemas["CtxTaskListOutput"]>(true);
  const done = await client.callTool({ name: "ctx_task", arguments: { action: "list", state: "done" } });
  same<typeof done.structuredContent, Schemas["CtxTaskListOutput"]>(true);
  const one = await client.callTool({ name: "ctx_task", arguments: { action: "get", task_id: "t1" } });
  same<typeof one.structuredContent, Schemas["TaskResult"]>(true);
  await client.callTool({ name: "ctx_task", arguments: { state: "done" } });
  await client.callTool({ name: "ctx_task", arguments: { action: "create", description: "d", to_agent: "a" } });
  await client.callTool({ name: "ctx_task", arguments: { action: "update", task_id: "t1", state: "done", message: "m" } });
  // @ts-expect-error wrong action
  await client.callTool({ name: "ctx_task", arguments: { action: "delete", task_id: "t1" } });
  // @ts-expect-error wrong type
  await client.callTool({ name: "ctx_task", arguments: { action: "get", task_id: 1 } });
  // @ts-expect-error not in the enumeration
  await client.callTool({ name: "ctx_task", arguments: { action: "update", task_id: "t1", state: "finished" } });
  // @ts-expect-error missing argument
  await client.callTool({ name: "ctx_task", arguments: { action: "create" } });
  // @ts-expect-error missing argument
  await client.callTool({ name: "ctx_task", arguments: { action: "update", task_id: "t1" } });
  // @ts-expect-error missing action
  await client.callTool({ name: "ctx_task", arguments: { task_id: "t1" } });
  // @ts-expect-error the argument of another action
  await client.callTool({ name: "ctx_task", arguments: { action: "get", task_id: "t1", description: "d" } });
  // @ts-expect-error unknown argument
  await client.callTool({ name: "ctx_task", arguments: { action: "create", description: "d", due: "now" } });
  // @ts-expect-error null for an enumeration
  await client.callTool({ name: "ctx_task", arguments: { action: "list", state: null } });
  // @ts-expect-error the answer of another action
  one.structuredContent.tasks;
  // @ts-expect-error null for a list
  is<Schemas["CtxTaskListOutput"]["tasks"]>(null);
}

export async function tree(): Promise<void> {
  const { structuredContent } = await client.callTool({ name: "ctx_tree" });
  same<typeof structuredContent, Schemas["CtxTreeOutput"]>(true);
  is<string | undefined>(structuredContent.entries[0]?.path);
  await client.callTool({ name: "ctx_tree", arguments: { path: "a", depth: 1, show_hidden: true, respect_gitignore: false } });
  // @ts-expect-error wrong type
  await client.callTool({ name: "ctx_tree", arguments: { depth: "1" } });
  // @ts-expect-error unknown argument
  await client.callTool({ name: "ctx_tree", arguments: { folder: "a" } });
  // @ts-expect-error null for a value
  await client.callTool({ name: "ctx_tree", arguments: { path: null } });
  // @ts-expect-error null for the arguments
  await client.callTool({ name: "ctx_tree", arguments: null });
  // @ts-expect-error a tool without actions
  await client.callTool({ name: "ctx_tree", arguments: { action: "list" } });
  // @ts-expect-error null for a list
  is<Schemas["CtxTreeOutput"]["entries"]>(null);
}

export async function other(): Promise<void> {
  const { structuredContent } = await client.callOther({ name: "their_tool", arguments: { any: ["thing", 1, null] } });
  is<object | undefined>(structuredContent);
  await client.callOther({ name: "their_tool", arguments: null });
  // @ts-expect-error unknown tool
  await client.callTool({ name: "their_tool" });
  // @ts-expect-error no name
  await client.callOther({ arguments: {} });
  // @ts-expect-error arguments are an object
  await client.callOther({ name: "their_tool", arguments: [] });
}

export async function routes(): Promise<void> {
  is<Schemas["ToolList"]>(await client.get("/v1/tools", { limit: 5 }));
  is<Schemas["Capabilities"]>(await client.get("/v1/capabilities"));
  is<Schemas["McpManifest"]>(await client.get("/v1/manifest"));
  is<Schemas["EventSearch"]>(await client.get("/v1/events/search", { q: "x", channelId: "c" }));
  is<Schemas["EventLineage"]>(await client.get("/v1/events/lineage", { id: 1, depth: 2 }));
  is<Schemas["ContextSummary"]>(await client.get("/v1/context/summary"));
  is<Schemas["MetricsSnapshot"]>(await client.get("/v1/metrics"));
  is<Schemas["Ready"]>(await client.get("/ready"));
  const { tools } = await client.get("/v1/tools");
  is<unknown>(tools[0]?.input_schema["properties"]);
  // @ts-expect-error a stream
  await client.get("/v1/events");
  // @ts-expect-error a text
  await client.get("/health");
  // @ts-expect-error no such route
  await client.get("/v1/nothing");
  // @ts-expect-error wrong type
  await client.get("/v1/tools", { limit: "5" });
  // @ts-expect-error unknown parameter
  await client.get("/v1/tools", { page: 5 });
  // @ts-expect-error missing parameter
  await client.get("/v1/events/search", { limit: 5 });
  // @ts-expect-error a route without parameters
  await client.get("/v1/manifest", { limit: 5 });
  // @ts-expect-error missing parameters
  await client.get("/v1/events/lineage");
  // @ts-expect-error null for a list
  is<Schemas["ToolList"]["tools"]>(null);
  // @ts-expect-error null for a map
  is<Schemas["ContextSummary"]["eventCountsByKind"]>(null);
}
