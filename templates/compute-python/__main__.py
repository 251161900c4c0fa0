import pulumi
import pulumi_compute_instances as compute

config = pulumi.Config()

machine = {
    "flavor_id": config.require("flavorId"),
    "image_id": config.require("imageId"),
    "vpc_id": config.require("vpcId"),
}


def web_script(db_host: str) -> str:
    return f"""#cloud-config
packages: [nginx]
write_files:
  - {{ path: /etc/db-host, content: "{db_host}" }}
"""


db = compute.Instance(
    "db",
    **machine,
    # Runs once, on the first boot. Change it, and the server is replaced.
    user_data="#cloud-config\npackages: [postgresql]\n",
)

web = compute.Instance(
    "web",
    **machine,
    # This script also changes if `db` is replaced.
    user_data=db.private_ipv4.apply(web_script),
)

# `pulumi up` waits until the servers run, so their addresses are known here.
pulumi.export("address", web.ipv4)
