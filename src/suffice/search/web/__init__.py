"""Web search services, one module each; ``provider`` explains how to add one, ``choose`` selects those to query."""
