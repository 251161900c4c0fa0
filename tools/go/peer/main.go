// compute-peer is a minimal provider on the official Go SDK. It offers the same resource as our provider, answers every
// call at once, and calls no service. `npm run bench` compares our provider with it.
package main

import (
	"context"
	"fmt"
	"os"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
)

// Instance is the resource. The package infer derives the token of the resource from this type.
type Instance struct{}

// InstanceArgs has the inputs that the programs of the benchmarks set.
type InstanceArgs struct {
	Name     string `pulumi:"name"`
	FlavorId string `pulumi:"flavorId"`
	ImageId  string `pulumi:"imageId"`
	VpcId    string `pulumi:"vpcId"`
}

// InstanceState has the outputs that an instance has after the wait.
type InstanceState struct {
	InstanceArgs
	Status string `pulumi:"status"`
	Ipv4   string `pulumi:"ipv4"`
}

// Create answers at once, so that only the engine, the connection and the SDK take time.
func (Instance) Create(
	_ context.Context, _ string, input InstanceArgs, preview bool,
) (string, InstanceState, error) {
	state := InstanceState{InstanceArgs: input}
	if preview {
		return "", state, nil
	}
	state.Status, state.Ipv4 = "ACTIVE", "203.0.113.1"
	return "i-" + input.Name, state, nil
}

func main() {
	provider := infer.Provider(infer.Options{
		Resources: []infer.InferredResource{infer.Resource[Instance, InstanceArgs, InstanceState]()},
		ModuleMap: map[tokens.ModuleName]tokens.ModuleName{"main": "index"},
	})
	if err := p.RunProvider("compute", "0.1.0", provider); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
