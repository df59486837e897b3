# Reads what "go test -v" printed for many packages. It prints the lines of packages, all of a package that failed, what was
# not run, and at the end the ten tests that took longest.
/^=== (RUN|PAUSE|CONT|NAME)/ { next }
{ text = text $0 "\n" }
/^--- (PASS|FAIL|SKIP): / { seconds = $4; gsub(/[(s)]/, "", seconds); took[$3] = seconds }
/not run: / { print }
/^(ok  |\?   |FAIL)\t/ {
	n = split($2, path, "/")
	for (test in took) all[path[n] "." test] = took[test]
	delete took
	if ($1 == "FAIL") printf "%s", text; else print
	text = ""
}
END {
	printf "%s", text
	print "the tests that took longest, in seconds beside the other checks:"
	for (i = 0; i < 10; i++) {
		longest = ""
		for (test in all) if (longest == "" || all[test] > all[longest]) longest = test
		if (longest == "") break
		print "  " all[longest] "  " longest
		delete all[longest]
	}
}
