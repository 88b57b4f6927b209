"""Components of images that lie with four owners: mpirun -n 4 python digits.py.

Each owner has the images of some digits alone, and sends none of them. All get the
components of all images; the first owner draws them.
"""

import numpy as np
from mpi4py import MPI
from sklearn.datasets import load_digits

from pmgt_mpi import PCA

rank, owners = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
images, digits = load_digits(return_X_y=True)
own = images[digits % owners == rank]  # of owner 1, the digits 1, 5 and 9

pca = PCA(n_components=8).fit(own)
scores = pca.transform(own)
kept = np.linalg.norm(scores) ** 2 / np.linalg.norm(own - pca.mean_) ** 2
print(f"owner {rank}: {kept:.0%} of the variance of {len(own)} images in 8 numbers")

if rank == 0:
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 9, figsize=(11, 1.7))
    pictures = [("mean", pca.mean_), *zip(range(1, 9), pca.components_, strict=True)]
    for ax, (name, picture) in zip(axes, pictures, strict=True):
        ax.imshow(picture.reshape(8, 8), cmap="gray")
        ax.set_title(name)
        ax.set_axis_off()
    figure.savefig("digits.png", dpi=80, bbox_inches="tight")
