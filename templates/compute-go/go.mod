module ${PROJECT}

go 1.25.11

require (
	github.com/compute-instances/pulumi-compute/sdk/go v0.1.0
	github.com/pulumi/pulumi/sdk/v3 v3.258.0
)
