/**
 * User data of every kind that we know of, right and wrong, by its name. The verdicts of cloud-init on each are in
 * verdicts.json (`npx tsx tools/cloudInit/verdicts.ts`). The scripts do nothing, because cloud-init runs them then.
 */
import { gzipSync } from "node:zlib";

type Cases = Record<string, string | Buffer>;

const script = "#!/bin/sh\nexit 0\n";
const config = "#cloud-config\npackages: [nginx]\n";
const boothook = `#cloud-boothook\n${script}`;
const include = "#include\nhttps://example.com/config\n";
const archive = `#cloud-config-archive\n- type: text/cloud-config\n  content: |\n    hostname: web\n`;
const jsonPatch = `#cloud-config-jsonp\n[{"op": "add", "path": "/runcmd", "value": ["true"]}]\n`;
const template = "## template: jinja\n#cloud-config\nhostname: web-{{ v1.region }}\n";
const partHandler =
  "#part-handler\ndef list_types():\n  return ['text/x-own']\ndef handle_part(data, type, name, text):\n  pass\n";

/** A MIME message. Each part has the headers that stand before its empty line. */
const message = (parts: readonly string[], head = 'boundary="B"') =>
  [
    `Content-Type: multipart/mixed; ${head}`,
    "MIME-Version: 1.0",
    "",
    ...parts.flatMap((part) => ["--B", part]),
    "--B--",
    "",
  ].join("\n");
const part = (type: string, text: string, more = "") =>
  `Content-Type: ${type}; charset="utf-8"\n${more}\n${text}`;
const encoded = (text: string | Buffer) => Buffer.from(text).toString("base64");
const latin1 = (text: string) => Buffer.from(text, "latin1");
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");

const eachKind = {
  script,
  "cloud-config": config,
  "boot hook": boothook,
  include,
  "include-once": include.replace("#include", "#include-once"),
  archive,
  "JSON patch": jsonPatch,
  template,
  "template of a script": `## template: jinja\n${script}`,
  "part handler": partHandler,
  "MIME message": message([part("text/x-shellscript", script)]),
};

/** What stands before the first line, or happens to all of it, by the kind of user data. */
const changes: Record<string, (text: string) => string | Buffer> = {
  "as documented": (text) => text,
  "after a line break": (text) => `\n${text}`,
  "after spaces": (text) => `    ${text}`,
  "indented as in a program": (text) => `\n${text.replace(/^(?=.)/gm, "    ")}`,
  "with Windows line endings": (text) => text.replaceAll("\n", "\r\n"),
  "after a byte order mark": (text) => `\ufeff${text}`,
  "in UTF-16": (text) => utf16(text),
  "in Latin-1": (text) => latin1(`${text}# caf\u00e9\n`),
  "after a comment": (text) => `# Set up the server\n${text}`,
  "in gzip": (text) => gzipSync(text),
  "in gzip, after a line break": (text) => gzipSync(`\n${text}`),
  "in gzip that is cut off": (text) => gzipSync(text).subarray(0, 30),
  "in Base64": (text) => encoded(text),
  "with a header in capitals": (text) => text.replace(/^[^\n]+/, (line) => line.toUpperCase()),
};

const headers: Cases = {
  "nothing at all": "",
  "only white space": " \n",
  "only text": "hello\n",
  "no header, but keys": "packages: [nginx]\n",
  "no header, but commands": "apt-get update\n",
  "a space after the # of cloud-config": "# cloud-config\npackages: [nginx]\n",
  "two # before cloud-config": "##cloud-config\npackages: [nginx]\n",
  "cloud-config with an underscore": "#cloud_config\npackages: [nginx]\n",
  "cloudconfig in one word": "#cloudconfig\npackages: [nginx]\n",
  "cloud-config with text behind it": "#cloud-config for web\npackages: [nginx]\n",
  "cloud-config without a line break": "#cloud-config packages: [nginx]",
  "three dashes first": `---\n${config}`,
  "three dashes below the header": "#cloud-config\n---\npackages: [nginx]\n",
  "a shell without #!": "/bin/sh\nexit 0\n",
  "#! with a space before it": ` ${script}`,
  "# ! with a space in it": "# !/bin/sh\nexit 0\n",
  "#! with nothing behind it": "#!\nexit 0\n",
  "#! with a space behind it": "#! /bin/sh\nexit 0\n",
  "#! with an option": "#!/bin/sh -e\nexit 0\n",
  "#! of env": "#!/usr/bin/env sh\nexit 0\n",
  "#! of Python": "#!/usr/bin/env python3\npass\n",
  "a boot hook without #!": "#cloud-boothook\nexit 0\n",
  "a boot hook with an empty line": `#cloud-boothook\n\n${script}`,
  "a boot hook with its script in the first line": "#cloud-boothook #!/bin/sh\nexit 0\n",
  "a boot hook with a comment before #!": `#cloud-boothook\n# first\n${script}`,
  "a boot hook in capitals": `#Cloud-Boothook\n${script}`,
  "an include with its URL in the first line": "#include https://example.com/config\n",
  "an upstart job, which is of the past": "#upstart-job\ndescription web\n",
  "a Dockerfile": "FROM debian\nRUN true\n",
  "a Kubernetes object": "apiVersion: v1\nkind: Pod\n",
  "HTML of an error page": "<!DOCTYPE html>\n<html></html>\n",
  JSON: '{"packages": ["nginx"]}\n',
  "binary data": Buffer.from([0, 1, 2, 3, 4, 5, 6, 7]),
  "Base64 of a script in lines": encoded(script.repeat(8)).replace(/.{40}/g, "$&\n"),
  "Base64 of gzip": encoded(gzipSync(config)),
  "gzip in gzip": gzipSync(gzipSync(config)),
  "the path of a file": "./cloud-init.yaml\n",
  "an object as text": "[object Object]",
};

const templates: Cases = {
  "a template without a space after ##": template.replace("## ", "##"),
  "a template with two spaces after ##": template.replace("## ", "##  "),
  "a template without a space before jinja": template.replace(": jinja", ":jinja"),
  "a template of jinja2": template.replace("jinja", "jinja2"),
  "a template with a comment behind jinja": template.replace("jinja", "jinja # here"),
  "a template with a space behind jinja": template.replace("jinja", "jinja "),
  "a template in capitals": template.replace("template: jinja", "Template: Jinja"),
  "a template with an empty line below it": template.replace("jinja\n", "jinja\n\n"),
  "a template below the header": "#cloud-config\n## template: jinja\nhostname: {{ v1.region }}\n",
  "a template without a header below it": "## template: jinja\nhostname: {{ v1.region }}\n",
  "a template of a script after an empty line": `## template: jinja\n\n${script}`,
  "a template of a boot hook": `## template: jinja\n${boothook}`,
  "a template of a JSON patch": `## template: jinja\n${jsonPatch}`,
  "a template of an include": `## template: jinja\n${include}`,
  "a template of a part handler": `## template: jinja\n${partHandler}`,
  "a template of an archive": `## template: jinja\n${archive}`,
  "a template of nothing": "## template: jinja\n",
  "a template that begins with a statement":
    "## template: jinja\n{% set a = 1 %}\n#cloud-config\nhostname: web\n",
  "a template that begins with a comment":
    "## template: jinja\n{# about it #}\n#cloud-config\nhostname: web\n",
  "a template that makes no header": "## template: jinja\n{% set a = 1 %}\nhostname: web\n",
  "a template with a loop":
    "## template: jinja\n#cloud-config\nruncmd:\n{% for n in [1, 2] %}\n- echo {{ n }}\n{% endfor %}\n",
  "a template with a loop that does not end":
    "## template: jinja\n#cloud-config\nruncmd:\n{% for n in [1, 2] %}\n- echo {{ n }}\n",
  "a template with an unknown variable":
    "## template: jinja\n#cloud-config\nhostname: web-{{ v1.nothing }}\n",
  "a template without anything to fill in": `## template: jinja\n${config}`,
  "a template without anything to fill in, and wrong YAML":
    "## template: jinja\n#cloud-config\nhostname: web: 1\n",
  "{{ }} without the header of a template": "#cloud-config\nhostname: {{ v1.region }}\n",
  "{{ }} inside a text, without the header":
    "#cloud-config\nruncmd:\n- echo {{ v1.region }} is here\n",
  "{{ }} in quotes, without the header": '#cloud-config\nhostname: "{{ v1.region }}"\n',
  "{% %} without the header": "#cloud-config\n{% if a %}\nhostname: web\n{% endif %}\n",
  "a template of Terraform": "#cloud-config\nhostname: ${hostname}\n",
  "a template of Terraform with a loop":
    "#cloud-config\nruncmd:\n%{ for n in names ~}\n- echo ${n}\n%{ endfor ~}\n",
  "a template of Helm": "#cloud-config\nhostname: {{ .Values.hostname }}\n",
  "a template of Mustache": "#cloud-config\npassword: {{{password}}}\n",
};

/** Cloud-configs without their header. */
const configs: Record<string, string> = {
  "a dash alone, and dashes in quotes": 'runcmd:\n  - [tar, cf, -, "x: -, y"]\n',
  "commands in another key of the same name": "runcmd:\n  - ls\nruncmd:\n  - a: b\n",
  "a dash alone in brackets":
    "runcmd:\n  - [su, -, web, -c, ls]\n  - [wget, -O, -, url]\n  - [tar, xf, -]\n",
  "a dash alone in braces": "write_files:\n  - {path: /a, content: -}\n",
  "a dash alone in brackets over lines": "runcmd:\n  - [su,\n    -,\n    web]\n",
  "two ampersands in brackets": "runcmd:\n  - [cd, /a, &&, ls]\n",
  "escaped as in HTML": "hostname: &quot;a&quot;\n",
  "an anchor and an alias": "write_files:\n  - &first-1 {path: /a}\n  - *first-1\n",
  "a tab in brackets": "runcmd:\n  - [ls, \t/a]\n",
  "no keys": "",
  "an empty mapping": "{}\n",
  null: "null\n",
  "a tilde": "~\n",
  "only comments": "# to come\n",
  "a list": "- nginx\n",
  "a text": "nginx\n",
  "a number": "12\n",
  "a text over two lines": "nginx\ncurl\n",
  JSON: '{"packages": ["nginx"], "package_update": true}\n',
  "JSON over lines": '{\n  "packages": [\n    "nginx"\n  ]\n}\n',
  "JSON with a comma at its end": '{"packages": ["nginx"],}\n',
  "JSON with a tab": '{\n\t"packages": ["nginx"]\n}\n',
  "JSON without its end": '{"packages": ["nginx"]\n',
  "a tab as indentation": "runcmd:\n\t- true\n",
  "a tab after a space": "write_files:\n- path: /a\n \tcontent: b\n",
  "a tab after a colon": "hostname:\tweb\n",
  "a tab at the end of a line": "hostname: web\t\n",
  "a tab in a text block": "write_files:\n- path: /a\n  content: |\n    a\tb\n    \tc\n",
  "a tab in an empty line": "hostname: web\n\t\nfqdn: a.example.com\n",
  "two colons": "hostname: web: 1\n",
  "a colon without a space": "hostname:web\n",
  "a colon without a space among others": "hostname:web\nfqdn: a.example.com\n",
  "an equals sign": "hostname = web\n",
  "a URL without quotes": "phone_home:\n  url: http://example.com:80/a\n  tries: 2\n",
  "a time without quotes": "power_state:\n  mode: reboot\n  delay: '+5'\n  message: at 12:30:00\n",
  "a message with a colon": "final_message: done: all\n",
  "a command with a colon and a space": "runcmd:\n- echo a: b\n",
  "a command with a colon in quotes": "runcmd:\n- 'echo a: b'\n",
  "a command that begins with a quote": 'runcmd:\n- "echo" a\n',
  "a command that begins with a bracket": "runcmd:\n- [ -f /a ] && true\n",
  "a command that begins with [[": "runcmd:\n- [[ -f /a ]] && true\n",
  "a command that begins with a brace": "runcmd:\n- {a,b}.txt\n",
  "a command that begins with a star": "runcmd:\n- *.sh\n",
  "a command that begins with an ampersand": "runcmd:\n- & true\n",
  "a command that begins with an exclamation mark": "runcmd:\n- ! grep a /b\n",
  "a command that begins with a percent sign": "runcmd:\n- %a\n",
  "a command that begins with an at sign": "runcmd:\n- @reboot true\n",
  "a command that begins with a backtick": "runcmd:\n- `true`\n",
  "a command that begins with a pipe": "runcmd:\n- | tee /a\n",
  "a command with a number sign": "runcmd:\n- echo a #b\n",
  "a command in lists": "runcmd:\n- [sh, -c, 'true']\n- [ls, 'a b']\n",
  "a quote that does not end": 'hostname: "web\n',
  "an apostrophe that does not end": "hostname: 'web\n",
  "an apostrophe in apostrophes": "final_message: 'it's done'\n",
  "an apostrophe doubled": "final_message: 'it''s done'\n",
  "a backslash that YAML does not know": 'final_message: "a\\qb"\n',
  "a path of Windows in quotes": 'write_files:\n- path: "C:\\windows"\n  content: a\n',
  "a regular expression in quotes": 'runcmd:\n- "sed -i s/a\\./b/ /c"\n',
  "a backslash without quotes": "runcmd:\n- sed -i s/a\\./b/ /c\n",
  "text in quotes over lines without indentation": 'final_message: "a\nb\nc"\n',
  "text in quotes over lines": 'final_message: "a\n  b"\n',
  "a key of SSH over lines": "ssh_authorized_keys:\n- ssh-ed25519 AAAA\n  web@example\n",
  "a list less indented than its key": " runcmd:\n- ls\n",
  "a list as indented as its key": "runcmd:\n- ls\n",
  "a list more indented than its key": "runcmd:\n    - ls\n",
  "items that are indented differently": "runcmd:\n  - true\n - true\n",
  "an item after a key on the same level": "users:\n- default\nname: web\n",
  "an item without a space": "runcmd:\n-true\n",
  "keys that are indented differently": "power_state:\n  mode: reboot\n   delay: now\n",
  "a key less indented than the first": "  hostname: web\nfqdn: a.example.com\n",
  "all keys indented": "  hostname: web\n  fqdn: a.example.com\n",
  "a value on the next line without indentation": "hostname:\nweb\n",
  "a value on the next line": "hostname:\n  web\n",
  "a list in brackets over lines": "packages: [\n  nginx,\n  curl\n]\n",
  "a list in brackets without its end": "packages: [nginx, curl\n",
  "a list in brackets with a comma at its end": "packages: [nginx,]\n",
  "a list in brackets with two commas": "packages: [nginx,,curl]\n",
  "a list in brackets with a comment after a comma": "packages: [nginx,#first\n  curl]\n",
  "a list in brackets with a comment after it": "packages: [nginx]#first\n",
  "a mapping in braces": "power_state: {mode: reboot, delay: now}\n",
  "a mapping in braces without a space": "power_state: {mode:reboot}\n",
  "a text block": "write_files:\n- path: /a\n  content: |\n    a: {\n    - b\n",
  "a text block that is not indented": "write_files:\n- path: /a\n  content: |\na: {\n",
  "a text block whose first line is indented more":
    "write_files:\n- path: /a\n  content: |\n      a\n    b\n",
  "a text block with a number": "write_files:\n- path: /a\n  content: |2\n      a\n    b\n",
  "a text block with a wrong sign": "write_files:\n- path: /a\n  content: |>\n    a\n",
  "a text block with a comment": "write_files:\n- path: /a\n  content: | # all\n    a\n",
  "a folded text block": "final_message: >-\n  a\n  b\n",
  "a heredoc": "runcmd:\n- cat > /a <<EOF\n  b\n  EOF\n",
  "a heredoc at the margin": "runcmd:\n- |\n  cat > /a <<EOF\nb\nEOF\n",
  "a script below the keys": "packages: [nginx]\n#!/bin/sh\nexit 0\n",
  "lines of a script below the keys": "packages: [nginx]\napt-get update\n",
  "two documents": "hostname: web\n---\nfqdn: a.example.com\n",
  "an end of the document": "hostname: web\n...\n",
  "text after the end of the document": "hostname: web\n...\nfqdn: a.example.com\n",
  "two headers": "hostname: web\n#cloud-config\nfqdn: a.example.com\n",
  "a mark of a merge": "<<<<<<< HEAD\nhostname: web\n=======\nhostname: db\n>>>>>>> a\n",
  "an alias": "users: &u [default]\ngroups: *u\n",
  "an alias of nothing": "users: *u\n",
  "a merge key": "write_files:\n- &f {path: /a, content: a}\n- {<<: *f, path: /b}\n",
  "a merge key of a text": "write_files:\n- {<<: a, path: /b}\n",
  "two equal keys": "hostname: web\nhostname: db\n",
  "two equal keys with a command each": 'runcmd: ["true"]\nhostname: web\n"runcmd": ["true"]\n',
  "two equal keys in a list": "write_files:\n- path: /a\n  content: a\n  content: b\n",
  "equal keys in two mappings": "write_files: [{path: /a, content: a}, {path: /b, content: b}]\n",
  "two merge keys": "write_files:\n- &f {path: /a}\n- &g {path: /b}\n- {<<: *f, <<: *g}\n",
  "a key that a merge key has, too":
    "write_files:\n- &f {path: /a, content: a}\n- {<<: *f, content: b}\n",
  "a tag of its own": "hostname: !env HOSTNAME\n",
  "a tag of CloudFormation": "hostname: !Sub web\n",
  "a tag of Python": "hostname: !!python/name:os.sep\n",
  "a tag of YAML": "hostname: !!str 12\n",
  binary: "write_files:\n- path: /a\n  content: !!binary YQ==\n",
  "a number with a wrong tag": "ssh_deletekeys: !!int a\n",
  "a day that no month has": "final_message: 2024-02-31\n",
  "a day": "final_message: 2024-02-03\n",
  "an octal number": 'write_files:\n- {path: /a, permissions: 0644, content: ""}\n',
  "yes and no": "package_update: yes\npackage_upgrade: no\n",
  "a list as a key": "? [a]\n: b\n",
  "a key with a question mark": "? hostname\n: web\n",
  "a number as a key": "12: web\n",
  "a control character": "final_message: a\u0007b\n",
  "an escape": "final_message: a\u001b[1mb\n",
  "a null byte": "final_message: a\u0000b\n",
  "an emoji": "final_message: done \u{1f389}\n",
  "a space that does not break": "hostname:\u00a0web\n",
  "a space that does not break, as indentation": "power_state:\n\u00a0\u00a0mode: reboot\n",
  "curly quotes": "final_message: \u201cdone\u201d\n",
  "a line separator": "final_message: a\u2028hostname: web\n",
  "a next-line character": "hostname: web\u0085fqdn: a.example.com\n",
  "a byte order mark inside": "hostname: web\n\ufefffqdn: a.example.com\n",
  "a carriage return alone": "hostname: web\rfqdn: a.example.com\r",
  "a directive": "%YAML 1.1\n---\nhostname: web\n",
  "a reserved indicator": "hostname: @web\n",
  "a sentence": "Please install nginx.\n",
  "more than 64 KB": `${"ssh_authorized_keys:\n"}${`- ssh-rsa ${"A".repeat(90)}\n`.repeat(900)}`,
  "more than 64 KB, and wrong at its end": `packages:\n${"- nginx\n".repeat(9000)}hostname: web: 1\n`,
};

/** Top-level keys, also without the header. */
const keys: Record<string, string> = {
  "cloudbase-init's own": "set_hostname: web\nset_timezone: UTC\n",
  "a command with a colon in a list": 'runcmd:\n  - true\n  - curl -H "A: b" x\n',
  "a number as a command": "bootcmd:\n  - 1\n",
  "a command as a text": "runcmd: true && true\n",
  "commands as a block": "runcmd: |\n  true\n  true\n",
  "commands without a space": "runcmd:\n  -true\n",
  "commands in lists, texts and nothing": "runcmd:\n  - [ls, 1]\n  - ls\n  -\n",
  "no commands": "runcmd: []\nbootcmd:\n  - ls\n",
  "an SSH key as a text": "ssh_authorized_keys: ssh-ed25519 AAAA a@b\n",
  "files as a mapping": "write_files:\n  path: /a\n  content: a\n",
  "package for packages": "package: [nginx]\n",
  "packages in capitals": "Packages: [nginx]\n",
  "run_cmd for runcmd": "run_cmd: ['true']\n",
  "runcmds for runcmd": "runcmds: ['true']\n",
  "write-files for write_files": "write-files: [{path: /a, content: a}]\n",
  "write_file for write_files": "write_file: [{path: /a, content: a}]\n",
  "ssh-authorized-keys with hyphens": "ssh-authorized-keys: [ssh-ed25519 AAAA]\n",
  ssh_authorized_key: "ssh_authorized_key: [ssh-ed25519 AAAA]\n",
  "user for users is known": "user: {name: web}\n",
  "host for hostname": "hosts: [web]\n",
  package_updates: "package_updates: true\n",
  "a key of nothing like it": "frobnicate: true\n",
  "two of them": "hostname: web\nrun_cmd: ['true']\nfoo_bar_baz: 1\n",
  "six of them": "aa: 1\nbb: 1\ncc: 1\ndd: 1\nee: 1\nff: 1\n",
  "a key of a user at the margin": "users:\n- name: web\nsudo: ALL=(ALL) NOPASSWD:ALL\n",
  "the keys of a file at the margin": "write_files:\n- path: /a\ncontent: a\n",
  "x- for an anchor": "x-f: &f {path: /a, content: a}\nwrite_files: [*f]\n",
  "of CoreOS": "coreos: {units: []}\n",
  "of RancherOS": "rancher: {debug: true}\n",
  "a network, which is not of user data": "network: {version: 2}\n",
  "ca-certs with a hyphen": "ca-certs: {trusted: [a]}\n",
  ca_certs: "ca_certs: {trusted: [a]}\n",
  "apt with a source": "apt: {sources: {a: {source: 'deb http://example.com a main'}}}\n",
  "an unattended installation": "autoinstall: {version: 1}\n",
  merge_how: "merge_how: 'dict(recurse_array)+list(append)'\nruncmd: ['true']\n",
  "launch-index": "launch-index: 1\nhostname: web\n",
  "a wrong type below a key": "runcmd: 'true'\n",
  "an unknown key below a key": "users: [{name: web, shells: /bin/sh}]\n",
  "a mapping in place of a list": "write_files: {path: /a, content: a}\n",
  "a known key without a value": "runcmd:\n",
};

const messages: Cases = {
  "a message with a cloud-config that has the words of Talos": message([
    part("text/cloud-config", "#cloud-config\nruncmd: ls\nfinal_message: |\n  version: v1alpha1\n"),
  ]),
  "a message, after a comment": `# of the cluster\n${message([part("text/x-shellscript", script)])}`,
  "a message with letters of Latin-1": message([part("text/cloud-config", `${config}# für\n`)]),
  "a message with a script with letters of Latin-1": message([
    part("text/x-shellscript", `${script}# für\n`, "Content-Transfer-Encoding: 8bit\n"),
  ]),
  "a message with a dash outside Latin-1": message([
    part("text/x-shellscript", `${script}# a \u2013 b\n`),
  ]),
  "a message with such letters in Base64": message([
    part(
      "text/x-shellscript",
      encoded(`${script}# für \u2013\n`),
      "Content-Transfer-Encoding: base64\n",
    ),
  ]),
  "a message with a list of URLs with letters of Latin-1": message([
    part("text/x-include-url", `# für\nhttps://example.com/config\n`),
  ]),
  "a message with the name of a file": message([
    part("text/x-shellscript", script, 'Content-Disposition: attachment; filename="a.sh"\n'),
  ]),
  "a message of two parts": message([
    part("text/x-shellscript", script),
    part("text/cloud-config", config),
  ]),
  "a message with a boundary without quotes": message(
    [part("text/x-shellscript", script)],
    "boundary=B",
  ),
  "a message with its boundary in the next line": message(
    [part("text/x-shellscript", script)],
    '\n boundary="B"',
  ),
  "a message with MIME-Version first": `MIME-Version: 1.0\n${message([part("text/x-shellscript", script)]).replace("MIME-Version: 1.0\n", "")}`,
  "a message without MIME-Version": message([part("text/x-shellscript", script)]).replace(
    "MIME-Version: 1.0\n",
    "",
  ),
  "a message without an empty line after its headers": message([
    part("text/x-shellscript", script),
  ]).replace("1.0\n\n", "1.0\n"),
  "a message with a part without headers": message([`\n${config}`]),
  "a message with a part without an empty line": message([
    `Content-Type: text/cloud-config\nhostname: web`,
  ]),
  "a message with text/plain": message([part("text/plain", config)]),
  "a message with text/plain without a header": message([part("text/plain", "hostname: web\n")]),
  "a message with a type of its own": message([part("text/x-own", "a\n")]),
  "a message with YAML's type": message([part("application/yaml", config)]),
  "a message with the type of a script by another name": message([part("text/x-sh", script)]),
  "a message with text/shellscript": message([part("text/shellscript", script)]),
  "a message with x-cloud-config": message([part("text/x-cloud-config", config)]),
  "a message with application/octet-stream": message([part("application/octet-stream", script)]),
  "a message with a handler for a type of its own": message([
    part("text/part-handler", partHandler),
    part("text/x-own", "a\n"),
  ]),
  "a message with a handler, and a wrong cloud-config": message([
    part("text/part-handler", partHandler),
    part("text/cloud-config", "hostname: web: 1\n"),
  ]),
  "a message with an empty cloud-config": message([part("text/cloud-config", "")]),
  "a message with an empty script": message([part("text/x-shellscript", "")]),
  "a message with an empty text": message([part("text/plain", "")]),
  "a message with an empty text beside a script": message([
    part("text/plain", ""),
    part("text/x-shellscript", script),
  ]),
  "a message with an empty cloud-config beside a script": message([
    part("text/cloud-config", ""),
    part("text/x-shellscript", script),
  ]),
  "a message without parts": message([]),
  "a message with another boundary": message([part("text/cloud-config", config)]).replaceAll(
    "\n--B",
    "\n--C",
  ),
  "a message without a boundary": message([part("text/cloud-config", config)], "charset=utf-8"),
  "a message without its last boundary": message([part("text/cloud-config", config)]).replace(
    "--B--\n",
    "",
  ),
  "a message with a preamble": message([part("text/cloud-config", config)]).replace(
    "--B",
    "for readers of mail\n--B",
  ),
  "a message with a script after a line break": message([
    part("text/x-shellscript", `\n${script}`),
  ]),
  "a message with a script without #!": message([part("text/x-shellscript", "exit 0\n")]),
  "a message with a script that is a cloud-config": message([part("text/x-shellscript", config)]),
  "a message with a cloud-config that is a script": message([part("text/cloud-config", script)]),
  "a message with a cloud-config without its header": message([
    part("text/cloud-config", "hostname: web\n"),
  ]),
  "a message with a wrong cloud-config": message([
    part("text/x-shellscript", script),
    part("text/cloud-config", "#cloud-config\nhostname: web: 1\n"),
  ]),
  "a message with a key that is unknown": message([
    part("text/cloud-config", "#cloud-config\npackage: [nginx]\n"),
  ]),
  "a message with a list as cloud-config": message([part("text/cloud-config", "- a\n")]),
  "a message with an indented part": message([
    part("text/cloud-config", "    #cloud-config\n    hostname: web\n"),
  ]),
  "an indented message": message([part("text/cloud-config", config)]).replace(/^(?=.)/gm, "  "),
  "a message with a boot hook": message([part("text/cloud-boothook", boothook)]),
  "a message with a boot hook without #!": message([part("text/cloud-boothook", "exit 0\n")]),
  "a message with a template": message([part("text/jinja2", template)]),
  "a message with a template without its header": message([part("text/jinja2", config)]),
  "a message with an include": message([part("text/x-include-url", "https://example.com/a\n")]),
  "a message with an archive": message([part("text/cloud-config-archive", archive)]),
  "a message with a script for each boot": message([part("text/x-shellscript-per-boot", script)]),
  "a message with a part in Base64": message([
    part("text/cloud-config", encoded(config), "Content-Transfer-Encoding: base64\n"),
  ]),
  "a message with a wrong part in Base64": message([
    part(
      "text/cloud-config",
      encoded("#cloud-config\nhostname: web: 1\n"),
      "Content-Transfer-Encoding: base64\n",
    ),
  ]),
  "a message with Latin-1 in Base64": message([
    part(
      "text/cloud-config",
      encoded(latin1("#cloud-config\nfinal_message: caf\u00e9\n")),
      "Content-Transfer-Encoding: base64\n",
    ),
  ]),
  "a message with a quoted-printable part": message([
    part(
      "text/cloud-config",
      "#cloud-config\nfinal_message: a=3Db =\nc\n",
      "Content-Transfer-Encoding: quoted-printable\n",
    ),
  ]),
  "a message with a part in gzip": message([
    part("application/gzip", encoded(gzipSync(config)), "Content-Transfer-Encoding: base64\n"),
  ]),
  "a message with a part in gzip that is none": message([part("application/gzip", config)]),
  "a message in a message": message([
    `Content-Type: multipart/mixed; boundary=C\n\n--C\n${part("text/cloud-config", config)}\n--C--`,
  ]),
  "a message with one part only": `MIME-Version: 1.0\n${part("text/cloud-config", config)}`,
  "a message with one wrong part only": `MIME-Version: 1.0\n${part("text/cloud-config", "- a\n")}`,
  "a cloud-config that mentions MIME-Version": `${config}write_files:\n- path: /a\n  content: |\n    MIME-Version: 1.0\n`,
  "a script that mentions MIME-Version": `${script}# MIME-Version: 1.0\n`,
};

const commands = (name: string) => `#cloud-config\nruncmd:\n- ['true', ${name}]\n`;
const merge = "merge_how: list(append)+dict(recurse_list,recurse_str)+str()\n";
const partOf = (text: string, more = "") => part("text/cloud-config", text, more);
const entries = (...texts: string[]) =>
  `#cloud-config-archive\n${texts.map((text) => `- |\n${text.replace(/^/gm, "  ")}\n`).join("")}`;

/** What cloud-init loses of cloud-configs that have the same key twice. */
const replaced: Cases = {
  "two parts with commands": message([partOf(commands("a")), partOf(commands("b"))]),
  "two parts with commands, a script between them": message([
    partOf(commands("a")),
    part("text/x-shellscript", script),
    partOf(commands("b")),
  ]),
  "two parts, the second with merge_how": message([
    partOf(commands("a")),
    partOf(commands("b") + merge),
  ]),
  "two parts, the second with merge_type": message([
    partOf(commands("a")),
    partOf(commands("b") + merge.replace("how", "type")),
  ]),
  "two parts, the first with merge_how": message([
    partOf(commands("a") + merge),
    partOf(commands("b")),
  ]),
  "two parts, the second with Merge-Type": message([
    partOf(commands("a")),
    partOf(commands("b"), "Merge-Type: list(append)+dict(recurse_array)+str()\n"),
  ]),
  "two parts, the second with X-Merge-Type": message([
    partOf(commands("a")),
    partOf(commands("b"), "X-Merge-Type: list(append)+dict(recurse_array)+str()\n"),
  ]),
  "three parts, the second with merge_how": message([
    partOf(commands("a")),
    partOf(commands("b") + merge),
    partOf(commands("c")),
  ]),
  "two parts with a mapping": message([
    partOf("#cloud-config\npower_state: {mode: reboot}\n"),
    partOf("#cloud-config\npower_state: {delay: now}\n"),
  ]),
  "two parts, the second without a value": message([
    partOf(commands("a")),
    partOf("#cloud-config\nruncmd:\n"),
  ]),
  "two parts, the first without items": message([
    partOf("#cloud-config\nruncmd: []\n"),
    partOf(commands("b")),
  ]),
  "two parts with another text": message([
    partOf("#cloud-config\nhostname: web\n"),
    partOf("#cloud-config\nhostname: db\n"),
  ]),
  "two parts with other keys": message([partOf(config), partOf(commands("b"))]),
  "two parts, the first of them wrong": message([
    partOf(`${commands("a")}hostname: web: 1\n`),
    partOf(commands("b")),
  ]),
  "an archive of two cloud-configs": entries(commands("a"), commands("b")),
  "an archive of two cloud-configs, the second with merge_how": entries(
    commands("a"),
    commands("b") + merge,
  ),
  "an archive of two cloud-configs, the second with Merge-Type": `${entries(commands("a"))}- type: text/cloud-config\n  Merge-Type: list(append)+dict(recurse_array)+str()\n  content: |\n${commands("b").replace(/^/gm, "    ")}\n`,
};

const archives: Cases = {
  "an archive with an archive": `#cloud-config-archive\n- type: text/cloud-config-archive\n  content: |\n    ${archive.replaceAll("\n", "\n    ")}\n`,
  "an archive with a text that is an archive": entries(archive),
  "an archive with a text that is an include": entries(include),
  "an archive that is a mapping": "#cloud-config-archive\ntype: text/cloud-config\ncontent: a\n",
  "an archive that is nothing": "#cloud-config-archive\n",
  "an archive of texts": `#cloud-config-archive\n- |\n  #!/bin/sh\n  exit 0\n- |\n  #cloud-config\n  hostname: web\n`,
  "an archive with wrong YAML": "#cloud-config-archive\n- type: text/cloud-config: a\n",
  "an archive with a wrong cloud-config":
    "#cloud-config-archive\n- type: text/cloud-config\n  content: |\n    hostname: web: 1\n",
  "an archive with a script without #!":
    "#cloud-config-archive\n- type: text/x-shellscript\n  content: exit 0\n",
  "an archive with an unknown type": "#cloud-config-archive\n- type: text/x-own\n  content: a\n",
  "an archive with an unknown key":
    "#cloud-config-archive\n- type: text/cloud-config\n  content: |\n    package: [nginx]\n",
  "an archive with a text without a header": "#cloud-config-archive\n- hello\n",
  "an archive with keys without a type": "#cloud-config-archive\n- content: 'hostname: web'\n",
  "an archive with an include":
    "#cloud-config-archive\n- type: text/x-include-url\n  content: https://example.com/a\n",
  "a JSON patch that is no list": '#cloud-config-jsonp\n{"op": "add"}\n',
  "a JSON patch that is no JSON": "#cloud-config-jsonp\n- op: add\n",
  "a part handler that is no Python": "#part-handler\ndef list_types(:\n",
};

/** For programs other than cloud-init, which complains. */
export const forOthers: Cases = {
  Ignition: '{"ignition": {"version": "3.4.0"}}\n',
  "Ignition over lines": '{\n  "ignition": {\n    "version": "3.4.0"\n  }\n}\n',
  Talos: "version: v1alpha1\nmachine:\n  type: worker\n",
  "Talos with a marker": "---\nversion: v1alpha1\nmachine: {}\n",
  "Talos with a comment": "# of the cluster\nversion: v1alpha1\nmachine: {}\n",
  "Talos by yamlencode": '"cluster":\n  "id": "a"\n"machine": {}\n"version": "v1alpha1"\n',
  "Talos in JSON": '{\n  "machine": {},\n  "version": "v1alpha1"\n}\n',
  "Talos in documents, kind first": "kind: HostnameConfig\napiVersion: v1alpha1\nhostname: web\n",
  "PowerShell in a message": message([
    part("text/x-shellscript", "#ps1_sysnative\nWrite-Output a\n"),
  ]),
  "Talos in documents": "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: web\n",
  NixOS: "{ config, pkgs, ... }: {\n  services.nginx.enable = true;\n}\n",
  "NixOS with channels":
    "### https://nixos.org/channels/nixos-unstable nixos\n\n{ pkgs, ... }:\n{ }\n",
  Bottlerocket: '[settings.kubernetes]\ncluster-name = "a"\n',
  "Bottlerocket with a comment": '# of the cluster\n[settings]\nmotd = "a"\n',
  "Bottlerocket with dots": 'settings.motd = "a"\n',
  "PowerShell of cloudbase-init": "#ps1_sysnative\nWrite-Output a\n",
  "PowerShell of cloudbase-init, short": "#ps1\nWrite-Output a\n",
  "PowerShell for 32 bits": "#ps1_x86\nWrite-Output a\n",
  "cmd of cloudbase-init": "rem cmd\necho a\n",
  "PowerShell in tags": "<powershell>\nWrite-Output a\n</powershell>\n",
  "cmd in tags": "<script>\necho a\n</script>\n",
};

const prefixed = (prefix: string, cases: Record<string, string>): Cases =>
  Object.fromEntries(
    Object.entries(cases).map(([name, text]) => [`${prefix}: ${name}`, `#cloud-config\n${text}`]),
  );

/** Every case. */
export const corpus: Cases = {
  ...Object.fromEntries(
    Object.entries(eachKind).flatMap(([kind, text]) =>
      Object.entries(changes).map(([change, of]) => [`${kind}, ${change}`, of(text)]),
    ),
  ),
  ...headers,
  ...templates,
  ...prefixed("a cloud-config", configs),
  ...prefixed("the key", keys),
  ...messages,
  ...replaced,
  ...archives,
  ...forOthers,
};
