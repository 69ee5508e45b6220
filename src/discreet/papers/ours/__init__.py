"""What no paper says: our own statements where the papers are wrong, and further figures."""
