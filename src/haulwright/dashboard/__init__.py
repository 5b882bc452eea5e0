"""The dashboard: HTML for people, rendered on the server, from `operations/` and its views alone.

It is served by the process of the API, which says who calls and keeps the limits. Every page has its state in its
address, and its data as JSON under the same address with `.json`.

How to add a page, `Queues` for example: one file here and one template.

`pages/queues.py`::

    pages = PageRoutes("queues")

    @dataclass(frozen=True, slots=True)
    class QueuesPage:
        '''The queues by name.'''

        queues: list[QueueView]          # views of operations, which are JSON as they stand
        turns: Turns                     # links to the pages before and after

    @pages.get("/queues", "queues.html", "Queues", verb="queue.read", nav=Nav("Queues", key="q"), query=PAGED)
    def queues(call: PageCall) -> QueuesPage:
        '''The queues by name.'''
        turns = call.turns()
        page = call.operations.queues.page(after=turns.after, limit=turns.limit)
        return QueuesPage([queue_view(queue) for queue in page.rows], turns.then(page.next))

    @pages.post("/queues/{name}/pause", verb="queue.pause")
    def pause(call: PageCall, form: Form) -> ActionDone:
        '''Stop claims from a queue.'''
        call.because(form.text("reason")).queues.pause(call.path["name"])
        return ActionDone(f"The queue {call.path['name']} is paused.", to=call.url("/queues"))

An action that cannot take its form may return `FormAgain`: the form is drawn once more, with what was typed and what is
wrong beside it. A filter of jobs in an address is spelt by `jobs_query`, in functions and in templates, which puts
quotes around names that need them.

`templates/queues.html` extends `base.html` and sees two names: `page`, the value that the function returned, and `call`
(`call.url(path, **query)`, `call.here(**changes)`, `call.can(verb)`). `macros.html` has what pages share: `state`,
`time`, `text`, `clip`, `json`, `figure`, `bars`, `copy`, `turns`, `job_link`, `action`. Then the module is named in
`site.py`; an application names its own in its `ApplicationSpec(pages=...)`, says `PageRoutes(name, module=__file__)`,
and has a folder `templates` beside that module.

What every page keeps to, and tests hold it to:

- No store and no SQL; what a page cannot say with operations is added there.
- A page that its role may not see is refused by operations; `verb` only keeps it out of the navigation.
- Data is text: no `|safe`, no `style=`, no inline script, no `hx-on`. Control characters are shown as escapes.
- No list without a limit. What is cut says so, with a link to the rest.
- It reads without JavaScript: links are links, forms are forms. When something happens the page is read anew from its
  own address and grown into the one that stands: rows have an `id`, so that they stay themselves. The block `stream`
  of a template names what to listen to: `call.stream("overview")`, `poll`, or `off` where nothing changes any more.
- An empty page says what would be here, and what to type to get it.
"""
