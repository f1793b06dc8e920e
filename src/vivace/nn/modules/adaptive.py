"""A softmax over many classes, the rare ones in clusters."""

from collections import namedtuple

import vivace

from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """log-softmax and negative log-likelihood of n_classes, sorted by falling frequency (Grave et al., 2017): those
    below cutoffs[0] are predicted by the head, the others by a cluster each of fewer features.
    """

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        cutoffs = list(cutoffs)
        if len(cutoffs) == 0:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(set(cutoffs))
            or min(cutoffs) <= 0
            or max(cutoffs) > n_classes - 1
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        like = {"device": device, "dtype": dtype}
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **like)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(Linear(in_features, hidden, bias=False, **like), Linear(hidden, size, bias=False, **like))
            )

    def reset_parameters(self):
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_, target_):
        """(log-probability of each sample's target, mean loss)"""
        self._check(input_, target_)
        single = target_.dim() == 0
        input, target = (input_.unsqueeze(0), target_.unsqueeze(0)) if single else (input_, target_)
        if target.numel() and (int(target.min()) < 0 or int(target.max()) >= self.n_classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        in_head = target.clone()  # the class that the head has to predict: the target, or its cluster
        output = input.new_zeros(target.shape)
        for i, tail in enumerate(self.tail):
            rows = ((target >= self.cutoffs[i]) & (target < self.cutoffs[i + 1])).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            in_head[rows] = self.shortlist_size + i
            log_prob = F.log_softmax(tail(input.index_select(0, rows)), dim=1)
            local = log_prob.gather(1, (target[rows] - self.cutoffs[i]).unsqueeze(1)).squeeze(1)
            output = output.index_copy(0, rows, local.to(output.dtype))
        output = output + F.log_softmax(self.head(input), dim=1).gather(1, in_head.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if single else output, loss)

    @staticmethod
    def _check(input, target):
        if target.dim() == 1:
            if input.size(0) != target.size(0):
                raise RuntimeError("Input and target should have the same size in the batch dimension.")
            if input.dim() != 2:
                raise RuntimeError(
                    f"1D target tensor expects 2D input tensors, but found inputs with size {input.size()}"
                )
        elif target.dim() == 0:
            if input.dim() != 1:
                raise RuntimeError(
                    f"0D target tensor expects 1D input tensors, but found inputs with size {input.size()}"
                )
        else:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")

    def log_prob(self, input):
        """The log-probabilities of all classes."""
        return self._full(self.head(input), input)

    def _full(self, head, input):
        log_prob = F.log_softmax(head, dim=1)
        parts = [log_prob[:, : self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            cluster = log_prob[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(F.log_softmax(tail(input), dim=1) + cluster)
        return vivace.cat(parts, dim=1)

    def predict(self, input):
        """The most probable class of each sample; clusters are looked at only where the head chooses one."""
        head = self.head(input)
        output = head.argmax(dim=1)
        in_tail = output >= self.shortlist_size
        if not in_tail.any():
            return output
        output = output.clone()
        output[in_tail] = self._full(head[in_tail], input[in_tail]).argmax(dim=1)
        return output
