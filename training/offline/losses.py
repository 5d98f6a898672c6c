"""Learning rules, one self-contained file each. `LOSSES` maps `algorithm.name` of the configuration to its loss function."""

from collections.abc import Callable

from torch import Tensor

from agents.policy.network import Output
from training.offline import cloning, dpo, offline_rl
from training.offline.config import AlgorithmSettings
from training.offline.tensors import Sums, Tensors

LOSSES: dict[str, Callable[..., tuple[Tensor, Sums]]] = {
    "cloning": cloning.loss,
    "offline-rl": offline_rl.loss,
    "dpo": dpo.loss,
}
#: Rules whose loss also takes the reference policy's logits; they are never trained without one.
WITH_REFERENCE = ("dpo",)


class Algorithm(AlgorithmSettings):
    """Base class of users' learning algorithms, selected by `algorithm.name: MODULE:CLASS` (docs/extend.md).

    Its fields are the settings under `algorithm`; those with a default may be left out there.
    """

    def loss(self, output: Output, batch: Tensors) -> tuple[Tensor, Sums]:
        """Return the loss summed over the batch's decisions, and the sums behind the metrics.

        output: the network's logits [B, T, 13] (-inf for illegal actions) and value logits [B, T, bins]. The trainer divides
        the loss by the number of decisions. Metrics: name -> (sum, number of decisions summed over).
        """
        raise NotImplementedError(f"{type(self).__name__}.loss")


def loss_of(
    algorithm: AlgorithmSettings, reference_logits: Tensor | None = None
) -> Callable[[Output, Tensors], tuple[Tensor, Sums]]:
    """Return the loss function of an algorithm with its settings bound: from `LOSSES`, or a user's `Algorithm.loss`.

    reference_logits: [B, T, 13], of the reference policy on the batch; for the rules in `WITH_REFERENCE`.
    """
    if isinstance(algorithm, Algorithm):
        return algorithm.loss
    loss = LOSSES[algorithm.name]
    more = (reference_logits,) if algorithm.name in WITH_REFERENCE else ()
    return lambda output, batch: loss(output, batch, algorithm, *more)


__all__ = ["LOSSES", "WITH_REFERENCE", "Algorithm", "Output", "Sums", "Tensors", "loss_of"]
