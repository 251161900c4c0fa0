// Packs the Go SDK as a module. See main.go.
module pulumi-compute/tools/gomodule

go 1.25.0

require golang.org/x/mod v0.38.0
