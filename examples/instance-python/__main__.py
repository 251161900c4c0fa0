import pulumi
import pulumi_compute_instances as compute

count = pulumi.Config().require_int("count")

# Runs once, on the first boot of each server. Change it, and the servers are replaced.
user_data = """#cloud-config
package_update: true
packages:
  - nginx
"""

servers = [
    compute.Instance(
        f"web-{number}",
        flavor_id="standard-2",
        image_id="debian-12",
        vpc_id="vpc-main",
        ssh_keys=["key-laptop", "key-ci"],
        user_data=user_data,
    )
    for number in range(1, count + 1)
]

# `pulumi up` waits until the servers run, so their addresses are known here.
pulumi.export("names", [server.name for server in servers])
ipv4: list[pulumi.Input[str]] = [server.ipv4 for server in servers]
pulumi.export("ipv4", ipv4)
