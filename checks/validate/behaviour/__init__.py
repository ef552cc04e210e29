"""The opt-in stage that runs both graphs on the same generated inputs."""
