"""Our own claims where the papers are wrong, and our own figures."""
