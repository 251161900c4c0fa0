package myproject;

import com.computeinstances.compute.Instance;
import com.computeinstances.compute.InstanceArgs;
import com.pulumi.Context;
import com.pulumi.Pulumi;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    private static void stack(Context ctx) {
        var config = ctx.config();

        var web = new Instance("web", InstanceArgs.builder()
            .flavorId(config.require("flavorId"))
            .imageId(config.require("imageId"))
            .vpcId(config.require("vpcId"))
            // Runs once, on the first boot. Change it, and the server is replaced.
            .userData("#cloud-config\npackages: [nginx]\n")
            .build());

        // `pulumi up` waits until the server runs, so its address is known here.
        ctx.export("address", web.ipv4());
    }
}
