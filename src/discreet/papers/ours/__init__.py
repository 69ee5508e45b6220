"""Our own statements where the papers are wrong, and figures that are in no paper."""
