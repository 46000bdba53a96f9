"""The code host: its REST API, issues' and pull requests' side of it."""
