"""Which variable holds it: tests of the walk with a fake PyTorch. test_holders_torch.py uses a real one."""

import collections
import dataclasses
import functools
import gc
import json
import os
import sys
import tempfile
import threading
import types
import unittest
import weakref
from unittest import mock

import vramscope
from fake_torch import fake_torch
from vramscope.holders import find_holders

BUDGET_S = 60


def rows(found):
    """[address, bytes, name, kind, owner] of each storage."""
    return [list(row) for row in zip(*found["storages"].values())]


class HoldersTest(unittest.TestCase):
    def setUp(self):
        self.torch = fake_torch()
        self.Tensor = self.torch.Tensor

    def found(self, frame=None, **options):
        return find_holders(self.torch, frame or sys._getframe(1), options.pop("budget_s", BUDGET_S), **options)

    def names(self, found):
        return {row[2] for row in rows(found)}

    def name_of(self, tensor, found):
        """(name, kind, owner) of a tensor; None if it has no name."""
        own = [row for row in rows(found) if row[0] == tensor.address]
        return (own[0][2], own[0][3], found["owners"][own[0][4]]) if own else None

    def check(self, expected, found):
        """expected: tensor → its name without the variable's function."""
        for tensor, name in expected:
            row = self.name_of(tensor, found)
            self.assertIsNotNone(row, name)
            self.assertEqual(row[0].replace(f" in {sys._getframe(1).f_code.co_name}()", ""), name)

    def test_names_variables_and_what_is_in_them(self):
        tensor = self.Tensor()
        a_list = [self.Tensor(), [self.Tensor()]]
        by_key = {"loss": self.Tensor(), 3: self.Tensor(), (1, "a"): self.Tensor(), None: self.Tensor()}
        queue = collections.deque([self.Tensor()])
        point = collections.namedtuple("Point", "x y")(self.Tensor(), 1)
        partial = functools.partial(print, self.Tensor())
        expected = [(tensor, "tensor"), (a_list[0], "a_list[0]"), (a_list[1][0], "a_list[1][0]"), (queue[0], "queue[0]")]
        expected += [(by_key["loss"], "by_key['loss']"), (by_key[3], "by_key[3]"), (by_key[(1, "a")], "by_key[(1, 'a')]")]
        expected += [(by_key[None], "by_key[None]"), (point.x, "point.x"), (partial.args[0], "partial.args[0]")]
        found = self.found()
        self.check(expected, found)

    def test_names_objects_of_classes(self):
        @dataclasses.dataclass
        class Batch:
            images: object

        class Slotted:
            __slots__ = ("one", "two", "__weakref__")

        class Trainer:
            shared = []

            def __init__(self, tensor):
                self.outputs = [tensor]

        slotted, batch, trainer = Slotted(), Batch(self.Tensor()), Trainer(self.Tensor())
        slotted.one = self.Tensor()
        found = self.found()
        self.check([(slotted.one, "slotted.one"), (batch.images, "batch.images"), (trainer.outputs[0], "trainer.outputs[0]")], found)
        owner = self.name_of(trainer.outputs[0], found)[2]
        line = Trainer.__init__.__code__.co_firstlineno + 1
        self.assertEqual(owner, {"name": "trainer in test_names_objects_of_classes().outputs", "type": "list", "length": 1, "file": __file__, "line": line})

    def test_names_closures_generators_caches_and_tracebacks(self):
        def closure(kept):
            return lambda: kept

        def generate(paused):
            yield 1
            return paused

        @functools.lru_cache(maxsize=None)
        def cached(n):
            return Tensor()

        @functools.lru_cache(maxsize=3)
        def bounded(n):
            return Tensor()

        def fails(deep):
            raise KeyError("its own")

        Tensor = self.Tensor
        closed, paused, deep = Tensor(), Tensor(), Tensor()
        hook, generator = closure(closed), generate(paused)
        next(generator)
        one, two = cached(1), bounded(1)
        errors = []
        try:
            fails(deep)
        except KeyError as error:
            errors.append(error)
        addresses = {name: value.address for name, value in dict(closed=closed, paused=paused, deep=deep, one=one, two=two).items()}
        del closed, paused, deep, one, two
        found = self.found()
        by_address = {row[0]: row for row in rows(found)}
        where = " in test_names_closures_generators_caches_and_tracebacks()"
        named = {name: by_address[address][2] for name, address in addresses.items()}
        self.assertEqual(named["closed"], f"hook{where} closes over kept")
        self.assertEqual(named["paused"], f"generator{where} (paused in generate()): paused")
        self.assertEqual(named["one"], f"cached{where}'s cache[1]")
        self.assertEqual(named["two"], f"bounded{where}'s cache")
        self.assertEqual(named["deep"], f"errors{where}[0]'s traceback: deep in fails()")

    def test_a_model_and_its_optimizer_have_the_names_of_pytorch(self):
        torch = self.torch
        inner = torch.nn.Module(weight=torch.nn.Parameter(grad=self.Tensor()))
        weights = [inner._parameters["weight"]]
        optimizer = torch.optim.Optimizer(weights)
        model = torch.nn.Module(mlp=torch.nn.Module(**{"0": inner}), scale=self.Tensor())
        state = optimizer.state[weights[0]]
        found = self.found()
        where = " in test_a_model_and_its_optimizer_have_the_names_of_pytorch()"
        weight = f"model{where}.mlp.0.weight"
        expected = [(weights[0], weight, "parameter"), (weights[0].grad, weight + ".grad", "gradient")]
        expected += [(model._buffers["scale"], f"model{where}.scale", "buffer")]
        del weights, inner
        found = self.found()
        expected += [(state["exp_avg"], f"state{where}['exp_avg']", "tensor")]
        for tensor, name, kind in expected:
            self.assertEqual(self.name_of(tensor, found)[:2], (name, kind))
        address = state["exp_avg"].address
        more = state["more"][0].address
        del state, expected, tensor
        by_address = {row[0]: row for row in rows(self.found())}
        self.assertEqual(by_address[address][2:4], [f"optimizer{where}.state[{weight}].exp_avg", "optimizer"])
        self.assertEqual(by_address[more][2:4], [f"optimizer{where}.state[{weight}].more[0]", "optimizer"])
        self.assertEqual({row["name"]: row["type"] for row in self.found()["owners"]}[f"model{where}"], "Module")

    def test_wrappers_are_left_out_of_names(self):
        class DistributedDataParallel(self.torch.nn.Module):
            pass

        class OptimizedModule(self.torch.nn.Module):
            pass

        model = OptimizedModule(_orig_mod=DistributedDataParallel(module=self.torch.nn.Module(weight=self.torch.nn.Parameter())))
        names = self.names(self.found())
        self.assertIn("model in test_wrappers_are_left_out_of_names().weight", names)

    def test_graphs_are_named_by_the_tensor_that_keeps_them(self):
        saved, packed = self.Tensor(), self.Tensor()
        leaf = self.torch.Node(saved)
        losses = [self.Tensor(cuda=False, grad_fn=self.torch.Node((packed, "cpu"), leaf))]
        addresses = [saved.address, packed.address]
        del saved, packed, leaf
        found = self.found()
        by_address = {row[0]: row for row in rows(found)}
        name = "losses in test_graphs_are_named_by_the_tensor_that_keeps_them()[0]"
        self.assertEqual([by_address[address][2:4] for address in addresses], [[f"the graph of {name}", "graph"], [f"the graph of {name}[0]", "graph"]])
        self.assertEqual({found["owners"][by_address[address][4]]["type"] for address in addresses}, {"list"})

    def test_what_only_a_cycle_holds(self):
        class Trainer:
            pass

        class Callback:
            pass

        trainer, callback = Trainer(), Callback()
        trainer.callback, callback.trainer, callback.outputs = callback, trainer, [self.Tensor()]
        address = callback.outputs[0].address
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        del trainer, callback
        found = self.found()
        row = next(row for row in rows(found) if row[0] == address)
        owner = found["owners"][row[4]]
        self.assertEqual(owner["via"], "cycle")
        self.assertIn((owner["through"], owner["name"]), [("Trainer.callback", "Trainer.callback.outputs"), ("Callback.trainer", "Callback.outputs")])
        gc.collect()
        self.assertNotIn(address, {row[0] for row in rows(self.found())})

    def test_what_something_unseen_holds_is_no_cycle(self):
        class Box:
            pass

        box = Box()
        box.me, box.tensor = box, self.Tensor()
        address = box.tensor.address
        hidden = iter([box])  # the walk ends before it gets there
        del box
        found = self.found(budget_s=0)
        self.assertNotIn("cycle", {owner.get("via") for owner in found["owners"]})
        self.assertNotEqual(found["left"], 0)
        self.assertIn(address, {row[0] for row in rows(self.found())})
        del hidden

    def test_only_storages_that_are_live_in_the_snapshot(self):
        one, two = self.Tensor(), self.Tensor()
        found = self.found(snapshot={"segments": [{"blocks": [{"address": two.address, "size": 512, "state": "active_allocated"}]}]})
        self.assertEqual([row[:3] for row in rows(found)], [[two.address, 512, "two in test_only_storages_that_are_live_in_the_snapshot()"]])
        del one

    def test_a_class_like_ddp(self):
        frames = [{"name": "_pre_forward", "filename": "/x/torch/nn/parallel/distributed.py", "line": 1}]
        block = {"address": 7, "size": 512, "requested_size": 512, "state": "active_allocated", "frames": frames}
        model, named = type("DistributedDataParallel", (self.torch.nn.Module,), {})(), []
        for parameters in (None, 3, ["a"], [self.Tensor()], [self.torch.nn.Parameter()]):
            model._module_parameters = parameters
            named.append(self.names(self.found(snapshot={"segments": [{"blocks": [block]}]})))
        self.assertEqual(named, [set()] * 4 + [{"gradient buckets of model in test_a_class_like_ddp()"}])

    def test_keys_are_cut_or_left_out(self):
        secrets = {"a customer's name " * 10: self.Tensor(), 3.5: self.Tensor()}
        where = "secrets in test_keys_are_cut_or_left_out()"
        names = sorted(name for name in self.names(self.found()) if name.startswith(where))
        self.assertEqual(names, [f"{where}[\"a customer's name a customer's name a cu…\"]", f"{where}[3.5]"])
        names = {name for name in self.names(self.found(names="types")) if name.startswith(where)}
        self.assertEqual(names, {f"{where}[str]", f"{where}[float]"})
        with self.assertRaises(ValueError):
            vramscope.holders(names="none")

    def test_no_code_of_the_program_runs(self):
        ran = []

        def run(*args, **kwargs):
            ran.append(sys._getframe(1).f_code.co_name)
            raise RuntimeError("fights back")

        class Meta(type):
            __eq__ = __getattribute__ = __instancecheck__ = run

            def __hash__(cls):
                return run()

        class Fights(metaclass=Meta):
            pass

        namespace = {name: run for name in ("__getattr__", "__getattribute__", "__eq__", "__hash__", "__iter__", "__len__", "__repr__", "__str__", "__bool__", "__contains__", "__getitem__", "items", "keys", "values", "copy")}
        namespace.update({"__class__": property(run), "__dict__": property(run), "grad": property(run), "data": property(run)})
        kinds = [types.new_class("Hostile", (base,), exec_body=lambda own: own.update(namespace)) for base in (object, dict, list, tuple, set, collections.deque, Exception, self.Tensor)]
        hostile = [object.__new__(kinds[0]), *(kind.__new__(kind) for kind in kinds[1:])]
        kept = self.Tensor()
        dict.__setitem__(hostile[1], "kept", kept)
        list.append(hostile[2], kept)
        fights = object.__new__(Fights)
        hidden_address = kept.address
        lazy = type("Lazy", (types.ModuleType,), {"__getattr__": run})("lazy")
        sys.modules["lazy_for_tests"] = lazy
        self.addCleanup(sys.modules.pop, "lazy_for_tests")
        del kept
        ran.clear()
        found = self.found()
        self.assertEqual(ran, [])
        self.assertIn(hidden_address, {row[0] for row in rows(found)})
        del fights

    def test_leaves_no_reference_and_the_collector_as_it_was(self):
        def check():
            big = self.Tensor()
            gone = weakref.ref(big)
            del big
            return gone

        def work():
            local = self.Tensor()
            seen = weakref.ref(local)
            self.found()
            del local
            return seen()

        for is_on in (True, False):
            (gc.enable if is_on else gc.disable)()
            self.addCleanup(gc.enable)
            self.assertIsNone(work(), "a frame kept the local variable")
            self.assertEqual(gc.isenabled(), is_on)
        self.assertIsNone(check()())

    def test_locals_that_the_program_asked_for_stay(self):
        first = 1
        asked = locals()
        before = dict(asked)
        self.found()
        self.assertEqual(asked["first"], before["first"])
        exec("made = 5")
        self.found()
        self.assertEqual(eval("first"), 1)

    def test_a_deep_list_a_long_list_and_a_changing_dict(self):
        deep = bottom = []
        for _ in range(10_000):
            bottom.append([])
            bottom = bottom[0]
        bottom.append(self.Tensor())
        long = [0] * 5_000_000
        long.append(self.Tensor())
        addresses = {bottom[0].address, long[-1].address}
        del bottom
        changing, over = {}, threading.Event()

        def change():
            n = 0
            while not over.is_set():
                n += 1
                changing[n % 1000] = [n]
                changing.pop((n * 7) % 1000, None)

        thread = threading.Thread(target=change)
        thread.start()
        try:
            found = self.found()
        finally:
            over.set()
            thread.join()
        self.assertLessEqual(addresses, {row[0] for row in rows(found)})

    def test_a_snapshot_that_the_program_took_costs_nothing(self):
        event = {"action": "alloc", "frames": [{"name": "f", "filename": "a.py", "line": n} for n in range(1000)]}
        tensor, held = self.Tensor(), {"name": "a text", "line": 3}
        without = self.found()["objects"]
        snapshot = {"segments": [{"blocks": [event]}], "device_traces": [[event] * 1000]}
        records = [dict(held) for _ in range(1000)]
        found = self.found()
        self.assertLess(found["objects"], without + 20)
        self.assertEqual(self.name_of(tensor, found)[0].split(" in ")[0], "tensor")
        del snapshot, records

    def test_a_result_that_a_notebook_shows_is_named_by_out(self):
        cell = types.ModuleType("__cell__")
        cell.__dict__.update(Out={4: self.Tensor()}, _own=self.Tensor())
        cell._oh, cell._4 = cell.Out, cell.Out[4]
        cell._ = cell.__ = cell._4
        with mock.patch.dict(sys.modules, {"__cell__": cell}):
            found = self.found(sys._getframe(1))
        names = {row[2] for row in rows(found)}
        self.assertIn("__cell__.Out[4]", names)
        self.assertIn("__cell__._own", names)

    def test_the_budget_ends_it_and_what_is_left_is_said(self):
        many = [[i] for i in range(300_000)]
        found = self.found(budget_s=0.01)
        self.assertGreater(found["left"], 0)
        del many

    def test_writes_beside_a_snapshot(self):
        kept = self.Tensor()
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(sys.modules, {"torch": self.torch}):
            found = vramscope.holders(os.path.join(folder, "run.pickle.gz"), budget_s=BUDGET_S)
            with open(os.path.join(folder, "run.holders.json")) as file:
                self.assertEqual(json.load(file), found)
        self.assertIn("kept in test_writes_beside_a_snapshot()", self.names(found))
        with mock.patch.dict(sys.modules, {"torch": None}), self.assertWarnsRegex(RuntimeWarning, "could not find the holders"):
            self.assertIsNone(vramscope.holders())


if __name__ == "__main__":
    unittest.main()
