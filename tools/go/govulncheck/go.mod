// Looks for known vulnerabilities in what the Go SDK brings along: `npm run release -- audit`.
module pulumi-compute/tools/govulncheck

go 1.25.0

tool golang.org/x/vuln/cmd/govulncheck

require (
	golang.org/x/mod v0.39.0 // indirect
	golang.org/x/sync v0.22.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/telemetry v0.0.0-20260811182544-a038080d80e5 // indirect
	golang.org/x/tools v0.49.0 // indirect
	golang.org/x/vuln v1.7.0 // indirect
)
