"""A Ray cluster of several nodes on this machine, on the loopback only: `ray.cluster_utils.Cluster`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def ray_cluster(nodes: int) -> Iterator[tuple[Any, list[Any]]]:
    """A cluster with a head without CPUs, and this process connected to it; yields it and its nodes of one CPU each."""
    os.environ.update(
        RAY_USAGE_STATS_ENABLED="0", RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0", RAY_IGNORE_UNHANDLED_ERRORS="1"
    )
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    small = {"num_gpus": 0, "object_store_memory": 80 << 20, "node_ip_address": "127.0.0.1"}
    try:
        cluster.add_node(
            num_cpus=0,
            include_dashboard=False,
            _system_config={"health_check_period_ms": 1000, "health_check_failure_threshold": 3},
            **small,
        )
        added = [cluster.add_node(num_cpus=1, **small) for _ in range(nodes)]
        ray.init(cluster.address, log_to_driver=False, logging_level="error")
        yield cluster, added
    finally:
        ray.shutdown()
        cluster.shutdown()
