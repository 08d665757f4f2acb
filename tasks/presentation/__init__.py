"""What a person sees while steps run. No result depends on it: a change here makes no step run again."""
