package rest

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/ctxd/ctxd/api"
	"github.com/ctxd/ctxd/gen/schema"
	"github.com/ctxd/ctxd/internal/capability"
)

// documents are answers that do not change while the server runs.
type documents struct {
	capabilities []byte
	manifest     []byte
	entries      []schema.ToolEntry
	openAPI      tagged
	contract     tagged
}

// tagged is a document with its ETag.
type tagged struct {
	body []byte
	tag  string
}

func newDocuments(c Config) (documents, error) {
	specs := c.Pipeline.Specs()
	caps, err := capability.Document(capability.Facts{Version: c.Version, Preset: c.Preset, Tools: specs, RefusesKeys: c.RefusesKeys})
	if err != nil {
		return documents{}, err
	}
	return documents{
		capabilities: caps,
		manifest:     encode(capability.Manifest(specs)),
		entries:      capability.Entries(specs),
		openAPI:      tag(api.OpenAPI),
		contract:     tag(api.ContractOpenAPI),
	}, nil
}

func tag(body []byte) tagged {
	sum := sha256.Sum256(body)
	return tagged{body, `"` + hex.EncodeToString(sum[:16]) + `"`}
}
