package setup

// Format is what a file is written in, as the client reads it.
type Format string

// Formats. Comments and trailing commas are kept wherever they are found; where the client does not document that it reads
// them, the caller is told so.
const (
	JSON           Format = "JSON"
	CommentedJSON  Format = "JSON with comments"                     // and no trailing commas
	RelaxedJSON    Format = "JSON with comments and trailing commas" // as VS Code and Zed read it
	TOML           Format = "TOML"
	name                  = "ctxd" // of the entry
	projectRootArg        = "--project-root"
)

// Scope says for whom an entry is.
type Scope string

// Scopes.
const (
	Project Scope = "project" // for those who open the folder
	User    Scope = "user"    // for one person, in every folder
)

// Client is what ctxd knows of one AI client.
type Client struct {
	Name   string // on the command line
	Title  string // as its makers call it
	Format Format
	Within string // member of the file, or table, that holds one entry per server
	Typed  bool   // whether an entry says "type": "stdio"

	// Expands is what starts a variable in the text of an entry; "" where the client takes text as it is. A path that holds
	// it would come out as another one.
	Expands string

	Project string   // file of a project, below its folder; "" where the client has none
	User    []Folder // where the file of a person lies; the first one that fits the system counts

	// Follows says that servers of the user's file are started in the folder of the project. Where they are not, the entry
	// names the folder.
	Follows bool

	Next string // what to do in the client after the file was written
}

// Folder is where a client keeps its file, on one system.
type Folder struct {
	OS       string // as in GOOS; "" is every other one
	Variable string // of the environment: names the folder instead of Default; "" for none
	Default  string // begins with ~, the home folder
	File     string // below the folder
}

// Clients are the clients, in the order of their names.
//
// Sources: the makers' documentation and source, read in November 2026, as named with each row.
var Clients = []Client{
	{
		// code.claude.com/docs/en/mcp: {"mcpServers": {NAME: {"command", "args"}}} in both files; ${VAR} is expanded in command
		// and args. A server starts in the folder where the program was started (anthropics/claude-code#17565); the user's
		// file moves with $CLAUDE_CONFIG_DIR (#48448).
		Name: "claude-code", Title: "Claude Code", Format: JSON, Within: "mcpServers", Expands: "${",
		Project: ".mcp.json",
		User:    []Folder{{Variable: "CLAUDE_CONFIG_DIR", Default: "~", File: ".claude.json"}},
		Follows: true,
		Next:    "start claude in the folder and approve the server once; /mcp shows it",
	},
	{
		// developers.openai.com/codex/mcp: a table [mcp_servers.NAME] with command and args. A project's file counts once the
		// project is trusted. Without cwd a server inherits the folder of the program (codex-rs/rmcp-client,
		// stdio_server_launcher.rs), but the desktop app has none (openai/codex#14449).
		Name: "codex", Title: "Codex", Format: TOML, Within: "mcp_servers",
		Project: ".codex/config.toml",
		User:    []Folder{{Variable: "CODEX_HOME", Default: "~/.codex", File: "config.toml"}},
		Follows: true,
		Next:    "start codex anew in the folder, and trust it; /mcp shows the server",
	},
	{
		// cursor.com/docs/mcp: {"mcpServers": {NAME: {"command", "args"}}} in both files; ${workspaceFolder} and ${env:NAME} are
		// expanded. ${workspaceFolder} is documented as the folder that holds .cursor/mcp.json, and servers of the user's file
		// start in the home folder, so that file needs a fixed one.
		Name: "cursor", Title: "Cursor", Format: JSON, Within: "mcpServers", Expands: "${",
		Project: ".cursor/mcp.json",
		User:    []Folder{{Default: "~/.cursor", File: "mcp.json"}},
		Next:    "switch the server on in Cursor's settings, below MCP",
	},
	{
		// github.com/google-gemini/gemini-cli, docs/tools/mcp-server.md: {"mcpServers": {NAME: {"command", "args"}}}. Comments are
		// stripped and the rest is parsed as JSON (packages/cli/src/config/settings.ts); $VAR and ${VAR} are expanded in every
		// text. Without cwd a server inherits the folder of the program (packages/core/src/tools/mcp-client.ts). GEMINI_CLI_HOME
		// stands for the home folder (packages/core/src/utils/paths.ts).
		Name: "gemini", Title: "Gemini CLI", Format: CommentedJSON, Within: "mcpServers", Expands: "$",
		Project: ".gemini/settings.json",
		User:    []Folder{{Variable: "GEMINI_CLI_HOME", Default: "~", File: ".gemini/settings.json"}},
		Follows: true,
		Next:    "start gemini anew in the folder, and trust it; /mcp shows the server",
	},
	{
		// code.visualstudio.com/docs/agents/reference/mcp-configuration: {"servers": {NAME: {"type": "stdio", "command", "args"}}}.
		// In the user's file ${workspaceFolder} is not resolved and servers have no folder (microsoft/vscode#264535;
		// installedMcpServersDiscovery.ts gives them none), so that file needs a fixed one.
		Name: "vscode", Title: "VS Code", Format: RelaxedJSON, Within: "servers", Typed: true, Expands: "${",
		Project: ".vscode/mcp.json",
		User: []Folder{
			{OS: "darwin", Default: "~/Library/Application Support", File: "Code/User/mcp.json"},
			{OS: "windows", Variable: "APPDATA", Default: "~/AppData/Roaming", File: "Code/User/mcp.json"},
			{Variable: "XDG_CONFIG_HOME", Default: "~/.config", File: "Code/User/mcp.json"},
		},
		Next: "run the command MCP: List Servers, and start it",
	},
	{
		// docs.windsurf.com/windsurf/cascade/mcp: {"mcpServers": {NAME: {"command", "args"}}} in one file for every project;
		// ${env:NAME} and ${file:PATH} are expanded. No folder is promised to servers.
		Name: "windsurf", Title: "Windsurf", Format: JSON, Within: "mcpServers", Expands: "${",
		User: []Folder{{Default: "~/.codeium/windsurf", File: "mcp_config.json"}},
		Next: "press refresh in the MCP panel of Cascade",
	},
	{
		// zed.dev/docs/ai/mcp: {"context_servers": {NAME: {"command", "args"}}}; "source" is gone since November 2025 (Zed's own
		// migration m_2025_11_25 takes it out). Servers start in the folder of the project (zed-industries/zed#35271, #61365).
		// The folders are those of crates/paths/src/paths.rs.
		Name: "zed", Title: "Zed", Format: RelaxedJSON, Within: "context_servers",
		Project: ".zed/settings.json",
		User: []Folder{
			{OS: "darwin", Default: "~/.config", File: "zed/settings.json"},
			{OS: "windows", Variable: "APPDATA", Default: "~/AppData/Roaming", File: "Zed/settings.json"},
			{Variable: "XDG_CONFIG_HOME", Default: "~/.config", File: "zed/settings.json"},
		},
		Follows: true,
		Next:    "open the settings of the agent panel; the server is listed there",
	},
}

// Find gives the client of that name, or nil.
func Find(client string) *Client {
	for i := range Clients {
		if Clients[i].Name == client {
			return &Clients[i]
		}
	}
	return nil
}

// Names are the names of the clients.
func Names() []string {
	var out []string
	for _, c := range Clients {
		out = append(out, c.Name)
	}
	return out
}

// path leads to the entry.
func (c *Client) path() []string { return []string{c.Within, name} }

// codec edits the format of the client's files.
func (c *Client) codec() codec {
	if c.Format == TOML {
		return tomlCodec
	}
	return jsonCodec
}
