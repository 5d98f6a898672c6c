# Trains on NVIDIA GPUs, and on the CPU where there are none. `make docker` builds it, scripts/train_in_docker.sh builds and runs
# it (docs/container.md). What its steps do is in scripts/container/steps.sh, which tests run without Docker.
ARG BASE=nvidia/cuda:13.0.0-base-ubi9
FROM ${BASE}

LABEL battle-arena=image

COPY scripts/container/steps.sh /opt/battle-arena/scripts/container/
RUN sh /opt/battle-arena/scripts/container/steps.sh system

# The user `trainer` of the step before.
USER 1000
WORKDIR /opt/battle-arena

# Packages first: a change of our code downloads nothing again. TORCH_INDEX as in docs/install.md; it stays in the image's history.
ARG TORCH_INDEX=""
COPY pyproject.toml constraints.txt package.json package-lock.json README.md LICENSE ./
COPY scripts/setup.sh scripts/
RUN sh scripts/container/steps.sh packages

COPY arena.toml ./
COPY teamsets teamsets
COPY agents agents
COPY arena arena
COPY training training
RUN sh scripts/container/steps.sh project && sh scripts/container/steps.sh check

# The commit is noted by runs and archives; there is no git here.
ARG COMMIT=""
# A user without an entry in /etc/passwd, as scripts/train_in_docker.sh has one, needs a home and a name.
ENV ARENA_COMMIT=${COMMIT} \
    HOME=/tmp \
    USER=trainer \
    PATH=/opt/battle-arena/.venv/bin:${PATH}

WORKDIR /training
STOPSIGNAL SIGINT
ENTRYPOINT ["train"]
CMD ["--help"]
