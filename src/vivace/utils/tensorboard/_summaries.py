"""What SummaryWriter writes: protocol buffers of the tensorboard package, made from tensors, arrays and numbers."""

import io

import numpy as np
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

import vivace


def to_array(value):
    """A NumPy array of a tensor, an array, a number or a list of them."""
    if isinstance(value, vivace.Tensor):
        value = value.detach()
        return (value.float() if value.dtype == vivace.bfloat16 else value).numpy()
    return np.asarray(value)


def _one_number(value):
    array = to_array(value)
    if array.size != 1:
        raise AssertionError(f"add_scalar(): scalar should be 0D, got {array.ndim}D of {array.size} elements")
    return float(array.reshape(()))


def scalar(tag, value, new_style, double_precision):
    number = _one_number(value)
    if not new_style:
        return Summary(value=[Summary.Value(tag=tag, simple_value=number)])
    proto = TensorProto(dtype="DT_DOUBLE", double_val=[number]) if double_precision else TensorProto(
        dtype="DT_FLOAT", float_val=[number]
    )  # fmt: skip
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
    return Summary(value=[Summary.Value(tag=tag, tensor=proto, metadata=metadata)])


def _tensorflow_bins():
    """Edges that grow by a tenth, from both sides of zero: TensorBoard's own."""
    edges = 1e-12 * 1.1 ** np.arange(774)
    return np.concatenate([-edges[::-1], [0], edges])


def histogram(tag, values, bins, max_bins):
    values = to_array(values).reshape(-1).astype(np.float64)
    if values.size == 0:
        raise ValueError("The input has no element.")
    edges = _tensorflow_bins() if isinstance(bins, str) and bins == "tensorflow" else bins
    counts, limits = np.histogram(values, bins=edges)
    if max_bins is not None and len(counts) > max_bins:
        step = -(-len(counts) // max_bins)
        counts = np.add.reduceat(counts, np.arange(0, len(counts), step))
        limits = np.append(limits[:-1:step], limits[-1])
    used = np.flatnonzero(counts)
    first, last = (used[0], used[-1] + 1) if used.size else (0, len(counts))
    begin = max(first - 1, 0)  # an empty bucket before the first tells where it starts
    proto = HistogramProto(
        min=values.min(),
        max=values.max(),
        num=values.size,
        sum=values.sum(),
        sum_squares=values.dot(values),
        bucket_limit=limits[begin + 1 : last + 1].tolist(),
        bucket=counts[begin:last].tolist(),
    )
    return Summary(value=[Summary.Value(tag=tag, histo=proto)])


def _bytes_of(array):
    """Pixels as bytes: floats run from 0 to 1."""
    if array.dtype == np.uint8:
        return array
    return (array.astype(np.float32) * 255.0).clip(0, 255).astype(np.uint8)


def _arrange(array, formats):
    """Height, width, three or more channels; several images stand in a grid."""
    formats = formats.upper()
    if len(formats) != array.ndim:
        raise AssertionError(f"size of input tensor and input format are different: {array.shape} and '{formats}'")
    if formats == "HW":
        array, formats = array[..., None], "HWC"
    if "N" in formats:
        array = array.transpose([formats.index(c) for c in "NHWC"])
        n, h, w, c = array.shape
        columns = int(np.ceil(np.sqrt(n)))
        rows = -(-n // columns)
        grid = np.zeros((rows * h, columns * w, c), array.dtype)
        for i in range(n):
            y, x = i // columns * h, i % columns * w
            grid[y : y + h, x : x + w] = array[i]
        array = grid
    else:
        array = array.transpose([formats.index(c) for c in "HWC"])
    return np.repeat(array, 3, axis=2) if array.shape[2] == 1 else array


def image(tag, pixels, formats):
    from PIL import Image

    array = _bytes_of(_arrange(to_array(pixels), formats))
    stream = io.BytesIO()
    Image.fromarray(array).save(stream, format="PNG")
    height, width, channels = array.shape
    proto = Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=stream.getvalue())
    return Summary(value=[Summary.Value(tag=tag, image=proto)])


def figure_pixels(figure, close):
    """Height, width, 4 bytes of a matplotlib figure, or a list of them stacked."""
    import matplotlib.pyplot as plt
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    def render(one):
        canvas = FigureCanvasAgg(one)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[..., :3]
        if close:
            plt.close(one)
        return pixels

    return np.stack([render(f) for f in figure]) if isinstance(figure, list) else render(figure)


def text(tag, string):
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    proto = TensorProto(
        dtype="DT_STRING",
        string_val=[string.encode()],
        tensor_shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)]),
    )
    return Summary(value=[Summary.Value(tag=f"{tag}/text_summary", metadata=metadata, tensor=proto)])


def hparams(values, metrics, domains):
    """Three summaries for the hparams plugin: the experiment, and the start and end of its one session."""
    from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2

    kinds = {bool: ("bool_value", "DATA_TYPE_BOOL"), str: ("string_value", "DATA_TYPE_STRING")}
    start = plugin_data_pb2.SessionStartInfo()
    infos = []
    for name, value in values.items():
        if value is None:
            continue
        value = value if isinstance(value, (bool, str)) else float(to_array(value).reshape(()))
        field, kind = kinds.get(type(value), ("number_value", "DATA_TYPE_FLOAT64"))
        setattr(start.hparams[name], field, value)
        info = api_pb2.HParamInfo(name=name, type=getattr(api_pb2, kind))
        info.domain_discrete.extend(domains.get(name, []))
        infos.append(info)
    experiment = api_pb2.Experiment(
        hparam_infos=infos, metric_infos=[api_pb2.MetricInfo(name=api_pb2.MetricName(tag=m)) for m in metrics]
    )
    end = plugin_data_pb2.SessionEndInfo(status=api_pb2.STATUS_SUCCESS)
    parts = {
        metadata.EXPERIMENT_TAG: plugin_data_pb2.HParamsPluginData(experiment=experiment),
        metadata.SESSION_START_INFO_TAG: plugin_data_pb2.HParamsPluginData(session_start_info=start),
        metadata.SESSION_END_INFO_TAG: plugin_data_pb2.HParamsPluginData(session_end_info=end),
    }

    def summary(tag, data):
        kind = metadata.create_summary_metadata(data)
        return Summary(value=[Summary.Value(tag=tag, metadata=kind, tensor=metadata.NULL_TENSOR)])

    return [summary(tag, data) for tag, data in parts.items()]
