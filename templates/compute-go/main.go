package main

import (
	"github.com/compute-instances/pulumi-compute/sdk/go/compute"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		settings := config.New(ctx, "")
		web, err := compute.NewInstance(ctx, "web", &compute.InstanceArgs{
			FlavorId: pulumi.String(settings.Require("flavorId")),
			ImageId:  pulumi.String(settings.Require("imageId")),
			VpcId:    pulumi.String(settings.Require("vpcId")),
			// Runs once, on the first boot. Change it, and the server is replaced.
			UserData: pulumi.String("#cloud-config\npackages: [nginx]\n"),
		})
		if err != nil {
			return err
		}

		// `pulumi up` waits until the server runs, so its address is known here.
		ctx.Export("address", web.Ipv4)
		return nil
	})
}
