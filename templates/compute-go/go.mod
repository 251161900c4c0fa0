module ${PROJECT}

go 1.26.6

require (
	github.com/compute-instances/pulumi-compute/sdk/go v0.1.0
	github.com/pulumi/pulumi/sdk/v3 v3.276.0
)
