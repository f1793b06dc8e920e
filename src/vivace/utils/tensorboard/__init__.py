"""torch.utils.tensorboard: event files for TensorBoard, written through the tensorboard package."""

from vivace.utils.tensorboard.writer import FileWriter as FileWriter
from vivace.utils.tensorboard.writer import SummaryWriter as SummaryWriter
