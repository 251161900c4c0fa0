package myproject;

import com.computeinstances.compute.Instance;
import com.computeinstances.compute.InstanceArgs;
import com.pulumi.Context;
import com.pulumi.Pulumi;
import com.pulumi.core.Output;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    private static void stack(Context ctx) {
        var db = server(ctx, "db", Output.of("#cloud-config\npackages: [postgresql]\n"));

        // This script also changes if db is replaced.
        var web = server(ctx, "web", db.privateIpv4().applyValue(App::webScript));

        // `pulumi up` waits until the servers run, so their addresses are known here.
        ctx.export("address", web.ipv4());
    }

    private static Instance server(Context ctx, String name, Output<String> userData) {
        var config = ctx.config();
        return new Instance(name, InstanceArgs.builder()
            .flavorId(config.require("flavorId"))
            .imageId(config.require("imageId"))
            .vpcId(config.require("vpcId"))
            // Runs once, on the first boot. Change it, and the server is replaced.
            .userData(userData)
            .build());
    }

    private static String webScript(String dbHost) {
        return String.join("\n",
            "#cloud-config",
            "packages: [nginx]",
            "write_files:",
            "  - { path: /etc/db-host, content: \"" + dbHost + "\" }",
            "");
    }
}
