package capability

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/contract"
	"github.com/ctxd/ctxd/internal/jsondoc"
)

func judge(t *testing.T, name string, raw []byte) {
	t.Helper()
	s, err := contract.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsondoc.Decode(bytes.TrimSpace(raw))
	if err != nil {
		t.Fatal(err)
	}
	if d := s.Judge(v); d != nil {
		t.Errorf("%s: %v", name, d)
	}
}

// R6: the eleven keys in the contract's order, the same bytes each time.
func TestR6Document(t *testing.T) {
	t.Parallel()
	f := Facts{Version: "1.2.3", Preset: "coding", Tools: tool.Specs, RefusesKeys: true}
	doc, err := Document(f)
	if err != nil {
		t.Fatal(err)
	}
	judge(t, "capabilities", doc)
	again, err := Document(f)
	if err != nil || !bytes.Equal(doc, again) {
		t.Error("two documents of one instance differ")
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.(string))
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Split("contract_version server plane transports presets read_modes tools features extensions contracts contract_status", " ")
	if !slices.Equal(keys, want) || !slices.Equal(catalog.CapabilityKeys, want) {
		t.Errorf("keys %v", keys)
	}
}

// R6: each flag follows what is there.
func TestR6Features(t *testing.T) {
	t.Parallel()
	all := features(Facts{Tools: tool.Specs, RefusesKeys: true})
	if !all.Caching || !all.Session || !all.SensitivityFloor || !all.SavingsLedger || !all.HttpServer {
		t.Errorf("%+v", all)
	}
	if all.Knowledge || all.SemanticSearch || all.AstCompression || all.Compression || all.Routing || all.AuditTrail || all.Gateway || all.TeamServer {
		t.Errorf("what is not built is claimed: %+v", all)
	}
	none := features(Facts{})
	if none.Caching || none.Session || none.SensitivityFloor || none.SavingsLedger {
		t.Errorf("%+v", none)
	}
}

// R5: what a tool needs, and the hash of its schema as sent.
func TestR5Entries(t *testing.T) {
	t.Parallel()
	entries := Entries(tool.Specs)
	if !slices.IsSortedFunc(tool.Specs, func(a, b tool.Spec) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the tools are not sorted")
	}
	for _, e := range entries {
		sum := sha256.Sum256(e.InputSchema)
		if e.SchemaSha256 != hex.EncodeToString(sum[:]) || bytes.ContainsAny(e.InputSchema, "\n\t") {
			t.Errorf("%s: the hash is not that of the compact schema", e.Name)
		}
		if _, err := contract.Compile(e.OutputSchema); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		if e.Name == "ctx_session" && (len(e.Scopes) != 0 || !slices.Equal(e.SideEffects, []string{"read", "write"})) {
			t.Errorf("%+v", e)
		}
		if e.Name == "ctx_read" && !slices.Equal(e.Scopes, []string{"search"}) {
			t.Errorf("%+v", e)
		}
	}
	raw, err := json.Marshal(Manifest(tool.Specs))
	if err != nil {
		t.Fatal(err)
	}
	judge(t, "mcp-manifest", raw)
}

// T2: a preset lists what its tools say, full lists all, and an unknown one nothing.
func TestT2Presets(t *testing.T) {
	t.Parallel()
	if got := Presets(tool.Specs); !slices.Contains(got, "coding") || got[len(got)-1] != FullPreset {
		t.Errorf("%v", got)
	}
	if len(Listed(tool.Specs, FullPreset)) != len(tool.Specs) || len(Listed(tool.Specs, "nope")) != 0 {
		t.Error("presets list the wrong tools")
	}
	extra := append(slices.Clone(tool.Specs), tool.Spec{Name: "zz"})
	if len(Listed(extra, "coding")) != len(Listed(tool.Specs, "coding")) || len(Listed(extra, FullPreset)) != len(extra) {
		t.Error("a tool without presets is listed")
	}
}

// A capability without a contract counts as the worst.
func TestNoContractIsTheWorst(t *testing.T) {
	t.Parallel()
	if got := SideEffects(tool.Spec{Capabilities: []tool.Capability{{}}}); !slices.Equal(got, []string{"external_network", "write"}) {
		t.Errorf("%v", got)
	}
}
