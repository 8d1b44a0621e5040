"""Texts that teach coding agents to use this tool."""
