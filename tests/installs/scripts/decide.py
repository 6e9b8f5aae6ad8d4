"""Asks the checkpoint in argv[1] a question, with an installed hook and one of the call; last comes the result."""

import json
import sys

import laya


class Watch:
    def __init__(self, name):
        self.name = name

    def on_predict_start(self, ctx):
        print(self.name, "start", ctx.states)

    def on_predict_end(self, ctx):
        print(self.name, "end", ctx.states)


agent = laya.load(sys.argv[1], hooks=Watch("installed"))
questions = {"refund": {"type": "noul", "instructions": "Does the customer ask for a refund?"}}
print(json.dumps(agent.predict("Card 4111 was charged twice", questions, hooks=Watch("per-call"))))
