terraform {
  required_providers {
    compute = { source = "pulumi/compute" }
  }
}

locals {
  ssh_keys = ["key-laptop", "key-ci"]
  # Runs once, on the first boot of each server. Change it, and the servers are replaced.
  user_data = <<-EOT
    #cloud-config
    package_update: true
    packages:
      - nginx
  EOT
}

resource "compute_instance" "web-1" {
  flavor_id = "standard-2"
  image_id  = "debian-12"
  vpc_id    = "vpc-main"
  ssh_keys  = local.ssh_keys
  user_data = local.user_data

  # Without this, a replacement begins with the delete.
  lifecycle {
    create_before_destroy = true
  }
}

resource "compute_instance" "web-2" {
  flavor_id = "standard-2"
  image_id  = "debian-12"
  vpc_id    = "vpc-main"
  ssh_keys  = local.ssh_keys
  user_data = local.user_data

  lifecycle {
    create_before_destroy = true
  }
}

# `pulumi up` waits until the servers run, so their addresses are known here.
output "names" {
  value = [compute_instance.web-1.name, compute_instance.web-2.name]
}

output "ipv4" {
  value = [compute_instance.web-1.ipv4, compute_instance.web-2.ipv4]
}
