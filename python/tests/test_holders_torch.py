"""The walk with a real PyTorch on the CPU, whose tensors are treated as a GPU's. Skipped without PyTorch."""

import gc
import sys
import unittest
import weakref
from unittest import mock

try:
    import torch
    from torch.utils.checkpoint import checkpoint
except Exception:  # not installed, or not for this machine
    torch = None

from vramscope.holder_graphs import Graphs, reason_to_skip
from vramscope.holder_tensors import Tensors
from vramscope.holders import find_holders


def storage(self, tensor, is_wrapper=False):
    try:
        return self._data_address(tensor), tensor.untyped_storage().nbytes()
    except Exception:
        return 0, 0


@unittest.skipIf(torch is None, "PyTorch is not installed here")
class RealTensorsTest(unittest.TestCase):
    def setUp(self):
        patch = mock.patch.object(Tensors, "storage", storage)
        patch.start()
        self.addCleanup(patch.stop)

    def found(self):
        found = find_holders(torch, sys._getframe(1), 60)
        return {address: (name, kind) for address, _, name, kind, _ in zip(*found["storages"].values())}

    def test_a_training_step(self):
        model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8))
        optimizer = torch.optim.AdamW(model.parameters())
        kept = []
        loss = model(torch.randn(4, 8)).square().mean()
        loss.backward()
        optimizer.step()
        kept.append(model(torch.randn(4, 8)).relu())
        weight, where = model[0].weight, " in test_a_training_step()"
        expected = {weight.data_ptr(): "parameter", weight.grad.data_ptr(): "gradient", model[1].running_mean.data_ptr(): "buffer", optimizer.state[weight]["exp_avg"].data_ptr(): "optimizer"}
        del weight, loss
        found = self.found()
        self.assertEqual({address: found[address][1] for address in expected}, expected)
        names = [found[address][0] for address in expected]
        self.assertEqual(names[:3], [f"model{where}.0.weight", f"model{where}.0.weight.grad", f"model{where}.1.running_mean"])
        self.assertEqual(names[3], f"optimizer{where}.state[model{where}.0.weight].exp_avg")
        self.assertIn(("the graph of kept" + where + "[0]", "graph"), found.values())

    def test_no_unpack_hook_runs(self):
        ran = []

        def unpack(packed):
            ran.append(packed)
            return packed

        def layer(x):
            ran.append("computed again")
            return x.exp().sin()

        x = torch.randn(4, requires_grad=True)
        with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
            hooked = x.exp()
        checkpointed = checkpoint(layer, x, use_reentrant=False)
        ran.clear()
        for tells_hooks in {Graphs(torch, None)._tells_hooks, False}:  # also as PyTorch before 2.9
            with mock.patch("vramscope.holder_graphs._tells_hooks", lambda torch: tells_hooks):
                self.found()
        self.assertEqual(ran, [])
        self.assertIsNone(sys.gettrace() if "coverage" not in sys.modules else None)
        (hooked.sum() + checkpointed.sum()).backward()
        self.assertEqual(len(ran), 2)

    def test_what_a_function_saves_and_puts_on_its_context(self):
        class Own(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x * 2)
                ctx.extra = [x * 3]
                ctx.addresses = [ctx.extra[0].data_ptr()]
                return x.clone()

            @staticmethod
            def backward(ctx, gradient):
                return gradient

        out = Own.apply(torch.ones(16, requires_grad=True))
        addresses = [out.grad_fn.saved_tensors[0].data_ptr(), out.grad_fn.extra[0].data_ptr()]
        found = self.found()
        self.assertEqual({found[address][1] for address in addresses}, {"graph"})

    def test_gradient_buckets_of_ddp(self):
        from torch.nn.parallel import DistributedDataParallel, distributed

        if not torch.distributed.is_available():
            self.skipTest("PyTorch was built without torch.distributed")
        torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
        self.addCleanup(torch.distributed.destroy_process_group)
        model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 8))
        model[0].bias.requires_grad_(False)
        wrapped = [DistributedDataParallel(model)]
        wrapped[0](torch.randn(4, 64)).sum().backward()
        trainable = sum(p.numel() * 4 for p in model.parameters() if p.requires_grad)
        where = " in test_gradient_buckets_of_ddp()"

        def names(*sizes, function="_pre_forward", file=distributed.__file__):
            """Of blocks that were allocated there."""
            cpp = {"name": "c10d::Reducer::initialize_buckets", "filename": "??", "line": 0}
            frames = [cpp, {"name": function, "filename": file, "line": 1}, {"name": "train", "filename": "train.py", "line": 2}]
            blocks = [{"address": 1 + i, "size": 512, "requested_size": size, "state": "active_allocated", "frames": frames} for i, size in enumerate(sizes)]
            found = find_holders(torch, sys._getframe(), 60, snapshot={"segments": [{"blocks": blocks}]})["storages"]
            return [name for address, name in zip(found["address"], found["name"]) if address <= len(sizes)]

        with mock.patch.object(type(wrapped[0].reducer), "_rebuild_buckets", side_effect=AssertionError("it may be locked")):
            expected = [f"gradient buckets of wrapped{where}[0]"]
            self.assertEqual(names(trainable - 8, 8), expected * 2)
            self.assertEqual(names(trainable, function="_ddp_init_helper"), expected)
            self.assertEqual(names(trainable, 4 * 3, function="_ddp_init_helper"), expected)
            # The bytes don't add up, or something else was allocated.
            self.assertEqual(names(trainable, 512), [])
            self.assertEqual(names(trainable, function="forward"), [])
            self.assertEqual(names(trainable, file="/home/me/distributed.py"), [])
        wrapped.append(DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 8)).requires_grad_(True)))
        self.assertEqual(names(trainable), [f"gradient buckets of wrapped{where}[0]"])
        wrapped[1].module[0].bias.requires_grad_(False)
        self.assertEqual(names(trainable), [])  # of which of the two?

    def test_subclasses_run_nothing_and_shards_have_the_name_of_the_whole(self):
        ran = []

        class Wrapper(torch.Tensor):
            __slots__ = ("_local_tensor",)

            @staticmethod
            def __new__(cls, inner):
                made = torch.Tensor._make_wrapper_subclass(cls, inner.size())
                made._local_tensor = inner
                return made

            @classmethod
            def __torch_function__(cls, function, types, args=(), kwargs=None):
                ran.append(function)
                return super().__torch_function__(function, types, args, kwargs or {})

            @classmethod
            def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
                ran.append(function)
                raise NotImplementedError

        inner = torch.randn(32)
        address = inner.data_ptr()
        sharded = Wrapper(inner)
        del inner
        ran.clear()
        found = self.found()
        self.assertEqual(ran, [])
        self.assertEqual(found[address][0], "sharded in test_subclasses_run_nothing_and_shards_have_the_name_of_the_whole()._local_tensor")

    def test_copy_on_write_stays_shared(self):
        if not hasattr(torch, "_lazy_clone"):
            self.skipTest(f"PyTorch {torch.__version__} has no lazy clones")
        one = torch.randn(64)
        two = torch._lazy_clone(one)
        self.found()
        self.assertTrue(torch._C._is_cow_tensor(two))

    def test_nothing_is_kept(self):
        def work():
            tensor = torch.randn(8, requires_grad=True)
            out = (tensor * 2).exp()
            watched = [weakref.ref(tensor), weakref.ref(out)]
            self.found()
            del tensor, out
            return [ref() for ref in watched]

        gc.disable()
        self.addCleanup(gc.enable)
        self.assertEqual(work(), [None, None])

    def test_graphs_are_left_alone_while_another_thread_uses_them(self):
        self.assertIsNone(reason_to_skip(True))
        frame = type("Frame", (), {"f_code": type("Code", (), {"co_name": "backward", "co_filename": "/x/torch/autograd/__init__.py"}), "f_back": None})
        kept = torch.ones(4, requires_grad=True).exp()
        with mock.patch("sys._current_frames", lambda: {-1: frame}), mock.patch("vramscope.holder_roots._running", lambda top: [(top, "")]):
            self.assertIn("another thread", reason_to_skip(True))
            found = find_holders(torch, sys._getframe(), 60)
        self.assertEqual((found["graphs"], found["nodes"]), ("a backward pass is running in another thread", 0))
        self.assertNotIn("graph", found["storages"]["kind"])
        del kept


if __name__ == "__main__":
    unittest.main()
