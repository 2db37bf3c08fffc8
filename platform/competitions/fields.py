"""Fields of forms that people fill in with units."""

from typing import Any

from django import forms

from ingestion.budget import format_size, parse_size


class SizeField(forms.CharField):
    """A number of bytes that people write and read with its unit: `8 GiB`."""

    def prepare_value(self, value: Any) -> Any:
        """The bytes with their unit where that is exact; what was typed stays as it was."""
        if isinstance(value, int) and parse_size(format_size(value)) == value:
            return format_size(value)
        return value

    def clean(self, value: Any) -> int | None:
        """The number of bytes, or None for none."""
        text = super().clean(value)
        if not text:
            return None
        try:
            return int(parse_size(text))
        except ValueError as problem:
            raise forms.ValidationError(str(problem)) from problem
