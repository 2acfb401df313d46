# Starts the bundle in a folder that imitates the machine (call check): every library except the driver's is found, each
# program starts, and the plugin reports only that there is no driver. For an emulated bundle, checks that it works.

source "$tests/machine_folder.sh"
[[ -d $bundle ]] || { echo "there is no bundle in $bundle: tests/cuda/visit/run bundle" >&2; exit 1; }
folder=$(mktemp -d "$root/build/machine.XXXXXX")
trap 'rm -rf "$folder"' EXIT
make_machine "$folder" && add_toolkit "$folder" && add_tree "$folder" || exit 1
on_machine "$folder" /usr/bin/bash /srv/visit/tests/cuda/visit/check_there.sh "$preset"
