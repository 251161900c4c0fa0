import pulumi
import pulumi_compute_instances as compute

config = pulumi.Config()

web = compute.Instance(
    "web",
    flavor_id=config.require("flavorId"),
    image_id=config.require("imageId"),
    vpc_id=config.require("vpcId"),
    # Runs once, on the first boot. Change it, and the server is replaced.
    user_data="#cloud-config\npackages: [nginx]\n",
)

# `pulumi up` waits until the server runs, so its address is known here.
pulumi.export("address", web.ipv4)
