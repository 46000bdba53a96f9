"""Texts of a folder of templates."""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"


def shown(name, **values):
    """Fill a template."""
    return (TEMPLATES / name).read_text().format(**values)
