"""Jobs as people name them: by the whole id, by its end, or as the last one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from haulwright.cli.kit.params import LAST, JobIdParam
from haulwright.engine.ids import is_id
from haulwright.errors import NotFound, Refused
from haulwright.stores.paging import PAGE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import click

    from haulwright.cli.kit.site import Site

TAIL_PAGES: Final = 5
"""So many pages of the newest jobs are searched for the end of an id: no index knows it."""


def complete_job_ids(site: Site, params: Sequence[click.Parameter], values: dict[str, Any]) -> None:
    """Put whole ids in the place of ends and of `last`, for all parameters that are job ids."""
    for param in params:
        value = values.get(param.name or "")
        if isinstance(param.type, JobIdParam) and value:
            several = isinstance(value, tuple)
            values[str(param.name)] = tuple(job_id(site, text) for text in value) if several else job_id(site, value)


def job_id(site: Site, text: str) -> str:
    """The whole id that is meant; refused where nothing ends so, or more than one."""
    if is_id(text):
        return text
    if text == LAST:
        matches = [job.id for job in site.operations().jobs.page(limit=1).jobs]
    else:
        matches = [identity for identity in _newest(site) if identity.endswith(text)]
    if not matches:
        raise NotFound("job", "yet" if text == LAST else f"whose id ends with {text}, among the newest")
    if len(matches) > 1:
        raise Refused(f"The ids of {len(matches)} jobs end with {text}.", hint=f"Give more of it: {matches[0]}")
    return matches[0]


def _newest(site: Site) -> Iterator[str]:
    """The ids of the newest jobs, a page at a time."""
    jobs, after = site.operations().jobs, None
    for _ in range(TAIL_PAGES):
        page = jobs.page(after=after, limit=PAGE_LIMIT)
        yield from (job.id for job in page.jobs)
        after = page.next
        if after is None:
            return
