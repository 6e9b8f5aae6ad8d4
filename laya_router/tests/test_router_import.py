from __future__ import annotations

import subprocess
import sys


def test_importing_the_package_imports_no_torch_and_no_command_line() -> None:
    code = "import laya_router, sys; print(sorted({'torch', 'transformers', 'click', 'rich'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
