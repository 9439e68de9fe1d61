# The guided tour lets the agent mend this script and then asks to run it.
name=${1:-wrld}
echo "Hello, $name."
