"""The applications: brands, brief, syncs, prices and documents, each on the public engine and the sources alone."""

from __future__ import annotations

APPLICATIONS: dict[str, str] = {
    "brands": "penstock.apps.brands",
    "brief": "penstock.apps.brief",
    "syncs": "penstock.apps.syncs",
    "documents": "penstock.apps.documents",
    "prices": "penstock.apps.prices",
}
"""Each application by its name, with the package that holds its tables and its `install(app)`."""
