"""Muon in float64, orthogonalised through singular values instead of by products, and its file.

A matrix U diag(s) V^T that is multiplied by a polynomial of itself times its transpose keeps U and V;
what the five steps do is one scalar polynomial on each singular value."""

import math

import numpy as np

A, B, C = 3.4445, -4.7750, 2.0315
STEPS, SNAPSHOTS = 20, (1, 5, 20)
SCALES = ("rms", "spectral")
TRAIN = {"steps": STEPS, "optimizer": "muon", "muon_momentum": 0.95, "muon_scale": "rms",
         "learning_rate": 1e-2, "min_learning_rate": 1e-3, "schedule": "wsd", "warmup_steps": 2,
         "decay_steps": 4, "weight_decay": 0.1, "matrix_lr_scale": 2.0, "clip": 1.0}
# Wide, tall, square, nearly square, of one row, and two of one shape.
MATRICES = {"wide": [6, 20], "tall": [20, 6], "square": [12, 12], "near": [10, 11],
            "row": [1, 7], "twin_a": [8, 16], "twin_b": [8, 16]}


def orthogonalised(m, steps=5):
    u, s, vt = np.linalg.svd(m, full_matrices=False)
    s = s / max(np.linalg.norm(m), 1e-7)
    for _ in range(steps):
        s = A * s + B * s**3 + C * s**5
    return (u * s) @ vt


def by_products(m, steps=5):
    """The same by products, for the cross-check."""
    x = m / max(np.linalg.norm(m), 1e-7)
    for _ in range(steps):
        gram = x @ x.T
        x = A * x + (B * gram + C * gram @ gram) @ x
    return x


def factor(scale, rows, columns):
    if scale == "rms":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1.0, rows / columns))


def learning_rate(step):
    """Linear to the peak in step `warmup_steps`, flat, linear to the floor in the last step."""
    peak, floor = TRAIN["learning_rate"], TRAIN["min_learning_rate"]
    if step < TRAIN["warmup_steps"]:
        return peak * step / TRAIN["warmup_steps"]
    begin = STEPS - TRAIN["decay_steps"]
    return peak + (floor - peak) * max(0, step - begin) / TRAIN["decay_steps"]


def muon(p, m, g, lr, scale):
    mu = TRAIN["muon_momentum"]
    m = mu * m + (1 - mu) * g
    update = orthogonalised(mu * m + (1 - mu) * g)
    lr *= TRAIN["matrix_lr_scale"]
    return p * (1 - lr * TRAIN["weight_decay"]) - lr * factor(scale, *p.shape) * update, m


def gradients(stream, name, shape):
    g = stream("muon", "gradient", name).normal(size=[STEPS, *shape])
    return (g * np.array([0.02, 0.2])[np.arange(STEPS) % 2].reshape(-1, 1, 1)).astype(np.float32)


def tensors(stream):
    """All of the file but its metadata."""
    raw = {n: gradients(stream, n, s) for n, s in MATRICES.items()}
    initial = {n: stream("muon", "initial", n).normal(size=s).astype(np.float32)
               for n, s in MATRICES.items()}
    rates = np.array([learning_rate(k + 1) for k in range(STEPS)], np.float32)
    out = {"learning_rate": rates}
    for n in MATRICES:
        out |= {f"initial.{n}": initial[n], f"gradient.{n}": raw[n],
                f"orthogonalised.{n}": orthogonalised(raw[n][0].astype(float)).astype(np.float32)}
    for scale in SCALES:
        state = {n: (p.astype(float), np.zeros(p.shape)) for n, p in initial.items()}
        for step in range(1, STEPS + 1):
            now = {n: g[step - 1].astype(float) for n, g in raw.items()}
            norm = math.sqrt(sum((g * g).sum() for g in now.values()))
            clip = min(1.0, TRAIN["clip"] / norm)
            for n in MATRICES:
                state[n] = muon(*state[n], now[n] * clip, float(rates[step - 1]), scale)
                if step in SNAPSHOTS:
                    for what, value in zip(("parameter", "m"), state[n]):
                        out[f"{scale}.step_{step}.{what}.{n}"] = value.astype(np.float32)
    return out


def of_torch(file, scale):
    """Replays the file with torch.optim.Muon, which multiplies in bfloat16; where it ends up."""
    import torch

    parameters = {n: torch.nn.Parameter(torch.from_numpy(file[f"initial.{n}"]).clone())
                  for n in MATRICES}
    optimizer = torch.optim.Muon(
        list(parameters.values()), weight_decay=TRAIN["weight_decay"],
        momentum=TRAIN["muon_momentum"], nesterov=True, ns_coefficients=(A, B, C), ns_steps=5,
        adjust_lr_fn={"rms": "match_rms_adamw", "spectral": "original"}[scale])
    for step, rate in enumerate(file["learning_rate"].tolist()):
        for n, p in parameters.items():
            p.grad = torch.from_numpy(file[f"gradient.{n}"][step]).clone()
        torch.nn.utils.clip_grad_norm_(parameters.values(), TRAIN["clip"])
        for group in optimizer.param_groups:
            group["lr"] = rate * TRAIN["matrix_lr_scale"]
        optimizer.step()
    return {n: p.detach().numpy() for n, p in parameters.items()}


def check(stream):
    """Singular values against products, and against torch."""
    by_values = max(np.abs(orthogonalised(g) - by_products(g)).max() for n, shape in MATRICES.items()
                    for g in gradients(stream, n, shape).astype(float))
    print(f"{'singular values against products':45} {by_values:9.1e}")
    file, worst = tensors(stream), 0.0
    for scale in SCALES:
        theirs = of_torch(file, scale)
        for n in MATRICES:
            ours, start = file[f"{scale}.step_{STEPS}.parameter.{n}"], file[f"initial.{n}"]
            way = np.abs(ours - start).max()
            worst = max(worst, np.abs(ours - theirs[n]).max() / way)
    print(f"{'torch.optim.Muon, of the way moved':45} {worst:9.1e}")
    return by_values < 1e-12 and worst < 0.05
