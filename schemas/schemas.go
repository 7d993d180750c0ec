// Package schemas embeds the JSON Schemas of this folder as they lie on disk. Everything may import it; compiling and judging
// is the work of internal/contract.
package schemas

import "embed"

// FS holds the schema files by base name.
//
//go:embed *.schema.json
var FS embed.FS
