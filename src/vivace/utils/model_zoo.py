"""torch.utils.model_zoo: older names of what torch.hub has, and the progress bar of downloads."""

from vivace.hub import load_state_dict_from_url as load_url

try:
    from tqdm.auto import tqdm
except ModuleNotFoundError:

    class tqdm:
        """Counts, and shows nothing: the tqdm package is not installed."""

        def __init__(self, iterable=None, *args, total=None, disable=False, **kwargs):
            self.iterable, self.total, self.n = iterable, total, 0

        def __iter__(self):
            for item in self.iterable or ():
                yield item
                self.update()

        def update(self, n=1):
            self.n += n

        def set_description(self, text=None, refresh=True):
            """Shows nothing."""

        def close(self):
            """Shows nothing."""

        def __enter__(self):
            return self

        def __exit__(self, *exception):
            self.close()


__all__ = ["load_url", "tqdm"]
