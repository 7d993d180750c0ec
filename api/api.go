// Package api embeds the published contract documents, so that the bytes that are served, the embedded ones and those on
// disk are the same. Everything else in this folder is the contract itself. Everything may import it.
package api

import _ "embed"

// OpenAPI is the whole API as client teams download it.
//
//go:embed openapi.json
var OpenAPI []byte

// ContractOpenAPI is the part of the API that http-mcp-contract-v1 names.
//
//go:embed http-mcp-v1.openapi.json
var ContractOpenAPI []byte
