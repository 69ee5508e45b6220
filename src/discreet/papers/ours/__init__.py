"""Our own statements where the papers are wrong, and our own figures."""
