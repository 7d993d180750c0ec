package repotest

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/ctxd/ctxd/internal/app"
	"github.com/ctxd/ctxd/internal/contract"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/jsondoc"
)

// baseline is a folder that mirrors the repository as it was last released. It holds kept, and is replaced by each release.
const baseline = "api/released"

// kept are the files of a release that later builds are judged by.
func kept(files tree) tree {
	out := files.below(examplesDir)
	for _, name := range []string{"api/openapi.json", "api/catalog/deprecations.yaml", "gen/tool/manifest.gen.json", "schemas/config.schema.json"} {
		out[name] = files[name]
	}
	return out
}

// checkReleased holds a build to the one released before it, and gives what may have gone since.
func checkReleased(before, now tree, versions []string, next string, judged judge) []problem {
	had, err := surfaces(before)
	if err != nil {
		return []problem{{baseline, err.Error(), "restore it from the release"}}
	}
	has, err := surfaces(now)
	if err != nil {
		return []problem{{"api", err.Error(), "run go generate ./..."}}
	}
	var rows []deprecation
	if err := yaml.Unmarshal(before["api/catalog/deprecations.yaml"], &rows); err != nil {
		return []problem{{baseline, err.Error(), "restore it from the release"}}
	}
	gone, out := checkRemoved(had, has, rows, versions, next)
	document, err := without(before["api/openapi.json"], gone)
	if err != nil {
		return append(out, problem{baseline, err.Error(), "restore it from the release"})
	}
	out = append(out, checkOpenAPI(document, now["api/openapi.json"])...)
	out = append(out, checkCapabilities(before["gen/tool/manifest.gen.json"], now["gen/tool/manifest.gen.json"], named(gone, "tool "))...)
	return append(out, checkCorpus(before, named(gone, "config "), judged)...)
}

func named(surfaces []string, kind string) []string {
	var out []string
	for _, s := range surfaces {
		if name, ok := strings.CutPrefix(s, kind); ok {
			out = append(out, name)
		}
	}
	return out
}

// checkCorpus wants every document that a release took to be taken still, less the configuration keys that may have gone.
func checkCorpus(before tree, goneKeys []string, judged judge) []problem {
	var out []problem
	corpus := before.below(examplesDir)
	if manifest := before["gen/tool/manifest.gen.json"]; manifest != nil {
		corpus[examplesDir+"/capability-v1/valid-built-in.json"] = manifest
	}
	for _, name := range corpus.names() {
		folder, data := path.Base(path.Dir(name)), corpus[name]
		if !strings.HasPrefix(path.Base(name), "valid-") {
			continue
		}
		if folder == "config" {
			data = withoutKeys(data, goneKeys)
		}
		details, err := judged(schemaOf(folder), data)
		if err != nil {
			details = []fault.Detail{{Message: err.Error()}}
		}
		if len(details) > 0 {
			out = append(out, problem{name, "was valid in the last release: " + told(details), "let the schema take what it took"})
		}
	}
	return out
}

func withoutKeys(document []byte, keys []string) []byte {
	var doc map[string]json.RawMessage
	if len(keys) == 0 || json.Unmarshal(document, &doc) != nil {
		return document
	}
	for _, k := range keys {
		delete(doc, k)
	}
	out, err := json.Marshal(doc)
	if err != nil {
		return document
	}
	return out
}

// dated is a heading of the changelog that says when it was released.
var dated = regexp.MustCompile(`\d{4}-\d{2}-\d{2}`)

// checkBaseline wants a baseline as soon as there is a release.
func checkBaseline(files tree) []problem {
	for _, m := range changelog.FindAllStringSubmatch(string(files["CHANGELOG.md"]), -1) {
		if dated.MatchString(m[2]) && len(files.below(baseline)) == 0 {
			return []problem{{baseline, "is not there, though " + m[1] + " was released", "copy into it what kept in released_test.go lists, as it was released"}}
		}
	}
	return nil
}

func TestNothingReleasedIsBroken(t *testing.T) {
	t.Parallel()
	files := repository(t)
	passes(t, checkBaseline(files))
	before := tree{}
	for name, data := range files.below(baseline) {
		before[strings.TrimPrefix(name, baseline+"/")] = data
	}
	if len(before) == 0 {
		t.Logf("there is no %s: nothing was released, and nothing can break", baseline)
		return
	}
	passes(t, checkReleased(before, files, released(files["CHANGELOG.md"]), app.Version, judgeByName))
}

// Were this build released, it would break nothing of itself, and each of these edits would.
func TestBrokenReleaseIsCaught(t *testing.T) {
	t.Parallel()
	now := repository(t)
	before := kept(now)
	passes(t, checkReleased(before, now, []string{"1.0.0"}, "1.1.0", judgeByName))

	broken := now.
		edited(t, "api/openapi.json", `"operationId": "getReady"`, `"operationId": "getReadiness"`).
		edited(t, "gen/tool/manifest.gen.json", `"required": ["paths"]`, `"required": ["paths", "mode"]`).
		edited(t, "schemas/config.schema.json", `"preset": {`, `"profile": {`)
	strict := func(schema string, document []byte) ([]fault.Detail, error) {
		if schema == "ready" {
			return []fault.Detail{{Message: "no"}}, nil
		}
		return judgeByName(schema, document)
	}
	catches(t, checkReleased(before, broken, []string{"1.0.0"}, "1.1.0", strict),
		"operation getReady: was released, and is gone",
		"GET /ready: api-operation-id-removed",
		"cap:ctxd:file:read-many: input requires mode",
		"config preset: was released, and is gone",
		"schemas/examples/ready/valid-no-checks.json: was valid in the last release",
		"schemas/examples/ready/valid-two-checks.json: was valid in the last release",
	)
	catches(t, checkBaseline(tree{"CHANGELOG.md": []byte("## 1.1.0\n\n## 1.0.0 - 2026-05-01\n")}), "api/released: is not there, though 1.0.0 was released")
	passes(t, checkBaseline(tree{"CHANGELOG.md": []byte("## 1.0.0\n")}))
}

// A schema that no longer takes a released document is found by that document.
func TestNarrowedSchemasAreCaught(t *testing.T) {
	t.Parallel()
	f := readFixture(t, "corpus.json")
	before := tree{}
	for name, doc := range f.Documents {
		before[examplesDir+"/nest/"+name+".json"] = doc
	}
	for _, c := range f.Cases {
		t.Run(c.Say, func(t *testing.T) {
			t.Parallel()
			schema, err := contract.Compile(patched(t, f.Base, c.Patch))
			if err != nil {
				t.Fatal(err)
			}
			catches(t, checkCorpus(before, nil, func(_ string, document []byte) ([]fault.Detail, error) {
				v, err := jsondoc.Decode(document)
				return schema.Judge(v), err
			}), c.Want...)
		})
	}
}

// A key that was deprecated for two minor releases may go, and the documents that used it are judged without it.
func TestDeprecatedSurfacesMayGo(t *testing.T) {
	t.Parallel()
	now := repository(t)
	before := kept(now).with(map[string]string{"api/catalog/deprecations.yaml": "- {surface: config preset, since: 1.0.0, replacement: config profile, removal: 1.2.0}\n"})
	after := now.edited(t, "schemas/config.schema.json", `"preset": {`, `"profile": {`)
	refuses := func(schema string, document []byte) ([]fault.Detail, error) {
		if schema == "config" && strings.Contains(string(document), `"preset"`) {
			return []fault.Detail{{Message: `"preset" is unknown`}}, nil
		}
		return judgeByName(schema, document)
	}
	passes(t, checkReleased(before, after, []string{"1.0.0", "1.1.0"}, "1.2.0", refuses))
	found := checkReleased(before, after, []string{"1.0.0"}, "1.1.0", refuses)
	if !slices.ContainsFunc(found, func(p problem) bool { return p.at == "config preset" }) {
		t.Errorf("it may go too early: %v", found)
	}
}
