"""Second implementations of everything: numpy only, nothing of the package."""

from tests.reference import (
    accelerated,
    full_gradient,
    local_steps,
    paper,
    remembering,
    single_rows,
    tracking,
)

REFERENCES = {
    "pmgt-katyushax": paper.pmgt_katyushax,
    "pmgt-svrg": paper.pmgt_svrg,
    "katyushax": paper.katyushax,
    "svrg": paper.svrg,
    "pg-extra": full_gradient.pg_extra,
    "nids": full_gradient.nids,
    "extra": full_gradient.extra,
    "exact-diffusion": full_gradient.exact_diffusion,
    "p2d2": full_gradient.p2d2,
    "sonata": full_gradient.sonata,
    "dgt": full_gradient.dgt,
    "proxskip": full_gradient.proxskip,
    "mudag": accelerated.mudag,
    "network-svrg": local_steps.network_svrg,
    "network-sarah": local_steps.network_sarah,
    "network-dane": local_steps.network_dane,
    "opapc": accelerated.opapc,
    "dsba": single_rows.dsba,
    "dvr": single_rows.dvr,
    "adfs": single_rows.adfs,
    "vr-extra": tracking.vr_extra,
    "opapc-katyusha": accelerated.opapc_katyusha,
    "saga": remembering.saga,
    "dsa": remembering.dsa,
    "gt-saga": remembering.gt_saga,
    "pmgt-saga": remembering.pmgt_saga,
    "gt-svrg": tracking.gt_svrg,
    "d-get": tracking.d_get,
    "gt-sarah": tracking.gt_sarah,
    "pmgt-lsvrg": tracking.pmgt_lsvrg,
    "dearest": tracking.dearest,
    "destress": tracking.destress,
}
"""The matrix form of every method, by the name that it is registered under.

Each is called as ``reference(world, x0, steps, chance, **parameters)``.
"""
