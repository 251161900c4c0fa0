package main

import (
	"github.com/compute-instances/pulumi-compute/sdk/go/compute"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

const webScript = `#cloud-config
packages: [nginx]
write_files:
  - { path: /etc/db-host, content: "%s" }
`

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		flavor, err := config.Try(ctx, "flavorId")
		if err != nil {
			return err
		}
		image, err := config.Try(ctx, "imageId")
		if err != nil {
			return err
		}
		vpc, err := config.Try(ctx, "vpcId")
		if err != nil {
			return err
		}
		server := func(name string, userData pulumi.StringPtrInput) (*compute.Instance, error) {
			return compute.NewInstance(ctx, name, &compute.InstanceArgs{
				FlavorId: pulumi.String(flavor),
				ImageId:  pulumi.String(image),
				VpcId:    pulumi.String(vpc),
				// Runs once, on the first boot. Change it, and the server is replaced.
				UserData: userData,
			})
		}

		db, err := server("db", pulumi.String("#cloud-config\npackages: [postgresql]\n"))
		if err != nil {
			return err
		}

		// This script also changes if db is replaced.
		var dbHost pulumi.StringInput = db.PrivateIpv4
		web, err := server("web", pulumi.Sprintf(webScript, dbHost))
		if err != nil {
			return err
		}

		// `pulumi up` waits until the servers run, so their addresses are known here.
		ctx.Export("address", web.Ipv4)
		return nil
	})
}
