package repotest

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/contract"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/jsondoc"
)

// examplesDir has a folder for each schema, or for a part of one: event for event.schema.json, call.CallResponse for the
// definition CallResponse of call.schema.json.
const examplesDir = "schemas/examples"

// partsSchema holds parts of tools only: no document is of it.
const partsSchema = "tool-parts"

// exampleName is valid-<what it shows>.json or invalid-<keyword that is broken>-<where>.json.
var exampleName = regexp.MustCompile(`^(valid|invalid)-([a-z0-9]+)(-[a-z0-9-]+)?\.json$`)

// schemaOf is the name by which internal/contract knows the schema of a folder.
func schemaOf(folder string) string {
	if file, part, ok := strings.Cut(folder, "."); ok {
		return file + "#/$defs/" + part
	}
	return folder
}

// judge says what is wrong with a document by a schema.
type judge func(schema string, document []byte) ([]fault.Detail, error)

func judgeByName(schema string, document []byte) ([]fault.Detail, error) {
	s, err := contract.Named(schema)
	if err != nil {
		return nil, err
	}
	v, err := jsondoc.Decode(document)
	if err != nil {
		return nil, err
	}
	return s.Judge(v), nil
}

// checkExamples holds every example to its name, and every schema to having enough of them.
func checkExamples(files tree, judged judge) []problem {
	var out []problem
	count := map[string]int{}
	examples := files.below(examplesDir)
	for _, name := range examples.names() {
		folder, base := path.Base(path.Dir(name)), path.Base(name)
		m := exampleName.FindStringSubmatch(base)
		if m == nil {
			out = append(out, problem{name, "has no name of an example", "call it valid-<what it shows>.json or invalid-<keyword>-<where>.json"})
			continue
		}
		count[folder+" "+m[1]]++
		details, err := judged(schemaOf(folder), examples[name])
		if err != nil {
			out = append(out, problem{name, "cannot be judged: " + err.Error(), "name the folder after a schema, and write JSON"})
			continue
		}
		out = append(out, checkExample(name, m[1], m[2], details)...)
	}
	for _, name := range files.names() {
		schema, ok := strings.CutSuffix(strings.TrimPrefix(name, "schemas/"), ".schema.json")
		if !ok || strings.Contains(schema, "/") || schema == partsSchema {
			continue
		}
		for _, kind := range []string{"valid", "invalid"} {
			if n := count[schema+" "+kind]; n < 2 {
				out = append(out, problem{name, fmt.Sprintf("has %d %s examples", n, kind), "write two at least, in " + examplesDir + "/" + schema})
			}
		}
	}
	return out
}

// checkExample holds an invalid example to breaking one rule, the one that its name begins with.
func checkExample(name, kind, keyword string, details []fault.Detail) []problem {
	mend := "mend it, or give it the name of what it is"
	switch {
	case kind == "valid" && len(details) > 0:
		return []problem{{name, "is not valid: " + told(details), mend}}
	case kind == "valid":
		return nil
	case len(details) == 0:
		return []problem{{name, "is valid", mend}}
	case len(details) > 1:
		return []problem{{name, "breaks several rules: " + told(details), "break one"}}
	case details[0].Reason != keyword:
		return []problem{{name, fmt.Sprintf("breaks %q: %s", details[0].Reason, told(details)), mend}}
	}
	return nil
}

func told(details []fault.Detail) string {
	var words []string
	for _, d := range details {
		words = append(words, d.Pointer+" "+d.Message)
	}
	return strings.Join(words, ", ")
}

func TestSchemaExamples(t *testing.T) {
	t.Parallel()
	passes(t, checkExamples(repository(t), judgeByName))
}

func TestWrongExamplesAreCaught(t *testing.T) {
	t.Parallel()
	dir := examplesDir + "/ready/"
	files := repository(t).with(map[string]string{
		dir + "valid-not.json":                `{"status": "ready"}`,
		dir + "invalid-type-is-valid.json":    `{"status": "ready", "checks": []}`,
		dir + "invalid-type-two.json":         `{"status": 1, "checks": 1}`,
		dir + "invalid-enum-other.json":       `{"status": "ready", "checks": 1}`,
		dir + "invalid-oneof-no-choice.json":  `{"status": "ready", "checks": 1}`,
		dir + "invalid-type-broken.json":      `{"status"`,
		dir + "example.json":                  `{}`,
		examplesDir + "/nowhere/valid-a.json": `{}`,
		"schemas/bare.schema.json":            `{}`,
	}, examplesDir+"/lineage/valid-unknown-event.json")
	catches(t, checkExamples(files, judgeByName),
		dir+"valid-not.json: is not valid",
		dir+"invalid-type-is-valid.json: is valid",
		dir+"invalid-type-two.json: breaks several rules",
		dir+"invalid-enum-other.json: breaks \"type\"",
		dir+"invalid-oneof-no-choice.json: breaks \"type\"",
		dir+"invalid-type-broken.json: cannot be judged",
		dir+"example.json: has no name of an example",
		examplesDir+"/nowhere/valid-a.json: cannot be judged",
		"schemas/bare.schema.json: has 0 valid examples",
		"schemas/bare.schema.json: has 0 invalid examples",
		"schemas/lineage.schema.json: has 1 valid examples",
	)
}

// The built-in manifest is itself a document of the schema by which foreign ones are admitted. That each file of
// schemas/manifest/ is one of tool-v1 is tested where they are resolved, in tools/internal/sources.
func TestBuiltInManifestIsValid(t *testing.T) {
	t.Parallel()
	details, err := judgeByName("capability-v1", tool.Manifest)
	if err != nil || len(details) > 0 {
		t.Errorf("gen/tool/manifest.gen.json: %v %s; mend schemas/manifest and run go generate ./...", err, told(details))
	}
	broken := []byte(strings.Replace(string(tool.Manifest), `"kind": "tool"`, `"kind": "function"`, 1))
	if details, err := judgeByName("capability-v1", broken); err != nil || len(details) != 1 {
		t.Errorf("a kind that there is not went through: %v %s", err, told(details))
	}
}
