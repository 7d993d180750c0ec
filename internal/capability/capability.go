// Package capability builds the discovery documents (capabilities, manifest, tool list) from what this instance really has.
//
// It decides nothing and serves nothing: action admits the tools, rest sends the documents. It imports the generated tables.
package capability

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/schema"
	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/jsondoc"
)

// FullPreset lists every tool, whatever its presets are.
const FullPreset = "full"

// Facts are what an instance is.
type Facts struct {
	Version     string
	Preset      string
	Tools       []tool.Spec // admitted, by name
	RefusesKeys bool        // secret-like files are refused
}

// Contract is a contract that this build honours.
type Contract struct {
	Key     string // of `contracts`
	ID      string // of `contract_status`
	Version int
	Status  string // frozen | stable | experimental
}

// Contracts are those that this build honours; the others come with what they need.
var Contracts = []Contract{
	{"leanctx.contract.http_mcp.contract_version", "http-mcp", 1, "frozen"},
	{"leanctx.contract.capabilities.contract_version", "capabilities", 1, "stable"},
}

// Document is the capabilities document, with its keys in the contract's order. The same facts give the same bytes.
func Document(f Facts) ([]byte, error) {
	doc := schema.Capabilities{
		ContractVersion: 1,
		Server:          schema.ServerInfo{Name: "ctxd", Version: f.Version, Persona: f.Preset},
		Plane:           "personal",
		Transports:      []string{"stdio-mcp", "http-mcp", "rest", "sse"},
		Presets:         Presets(f.Tools),
		ReadModes:       ReadModes(),
		Tools:           schema.ToolNames{Total: len(f.Tools), Names: names(f.Tools)},
		Features:        features(f),
		Extensions: schema.Extensions{
			Plugins: []schema.PluginInfo{}, Tools: []schema.PluginTool{},
			ReadModes: ReadModes().Modes, Compressors: []string{}, Chunkers: []string{},
		},
		Contracts:      map[string]int{},
		ContractStatus: map[string]string{},
	}
	for _, c := range Contracts {
		doc.Contracts[c.Key] = c.Version
		doc.ContractStatus[c.ID] = c.Status
	}
	return ordered(doc)
}

// ordered writes the document with its keys in the order of the contract, which is that of the schema.
func ordered(doc schema.Capabilities) ([]byte, error) {
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	out := []byte{'{'}
	for i, key := range catalog.CapabilityKeys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jsondoc.AppendString(out, key), ':')
		out = append(out, members[key]...)
	}
	return append(out, '}', '\n'), nil
}

// Presets are the presets that choose tools, sorted, with that of all tools last.
func Presets(tools []tool.Spec) []string {
	var out []string
	for _, t := range tools {
		out = append(out, t.Presets...)
	}
	slices.Sort(out)
	return append(slices.Compact(out), FullPreset)
}

// Listed are the tools that a preset lists.
func Listed(tools []tool.Spec, preset string) []tool.Spec {
	var out []tool.Spec
	for _, t := range tools {
		if preset == FullPreset || slices.Contains(t.Presets, preset) {
			out = append(out, t)
		}
	}
	return out
}

// ReadModes are the modes of ctx_read in this build.
func ReadModes() schema.ReadModes {
	modes := []string{}
	for _, m := range catalog.ReadModes {
		modes = append(modes, m.Mode)
	}
	return schema.ReadModes{Count: len(modes), Modes: modes}
}

func names(tools []tool.Spec) []string {
	out := []string{}
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

// features computes each flag from what is there (docs/contracts/http.md, R6): a flag is true only if it works here.
func features(f Facts) schema.Features {
	has := func(tool string) bool { return slices.Contains(names(f.Tools), tool) }
	mode := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(ReadModes().Modes, w) })
	}
	return schema.Features{
		Compression:      mode("signatures", "map", "aggressive", "entropy", "task"),
		Caching:          has("ctx_read"),
		Knowledge:        has("ctx_knowledge"),
		Session:          has("ctx_session"),
		SensitivityFloor: f.RefusesKeys,
		SavingsLedger:    has("ctx_read"),
		Routing:          mode("auto") && mode("signatures", "map"),
		AstCompression:   mode("signatures"),
		SemanticSearch:   has("ctx_semantic_search"),
		HttpServer:       true,
	}
}

// Entries are the tools as /v1/tools and the manifest show them.
func Entries(tools []tool.Spec) []schema.ToolEntry {
	out := []schema.ToolEntry{}
	for _, t := range tools {
		out = append(out, entry(t))
	}
	return out
}

func entry(t tool.Spec) schema.ToolEntry {
	sum := sha256.Sum256(t.Input)
	e := schema.ToolEntry{
		Name: t.Name, Description: t.Description, InputSchema: t.Input, SchemaSha256: hex.EncodeToString(sum[:]),
		OutputSchema: OutputSchema(t), Scopes: []string{}, SideEffects: SideEffects(t), Capabilities: []schema.ToolCapability{},
	}
	for i, c := range t.Capabilities {
		scopes := words(c.Scopes)
		tc := schema.ToolCapability{ID: c.ID, Scopes: scopes, SideEffects: effects(c)}
		if c.Action != "" {
			action := c.Action
			tc.Action = &action
		}
		e.Capabilities = append(e.Capabilities, tc)
		if i == 0 {
			e.Scopes = scopes
		}
		e.Scopes = slices.DeleteFunc(slices.Clone(e.Scopes), func(s string) bool { return !slices.Contains(scopes, s) })
	}
	return e
}

// OutputSchema is what a tool may answer with: the output of its capability, or any one of those of its actions.
func OutputSchema(t tool.Spec) json.RawMessage {
	var variants []string
	for _, c := range t.Capabilities {
		if !slices.Contains(variants, string(c.Output)) {
			variants = append(variants, string(c.Output))
		}
	}
	if len(variants) == 1 {
		return json.RawMessage(variants[0])
	}
	return json.RawMessage(`{"type":"object","anyOf":[` + strings.Join(variants, ",") + `]}`)
}

// SideEffects is what any capability of a tool may do to the world, in the order of the contract.
func SideEffects(t tool.Spec) []string {
	out := []string{}
	for _, c := range t.Capabilities {
		for _, e := range effects(c) {
			if !slices.Contains(out, e) {
				out = append(out, e)
			}
		}
	}
	slices.Sort(out)
	return out
}

// effects of a capability without a contract are the worst of the common ones (actions.md, "Runtime").
func effects(c tool.Capability) []string {
	if c.SideEffects == nil {
		return []string{"write", "external_network"}
	}
	return c.SideEffects
}

func words(scopes []catalog.Scope) []string {
	out := []string{}
	for _, s := range scopes {
		out = append(out, string(s))
	}
	return out
}

// Manifest is the document of the whole tool surface.
func Manifest(tools []tool.Spec) schema.McpManifest {
	return schema.McpManifest{
		SchemaVersion: 1,
		Counts:        schema.ManifestCounts{Granular: len(tools)},
		ReadModes:     ReadModes(),
		Tools:         schema.ManifestTools{Granular: Entries(tools), Unified: []schema.ToolEntry{}},
	}
}
