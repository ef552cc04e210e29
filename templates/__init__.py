"""Jinja2 templates of Kubernetes manifests and the renderer whose output cannot be injected into."""
