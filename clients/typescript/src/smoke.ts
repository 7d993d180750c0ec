// Uses the client against a running server: node smoke.ts URL. The server serves a folder that has greet/greet.go.
import { Client, CtxdError } from "./client.ts";
import type { Schemas, ToolName } from "./client.ts";

declare const process: { argv: string[] };

const client = new Client({ url: process.argv[2] ?? "http://127.0.0.1:8080" });

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

/** What the sample has, the value must have too, of the same kind. tsc holds the sample to the document. */
function fits<T>(value: T, sample: NoInfer<T>, at = ""): void {
  must(value !== undefined && value !== null, `${at}: ${value}`);
  must(typeof value === typeof sample && Array.isArray(value) === Array.isArray(sample), `${at}: ${JSON.stringify(value)} for ${JSON.stringify(sample)}`);
  if (Array.isArray(value) && Array.isArray(sample)) {
    if (sample.length > 0) value.forEach((v, i) => fits(v, sample[0], `${at}/${i}`));
  } else if (typeof sample === "object") {
    for (const k in sample) fits(value[k], sample[k], `${at}/${k}`);
  }
}

async function refused(what: string, call: () => Promise<unknown>, status: number, code: string): Promise<void> {
  try {
    await call();
  } catch (e) {
    if (!(e instanceof CtxdError)) throw e;
    fits(e.body, { error: "", error_code: "", retryable: false, details: [], request_id: "" });
    must(e.status === status && e.body.error_code === code, `${what}: ${e.message}`);
    console.log(`${what}: refused with ${e.status} ${e.body.error_code}`);
    return;
  }
  throw new Error(`${what}: it was not refused`);
}

const entry: Schemas["ToolEntry"] = { name: "", description: "", input_schema: {}, schema_sha256: "" };
const page = await client.get("/v1/tools");
fits(page, { tools: [entry], total: 0, offset: 0, limit: 0 });
const known: ToolName[] = ["ctx_multi_read", "ctx_read", "ctx_search", "ctx_session", "ctx_smart_read", "ctx_task", "ctx_tree"];
const names = page.tools.map((t) => t.name);
must(names.join() === known.join(), `the tools are ${names}`);
const short = await client.get("/v1/tools", { offset: 1, limit: 2 });
must(short.tools.length === 2 && short.offset === 1 && short.limit === 2 && short.total === page.total, "the page is not the one asked for");
console.log(`${page.total} tools: ${names.join(", ")}`);

const tree = await client.callTool({ name: "ctx_tree", arguments: { depth: 2 } });
fits(tree.structuredContent, { path: "", depth: 0, entries: [{ path: "", type: "" }], total_entries: 0, skipped: {} });
const meta = { callId: "", tokens: 0, tokens_structured: 0, tokens_raw: 0, fidelity: "", truncated: false, encoding: "" };
fits(tree._meta ?? {}, { "ctxd/result": meta });
must(tree.structuredContent.entries.some((e) => e.path === "greet/greet.go" && e.type === "file"), "ctx_tree does not list greet/greet.go");
console.log(`ctx_tree: ${tree.structuredContent.total_entries} entries`);

const files: Schemas["CtxReadOutput"] = { files: [{ path: "", mode: "", language: "", encoding: "", sha256: "", lines: 0, content: "" }], failed: 0 };
const read = await client.callTool({ name: "ctx_read", arguments: { path: "greet/greet.go", mode: "full" } });
fits(read.structuredContent, files);
must(read.structuredContent.files[0]?.content?.startsWith("package greet") === true, "ctx_read does not give the file");
must(read.content[0]?.type === "text" && read.content[0].text !== undefined, "ctx_read gives no text");
console.log(`ctx_read: ${read.structuredContent.files[0]?.lines} lines of ${read.structuredContent.files[0]?.path}`);

const smart = await client.callTool({ name: "ctx_smart_read", arguments: { path: "greet/greet.go" } });
fits(smart.structuredContent, files);
const many = await client.callTool({ name: "ctx_multi_read", arguments: { paths: ["greet/greet.go", "absent"] } });
fits(many.structuredContent, { files: [{ path: "", mode: "" }], failed: 0 });
fits(many.structuredContent.files[1]?.error, { code: "", reason: "", message: "" });
must(many.structuredContent.failed === 1, "ctx_multi_read does not count the absent file");
console.log("ctx_smart_read, ctx_multi_read: ok");

const found = await client.callTool({ name: "ctx_search", arguments: { pattern: "func \\w+", include: ["*.go"] } });
fits(found.structuredContent, {
  matches: [{ path: "", line: 0, column: 0, text: "" }], total_matches: 0, files_matched: 0, files_searched: 0, files_skipped: {}, remaining: 0,
});
must(found.structuredContent.total_matches === 1, `ctx_search finds ${found.structuredContent.total_matches} matches`);
console.log(`ctx_search: ${found.structuredContent.matches[0]?.path}:${found.structuredContent.matches[0]?.line}`);

const note = { text: "", actor: "", at: "" };
const session: Schemas["Session"] = {
  workspace: "", channel: "", version: 0, task: "", findings: [note], decisions: [note], findings_total: 0, decisions_total: 0, tasks_open: 0,
};
fits((await client.callTool({ name: "ctx_session" })).structuredContent, session);
const noted = await client.callTool({ name: "ctx_session", arguments: { action: "finding", value: "greet/greet.go:4 - says hello" } });
fits(noted.structuredContent, session);
must(noted.structuredContent.findings_total === 1, "ctx_session does not keep the finding");

const task: Schemas["TaskResult"] = {
  task: { id: "", description: "", state: "", assignee: "", note: "", created_by: "", created_at: "", updated_at: "" }, current: "",
};
const created = await client.callTool({ name: "ctx_task", arguments: { action: "create", description: "greet" } });
fits(created.structuredContent, task);
const task_id = created.structuredContent.task.id;
fits((await client.callTool({ name: "ctx_task", arguments: { action: "update", task_id, state: "active" } })).structuredContent, task);
const got = await client.callTool({ name: "ctx_task", arguments: { action: "get", task_id } });
must(got.structuredContent.current === task_id, "ctx_task does not make the task the current one");
const tasks = await client.callTool({ name: "ctx_task", arguments: { action: "list", state: "active" } });
fits(tasks.structuredContent, { tasks: [task.task], total: 0, current: "" });
must(tasks.structuredContent.total === 1, "ctx_task does not list the task");
console.log(`ctx_session, ctx_task: ${task_id} is ${tasks.structuredContent.tasks[0]?.state}`);

// What tsc refuses the server refuses as well; `never` gets it past tsc.
await refused("an unknown argument", () => client.callTool({ name: "ctx_read", arguments: { file: "a" } as never }), 400, "invalid_arguments");
await refused("null for a list", () => client.callTool({ name: "ctx_multi_read", arguments: { paths: null } as never }), 400, "invalid_arguments");
await refused("an unknown tool", () => client.callOther({ name: "their_tool" }), 400, "tool_error");
