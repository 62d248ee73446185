"""Tune one instruction: propose a change, evaluate it on tasks, and keep it only if it is a real gain."""
