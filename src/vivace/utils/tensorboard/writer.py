"""SummaryWriter, as programs know it from torch.utils.tensorboard."""

import os
import socket
import time
import warnings

try:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "torch.utils.tensorboard needs the package tensorboard: pip install tensorboard"
    ) from error

from vivace.utils.tensorboard import _summaries

__all__ = ["FileWriter", "SummaryWriter"]


class FileWriter:
    """Adds summaries to one event file."""

    def __init__(self, log_dir, max_queue=10, flush_secs=120, filename_suffix=""):
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self):
        return self.event_writer.get_logdir()

    def add_event(self, event, step=None, walltime=None):
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary, global_step=None, walltime=None):
        self.add_event(Event(summary=summary), global_step, walltime)

    def flush(self):
        self.event_writer.flush()

    def close(self):
        self.event_writer.close()


class SummaryWriter:
    """Writes scalars, histograms, images, figures and texts to an event file in `log_dir`.

    Without `log_dir` the folder is runs/TIME_HOSTCOMMENT. Event files can be read while they are written.
    """

    def __init__(
        self, log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120, filename_suffix=""
    ):  # fmt: skip
        if not log_dir:
            now = time.strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = str(log_dir)
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self.file_writer = None
        self.all_writers = {}  # folder -> FileWriter; add_scalars has one for each curve
        self._get_file_writer()

    def _get_file_writer(self):
        if self.file_writer is None:
            self.file_writer = self._open(self.log_dir)
            if self.purge_step is not None:
                from tensorboard.compat.proto.event_pb2 import SessionLog

                self.file_writer.add_event(Event(step=self.purge_step, file_version="brain.Event:2"))
                start = Event(step=self.purge_step, session_log=SessionLog(status=SessionLog.START))
                self.file_writer.add_event(start)
                self.purge_step = None
        return self.file_writer

    def _open(self, folder):
        if folder not in self.all_writers:
            self.all_writers[folder] = FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)
        return self.all_writers[folder]

    def get_logdir(self):
        return self.log_dir

    def add_scalar(
        self, tag, scalar_value, global_step=None, walltime=None, new_style=False, double_precision=False
    ):  # fmt: skip
        summary = _summaries.scalar(tag, scalar_value, new_style, double_precision)
        self._get_file_writer().add_summary(summary, global_step, walltime)

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        """Several curves in one diagram; each has a folder of its own."""
        walltime = time.time() if walltime is None else walltime
        for tag, value in tag_scalar_dict.items():
            writer = self._open(os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}"))
            writer.add_summary(_summaries.scalar(main_tag, value, False, False), global_step, walltime)

    def add_histogram(self, tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None):
        self._get_file_writer().add_summary(_summaries.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        self._get_file_writer().add_summary(_summaries.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"):
        self._get_file_writer().add_summary(_summaries.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_figure(self, tag, figure, global_step=None, close=True, walltime=None):
        """A matplotlib figure, or a list of them."""
        pixels = _summaries.figure_pixels(figure, close)
        self.add_image(tag, pixels, global_step, walltime, "NHWC" if isinstance(figure, list) else "HWC")

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        self._get_file_writer().add_summary(_summaries.text(tag, text_string), global_step, walltime)

    def add_hparams(self, hparam_dict, metric_dict, hparam_domain_discrete=None, run_name=None, global_step=None):
        """A run's hyperparameters and what it reached, in a folder of its own."""
        if not isinstance(hparam_dict, dict) or not isinstance(metric_dict, dict):
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        with SummaryWriter(os.path.join(self.log_dir, run_name or str(time.time()))) as run:
            for summary in _summaries.hparams(hparam_dict, metric_dict, hparam_domain_discrete or {}):
                run.file_writer.add_summary(summary)
            for tag, value in metric_dict.items():
                run.add_scalar(tag, value, global_step)

    def add_graph(self, model, input_to_model=None, verbose=False, use_strict_trace=True):
        """Says that there is no graph to show: vivace traces nothing."""
        warnings.warn("vivace traces no models: add_graph() writes nothing", stacklevel=2)

    def __getattr__(self, name):
        if name.startswith("add_"):
            raise NotImplementedError(f"vivace's SummaryWriter does not have {name}()")
        raise AttributeError(f"'SummaryWriter' object has no attribute '{name}'")

    def flush(self):
        for writer in self.all_writers.values():
            writer.flush()

    def close(self):
        for writer in self.all_writers.values():
            writer.close()
        self.file_writer = None
        self.all_writers = {}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
