"""Views: parse, permit, answer. What changes the world is an action of the apps below."""
