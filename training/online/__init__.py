"""Learning by playing: rollouts, roles, schedules, replay buffer, league."""
