"""The figures of the installation, for a monitor. They stand at the root, where monitors look."""

from __future__ import annotations

from starlette.responses import Response

from haulwright.api.kit.call import Caller
from haulwright.api.kit.routes import ApiRoutes
from haulwright.api.open_metrics import MEDIA_TYPE, MetricsCache
from haulwright.operations.access import require

routes = ApiRoutes("metrics", at_root=True)


@routes.text("/metrics", MEDIA_TYPE)
def metrics(call: Caller) -> Response:
    """Show the figures of the whole installation in OpenMetrics text."""
    require(call.app.store, call.principal, "metrics.read")  # the figures may be there already, for somebody else
    cache: MetricsCache = call.request.app.state.metrics
    return Response(cache.text(call.operations.metrics.read), headers={"Content-Type": MEDIA_TYPE})
