"""The basic methods as archives, as anybody could send them."""

import zipfile
from pathlib import Path

from analysis.models import BasicEntry

PROGRAM = Path(__file__).parent / "program"
FOLDER = "basic_program"
MODEL = '''"""{title}, as Podium runs it to learn how hard a dataset is."""

from basic_program import BasicModel


class Model(BasicModel):
    """{title}."""

    method = "{method}"
    is_tuned = {is_tuned}
'''


def title_of(method: str, *, is_tuned: bool) -> str:
    """Its name on boards."""
    label = BasicEntry.Method(method).label
    return f"Basic: {label}, {'tuned' if is_tuned else 'defaults'}"


def archive(method: str, *, is_tuned: bool, scratch: Path) -> Path:
    """Pack a method's program into `scratch`; returns the zip."""
    made = scratch / f"basic-{method}{'-tuned' * is_tuned}.zip"
    model = MODEL.format(title=title_of(method, is_tuned=is_tuned), method=method, is_tuned=is_tuned)
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("model.py", model)
        for path in sorted(PROGRAM.glob("*.py")):
            file.write(path, f"{FOLDER}/{path.name}")
    return made
