/** The Maven package: what the generator leaves out. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import metadata from "../../metadata.json";
import { requiredVersion } from "../support/go";
import type { SdkLanguage } from "./language";

const { basePackage, groupId, artifactId, release } = metadata.sdk.java;

/** The generator's own version: what it writes calls this. */
const pulumi = requiredVersion("sdkgen-more", "github.com/pulumi/pulumi-java/pkg").slice(1);

export const java: SdkLanguage = {
  title: "Java",
  generator: "sdkgen-more",
  example: "java",
  install: `\`\`\`xml
<dependency>
  <groupId>${groupId}</groupId>
  <artifactId>${artifactId}</artifactId>
  <version>${metadata.version}</version>
</dependency>
\`\`\``,

  complete(directory) {
    // Maven builds this one, and does so in the tests.
    for (const file of ["build.gradle", "settings.gradle"]) rmSync(join(directory, file));
    writeFileSync(join(directory, "pom.xml"), pom());
    // The generated code, and the language host, read these.
    const resources = join(
      directory,
      ...["src", "main", "resources", ...basePackage.split("."), metadata.name],
    );
    mkdirSync(resources, { recursive: true });
    writeFileSync(join(resources, "version.txt"), `${metadata.version}\n`);
    const plugin = {
      resource: true,
      name: metadata.name,
      version: metadata.version,
      server: metadata.pluginDownloadURL,
    };
    writeFileSync(join(resources, "plugin.json"), `${JSON.stringify(plugin, undefined, 2)}\n`);
  },
};

function pom(): string {
  const { displayName, description, homepage, repository, license, publisher, version } = metadata;
  return `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xsi:schemaLocation="http://maven.apache.org/POM/4.0.0 http://maven.apache.org/xsd/maven-4.0.0.xsd">
  <modelVersion>4.0.0</modelVersion>

  <groupId>${groupId}</groupId>
  <artifactId>${artifactId}</artifactId>
  <version>${version}</version>
  <packaging>jar</packaging>

  <name>${displayName} for Pulumi</name>
  <description>${description}</description>
  <url>${homepage}</url>
  <licenses>
    <license>
      <name>${license}</name>
      <url>https://www.apache.org/licenses/LICENSE-2.0.txt</url>
      <distribution>repo</distribution>
    </license>
  </licenses>
  <developers>
    <developer>
      <name>${publisher}</name>
      <url>${homepage}</url>
    </developer>
  </developers>
  <scm>
    <connection>scm:git:${repository}.git</connection>
    <url>${repository}</url>
  </scm>

  <properties>
    <maven.compiler.release>${release}</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>

  <dependencies>
    <dependency>
      <groupId>com.pulumi</groupId>
      <artifactId>pulumi</artifactId>
      <version>${pulumi}</version>
    </dependency>
    <dependency>
      <groupId>com.google.code.findbugs</groupId>
      <artifactId>jsr305</artifactId>
      <version>3.0.2</version>
    </dependency>
    <dependency>
      <groupId>com.google.code.gson</groupId>
      <artifactId>gson</artifactId>
      <version>2.10</version>
    </dependency>
  </dependencies>

  <build>
    <resources>
      <resource>
        <directory>src/main/resources</directory>
      </resource>
      <resource>
        <directory>\${project.basedir}</directory>
        <includes>
          <include>LICENSE</include>
        </includes>
        <targetPath>META-INF</targetPath>
      </resource>
    </resources>
    <plugins>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-compiler-plugin</artifactId>
        <version>3.13.0</version>
      </plugin>
    </plugins>
  </build>
${releaseProfile}
</project>
`;
}

/** What Maven Central asks for beyond the jar. The key is in the environment, and in no file. */
const releaseProfile = `
  <profiles>
    <profile>
      <id>release</id>
      <build>
        <plugins>
          <plugin>
            <groupId>org.apache.maven.plugins</groupId>
            <artifactId>maven-source-plugin</artifactId>
            <version>3.3.1</version>
            <executions>
              <execution>
                <goals><goal>jar-no-fork</goal></goals>
              </execution>
            </executions>
          </plugin>
          <plugin>
            <groupId>org.apache.maven.plugins</groupId>
            <artifactId>maven-javadoc-plugin</artifactId>
            <version>3.11.2</version>
            <configuration>
              <doclint>none</doclint>
              <quiet>true</quiet>
            </configuration>
            <executions>
              <execution>
                <goals><goal>jar</goal></goals>
              </execution>
            </executions>
          </plugin>
          <plugin>
            <groupId>org.apache.maven.plugins</groupId>
            <artifactId>maven-gpg-plugin</artifactId>
            <version>3.2.8</version>
            <configuration>
              <signer>bc</signer>
              <bestPractices>true</bestPractices>
            </configuration>
            <executions>
              <execution>
                <goals><goal>sign</goal></goals>
              </execution>
            </executions>
          </plugin>
          <plugin>
            <groupId>org.sonatype.central</groupId>
            <artifactId>central-publishing-maven-plugin</artifactId>
            <version>0.9.0</version>
            <extensions>true</extensions>
            <configuration>
              <publishingServerId>central</publishingServerId>
              <autoPublish>true</autoPublish>
              <waitUntil>published</waitUntil>
            </configuration>
          </plugin>
        </plugins>
      </build>
    </profile>
  </profiles>`;
