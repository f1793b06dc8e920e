"""torch.futures: results that other threads give later."""

import threading

__all__ = ["Future", "collect_all", "wait_all"]


class Future:
    """A result, or an exception, set once; callbacks run in the thread that sets it, or at once if it is set."""

    def __init__(self, *, devices=None):
        self._changed = threading.Condition()
        self._is_done = False
        self._value = self._error = None
        self._callbacks = []

    def done(self):
        return self._is_done

    def wait(self):
        """The value, when it is there."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_done)
        if self._error is not None:
            raise self._error
        return self._value

    def value(self):
        """The value, which has to be there."""
        if not self._is_done:
            raise RuntimeError("value() called on a Future that is not completed: use wait()")
        return self.wait()

    def set_result(self, result):
        self._finish(result, None)

    def set_exception(self, result):
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._finish(None, result)

    def _finish(self, value, error):
        with self._changed:
            if self._is_done:
                raise RuntimeError("Future can only be marked complete once: it has a result already")
            self._value, self._error, self._is_done = value, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for callback in callbacks:
            callback(self)

    def add_done_callback(self, callback):
        """Calls callback(self) when it is done; then() also gives what comes of it."""
        with self._changed:
            if not self._is_done:
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback):
        """A Future of callback(self)."""
        following = Future()

        def run(future):
            try:
                result = callback(future)
            except Exception as error:
                following.set_exception(error)
            else:
                following.set_result(result)

        self.add_done_callback(run)
        return following


def collect_all(futures):
    """A Future of the list of them, done when all are."""
    futures = list(futures)
    together, lock, left = Future(), threading.Lock(), [len(futures)]

    def one_more(_):
        with lock:
            left[0] -= 1
            is_last = left[0] == 0
        if is_last:
            together.set_result(futures)

    if not futures:
        together.set_result(futures)
    for future in futures:
        future.add_done_callback(one_more)
    return together


def wait_all(futures):
    """Their values, when all are there."""
    return [future.wait() for future in collect_all(futures).wait()]
