package repotest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"strings"
	"testing"
)

// frozenList holds the SHA-256 of each frozen schema, a line each as sha256sum writes it. A schema that says "x-frozen": true
// at its root never changes again, not even in its descriptions: others hold copies and compare bytes.
const frozenList = "schemas/frozen.sha256"

// checkFrozen holds frozen schemas and their list against each other. Generated documents cannot be frozen: they change with
// everything that they are made of.
func checkFrozen(files tree) []problem {
	var out []problem
	listed := map[string]string{}
	for line := range strings.Lines(string(files[frozenList])) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		switch {
		case !ok || len(sum) != sha256.Size*2:
			out = append(out, problem{frozenList, "has a line that is no hash and name: " + sum, "write it with sha256sum"})
		case isGenerated(name):
			out = append(out, problem{frozenList, name + " is generated", "freeze what it is generated from"})
		default:
			listed[name] = sum
		}
	}
	for _, name := range files.names() {
		if !isFrozen(name, files[name]) {
			continue
		}
		sum := sha256.Sum256(files[name])
		switch listed[name] {
		case hex.EncodeToString(sum[:]):
		case "":
			out = append(out, problem{name, "is frozen, but not listed", "add its line to " + frozenList})
		default:
			out = append(out, problem{name, "is frozen, and has changed", "restore it, and write the next version into a file of its own"})
		}
		delete(listed, name)
	}
	for name := range listed {
		out = append(out, problem{frozenList, name + " is no frozen schema", "restore it: what is frozen stays"})
	}
	return out
}

func isFrozen(name string, data []byte) bool {
	if path.Dir(name) != "schemas" || !strings.HasSuffix(name, ".schema.json") {
		return false
	}
	var doc struct {
		Frozen bool `json:"x-frozen"`
	}
	return json.Unmarshal(data, &doc) == nil && doc.Frozen
}

func TestFrozenSchemasHaveNotChanged(t *testing.T) {
	t.Parallel()
	passes(t, checkFrozen(repository(t)))
}

func TestChangedFrozenSchemasAreCaught(t *testing.T) {
	t.Parallel()
	hash := func(text string) string { sum := sha256.Sum256([]byte(text)); return hex.EncodeToString(sum[:]) }
	const frozen, thawed = `{"x-frozen": true}`, `{"x-frozen": false}`
	catches(t, checkFrozen(tree{
		"schemas/kept.schema.json":    []byte(frozen),
		"schemas/changed.schema.json": []byte(frozen + "\n"),
		"schemas/new.schema.json":     []byte(frozen),
		"schemas/thawed.schema.json":  []byte(thawed),
		"schemas/free.schema.json":    []byte(`{}`),
		frozenList: []byte(hash(frozen) + "  schemas/kept.schema.json\n" + hash(frozen) + "  schemas/changed.schema.json\n" +
			hash(frozen) + "  schemas/thawed.schema.json\n" + hash(frozen) + "  schemas/gone.schema.json\n" +
			hash(frozen) + "  api/openapi.json\nabc  schemas/short.schema.json\n"),
	}),
		"schemas/changed.schema.json: is frozen, and has changed",
		"schemas/new.schema.json: is frozen, but not listed",
		"schemas/frozen.sha256: schemas/thawed.schema.json is no frozen schema",
		"schemas/frozen.sha256: schemas/gone.schema.json is no frozen schema",
		"schemas/frozen.sha256: api/openapi.json is generated",
		"schemas/frozen.sha256: has a line that is no hash and name: abc",
	)
}
