"""Web search services; ``provider`` explains how to add one, ``choose`` selects those to query."""
