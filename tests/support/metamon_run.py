"""Runs in metamon's environment: `python metamon_run.py FOLDER [ENCODER]` makes a small run with random weights.

On PYTHONPATH: agents/external/metamon/inside. FOLDER: of the run, as amago writes it; metamon.json says how its network is
built. ENCODER: gru or transformer.
"""

import json
import sys
from pathlib import Path

GIN = """
import amago.nets.actor_critic
import amago.nets.traj_encoders
import amago.nets.transformer
import amago.agent
import amago.experiment

MetamonAMAGOExperiment.agent_type = @agent.{agent}
MetamonAMAGOExperiment.tstep_encoder_type = @MetamonPerceiverTstepEncoder
MetamonAMAGOExperiment.traj_encoder_type = @traj_encoders.{encoder}
MetamonAMAGOExperiment.max_seq_len = 40
{agent}.actor_type = @MetamonMaskedActor
{agent}.pass_obs_keys_to_actor = ["illegal_actions"]
MetamonMaskedActor.n_layers = 2
MetamonMaskedActor.d_hidden = 64
{agent}.critic_type = @actor_critic.NCritics
actor_critic.NCritics.d_hidden = 64
{agent}.popart = True
{agent}.num_critics = 2
MetamonPerceiverTstepEncoder.extra_emb_dim = 8
MetamonPerceiverTstepEncoder.d_model = 32
MetamonPerceiverTstepEncoder.n_layers = 1
MetamonPerceiverTstepEncoder.n_heads = 2
MetamonPerceiverTstepEncoder.latent_tokens = 3
MetamonPerceiverTstepEncoder.numerical_tokens = 2
MetamonPerceiverTstepEncoder.dropout = 0.05
MetamonPerceiverTstepEncoder.max_tokens_per_turn = 128
"""
ENCODERS = {
    "gru": """
traj_encoders.GRUTrajEncoder.n_layers = 2
traj_encoders.GRUTrajEncoder.d_hidden = 64
traj_encoders.GRUTrajEncoder.d_output = 64
""",
    "transformer": """
traj_encoders.TformerTrajEncoder.n_layers = 2
traj_encoders.TformerTrajEncoder.n_heads = 2
traj_encoders.TformerTrajEncoder.d_ff = 128
traj_encoders.TformerTrajEncoder.d_model = 64
""",
}
CLASSES = {"gru": ("Agent", "GRUTrajEncoder"), "transformer": ("MultiTaskAgent", "TformerTrajEncoder")}


def main():
    folder, encoder = Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else "gru"
    weights = folder / "ckpts" / "policy_weights"
    weights.mkdir(parents=True)
    agent, class_name = CLASSES[encoder]
    (folder / "model.gin").write_text(GIN.format(agent=agent, encoder=class_name) + ENCODERS[encoder])
    own = {
        "model_gin_config": str(folder / "model.gin"),
        "train_gin_config": "binary_rl.gin",
        "obs_space": "OpponentMoveObservationSpace",
        "action_space": "DefaultActionSpace",
        "reward_function": "AggressiveShapedReward",
        "tokenizer": "DefaultObservationSpace-v1",
        "battle_backend": "metamon",
    }
    (folder / "metamon.json").write_text(json.dumps(own, indent=1))

    import amago
    import metamon.rl
    import torch
    from loading import without_flash_attention
    from metamon import interface
    from metamon.rl.metamon_to_amago import make_placeholder_experiment
    from metamon.tokenizer import get_tokenizer

    without_flash_attention()
    torch.manual_seed(1)
    tokenizer = get_tokenizer(own["tokenizer"])
    training = Path(metamon.rl.TRAINING_CONFIG_DIR, own["train_gin_config"])
    amago.cli_utils.use_config(
        {"MetamonPerceiverTstepEncoder.tokenizer": tokenizer},
        [own["model_gin_config"], str(training)],
        finalize=False,
    )
    experiment = make_placeholder_experiment(
        ckpt_base_dir=str(folder / "unused"),
        run_name="unused",
        log=False,
        observation_space=interface.TokenizedObservationSpace(
            interface.get_observation_space(own["obs_space"]), tokenizer
        ),
        action_space=interface.get_action_space(own["action_space"]),
    )
    experiment.start()
    # Random weights of the usual size decide almost uniformly: larger ones in the last layer tell observations apart.
    with torch.no_grad():
        list(experiment.policy.actor.parameters())[-2].mul_(20)
    for epoch in (2, 40):
        torch.save(experiment.policy.state_dict(), weights / f"policy_epoch_{epoch}.pt")
        with torch.no_grad():
            list(experiment.policy.actor.parameters())[-2].mul_(-1)


if __name__ == "__main__":
    main()
