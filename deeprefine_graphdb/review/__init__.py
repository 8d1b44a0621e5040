"""Evidence and labels for proposed actions."""
