"""A call without a checkpoint, so that it takes no second: last comes the result."""

import json

from laya_hooks.testing import FakeAgent

print(json.dumps(FakeAgent().predict("Card 4111 was charged twice", {})))
