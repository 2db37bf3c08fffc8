"""The storage of hidden solutions in a bucket."""

from django.core.files import File
from storages.backends.s3 import S3Storage

from datasets.storage import SealedFiles


class SolutionObjects(SealedFiles, S3Storage):  # type: ignore[misc]
    """Solutions as objects of a bucket."""

    def replace(self, name: str, content: "File[bytes]") -> None:
        """Write the object again: a store of objects shows the old one or the new one."""
        self._plain()._save(name, content)
