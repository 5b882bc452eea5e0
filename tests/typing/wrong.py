"""Calls that are wrong: a type checker finds each of them on its line, as the comment there says."""

from __future__ import annotations

from dataclasses import dataclass

from haulwright import Context, Haulwright, Retry, Tx

app = Haulwright()


@dataclass
class Price:
    sku: str
    amount: float


def save(tx: Tx, price: Price) -> Price:
    tx.enqueue(alert, 7)  # expect: arg-type
    tx.enqueue(alert)  # expect: call-arg
    return price


@app.task()
def alert(sku: str, *, loud: bool = False) -> None: ...


@app.task()
async def scrape(ctx: Context, sku: str, count: int = 1) -> Price:
    page = await ctx.aeffect("fetch", fetch, sku)
    page.append("x")  # expect: attr-defined
    saved = await ctx.acommit("save", save, Price(sku, count))
    return saved.amount  # expect: return-value


async def fetch(url: str) -> str:
    return url


@app.task(queues="fast")  # expect: call-overload, untyped-decorator
def misspelt_option() -> None: ...


@app.task(retry="often")  # expect: call-overload, untyped-decorator
def odd_retry() -> None: ...


@app.task(isolation="container")  # expect: call-overload, untyped-decorator
def odd_isolation() -> None: ...


@app.task(retry=Retry(atempts=3))  # expect: call-arg
def odd_policy() -> None: ...


def enqueue() -> int:
    scrape.enqueue(7)  # expect: arg-type
    scrape.enqueue()  # expect: call-arg
    scrape.enqueue("A1", colour="red")  # expect: call-arg
    scrape.enqueue("A1", 1, 2)  # expect: call-arg
    scrape.call(sku=b"A1")  # expect: arg-type
    scrape.using(prio=5).enqueue("A1")  # expect: call-arg
    scrape.using(delay=[1]).enqueue("A1")  # expect: arg-type
    scrape.using(priority=5).enqueue(5)  # expect: arg-type
    alert.enqueue("A1", loud="very")  # expect: arg-type
    scrape.enqueue("A1").result().price()  # expect: attr-defined
    count: int = scrape.enqueue("A1").result()  # expect: assignment
    scrape.enqueue("A1").results()  # expect: attr-defined
    app.enqueue_many([scrape.enqueue("A1")])  # expect: arg-type
    return count


async def aenqueue() -> str:
    handle = await scrape.aenqueue(1)  # expect: arg-type
    text: str = await handle.aresult()  # expect: assignment
    return text


@app.task
def add(ctx: Context, a: int, b: int = 2) -> int:
    return a + b + ctx.job.attempts


def direct_calls(ctx: Context) -> None:
    add(1, 2)  # expect: arg-type
    add(ctx, "1")  # expect: arg-type
    alert(7)  # expect: arg-type
    alert("A1", brightly=True)  # expect: call-arg
    text: str = add(ctx, 1)  # expect: assignment
    add.delay(text)  # expect: attr-defined
    add.enqueue("1")  # expect: arg-type


def schedule() -> None:
    app.schedule("needs arguments", "0 * * * *", scrape)  # expect: arg-type
    app.schedule("misspelt", "0 * * * *", alert, args={"sku": "A1"}, timezone="UTC")  # expect: call-overload
    app.schedule("not a task", "0 * * * *", save)  # expect: call-overload
