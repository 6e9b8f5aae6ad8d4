"""A hook whose event takes no context."""


class NoContext:
    def on_predict_start(self) -> None:
        raise AssertionError("never called")
