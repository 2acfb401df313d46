# The part of the check that runs inside the folder; its argument is the preset.
root=/srv/visit preset=$1 call=check
bundle=$root/build/$preset/bundle keep=/tmp/keep
tests=$root/tests/cuda/visit
source "$tests/machine.sh"
failed=0
complain() { echo "check: $*" >&2; failed=1; }

use_libraries "$bundle/lib/spare"
missing=$(missing_libraries)
[[ -z $missing ]] || complain "not found: $missing"
for file in "$bundle"/bin/* "$bundle"/lib/*.so*; do
  names=$(ldd "$file" | awk '/=> \// { print $3 }' | grep -vE '^/(usr/)?lib|^/usr/local/cuda/|/site-packages/nvidia/' | grep -v "^$bundle/")
  [[ -z $names ]] || complain "$file takes $names"
done
for program in "$bundle"/bin/test_*; do
  names=$("$program" --list-test-names-only | wc -l)
  ((names > 20)) || complain "$program lists $names cases"
  echo "${program##*/}: $names cases"
done
said=$(probe)
echo "probe: $said"
case $preset in
  emu*) [[ $said == *" available"* ]] || complain "the emulated devices do not work" ;;
  *) [[ $said == *"no NVIDIA driver"* ]] || complain "the plugin was not loaded" ;;
esac
((failed)) || echo "the bundle starts"
exit $failed
