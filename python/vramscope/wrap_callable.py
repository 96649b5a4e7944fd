"""Wraps a function of any kind so that each of its calls runs inside a context manager."""

from __future__ import annotations

import functools
import inspect


def wrap_callable(function, context):
    """`function` with each call inside `context`: until it returns, or until a generator or coroutine has ended."""
    if inspect.isasyncgenfunction(function):

        async def wrapped(*args, **kwargs):
            with context:
                inner = function(*args, **kwargs)
                step = inner.asend(None)
                while True:  # what `yield from` does for a generator
                    try:
                        item = await step
                    except StopAsyncIteration:
                        return
                    try:
                        step = inner.asend((yield item))
                    except GeneratorExit:
                        await inner.aclose()
                        raise
                    except BaseException as error:
                        step = inner.athrow(error)

    elif inspect.iscoroutinefunction(function):

        async def wrapped(*args, **kwargs):
            with context:
                return await function(*args, **kwargs)

    elif inspect.isgeneratorfunction(function):

        def wrapped(*args, **kwargs):
            with context:
                return (yield from function(*args, **kwargs))

    else:

        def wrapped(*args, **kwargs):
            with context:
                return function(*args, **kwargs)

    return functools.wraps(function)(wrapped)
