"""A Ray cluster of several nodes on this machine, on the loopback only: `ray.cluster_utils.Cluster`."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Ray reads these when it is imported: a test imports this module before Ray.
os.environ.update(
    RAY_raylet_start_wait_time_s="120",
    RAY_USAGE_STATS_ENABLED="0",
    RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0",
    RAY_IGNORE_UNHANDLED_ERRORS="1",
)

SMALL = {"num_cpus": 1, "num_gpus": 0, "object_store_memory": 80 << 20, "node_ip_address": "127.0.0.1"}


@contextmanager
def ray_cluster() -> Iterator[tuple[Any, Any]]:
    """A cluster of two nodes with a CPU each, and this process connected to it; yields it and the node that may be killed.

    Further nodes: `cluster.add_node(**SMALL)`.
    """
    import ray
    from ray.cluster_utils import Cluster

    checks = {"health_check_period_ms": 2000, "health_check_failure_threshold": 10}
    cluster = Cluster()
    try:
        cluster.add_node(include_dashboard=False, _system_config=checks, **SMALL)
        other = cluster.add_node(**SMALL)
        ray.init(cluster.address, log_to_driver=False, logging_level=logging.ERROR)
        yield cluster, other
    finally:
        ray.shutdown()
        cluster.shutdown()
