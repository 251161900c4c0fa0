// What the SDK generators have in common; replaced by its path in their modules.
module pulumi-compute/tools/command

go 1.25.0
