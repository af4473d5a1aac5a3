"""Independent checker of decision logs: replays a log and recomputes every claim in it."""
