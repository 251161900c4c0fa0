using System.Collections.Generic;
using System.Linq;
using ComputeInstances.Compute;
using Pulumi;

// Runs once, on the first boot of each server. Change it, and the servers are replaced.
const string userData = @"#cloud-config
package_update: true
packages:
  - nginx
";

return await Deployment.RunAsync(() =>
{
    var count = new Pulumi.Config().RequireInt32("count");

    var servers = Enumerable.Range(1, count)
        .Select(number => new Instance($"web-{number}", new InstanceArgs
        {
            FlavorId = "standard-2",
            ImageId = "debian-12",
            VpcId = "vpc-main",
            SshKeys = { "key-laptop", "key-ci" },
            UserData = userData,
        }))
        .ToList();

    // `pulumi up` waits until the servers run, so their addresses are known here.
    return new Dictionary<string, object?>
    {
        ["names"] = Output.All(servers.Select(server => server.Name)),
        ["ipv4"] = Output.All(servers.Select(server => server.Ipv4)),
    };
});
