// Package ctxd is the root of the repository: it holds nothing but the ordered list of generators. The program is cmd/ctxd.
package ctxd

//go:generate go run ./tools/schemagen
//go:generate go run ./tools/toolgen
//go:generate go run ./tools/specbundle
//go:generate go run ./tools/restgen
//go:generate go run ./tools/docgen
