"""Pictures of the gallery that pyplot does not know.

`isodepth.plot` makes figures of its own, so that nothing stays open behind a library call.
Sphinx-Gallery looks for the figures of pyplot alone; this scraper takes those that an example has
given a name.
"""

from __future__ import annotations

from typing import Any

from sphinx_gallery.scrapers import figure_rst


def loose_figures(block: Any, block_vars: Any, gallery_conf: Any) -> str:
    """Save the figures that the names of an example hold and pyplot does not; each once.

    Goes before the scraper of pyplot, which closes its figures: those are known by then.
    """
    import matplotlib.pyplot as plt

    names = block_vars["example_globals"]
    shown = names.setdefault("__shown_figures__", [])
    shown += [plt.figure(number) for number in plt.get_fignums()]
    paths = []
    for value in list(names.values()):
        figure = _figure_of(value)
        if figure is None or any(figure is one for one in shown):
            continue
        shown.append(figure)
        path = next(block_vars["image_path_iterator"])
        figure.savefig(path, dpi=120)
        paths.append((path, _title(figure)))
    return "\n".join(figure_rst([path], gallery_conf["src_dir"], title) for path, title in paths)


def _figure_of(value: Any) -> Any:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    if isinstance(value, Axes):
        value = value.figure
    return value if isinstance(value, Figure) else None


def _title(figure: Any) -> str:
    texts = [figure.get_suptitle(), *(axes.get_title("left") for axes in figure.axes)]
    return next(filter(None, texts), "")
