"""
Lets cloud-init itself judge user data. Reads {"name": "user data in Base64", ...} from its input, and writes the version of
cloud-init and a verdict for each name. Its argument is the folder that a package of cloud-init was unpacked to.

Each case runs in a process of its own, in a scratch folder, through cloud-init's own code: the parts are told apart, merged,
templates are filled in, scripts and boot hooks are run. So the scripts of the cases must do nothing. Nothing is fetched: each
URL answers with a cloud-config. The verdict is one of

    used           all of it, without a complaint
    nothing        nothing came of it, although cloud-init does not complain
    keys: a, b     it does not know these top-level keys
    schema         its schema refuses something below a known key
    lost: a, b     these keys of a mapping or of an earlier part count no more, without a complaint
    refused: text  the first warning or error
"""

import base64
import copy
import json
import logging
import os
import subprocess
import sys
import tempfile
from types import SimpleNamespace

sys.path.insert(0, os.path.join(sys.argv[1], "usr/lib/python3/dist-packages"))

import jsonschema  # noqa: E402
import yaml  # noqa: E402
from yaml.constructor import SafeConstructor  # noqa: E402
from cloudinit import helpers, stages, subp, user_data, util, version  # noqa: E402
from cloudinit.handlers.cloud_config import CloudConfigPartHandler  # noqa: E402
from cloudinit.settings import PER_INSTANCE  # noqa: E402
from cloudinit.sources.DataSourceNone import DataSourceNone  # noqa: E402

SCHEMA = os.path.join(
    os.path.dirname(stages.__file__), "config/schemas/schema-cloud-config-v1.json"
)


class Complaints(logging.Handler):
    """Keeps the first line of each warning and error."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage().split("\n")[0])


def fetched(url, **_):
    return SimpleNamespace(ok=lambda: True, contents=b"#cloud-config\nfqdn: a.example.com\n")


def consume(blob, folder):
    """Does with the user data what a first boot does. Returns the paths of cloud-init's files."""
    dirs = {"cloud_dir": f"{folder}/cloud", "run_dir": f"{folder}/run"}
    paths = helpers.Paths(dict(dirs, templates_dir=folder))
    source = DataSourceNone({}, None, paths)
    paths.datasource = source
    for path in [paths.get_runpath(), *map(paths.get_ipath, ["scripts", "boothooks", "handlers"])]:
        util.ensure_dir(path)
    instance_data = json.dumps({"v1": {"region": "eu", "instance_id": "i-1"}})
    util.write_file(paths.get_runpath("instance_data_sensitive"), instance_data)
    os.symlink(paths.get_ipath(), f"{folder}/cloud/instance")
    init = stages.Init(ds_deps=[])
    init._cfg = {"system_info": {"paths": dirs, "distro": "debian"}}
    init._paths = paths
    init.datasource = source
    init.cloudify = lambda: SimpleNamespace(datasource=source)
    source.userdata_raw = blob
    init._do_handlers(source.get_userdata(True), init._default_handlers(), PER_INSTANCE)
    # `scripts_user` runs them at the end of the boot.
    subp.runparts(paths.get_ipath_cur("scripts"))
    return paths


def is_kept(before, after):
    """Says whether a part has left what a key had before, if that is a list or a mapping."""
    if not isinstance(before, (list, dict)):
        return True
    return isinstance(after, type(before)) and all(item in after for item in before)


def note_lost(lost):
    """Adds each key to the list that cloud-init loses."""
    merge_part = CloudConfigPartHandler._merge_part
    construct_mapping = SafeConstructor.construct_mapping

    def merge(handler, *args):
        before = copy.deepcopy(handler.cloud_buf)
        merge_part(handler, *args)
        after = handler.cloud_buf
        lost.extend(key for key in before if not is_kept(before[key], after.get(key)))

    def construct(loader, node, *args, **kwargs):
        names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        lost.extend({name for name in names if name != "<<" and names.count(name) > 1})
        return construct_mapping(loader, node, *args, **kwargs)

    CloudConfigPartHandler._merge_part = merge
    SafeConstructor.construct_mapping = construct


def judge(blob, folder):
    complaints = Complaints()
    logging.getLogger().addHandler(complaints)
    logging.getLogger().setLevel(logging.WARNING)
    handled = []
    run_part = stages.handlers.run_part
    handle_new = stages.handlers.walker_handle_handler

    def counted(of):
        def run(*args):
            handled.extend([args[2]] if args[2] is not None else [])
            return of(*args)

        return run

    stages.handlers.run_part = counted(run_part)
    stages.handlers.walker_handle_handler = counted(handle_new)
    user_data.read_file_or_url = fetched
    lost = []
    note_lost(lost)
    try:
        paths = consume(blob, folder)
    except Exception as error:
        complaints.texts.append(f"{type(error).__name__}: {error}".split("\n")[0])
    if complaints.texts:
        return f"refused: {complaints.texts[0]}".replace(folder, "")[:120]
    if not handled:
        return "nothing"
    config = yaml.safe_load(util.load_text_file(paths.get_ipath("cloud_config"))) or {}
    try:
        # What `bootcmd` and `runcmd` do with their commands.
        for key in ("bootcmd", "runcmd"):
            util.shellify(config.get(key) or [])
    except TypeError as error:
        return f"refused: {error}"[:120]
    return "lost: " + ", ".join(sorted(set(lost))) if lost else judge_keys(config)


def judge_keys(config):
    """Says what the schema refuses, which cloud-init validates each boot's merged cloud-config with."""
    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)
    unknown = [str(key) for key in config if key not in schema["properties"]]
    if unknown:
        return "keys: " + ", ".join(unknown)
    errors = list(jsonschema.Draft4Validator(schema).iter_errors(config))
    return "schema" if errors else "used"


def in_child(blob):
    """Judges in a process of its own, since cloud-init keeps what it has imported and written."""
    with tempfile.TemporaryDirectory() as folder:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            # The scripts may print, and so does cloud-init.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
            try:
                os.write(write, judge(blob, folder).encode())
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as result:
            verdict = result.read().decode()
        os.waitpid(child, 0)
    if not verdict:
        raise SystemExit("a case ended without a verdict")
    return verdict


def packaged_version():
    """The package's version as it names itself, with what Debian has added to it."""
    changelog = os.path.join(sys.argv[1], "usr/share/doc/cloud-init/changelog.Debian.gz")
    first = subprocess.run(["zcat", changelog], capture_output=True, text=True).stdout
    return first.split(")")[0].split("(")[-1] or version.version_string()


cases = json.load(sys.stdin)
result = {
    "cloudInit": packaged_version(),
    "pyYaml": yaml.__version__,
    "verdicts": {name: in_child(base64.b64decode(data)) for name, data in cases.items()},
}
json.dump(result, sys.stdout, indent=2, ensure_ascii=False)
