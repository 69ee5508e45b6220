"""Our own statements where the papers are wrong, and figures that no paper has."""
