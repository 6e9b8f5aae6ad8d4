"""The training recipe of the embedded checkpoint: `python -m training --help` from `plugins/laya-mini`."""
