package myproject;

import com.computeinstances.compute.Instance;
import com.computeinstances.compute.InstanceArgs;
import com.pulumi.Context;
import com.pulumi.Pulumi;
import com.pulumi.core.Output;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

public class App {
    // Runs once, on the first boot of each server. Change it, and the servers are replaced.
    private static final String USER_DATA = String.join("\n",
        "#cloud-config",
        "package_update: true",
        "packages:",
        "  - nginx",
        "");

    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    private static void stack(Context ctx) {
        int count = ctx.config().requireInteger("count");

        List<Instance> servers = IntStream.rangeClosed(1, count)
            .mapToObj(number -> new Instance("web-" + number, InstanceArgs.builder()
                .flavorId("standard-2")
                .imageId("debian-12")
                .vpcId("vpc-main")
                .sshKeys("key-laptop", "key-ci")
                .userData(USER_DATA)
                .build()))
            .collect(Collectors.toList());

        // `pulumi up` waits until the servers run, so their addresses are known here.
        ctx.export("names", all(servers, Instance::name));
        Output<List<String>> ipv4 = all(servers, Instance::ipv4);
        ctx.export("ipv4", ipv4);
    }

    private static <T> Output<List<T>> all(List<Instance> servers, Function<Instance, Output<T>> of) {
        return Output.all(servers.stream().map(of).collect(Collectors.toList()));
    }
}
