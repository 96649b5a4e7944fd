"""Walks from a process's variables to every tensor, breadth first, so the first path found is the shortest."""

from __future__ import annotations

import gc
import time
from collections import deque

from .holder_buckets import is_ddp
from .holder_children import attributes_of, class_attributes, expander, holds_no_objects, is_plain
from .holder_names import ATTRIBUTE, BUFFER, SAME, WORDS, first_link, mro_of, name_of
from .holder_roots import is_class

#: Children of one object to examine before others get their turn.
TURN = 20_000
#: Most objects to examine: each is remembered, at some 200 bytes.
MOST_OBJECTS = 2_000_000


class Walk:
    """One walk over the objects of a process.

    found: address of a storage → (link, kind, bytes); kind is 'parameter', 'buffer', 'gradient', 'optimizer', 'graph'
        or 'tensor'.
    graphs: (link, autograd node) of the tensors that have one.
    ddp: links of the DistributedDataParallel modules.
    """

    def __init__(self, tensors, deadline, wanted=None, clock=time.perf_counter):
        self.found, self.graphs, self.ddp, self.objects, self.is_late = {}, [], [], 0, False
        self._tensors, self.deadline, self._wanted, self._clock = tensors, deadline, wanted, clock
        self._seen = set()
        # (link, kind of what is below, iterator of its children or None); modules come first.
        self._queue, self._modules, self._optimizers = deque(), deque(), []
        self._parameters = {}  # id → link
        # By the id of a type: the type itself, to keep it alive; its role; how its children are read; and whether it is a
        # wrapper (tensors), a DistributedDataParallel (modules), or has nothing but attributes (others).
        self._plans = {}
        self._flags = {"tensor": tensors.is_wrapper, "parameter": tensors.is_wrapper, "module": is_ddp}

    def end_phase(self, deadline):
        """Drops what was not examined, sets the next deadline, and returns how much was dropped."""
        left = len(self._queue) + len(self._modules)
        self._queue.clear()
        self._modules.clear()
        self.deadline, self.is_late = deadline, False
        return left

    def group(self, variables):
        """Walks from these variables to the end or the deadline."""
        for variable, value in variables:
            if is_class(value):
                self._queue.append((first_link(variable, value), None, class_attributes(value)))
            else:
                self._meet(value, None, WORDS, variable, None)
        self._run()

    def optimizers(self):
        """Comes last, because by then the parameters have names."""
        while self._optimizers and not self.is_over():
            link = self._optimizers.pop(0)
            try:
                self._optimizer(link[3], link)
            except Exception:
                pass  # it changed meanwhile
            self._run()

    def meet(self, value, link, kind):
        """Adds whatever else belongs to a link, with its tensors as that kind."""
        self._meet(value, link, SAME, "", kind)
        self._run()

    def is_tensor(self, value):
        plan = self._plans.get(id(type(value)))
        if plan is None:
            plan = self._plan(type(value))
        return plan is not HOLDS_NOTHING and plan[1] in ("tensor", "parameter")

    def has_seen(self, value):
        return id(value) in self._seen

    def has_unnamed(self, tensor):
        """Whether a tensor holds memory that nobody has named yet."""
        address, _ = self._tensors.storage(tensor, self._plans[id(type(tensor))][3])
        return address != 0 and address not in self.found and (self._wanted is None or address in self._wanted)

    def name_storage(self, address, nbytes, link, kind):
        if address and address not in self.found and (self._wanted is None or address in self._wanted):
            self.found[address] = (link, kind, nbytes)

    def is_over(self):
        self.is_late = self.is_late or self._clock() > self.deadline or self.objects > MOST_OBJECTS
        return self.is_late

    def _run(self):
        while (self._modules or self._queue) and not self.is_over():
            link, kind, steps = (self._modules or self._queue).popleft()
            if steps is None:
                _, role, expand, is_plain = self._plans[id(type(link[3]))]
                if role is None and is_plain and self._leads_nowhere(link[3]):
                    continue
                steps = expand(link[3])
            try:
                is_through = self._take_turn(steps, link, kind)
            except Exception:  # it changed meanwhile, or its code raised; either way the iterator is exhausted
                is_through = False
            if not is_through:
                self._queue.append((link, kind, steps))

    def _leads_nowhere(self, value):
        """Whether an object holds only numbers and texts: asking for its `__dict__` would create one that stays."""
        plans = self._plans
        return all(plans.get(id(type(held))) is HOLDS_NOTHING for held in gc.get_referents(value))

    def _take_turn(self, steps, link, kind):
        plans, meet = self._plans, self._meet
        for n, (step, key, value) in enumerate(steps, 1):
            if plans.get(id(type(value))) is not HOLDS_NOTHING:
                meet(value, link, step, key, kind)
            if n & 1023 == 0 and (n == TURN or self.is_over()):
                return False
        return True

    def _meet(self, value, parent, step, key, kind):
        plan = self._plans.get(id(type(value)))
        if plan is None:
            plan = self._plan(type(value))
        if plan is HOLDS_NOTHING or id(value) in self._seen or holds_no_objects(value):
            return
        self._seen.add(id(value))
        self.objects += 1
        link = (parent, step, key, value)
        role = plan[1]
        if role is None:
            self._queue.append((link, kind, None))
        elif role == "module":
            self._modules.append((link, None, None))
            if plan[3]:
                self.ddp.append(link)
        elif role == "optimizer":
            self._optimizers.append(link)
        elif role == "storage":
            self.name_storage(*self._tensors.address_of_storage(value), link, kind or "tensor")
        else:
            self._tensor(value, plan, link, kind)

    def _plan(self, cls):
        try:
            role, expand = self._tensors.role(cls), expander(cls)
            flag = self._flags.get(role, is_plain)(cls)
        except Exception:
            role = expand = flag = None
        plan = HOLDS_NOTHING if role is None and expand is None else (cls, role, expand, flag)
        self._plans[id(cls)] = plan
        return plan

    def _tensor(self, tensor, plan, link, kind):
        _, role, expand, is_wrapper = plan
        if kind is None or kind == "tensor":
            kind = "parameter" if role == "parameter" else "buffer" if link[1] == BUFFER else "tensor"
        if kind == "parameter":
            self._parameters.setdefault(id(tensor), link)
        if not is_wrapper or self._wanted is not None:
            self.name_storage(*self._tensors.storage(tensor, is_wrapper), link, kind)
        node = self._tensors.graph(tensor)
        if node is not None:
            self.graphs.append((link, node))
        gradient = self._tensors.gradient(tensor)
        if gradient is not None:
            self._meet(gradient, link, WORDS, ".grad", "gradient")
        for name, part in self._tensors.parts(tensor):
            self._meet(part, link, ATTRIBUTE, name, kind)
        if expand is not None:
            # The shard in a DTensor has the same role as the DTensor.
            self._modules.append((link, kind if is_wrapper else None, None))

    def _optimizer(self, optimizer, link):
        """State by the parameter that it belongs to; anything else by attribute."""
        held = {name: value for _, name, value in attributes_of(type(optimizer))(optimizer)}
        for i, group in enumerate(held.pop("param_groups", ())):
            for j, parameter in enumerate(dict.get(group, "params", ())):
                self._meet(parameter, link, WORDS, f".param_groups[{i}].params[{j}]", "parameter")
                self._parameters.setdefault(id(parameter), (link, WORDS, f".param_groups[{i}].params[{j}]", parameter))
        for parameter, state in list(dict.items(held.pop("state", {}))):
            at = self._parameters.get(id(parameter))
            words = f".state[{'?' if at is None else name_of(at)}]"
            if any(c is dict for c in mro_of(type(state))):
                for key, value in list(dict.items(state)):
                    self._meet(value, link, WORDS, f"{words}.{key}", "optimizer")
            else:
                self._meet(state, link, WORDS, words, "optimizer")
        for name, value in held.items():
            self._meet(value, link, ATTRIBUTE, name, "optimizer")


#: For types that lead nowhere.
HOLDS_NOTHING = ()
