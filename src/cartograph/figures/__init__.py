"""The data map as a picture: still and interactive."""
