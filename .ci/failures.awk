# Reads what a check printed, and prints what is about its failures: not what tests said that passed. Without -v, go test prints what a
# test said after the line that it failed, and with -v before it.
/^=== [A-Z]+ / || /^(ok  |\?   )\t/ || /^PASS$/ { next }
/^ *--- (PASS|SKIP): / { text = ""; next }
{ text = text $0 "\n" }
/^ *--- FAIL: / || /^FAIL/ { printf "%s", text; text = "" }
END { printf "%s", text }
