"""Text to actions and back."""
