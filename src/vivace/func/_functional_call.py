"""Modules as functions of their parameters and buffers."""

import vivace


def _merged(given):
    """One dict of several, which must not share names."""
    if isinstance(given, dict):
        return given
    merged = {}
    for part in given:
        if not isinstance(part, dict):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        if shared := merged.keys() & part.keys():
            raise ValueError(f"{shared} appear in multiple dictionaries; behavior of functional call is ambiguous")
        merged |= part
    return merged


def _places(module):
    """Where the tensors of a module stand: dotted name -> (a dict of a submodule, the name in it)."""
    found = {}
    for prefix, part in module.named_modules(remove_duplicate=False):
        prefix = prefix and f"{prefix}."
        for members in (part._parameters, part._buffers):
            for name in members:
                found[prefix + name] = (members, name)
    return found


def _with_ties(places, given):
    """What is given for one name of a tensor that has several holds for all of them."""
    names = {}
    for path, (members, name) in places.items():
        names.setdefault(id(members[name]), []).append(path)
    if len(names) == len(places):
        return given
    filled = dict(given)
    for group in names.values():
        members, name = places[group[0]]
        if len(group) == 1 or members[name] is None:
            continue
        values = {id(given[path]): given[path] for path in group if path in given}
        if len(values) > 1:
            raise ValueError(f"functional_call got multiple values for keys {sorted(group)}, which are tied.")
        for value in values.values():
            filled |= dict.fromkeys(group, value)
    return filled


def _check_names(module, places, given):
    unknown = [path for path in given if path not in places]
    missing = {n for n, _ in [*module.named_parameters(), *module.named_buffers()]} - given.keys()
    if unknown or missing:
        raise RuntimeError(
            "Error(s) in functional_call: "
            f"Unexpected key(s): {', '.join(unknown)}. Missing key(s): {', '.join(sorted(missing))}."
        )


class Reparametrized:
    """Within it a module has these tensors, by their dotted names, in the place of its own."""

    def __init__(self, module, parameters_and_buffers, tie_weights=False, strict=False, stack_weights=False):
        # stack_weights asks for the order in which weights are always put back here: the last first.
        self._places = _places(module)
        self._given = _with_ties(self._places, parameters_and_buffers) if tie_weights else parameters_and_buffers
        self._undo = []
        if strict:
            _check_names(module, self._places, self._given)

    def __enter__(self):
        try:
            for path, value in self._given.items():
                if path in self._places:
                    members, name = self._places[path]
                    self._undo.append((members, name, members[name]))
                    members[name] = value
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        for members, name, value in reversed(self._undo):
            members[name] = value
        self._undo.clear()


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with these tensors, by their dotted names, in the place of its own."""
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with Reparametrized(module, _merged(parameter_and_buffer_dicts), tie_weights, strict):
        return module(*args, **(kwargs or {}))


def replace_all_batch_norm_modules_(root):
    """Lets all batch norms of a module work without running statistics, which vmap can't write; gives the module."""
    for module in root.modules():
        if isinstance(module, vivace.nn.modules.batchnorm._BatchNorm) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def stack_module_state(models):
    """The parameters and the buffers of models that are alike, by name, each stacked along a new first dim."""
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(dicts):
        joined = {}
        for name, first in dicts[0].items():
            value = vivace.stack([d[name].detach() for d in dicts])
            joined[name] = value.requires_grad_(first.requires_grad)
        return joined

    return stacked([dict(m.named_parameters()) for m in models]), stacked([dict(m.named_buffers()) for m in models])
