package sources_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/contract"
	"github.com/ctxd/ctxd/internal/jsondoc"
	"github.com/ctxd/ctxd/tools/internal/contractcopy"
	"github.com/ctxd/ctxd/tools/internal/doc"
	"github.com/ctxd/ctxd/tools/internal/sources"
)

// checkManifests judges every resolved file of schemas/manifest/ by tool-v1, and says what is wrong with each.
func checkManifests(t *testing.T, s *sources.Sources) []string {
	t.Helper()
	schema, err := contract.Named("tool-v1")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, tool := range s.Tools {
		v, err := jsondoc.Decode(doc.Compact(tool.Doc))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range schema.Judge(v) {
			found = append(found, "schemas/manifest/"+tool.Name+".json: "+d.Pointer+" "+d.Message)
		}
	}
	return found
}

// T1: every manifest file, resolved, is a document of tool-v1.
func TestManifestFilesAreToolDocuments(t *testing.T) {
	t.Parallel()
	s, err := sources.Load(contractcopy.Root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range checkManifests(t, s) {
		t.Error(wrong)
	}
}

func TestWrongManifestFileIsCaught(t *testing.T) {
	t.Parallel()
	root := contractcopy.Make(t)
	contractcopy.Edit(t, root, "schemas/manifest/ctx_tree.json", `"title":`, `"icon": "tree", "title":`)
	contractcopy.Edit(t, root, "schemas/manifest/ctx_read.json", `"risk": "low"`, `"risk": "none"`)
	s, err := sources.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	found := strings.Join(checkManifests(t, s), "\n")
	for _, want := range []string{`ctx_tree.json: /icon "icon" is unknown`, "ctx_read.json: /capabilities/0/risk must be one of"} {
		if !strings.Contains(found, want) {
			t.Errorf("no %q in %q", want, found)
		}
	}
}
