"""Loads a checkpoint by metamon's own code."""

import atexit
import os
import shutil
import tempfile

import amago.nets.transformer
from attention import attention_with_cache
from metamon import interface
from metamon.rl import metamon_to_amago, pretrained
from metamon.tokenizer import get_tokenizer


def model_of(settings):
    """Return metamon's PretrainedModel of the settings, and the checkpoint's number."""
    checkpoint = settings["checkpoint"]
    if not settings["folder"]:
        model = pretrained.get_pretrained_model(settings["model"])
        return model, model.default_checkpoint if checkpoint is None else checkpoint
    parent, name = _linked(settings["folder"], checkpoint)
    if settings["model"]:
        base = type(pretrained.get_pretrained_model(settings["model"]))
        return pretrained.LocalFinetunedModel(base, parent, name, checkpoint), checkpoint
    return _own_model(parent, name, checkpoint, settings["own"]), checkpoint


def _linked(folder, checkpoint):
    """Return a new folder, and the name in it of a run with this checkpoint only: metamon writes beside what it loads."""
    parent, name = tempfile.mkdtemp(prefix="arena-metamon-"), os.path.basename(folder)
    atexit.register(shutil.rmtree, parent, ignore_errors=True)
    weights = os.path.join("ckpts", "policy_weights", f"policy_epoch_{checkpoint}.pt")
    os.makedirs(os.path.dirname(os.path.join(parent, name, weights)))
    os.symlink(os.path.join(folder, weights), os.path.join(parent, name, weights))
    return parent, name


def _own_model(parent, name, checkpoint, own):
    """Return the model of a run of one's own. own: the arguments of metamon.rl.train that determine its network."""
    tokenizer = get_tokenizer(own["tokenizer"])
    encoders = [name for name in vars(metamon_to_amago) if name.startswith("Metamon") and "TstepEncoder" in name]
    return pretrained.LocalPretrainedModel(
        parent,
        model_gin_config=own["model_gin_config"],
        train_gin_config=own["train_gin_config"],
        model_name=name,
        tokenizer=tokenizer,
        observation_space=interface.get_observation_space(own["obs_space"]),
        action_space=interface.get_action_space(own["action_space"]),
        reward_function=interface.get_reward_function(own["reward_function"]),
        default_checkpoint=checkpoint,
        gin_overrides={f"{encoder}.tokenizer": tokenizer for encoder in encoders},
        battle_backend=own["battle_backend"],
    )


def preview_model(path, device):
    """Return metamon's team preview model from a checkpoint."""
    from metamon.backend.team_preview.preview import TeamPreviewModel

    return TeamPreviewModel.load_from_checkpoint(checkpoint_path=path, device=str(device))


def without_flash_attention():
    """Let amago's FlashAttention run without the package flash_attn, by the same sums in plain PyTorch."""
    transformer = amago.nets.transformer
    transformer.flash_attn = transformer.flash_attn or amago
    transformer.flash_attn_with_kvcache = attention_with_cache
