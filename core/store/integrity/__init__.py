"""What must hold in a workspace, rule by rule."""
